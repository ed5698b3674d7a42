#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ends that do not make a hunt are refused with the numbers and with what to do.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
linear repo 1 2 10
git -C repo tag a10
linear repo 3 4 10
git -C repo tag b10
linear repo 5 6 20
git -C repo tag c20
linear repo 7 8 10
git -C repo tag d10
linear repo 9 10 fail
git -C repo tag e-fails
linear repo 11 12 skip
git -C repo tag f-skips

try() { # GOOD BAD [LINES of [campaign]]
	rm -rf state
	GOOD=$1 BAD=$2
	campaign test.ini "$3"
	: >calls
}

try b10 a10
k run test.ini
refused 129 "good 'b10' is newer than bad 'a10'" "good newer than bad is refused before anything is measured"
grep -q "hunt = fix" err && [ "$(calls)" = 0 ]
ok $? "and hunt = fix is offered"
try a10 b10 "hunt = fix"
k run test.ini
refused 129 "good 'a10' is older than bad 'b10'" "in a fix hunt it is the other way round"

try a10 b10
k run test.ini
answers 1 "no difference" "equal ends: no difference, exit 1"
answers 1 "good end  $(rev a10 | cut -c 1-12)  10" "the value of the good end"
answers 1 "bad end   $(rev b10 | cut -c 1-12)  10" "the value of the bad end"
answers 1 "nearer than the smallest effect that matters, 2%" "the effect that was asked for"
k status --json test.ini
is "$(json '.status, .culprit, (.candidates | length)')" "no_difference
null
0" "no_difference in JSON"
is "$(calls)" 6 "three boots of each end, and no search"

try c20 d10
k run test.ini
answers 1 "good and bad are swapped: the good end is the worse one" "values the wrong way round: swapped, exit 1"
answers 1 "hunt = fix in [campaign] and exchange the values of good and bad" "and the hunt that would find the improvement"
k status --json test.ini
is "$(json .status)" no_culprit "swapped is no_culprit in JSON"
try d10 c20 "hunt = fix"
k run --json test.ini
is "$status $(json .culprit)" "0 $(git -C repo log --format=%H --grep '^c7$')" "that hunt finds it"

THRESHOLD=+300%
try b10 c20
k run test.ini
answers 1 "the threshold is not between them" "a threshold beyond both ends is said"
answers 1 "Both ends are on the good side" "and on which side they are"
answers 1 "threshold 40" "and where it is"
THRESHOLD=+20%

try d10 e-fails
k run test.ini
answers 1 "the bad end $(rev e-fails) could not be measured: crashed" "an end that fails is said"
answers 1 "on_crash" "and how a failure can be the regression"
k status --json test.ini
is "$(json '.status, .tested[-1].outcome')" "no_culprit
crashed" "no_culprit and the outcome in JSON"
sed -i 's/^\[verdict\]/&\non_crash = bad/; s/^state = .*/state = state-crash/' test.ini
k run --json test.ini
is "$status $(json .culprit)" "0 $(git -C repo log --format=%H --grep '^c9$')" \
	"with on_crash = bad the commit that crashes is found"
k run test.ini
answers 0 "Failed, which counts as bad in this campaign" "and the report says that failing counted as bad"
try d10 f-skips
k run test.ini
answers 1 "could not be measured: cannot be tested" "an end that exits 125 cannot be tested"

# good is not an ancestor of bad: merge bases first
rm -rf repo
new_repo repo
linear repo 1 3 10
git -C repo tag base
linear repo 4 6 20
git -C repo tag new
git -C repo checkout -q -b side base
linear repo 7 9 10
git -C repo tag other
try other new
k run --json test.ini
is "$status $(json .culprit)" "0 $(git -C repo log --format=%H --grep '^c4$' new)" "good on another branch: found"
is "$(json '.tested[2].commit')" "$(rev base)" "the merge base was tested first after the ends"
rm -rf repo
new_repo repo
linear repo 1 3 20
git -C repo tag base
linear repo 4 6 20
git -C repo tag new
git -C repo checkout -q -b side base
linear repo 7 9 10
git -C repo tag other
try other new
k run test.ini
answers 1 "the merge base $(rev base) is bad" "a merge base that is bad is said"
answers 1 "hunt = fix, good = $(rev other | cut -c 1-12) and bad = $(rev base | cut -c 1-12)" \
	"with the hunt that would find what made it good"
k status --json test.ini
is "$(json .status)" no_culprit "no_culprit in JSON"
try other base "hunt = fix"
k run --json test.ini
is "$status $(json .culprit)" "0 $(git -C repo log --format=%H --grep '^c7$' other)" "and that hunt finds it"
done_testing
