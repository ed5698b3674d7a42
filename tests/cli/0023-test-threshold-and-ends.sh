#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where the threshold comes from: the file alone, ends measured once, ends of the bisection here.
. "$(dirname "$0")/lib.sh"

# without_ends FILE [LINES of [campaign]]
without_ends() {
	campaign "$@"
	sed -i '/^\(good\|bad\) =/d' "$1"
}

bisected() { # DIR BISECT ARGS...: by git bisect run kregress test -c ../test.ini; sets status, culprit
	dir=$1
	shift
	git -C "$dir" bisect reset >/dev/null 2>&1
	git -C "$dir" bisect start "$@" >/dev/null 2>&1
	(cd "$dir" && git bisect run "$KREGRESS" test -c ../test.ini) >out 2>err
	status=$?
	culprit=$(sed -n 's/^\([0-9a-f]\{40\}\) is the first [a-z]* commit.*/\1/p' out)
}

measure_sh
merged_history repo
git clone -q repo clone

# absolute, and it is known what is better: no ends
THRESHOLD=15
without_ends test.ini
bisected clone v2 v1
is "$culprit $status" "$(rev slow) 0" "an absolute threshold needs no ends in the file"
is "$(grep -cFx -e "$(rev v1)" -e "$(rev v2)" calls)" 0 "and measures none"
is "$(calls)" "$(($(git -C clone bisect log | grep -c '^git bisect \(good\|bad\) ') + 1))" \
	"the first commit takes a second boot, to know the spread, the others take one"
n=$(calls)
k test -c test.ini --json v1
is "$status $(json '.verdict, .outcome, .good.commit, .bad.commit, .culprit, .status' | tr '\n' ' ')" \
	"0 good ok null null null interrupted " "--json without ends: they are null"
is "$(json '.tested | map(.commit) | sort | join("\n")')" "$(sort -u calls)" "all that was measured is listed"
is "$(json '.tested | map((.samples[0] < 15) == (.verdict == "good")) | unique | map(tostring) | join(" ")')" true "each with its own verdict"
is "$(json '.trials') $(json '[.tested[].trials] | add')" "$((n + 1)) $((n + 1))" "and the trials add up"
# the file has ends by now: what was measured without them counts
campaign run.ini
: >calls
k run --json run.ini
is "$status $(json .culprit)" "0 $(rev slow)" "a campaign with ends after that finds the same commit"
is "$(sort calls | uniq -c | awk '{ print $2, $1 }')" "$(printf '%s 2\n%s 3\n' "$(rev v1)" "$(rev v2)" | sort)" \
	"and measures the ends alone, the good one once less than it would"

# relative, and the ends are those of the bisection that runs here
rm -r state
: >calls
THRESHOLD=+20%
without_ends test.ini
k test -c test.ini v1
refused 129 "set good and bad in [campaign]" "a relative threshold without ends says what to do"
is "$(calls)" 0 "nothing was measured for that"
bisected clone v2 v1
is "$culprit $status" "$(rev slow) 0" "the ends are taken from the bisection in progress"
is "$(grep -cFx "$(rev v1)" calls) $(grep -cFx "$(rev v2)" calls)" "3 3" "and measured, once"
is "$(sort calls | uniq -d | sort)" "$(printf '%s\n' "$(rev v1)" "$(rev v2)" | sort)" "all others got one boot"
n=$(calls)
bisected clone v2 v1
is "$culprit $(calls)" "$(rev slow) $n" "the same bisection again measures nothing"
git -C clone bisect reset >/dev/null 2>&1
git -C clone bisect start >/dev/null 2>&1
git -C clone bisect bad v2 >/dev/null 2>&1
(cd clone && "$KREGRESS" test -c ../test.ini >../out 2>../err)
status=$?
refused 129 "good" "a bisection that has no good commit yet gives no ends"
git -C clone bisect reset >/dev/null 2>&1

# auto: half-way between the ends, which are measured first
rm -r state
: >calls
THRESHOLD=auto
campaign test.ini
k test -c test.ini slow
answers 1 "bad $(rev slow | cut -c 1-12): ms 20 ms, threshold 15 ms, 1 boot" "auto: the threshold is half-way between the ends"
is "$(tr '\n' ' ' <calls)" "$(for i in 1 2 3; do rev v1 && rev v2; done | tr '\n' ' ')$(rev slow) " \
	"auto: the ends come first, three boots of each, in turns"
k test -c test.ini slow~1
answers 0 "good" "auto: the next commit"
is "$(calls)" 8 "auto: does not measure them again"
k test -c test.ini -o measure.end_boots=4 slow~2
is "$status $(calls)" "0 11" "more boots of the ends asked for: only those are made"

# a campaign with absolute threshold, where it is not said what is better: the ends say so
rm -r state
: >calls
THRESHOLD=15
campaign test.ini
sed -i 's/^better = .*/better = auto/' test.ini
k test -c test.ini slow
is "$status $(calls)" "1 7" "better = auto: the ends are measured too"

# ends by which nothing can be told: git bisect must stop
no_verdict() { # WORDS SETTING...
	words=$1
	shift
	rm -rf state
	campaign test.ini
	for setting; do
		set -- "$@" -o "$setting"
		shift
	done
	k test -c test.ini "$@" slow
	refused 128 "$words" "the ends $words: 128"
	grep -q "good $(rev v1 | cut -c 1-12): 10 ms, bad [0-9a-f]\{12\}: [12]0 ms" err && grep -q "see: kregress log -o .* test.ini" err
	ok $? "the message has both values, and where to look"
}
THRESHOLD=+20%
no_verdict "do not differ" campaign.bad=one~6
no_verdict "are the other way round" verdict.better=higher verdict.threshold=-20%
no_verdict "both are on one side of the threshold" verdict.threshold=+200%
rm -r state
: >calls
campaign test.ini
git -C clone bisect start v2 v1 >/dev/null 2>&1
git -C clone bisect log >before
sed 's/^\trun=0/[ "$value" = 10 ] || value=10; run=0/; s/^run=0/value=10; run=0/' measure.sh >flat.sh
chmod +x flat.sh
sed -i 's/measure\.sh/flat.sh/' test.ini
(cd clone && git bisect run "$KREGRESS" test -c ../test.ini) >out 2>err
[ $? -ge 128 ] && git -C clone bisect log | cmp - before
ok $? "ends that do not differ: git bisect run stops, and its log is as before"
is "$(sort -u calls)" "$(printf '%s\n' "$(rev v1)" "$(rev v2)" | sort)" "nothing but the ends was measured"
git -C clone bisect reset >/dev/null 2>&1

git -C repo checkout -q -b broken v2
commit repo broken fail
campaign test.ini
sed -i 's/^bad = .*/bad = broken/' test.ini
k test -c test.ini slow
refused 128 "the bad end $(rev broken | cut -c 1-12) cannot be measured: crashed" "an end that fails: exit 128, it is named with its failure"
n=$(calls)
sed -i 's/^\tfail).*/\tfail) value=25 ;;/; s/^fail).*/fail) value=25 ;;/' measure.sh
k test -c test.ini slow
is "$status $(calls)" "1 $((n + 6))" "mended: it has another try"

# skip = in the file is obeyed
n=$(calls)
k test -c test.ini -o campaign.skip=slow slow
is "$status $(cat out) $(calls)" "125 skip $(rev slow | cut -c 1-12): not measured, skip = in [campaign] names it $n" \
	"skip = in the file: 125, not measured"

# a fix hunt, with the words that git is given for it
rm -rf repo clone state
: >calls
new_repo repo
linear repo 1 3 30
git -C repo tag v1
linear repo 4 9 30
commit repo faster 10
git -C repo tag faster
linear repo 10 13 10
linear repo 14 14 skip
linear repo 15 17 10
git -C repo tag v2
git clone -q repo clone
GOOD=v2 BAD=v1 THRESHOLD=auto
campaign test.ini 'hunt = fix'
bisected clone --term-old=broken --term-new=fixed v2 v1
is "$culprit $status" "$(rev faster) 0" \
	"a fix hunt under git with terms broken and fixed ends at the commit that brought it"
is "$(git -C clone bisect log | sed -n 's/^git bisect broken //p')" \
	"$(git -C clone bisect log | sed -n 's/^git bisect broken //p' | while read -r c; do
		[ "$(git -C repo show "$c:value")" != 30 ] || echo "$c"
	done)" "what git calls broken has the slow value"
[ "$(git -C clone bisect log | grep -c '^git bisect fixed')" -ge 1 ]
ok $? "and at least one commit on the way was fixed"
k test -c test.ini v1
answers 0 "bad $(rev v1 | cut -c 1-12): ms 30 ms" "a fix hunt: still bad is 0"
k test -c test.ini v2
answers 1 "good $(rev v2 | cut -c 1-12): ms 10 ms" "a fix hunt: good is 1"
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev faster)" "the campaign agrees"
git -C clone bisect reset >/dev/null 2>&1
rm -r state
without_ends test.ini
bisected clone --term-old=broken --term-new=fixed v2 v1
is "$culprit $status" "$(rev faster) 0" \
	"without ends in the file, the bisection's terms make it a fix hunt"

# the terms count also where no end is needed, and where the file has the ends
git -C clone bisect reset >/dev/null 2>&1
rm -r state
sed -i 's/^threshold = .*/threshold = 20/; s/^better = .*/better = lower/; /^hunt/d' test.ini
bisected clone --term-old=broken --term-new=fixed v2 v1
is "$culprit $status" "$(rev faster) 0" "an absolute threshold: the bisection's terms make it a fix hunt"
git -C clone bisect reset >/dev/null 2>&1
campaign test.ini
git -C clone bisect start --term-old=broken --term-new=fixed v2 v1 >/dev/null 2>&1
(cd clone && "$KREGRESS" test -c ../test.ini v1) >out 2>err
is "$? $(cut -c 1-3 out)" "0 bad" "ends in the file: the terms make it a fix hunt"
campaign test.ini 'hunt = regression'
(cd clone && "$KREGRESS" test -c ../test.ini v1) >out 2>err
status=$?
refused 129 "contradicts the bisection in progress" "hunt = regression in the file contradicts such terms"

# a store that only single commits made has a status too
git -C clone bisect reset >/dev/null 2>&1
rm -r state
without_ends test.ini
sed -i 's/^threshold = .*/threshold = 20/; s/^better = .*/better = lower/; /^hunt/d' test.ini
k test -c test.ini v2
k status test.ini
answers 0 "single commits, measured by kregress test" "status without ends in the file"
grep -q "Go on with" out
is $? 1 "and it does not say to go on with run, which needs them"
done_testing
