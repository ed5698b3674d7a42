#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# compare: kernels with reverts and patches × variants × a sweep, and the numbers recomputed from rows.
. "$(dirname "$0")/lib.sh"
. "$top/tests/cli/compare-lib.sh"

# Everything of the user's repository by content, and by time but for objects: where a kernel that
# is made has a file that is there already, git sets that object's time (so that no gc takes it).
fingerprint() {
	find repo -type f -exec sha256sum {} + | sort
	find repo -not -path '*/objects/??/*' -printf '%p %T@ %m\n' | sort
}

compare_history
git -C repo diff slow-a base -- a >fix.patch
compare_campaign "sweep = interval 100..300 step 100
average = 100..200
variant.off = thp=never
variant.on = thp=always x=y"
fingerprint >before
set -- v2 v2~revert:slow-a "v2~revert:slow-a,$(git -C repo rev-parse slow-b | cut -c 1-12)" v2+fix.patch
k compare --json test.ini "$@"
is "$status" 0 "four kernels with two variants and three values are compared"
fingerprint | diff before - >>err
ok $? "nothing in the user's repository was touched"
is "$(calls)" 96 "each of the 24 kinds was booted four times"
cp out first.json

# what was measured, from the calls of the command itself
is "$(awk '{ print $2 }' calls | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" "24 24 24 24 " \
	"four commits were measured, each as often"
is "$(awk '{ print $3, $4 }' calls | sort | uniq -c | awk '{ print $1, $2, $3 }' | tr '\n' ';')" \
	"32 '--interval 100';32 '--interval 200';32 '--interval 300';" "the command got each value of the sweep"
is "$(sed "s/^[^']*'[^']*' //" calls | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" "16 16 16 16 16 16 " \
	"and was told of variant, settings and value"
grep -qF "'on' 'thp=always x=y' 'interval=300'" calls
ok $? "as they are in the file"
is "$(awk 'NR <= 4 { print $2 }' calls | sort -u | wc -l)" 4 "kernels follow each other under one setting"
awk '{ print $2, $3, $4, $5 }' calls >order
head -n 24 order >round1
sed -n 25,48p order | tac >round2
cmp round1 round2 >>err
ok $? "the second round is the first one backwards"

# from the rows: median of the runs of a boot, then over boots
sqlite3 -separator '|' state/campaign.db "select trial.id, commit_id, replace(facts, char(10), ';'), value
	from trial join sample on sample.trial = trial.id where purpose = 'compare' and metric = 'ms'
	order by trial.id, value" |
	awk -F '|' '{ n[$1]++; if (n[$1] == 2) { v = ""; s = ""; m = split($3, f, ";")
		for (i = 1; i <= m; i++) { if (f[i] ~ /^VARIANT=/) v = substr(f[i], 9); if (f[i] ~ /^SWEEP=/) s = substr(f[i], 16) }
		print $2, v, s, $4 } }' >values
is "$(wc -l <values)" 96 "each boot is stored with the names of its variant and value"
commit_of() { jq -r ".kernels[$1].commit" first.json; }
# stats COMMIT VARIANT VALUE: median min% max% mean half-width, t for 3 degrees of freedom
stats() {
	awk -v c="$1" -v v="$2" -v s="$3" '$1 == c && $2 == v && $3 == s { print $4 }' values | sort -g |
		awk '{ x[NR] = $1; sum += $1 } END { m = (x[2] + x[3]) / 2; mean = sum / 4
			for (i = 1; i <= 4; i++) ss += (x[i] - mean) ^ 2
			printf "%.6f %.6f %.6f %.6f %.6f\n", m, 100 * x[1] / m, 100 * x[4] / m, mean,
				3.182446305284264 * sqrt(ss / 3 / 4) }'
}
for kernel in 0 1 2 3; do for variant in off on; do for value in 100 200 300; do
	echo "$kernel $variant $value $(stats "$(commit_of $kernel)" $variant $value)"
done; done; done | sort >want
jq -r '.cells[] | [.kernel, .variant, .value, .median, .min_percent, .max_percent, .mean, (.interval[1] - .interval[0]) / 2] | @tsv' \
	first.json | awk '{ printf "%s %s %s %.6f %.6f %.6f %.6f %.6f\n", $1, $2, $3, $4, $5, $6, $7, $8 }' | sort >got
cmp got want >>err
ok $? "median, min, max, mean and interval are those of the rows"
[ "$(wc -l <want)" = 24 ]
ok $? "of all 24"

mean() { awk -v k="$1" -v v="$2" -v s="$3" '$1 == k && $2 == v && $3 == s { print $7 }' want; }
for kernel in 1 2 3; do for variant in off on; do for value in 100 200 300; do
	echo "$kernel $variant $value $(mean $kernel $variant $value) $(mean 0 $variant $value)"
done; done; done | awk '{ printf "%s %s %s %.3f\n", $1, $2, $3, 100 * ($4 / $5 - 1) }' | sort >want-change
jq -r '.cells[] | select(.reference | not) | [.kernel, .variant, .value, .change_percent] | @tsv' first.json |
	awk '{ printf "%s %s %s %.3f\n", $1, $2, $3, $4 }' | sort >got-change
cmp got-change want-change >>err
ok $? "changes are against the first kernel with the same settings"
awk '$3 != 300 { n[$1 " " $2]++; s[$1 " " $2] += $4 } END { for (i in n) printf "%s %.2f\n", i, s[i] / n[i] }' \
	want-change | sort >want-average
jq -r '.averages[] | select(.reference | not) | [.kernel, .variant, .change_percent] | @tsv' first.json |
	awk '{ printf "%s %s %.2f\n", $1, $2, $3 }' | sort >got-average
cmp got-average want-average >>err
ok $? "averages are those of the two values in the range"

# Holm by hand: from the smallest, times what is left, never going down
jq -r '.cells[].p | select(. != null)' first.json | sort -g |
	awk '{ p[NR] = $1 } END { for (i = 1; i <= NR; i++) { q = p[i] * (NR - i + 1); if (q > 1) q = 1; if (q < last) q = last; last = q; printf "%.9f\n", q } }' >want-p
jq -r '.cells[].p_corrected | select(. != null)' first.json | sort -g | awk '{ printf "%.9f\n", $1 }' >got-p
cmp got-p want-p >>err
ok $? "p is corrected after Holm"
is "$(jq '.comparisons' first.json)" 18 "for the 18 comparisons"

# what is true of this history: a patch and a revert that do the same, and what each commit cost
is "$(jq -r '[.cells[] | select(.kernel == 1 or .kernel == 3) | .significant] | unique | tostring' first.json)" "[true]" \
	"without slow-a it is faster, by revert and by patch"
is "$(jq -r '.kernels[1].base, .kernels[2].reverted[1]' first.json)" "$(rev v2)
$(rev slow-b)" "JSON names base and reverts"
is "$(jq -r '.outliers | length' first.json)" 0 "no boot is an outlier"

k compare --json test.ini "$@"
cmp -s out first.json
is "$? $(calls)" "0 96" "the same again prints the same and measures nothing"
k compare test.ini "$@"
is "$status $(grep -c '^  v2' out)" "0 $((4 + 24 + 8))" "the table has a line for each, the averages too"
k compare --json test.ini v2 v1
is "$status $(calls)" "0 120" "of two kernels, one measured before, only the other is measured"
is "$(json '[.cells[] | select(.reference | not) | .interleaved] | unique | tostring')" "[false]" \
	"and that they were not interleaved is said"
k compare -o compare.boots=6 --json test.ini v2 v1
is "$(calls) $(json '[.cells[] | select(.reference | not) | .interleaved] | unique | tostring')" "144 [true]" \
	"two boots more of each are all that six need"

# one kernel: variants are what is compared
k compare --json -o compare.average= -o compare.sweep= -o compare.boots=2 test.ini v2
is "$status $(json '[.cells[].reference] | tostring')" "0 [true,false]" "one kernel: variants against the first one"

# an outlier is shown, with what it does, and stays in
rm -r state
: >calls
export OUTLIER=5
k compare --json -o compare.average= -o compare.sweep= test.ini v2 v1
is "$(json '.outliers | length')" 1 "a boot far from its kind is told"
is "$(json '.outliers[0].trial')" 5 "by the number of its trial"
at=$(json '.outliers[0].cell')
is "$(json ".cells[$at].boots | length"), $(json ".cells[$at] | (.boots | map(.value) | add / 4) - .mean | fabs < 1e-9")" \
	"4, true" "and its value is in the mean"
k compare -o compare.average= -o compare.sweep= test.ini v2 v1
answers 0 "(trial 5)" "the text names it too"
unset OUTLIER

# plots
k compare --plots plots test.ini v2 v1
if command -v gnuplot >/dev/null; then
	[ $status = 0 ] && [ -s plots/value.png ] && [ -s plots/change.png ] &&
		grep -q '</svg>' plots/value.svg && grep -q '</svg>' plots/change.svg
	ok $? "two plots, as SVG and PNG"
else
	skip "gnuplot is not installed" "two plots, as SVG and PNG"
fi
PATH=/nowhere "$KREGRESS" compare --plots plots2 test.ini v2 v1 >out 2>err
status=$?
[ $status = 0 ] && [ -s plots2/compare.gnuplot ] && grep -q 'gnuplot is not installed' err
ok $? "without gnuplot the script for it is there, and the table"

# the campaign's own search does not see these boots
k status -o campaign.good=v1 -o campaign.bad=v2 test.ini
[ $status = 0 ] && ! grep -q 'another setup' err
ok $? "status of the campaign beside it works"
is "$("$KREGRESS" log --json test.ini | jq -r .purpose | sort -u)" compare "the log names them"
done_testing
