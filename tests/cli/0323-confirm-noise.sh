#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fresh boots under noise: Welch's test as awk computes it from the rows, more boots where it is open,
# and what it comes to.
. "$(dirname "$0")/lib.sh"

new_repo repo
linear repo 1 3 100
git -C repo tag v1
linear repo 4 5 100
commit repo slow 130
git -C repo tag slow
linear repo 7 8 130
git -C repo tag v2
slow=$(rev slow) parent=$(rev slow~1)

# The value of the commit; in the confirmation what the file of its name says of each boot.
cat >measure.sh <<'EOS'
#!/bin/sh
echo "$KREGRESS_COMMIT" >>calls
value=$(git -C repo show "$KREGRESS_COMMIT:value")
nr=$(grep -c "$KREGRESS_COMMIT" calls)
at=$((nr - $(cat "before-$KREGRESS_COMMIT" 2>/dev/null || echo 1000)))
[ ! -f lab ] || [ "$(wc -l <calls)" -ne "$(cat lab)" ] || exit 128
[ $at -le 0 ] || value=$(sed -n "${at}p" "fresh-$KREGRESS_COMMIT")
[ $at -gt 0 ] || value=$(awk -v v="$value" -v n="$nr" 'BEGIN { print v + (n % 3 - 1) * 2 }')
echo "kregress: metric ms $value ms"
EOS
chmod +x measure.sh
campaign test.ini
sed -i 's/^better/search = bisect\n&/' test.ini
printf '[confirm]\nboots = 3\n' >>test.ini

# fresh PARENT-VALUES CULPRIT-VALUES: the campaign up to its confirmation, and what comes then
fresh() {
	rm -rf state before-* fresh-* lab
	: >calls
	printf '%s\n' $1 >"fresh-$parent"
	printf '%s\n' $2 >"fresh-$slow"
	k run -o confirm.boots=0 test.ini
	grep -c "$parent" calls >"before-$parent"
	grep -c "$slow" calls >"before-$slow"
	n=$(wc -l <calls)
}

confirm() { # KEY: of the report
	k report --format json test.ini
	json ".confirm.$1"
}

# Of two columns, group and value: difference, bounds at 95 % and p by Welch, the t distribution
# integrated by Simpson's rule, its quantile by bisection.
welch() {
	sqlite3 -separator ' ' state/campaign.db "SELECT commit_id = '$slow', value FROM sample
		JOIN trial ON trial.id = sample.trial WHERE purpose = 'confirm'" | awk '
	function density(x) { return exp(-(df + 1) / 2 * log(1 + x * x / df)) }
	function area(a, b,   i, h, sum) { # by t = tan(u), so that the whole tail is there
		h = (b - a) / 4000
		for (i = 0; i <= 4000; i++) {
			c = cos(a + i * h)
			f = c < 1e-9 ? 0 : density(sin(a + i * h) / c) / (c * c)
			sum += f * (i == 0 || i == 4000 ? 1 : i % 2 ? 4 : 2)
		}
		return sum * h / 3
	}
	function tail(t) { return area(atan2(t, 1), pi / 2) / area(0, pi / 2) } # two-sided
	{ n[$1]++; s[$1] += $2; q[$1] += $2 * $2 }
	END {
		pi = atan2(0, -1)
		for (i = 0; i < 2; i++) {
			m[i] = s[i] / n[i]
			v[i] = (q[i] - n[i] * m[i] * m[i]) / (n[i] - 1) / n[i]
		}
		e = sqrt(v[0] + v[1])
		df = (v[0] + v[1]) ^ 2 / (v[0] ^ 2 / (n[0] - 1) + v[1] ^ 2 / (n[1] - 1))
		d = m[1] - m[0]
		low = 0; high = 1000
		for (i = 0; i < 60; i++) {
			mid = (low + high) / 2
			if (tail(mid) > 0.05) low = mid; else high = mid
		}
		printf "%.4g %.4g %.4g %.2g\n", d, d - low * e, d + low * e, tail((d < 0 ? -d : d) / e)
	}'
}

reported() {
	confirm 'difference | .estimate, .interval[0], .interval[1]' | awk '{ printf "%.4g ", $1 }'
	confirm p | awk '{ printf "%.2g\n", $1 }'
}

# --- a difference that three boots show ---
fresh "100.5 99 101" "131 128 133"
k run test.ini
answers 0 "Confirmed by 3 fresh boots of each, interleaved:" "three boots of each confirm it"
answers 0 " (Welch)" "by Welch's test"
is "$(reported)" "$(welch)" "difference, interval and p are what awk has from the rows ($(welch))"
is "$(confirm test) $(($(wc -l <calls) - n))" "welch 6" "and six boots were all"
is "$(tail -n 6 calls)" "$(printf '%s\n' "$parent" "$slow" "$slow" "$parent" "$parent" "$slow")" "in the order A B B A A B"

# --- one that they leave open: as many as a commit may have ---
fresh "100 90 110 98 102 99 101 100" "131 108 140 128 132 129 131 130"
k run test.ini
answers 0 "Confirmed by 8 fresh boots of each" "what three boots leave open, eight decide"
is "$(reported)" "$(welch)" "by their numbers ($(welch))"
is "$(sqlite3 state/campaign.db "SELECT commit_id FROM trial WHERE purpose = 'confirm' ORDER BY seq")" \
	"$(for i in 1 2 3 4; do printf '%s\n' "$parent" "$slow" "$slow" "$parent"; done)" "A B B A from the first to the last in the store"
fresh "100 90 110 98 102 99 101 100 100" "131 108 140 128 132 129 131 130 130"
echo $((n + 12)) >lab
k run --json test.ini
refused 128 "go on with" "the lab fails in the twelfth of them: no answer"
k status test.ini
answers 0 "confirming $slow" "status says that it is at it"
k replay --json test.ini
is "$(json '.needs.phase, .needs.at_most' | tr '\n' ' ')" "confirm 5 " "replay says how many boots are missing"
rm lab
k run test.ini
is "$status $(sqlite3 state/campaign.db "SELECT count(*) FROM trial WHERE purpose = 'confirm'")" "0 16" "it goes on without measuring anything twice"
is "$(reported)" "$(welch)" "and comes to what the rows say"
k run -o measure.max_boots=3 test.ini
is "$status" 0 "fewer boots allowed later do not unmake the answer"

# --- what stays open is not confirmed ---
fresh "100 90 110 98 102 80 121 100" "104 88 118 100 99 85 123 106"
k run test.ini
answers 1 "not confirmed: fresh boots" "eight boots that do not decide do not confirm"
answers 1 "Left open by 8 fresh boots of each" "and do not contradict either"
is "$(reported)" "$(welch)" "as the rows say ($(welch))"
is "$(confirm state)" undecided "json has the word for it"
k run --json test.ini
is "$status $(json '.status, .culprit, .candidates[0].commit' | tr '\n' ' ')" "1 not_confirmed null $slow " "there is no culprit, and the commit stands"

# --- what is refuted needs no more ---
fresh "100 100.1 99.9" "99 99.1 98.9"
k run test.ini
answers 1 "Contradicted by 3 fresh boots of each" "three boots that exclude the difference contradict it"
is "$(confirm state) $(($(wc -l <calls) - n))" "contradicted 6" "and are all"
is "$(reported)" "$(welch)" "as the rows say ($(welch))"

# --- fresh boots that do not vary, where all others did: their zero spread is not believed ---
fresh "100 100 100 100 100 100 100 100" "101 101 101 101 101 101 101 101"
k run test.ini
answers 1 " (pooled)" "equal values among others that vary are compared by the deviation of all"
is "$(confirm 'p > 0.05')" true "and a step of 1 is nothing then"
done_testing
