#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# good = auto walks back from bad over tags, or steps of time, to a value from before the step.
. "$(dirname "$0")/lib.sh"

measure_sh
# LIMIT calls are answered, then the lab is down
sed -i 's/^echo "$KREGRESS_COMMIT".*/[ "$(wc -l <calls)" -lt "${LIMIT:-9999}" ] || exit 128\n&/' measure.sh

# try REPO-BAD [LINES of [campaign]]: a new campaign
try() {
	rm -rf state
	GOOD=auto BAD=$1
	campaign test.ini "$2"
	: >calls
}
c() { # N: the commit cN
	git -C repo log --all --format=%H --grep "^c$1\$"
}
measured() { # REV: how often
	grep -c "$(rev "$1")" calls
}
tried() { # the names that the progress spoke of, in one line
	sed -n 's/.*good = auto: trying \(.*\) (\([0-9]*\) of at most .*/\2:\1/p' err | tr '\n' ' '
}

# --- a step between tags: 10 up to c12, 20 since c13; a tag every fourth commit, one on a branch
new_repo repo
echo untouched >repo/keep
linear repo 1 4 10
git -C repo tag t1
linear repo 5 8 10
git -C repo tag -a -m release t2
linear repo 9 12 10
git -C repo tag t3
git -C repo tag t3-again
git -C repo checkout -q -b aside
commit repo aside 20
git -C repo tag not-in-history
git -C repo checkout -q main
linear repo 13 16 20
git -C repo tag t4
linear repo 17 20 20
git -C repo tag -a -m release t5
linear repo 21 26 20
git -C repo tag a-tree 'main^{tree}'

try main
k run --json test.ini
is "$status $(json .culprit)" "0 $(c 13)" "a step between tags is found"
is "$(json .good.commit)" "$(rev t3)" "the good end is the nearest tag from before the step"
is "$(tried)" "1:t5 2:t4 3:t3 " "tags are tried from bad backwards, each commit once"
is "$(json .bad.commit)" "$(rev main)" "the bad end is the one of the file"
is "$(measured main) $(measured t5) $(measured t4) $(measured t3)" "3 3 3 3" "every end has its three boots, bad too"
grep -q "good = auto: t3 is the good end: $(git -C repo rev-list --count t3..main) candidates" err
ok $? "the good end and how much there is to search are said"
git -C repo bisect start main t3 >/dev/null 2>&1
git -C repo bisect run sh -c '[ "$(cat value)" = 10 ]' >bisect.log 2>&1
is "$(git -C repo rev-parse refs/bisect/bad)" "$(c 13)" "git bisect run finds the same from those ends"
git -C repo bisect reset >/dev/null 2>&1
[ "$(calls)" -le 15 ]
ok $? "what was measured on the way back counts in the search: $(calls) boots"
all=$(calls)
k run test.ini
answers 0 "good = auto: the good end is $(rev t3 | cut -c 1-12) (t3), number 3 of those tried" "the report names the good end"
answers 0 "t4                 $(rev t4 | cut -c 1-12)  20 ms                    no difference" "and what was tried before"
is "$(calls)" "$all" "a campaign that has ended measures nothing"
grep -q "trying" err
is $? 1 "and tries nothing"

# --- resumed after every single boot
try main
limit=0
while limit=$((limit + 1)) && [ $limit -lt 30 ]; do
	LIMIT=$limit k run --json test.ini
	[ $status = 128 ] || break
done
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 13) $(rev t3)" "stopped after every boot: the same good end and culprit"
is "$(calls) $limit" "$all $all" "and nothing is measured twice"
try main
LIMIT=7 k run test.ini
k status test.ini
answers 0 "good = auto: the next good end is $(rev t4 | cut -c 1-12) (t4), number 2 of those tried" "status says which one is being tried"
[ "$(cat err)" = "" ]
ok $? "without a line of progress"

# --- the budget
try main "good_tries = 2"
k run test.ini
answers 1 "no good end found: 2 commits before the bad end were tried" "at the end of the budget: exit 1"
answers 1 "$(rev t4 | cut -c 1-12) (t4), and none" "how far back is said"
answers 1 "t5                 $(rev t5 | cut -c 1-12)  20 ms                    no difference" "with the value of each"
answers 1 "set good_tries in [campaign] to more than 2" "and the advice to go on"
grep -q "^Skipped" out
is $? 1 "what was tried is not called skipped"
k status --json test.ini
is "$(json '.status, .culprit')" "no_difference
null" "no_difference in JSON"
spent=$(calls)
k run test.ini
is "$status $(calls)" "1 $spent" "again: the same answer, nothing measured"
k run --json -o campaign.good_tries=3 test.ini
is "$status $(json .culprit) $(calls)" "0 $(c 13) $all" "with a larger budget it goes on where it stood"

# --- thresholds that the values are on one side of
THRESHOLD=5
try main
k run test.ini
answers 1 "t1                 $(rev t1 | cut -c 1-12)  10 ms                    on the bad end's side of the threshold" \
	"an absolute threshold below all of them"
answers 1 "no good end found: 5 commits" "all tags are tried"
answers 1 "There is no older commit to try" "and that there are no more is said"
k status --json test.ini
is "$(json .status)" no_culprit "no_culprit in JSON"
THRESHOLD=15
try main
k run --json test.ini
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 13) $(rev t3)" "an absolute threshold between them"
THRESHOLD=auto
try main
k run --json test.ini
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 13) $(rev t3)" "threshold = auto"
THRESHOLD=+20%

# --- no difference at all
try t2
k run test.ini
answers 1 "no good end found: 1 commit before the bad end was tried" "no difference at all: exit 1"
answers 1 "bad end            $(rev t2 | cut -c 1-12)  10 ms" "with the value of bad"
answers 1 "the workload may not show the difference" "and what may be the reason"

# --- skipped ones, paths, first parents
try main "skip = t5 t4"
k run --json test.ini
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 13) $(rev t3)" "tags that are skipped are not tried"
is "$(tried) $(measured t5) $(measured t4)" "1:t3  0 0" "nor measured"
try main "skip = t5 t4
good_tries = 1"
k run --json test.ini
is "$status $(json .good.commit) $(tried)" "0 $(rev t3) 1:t3 " "and do not count against the budget"
try main "skip = t1"
k run test.ini
[ $status = 0 ] && grep -q "skip: $(rev t1 | cut -c 1-12) is not between the ends" err
ok $? "a skip before the good end is said to skip nothing"
is "$(grep -c 'skips nothing' err)" 1 "once"
try main "paths = value"
k run --json test.ini
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 13) $(rev t3)" "with paths the same step"
is "$(tried)" "1:t3 " "tags from which on nothing touches the paths are passed over"
try t5 "paths = no-file"
k run test.ini
refused 129 "'no-file' did not match any file" "a path that never existed is refused"
try t5 "paths = keep"
k run test.ini
refused 129 "finds no commit before bad 't5' that is neither skipped nor the same" "a path that no commit touches is refused too"
try c1 ""
sed -i "s/^bad = .*/bad = $(c 1)/" test.ini
k run test.ini
refused 129 "finds no commit before bad" "the first commit of all has nothing before it"
try main "hunt = fix"
k run test.ini
refused 129 "in a fix hunt good is the" "in a fix hunt it is refused"

# --- a commit that cannot be measured
new_repo broken
mv repo tags-repo
mv broken repo
linear repo 1 3 10
git -C repo tag u1
linear repo 4 6 20
git -C repo tag u2
linear repo 7 7 fail
git -C repo tag u3
linear repo 8 8 skip
git -C repo tag u4
linear repo 9 12 20
try main
k run --json test.ini
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 4) $(rev u1)" "commits that fail are passed over"
is "$(tried) $(measured u3) $(measured u4)" "1:u4 2:u3 3:u2 4:u1  1 1" "after one boot"
k run test.ini
answers 0 "u3                 $(rev u3 | cut -c 1-12)                           crashed" "and the report says of what"
try main "good_tries = 2"
k run test.ini
answers 1 "u4                 $(rev u4 | cut -c 1-12)                           cannot be tested" "only failures within the budget"
k run test.ini
is "$status $(measured u4)" "1 2" "the next run gives them another try"
git -C repo checkout -q -b tip
linear repo 13 13 fail
try tip
k run test.ini
answers 1 "the bad end $(rev tip) could not be measured: crashed" "bad itself fails: that is the answer"
is "$(measured u4)" 1 "and no more is tried"

# --- no tags: steps of time
rm -rf repo
new_repo repo
day() { # DAYS VALUE: a commit that much later
	clock=$((clock + 86400 * $1))
	commit repo "d$1" "$2"
}
for d in 20 20 20 9; do day $d 10; done
day 8 10
git -C repo branch good
day 3 20
git -C repo branch first-bad
for d in 2 1 1 0; do day $d 20; done
try main
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev first-bad)" "without tags steps of time find it"
is "$(json .good.commit)" "$(rev good)" "from the good end that git log gives"
is "$(tried)" "1:1 day before 2:3 days before 3:1 week before " "by 1 day, 3 days, 1 week"
try good
k run test.ini
answers 1 "the oldest commit" "at last the oldest commit is tried"

# --- noise of 3 % between boots, a step of 50 %
sed -i 's/^run=0$/value=$(awk -v n="$KREGRESS_TRIAL" -v v="$value" "BEGIN { srand(n); print v * (0.97 + 0.06 * rand()) }")\n&/' measure.sh
rm -rf repo
mv tags-repo repo
try main
k run --json test.ini
is "$status $(json .culprit) $(json .good.commit)" "0 $(c 13) $(rev t3)" "the same under noise"

# --- a shallow clone ends at its border
mv repo whole
git clone -q --depth 18 "file://$tmp/whole" repo
git -C repo tag -l | grep -vx 't[45]' | xargs -r git -C repo tag -d >/dev/null
try main
k run test.ini
answers 1 "no good end found: 2 commits" "in a shallow clone what there is is tried"

# which side is better cannot be learnt from a good end that is not known yet
STATE=state-better THRESHOLD=auto
try main
sed -i '/^better/d' test.ini
k run test.ini
refused 129 "good = auto must know what is better" "good = auto without better"
done_testing
