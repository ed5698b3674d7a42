#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The culprit reverted on the bad end and applied on the good end: over renames, in conflict, made
# by hand, in which order, and after a kill.
. "$(dirname "$0")/lib.sh"
. "$top/tests/cli/lib-confirm.sh"

tools
new_repo repo
change early step_a 0 0 0 0 0 0 0 0 0
change base step_base 10
git -C repo tag v1
change before step_b 1
change slow step_a 0 0 0 0 0 0 0 0 5
git -C repo tag slow
git -C repo mv step_a step_moved
change moved step_moved 0 0 0 0 0 0 0 0 5
change after step_c 0
git -C repo tag v2

# --- a file that was renamed after the culprit ---
ini
k run test.ini
answers 0 "$(rev slow) is the first bad commit" "the culprit is found"
answers 0 "Reverted on the bad end, the difference is gone" "it is reverted though its file has another name"
answers 0 "Applied on the good end, the difference is there" "and applied where the commit before it is missing"
is "$(value 'parent.estimate, .confirm.culprit.estimate, .confirm.reverted.estimate, .confirm.applied.estimate')" "11
16
11
15" "the four kernels have the values that git's trees have"
git -C repo checkout -q --detach v2 && git -C repo revert --no-edit slow >/dev/null 2>&1 &&
	is "$(cat repo/step_* | awk '{ n += $1 } END { print n }')" 11 "as git reverts it"
git -C repo checkout -q --detach v1 && git -C repo cherry-pick slow >/dev/null 2>&1 &&
	is "$(cat repo/step_* | awk '{ n += $1 } END { print n }')" 15 "and picks it"
git -C repo checkout -q master 2>/dev/null || git -C repo checkout -q main
is "$(tail -n 8 calls | tr '\n' ' ')" "11 16 11 15 15 11 16 11 " "the boots are interleaved, there and back"
is "$(sqlite3 state/campaign.db "SELECT count(*) FROM trial WHERE purpose = 'confirm'")" 8 "two of each"
k report --format mail test.ini
answers 0 "Applied on the good end" "the mail tells of it"
k report --format html test.ini
answers 0 "good end, culprit applied" "and the page"
is "$(grep -c '<span class="dim">\(good end, applied\|bad end, reverted\)</span>' out)" 2 "which has both kernels among its commits"

# --- killed in the middle: nothing is measured twice ---
rm -rf state
: >calls
n=$(k run -o confirm.boots=0 -o confirm.revert=no test.ini; wc -l <calls)
echo $((n + 5)) >die
"$KREGRESS" run test.ini >out 2>err
is $? 137 "kregress is killed in the middle of the confirmation"
rm die
k run test.ini
answers 0 "Confirmed by 2 fresh boots of each" "and confirms when it is run again"
is "$(($(wc -l <calls) - n))" 9 "with no more boots than the one that was lost"

# --- a conflict ---
rm -rf state repo
tools
new_repo repo
change base step_base 10
git -C repo tag v1
change new step_new 1
change slow step_new 6
git -C repo tag slow
change again step_new 7
git -C repo tag v2
ini
k run test.ini
answers 0 "It cannot be reverted on the bad end; these files conflict:" "a revert that conflicts is no failure"
answers 0 "  step_new" "the file is named"
answers 0 "It does not apply on the good end; these files conflict:" "nor is one that does not apply"
dir=$(echo state/revert-conflict-*)
grep -q '^<<<<<<<' "$dir/step_new" && grep -q '^7$' "$dir/step_new" && grep -q '^1$' "$dir/step_new"
ok $? "the file is left with git's marks and both sides"
answers 0 "The tree of the revert is left, with git's marks, in '$tmp/$dir'." "the report says where"
answers 0 "A revert made by hand is taken with 'kregress run --revert FILE|COMMIT'" "and what to do"
is "$(value 'revert, .confirm.revert_detail, .confirm.apply, .confirm.state')" "conflicts
step_new
conflicts
confirmed" "json says so"
is "$(git -C repo status --porcelain)" "" "nothing is written to the user's repository"

# --- made by hand: a patch, then a commit ---
git -C repo checkout -q -b hand v2
change "by hand" step_new 2
git -C repo tag hand
git -C repo format-patch -q -1 --stdout >hand.patch
k run --revert nothing test.ini
refused 129 "--revert: 'nothing' is no file, and no commit" "what is neither is refused"
k run --revert measure.sh test.ini
refused 129 "--revert: 'measure.sh' has no patch" "so is a file without a patch"
sed 's/^-7/-3/' hand.patch >old.patch
k run --revert old.patch test.ini
refused 129 "'old.patch' does not apply" "so is a patch for something else"
k run -o confirm.boots=0 -o confirm.revert=no --revert hand test.ini
refused 129 "revert = yes and boots = 3" "so is one where nothing is reverted"
before=$(wc -l <calls)
k run --revert hand.patch test.ini
answers 0 "Reverted on the bad end, the difference is gone" "a patch made by hand is measured"
is "$(value 'reverted.estimate') $(($(wc -l <calls) - before))" "12 2" "with its own value, in two boots"
k run test.ini
answers 0 "the difference is gone" "and it is known the next time"
git -C repo checkout -q -b worse v2
change "no revert" step_new 8
k run --revert worse test.ini
answers 0 "Reverted on the bad end, the difference stays" "a commit made by hand is measured"
is "$(value 'reverted.estimate')" 18 "with its own value"
before=$(wc -l <calls)
k run --revert hand.patch test.ini
answers 0 "the difference is gone" "the other one is taken again"
is "$(($(wc -l <calls) - before))" 0 "without a boot"

# --- the parent is the good end ---
rm -rf state repo
tools
new_repo repo
change base step_base 10
git -C repo tag v1
change slow step_a 5
change after step_c 0
git -C repo tag v2
ini
k run test.ini
answers 0 "Reverted on the bad end, the difference is gone" "a culprit right behind the good end is reverted"
grep -q "Applied" out
is $? 1 "and not applied there, which is what it is"

# --- not confirmed: what contradicts is kept ---
rm -rf state
sed 's|echo "kregress: metric|[ "$KREGRESS_TRIAL" -lt 8 ] \&\& v=$(cat "$KREGRESS_IMAGE") \|\| v=10; echo "kregress: metric|; s|ms \$(cat "\$KREGRESS_IMAGE") ms|ms $v ms|' \
	-i measure.sh
k run test.ini
answers 1 "not confirmed: fresh boots" "a difference that does not come back is not confirmed"
is "$(value 'state, .confirm.culprit.estimate')" "contradicted
10" "and json has what contradicts it"
done_testing
