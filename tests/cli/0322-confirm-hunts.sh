#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The confirmation in fix hunts, of merges and roots, of ends, without builds, and where bayes ends.
. "$(dirname "$0")/lib.sh"
. "$top/tests/cli/lib-confirm.sh"

fresh() {
	rm -rf state repo
	tools
	new_repo repo
}

# --- a fix: 20, and 12 since the fix; another small gain after it ---
fresh
change base step_base 10
change slow step_a 10
git -C repo tag v1
change before step_b 1
change fix step_a 2
git -C repo tag fix
change after step_b 0
git -C repo tag v2
GOOD=v2 BAD=v1 ini
sed -i 's/^name = test/&\nhunt = fix/' test.ini
k run test.ini
answers 0 "fixed by $(rev fix), the first good commit" "a fix is found"
answers 0 "  difference        -38%, -8 ms" "fresh boots confirm it, in its direction"
answers 0 "Reverted on the good end, the difference is gone" "without it the good end is slow again"
answers 0 "takes back        40 of 40 %" "by all that it won"
answers 0 "Applied on the bad end, the difference is there" "and with it the bad end is fast"
answers 0 "brings            40 of 40 %" "by as much"
is "$(value 'state, .confirm.reverted.estimate, .confirm.applied.estimate' | tr '\n' ' ')" "confirmed 20 12 " "with these values"

# --- a merge on first parents: what its branch brought is undone and applied as a whole ---
fresh
change base step_base 10
git -C repo tag v1
git -C repo checkout -q -b side
change s1 step_s1 2
change s2 step_s2 3
git -C repo checkout -q main
change m1 step_m 1
GIT_AUTHOR_DATE="$((clock + 60)) +0000" GIT_COMMITTER_DATE="$((clock + 60)) +0000" \
	git -C repo merge -q --no-ff -m "Merge side" side
git -C repo tag merge
clock=$((clock + 60))
change after step_c 0
git -C repo tag v2
ini
k run -o campaign.first_parent=yes test.ini
answers 0 "$(rev merge) is the first bad commit" "on first parents the merge is the culprit"
is "$(k report --format json -o campaign.first_parent=yes test.ini; json '.confirm | .parent.estimate,
	.culprit.estimate, .reverted.estimate, .applied.estimate' | tr '\n' ' ')" "11 16 11 15 " \
	"against its first parent, reverted and applied as a whole"
is "$(confirmed | head -n 2)" "$(rev merge~1)
$(rev merge)" "which is the one that is booted"

# --- the culprit is the bad end, its parent the good end: nothing has to be made ---
fresh
change base step_base 10
git -C repo tag v1
change slow step_a 5
git -C repo tag v2
ini
k run test.ini
answers 0 "It is the bad end itself, which without it is its parent." "a culprit that is the bad end is not reverted"
answers 0 "Its parent is the good end, which with it is itself." "nor applied right on its parent"
is "$(confirmed | sort -u | wc -l) $(value 'revert, .confirm.apply' | tr '\n' ' ')" "2 same same " "two kernels are booted"

# --- a root: it has no parent ---
fresh
change base step_base 10
git -C repo tag v1
git -C repo checkout -q --orphan other
git -C repo rm -q -r -f .
change root step_root 9
git -C repo tag root
git -C repo checkout -q main
change more step_m 0
GIT_AUTHOR_DATE="$((clock + 60)) +0000" GIT_COMMITTER_DATE="$((clock + 60)) +0000" \
	git -C repo merge -q --no-ff --allow-unrelated-histories -m "Merge other" other
git -C repo tag v2
ini
# what a kernel lacks of the main line counts as if it were there, so that the root is bad too
sed -i 's/cat step_\*/cat step_*; [ -f step_base ] || echo 10/; s/&& \(cat.*echo 10\)/\&\& { \1; }/' build.sh
k run test.ini
answers 0 "$(rev root) is the first bad commit" "a root is the culprit"
answers 0 "Not confirmed, since it has no parent to be compared with" "and cannot be confirmed, which is said"
is "$(confirmed | wc -l)" 0 "and nothing is booted for it"

# --- bayes: a culprit is confirmed, a credible set is not ---
fresh
change base step_base 10
git -C repo tag v1
for i in 1 2 3 4 5; do change "c$i" "step_c$i" 0; done
change slow step_a 5
git -C repo tag slow
for i in 6 7 8; do change "c$i" "step_c$i" 0; done
git -C repo tag v2
ini
sed -i 's/^threshold = .*/threshold = auto\nsearch = bayes/' test.ini
k run test.ini
answers 0 "$(rev slow) is the first bad commit" "bayes finds the culprit"
answers 0 "brings back       50 of 50 %" "which is reverted"
answers 0 "takes             50 of 50 %" "and applied"
is "$(confirmed | wc -l)" 8 "in two boots of each of the four kernels"
rm -rf state
k run -o "campaign.skip=$(rev slow) $(rev slow~1)" test.ini
is "$status $(json .status 2>/dev/null)$(confirmed | wc -l)" "1 0" "where commits are left that cannot be told apart nothing is confirmed"
answers 1 "the first bad commit is one of these 3" "and the answer is these commits"

# --- layout = random: each boot is one of another drawing, as the luck of one is no evidence ---
fresh
change base step_base 10
git -C repo tag v1
change before step_b 1
change slow step_a 5
git -C repo tag slow
change after step_c 0
git -C repo tag v2
ini
sed -i 's/^command = .\/build.sh/&\nlayout = random/' test.ini
k run test.ini
answers 0 "Confirmed by 2 fresh boots of each" "with layout = random it is confirmed"
is "$(sqlite3 state/campaign.db "SELECT layout, count(*) FROM trial WHERE purpose = 'confirm' GROUP BY layout" | tr '\n' ' ')" \
	"0|4 1|4 " "by boots of two layouts of each kernel"

# --- nothing is built: only a commit that somebody made can stand for the revert ---
rm -rf state repo
measure_sh
new_repo repo
linear repo 1 3 10
git -C repo tag v1
commit repo slow 20
git -C repo tag slow
linear repo 5 6 20
git -C repo tag v2
git -C repo checkout -q -b mended
commit repo mended 10
git -C repo checkout -q main
campaign test.ini
printf '[confirm]\nrevert = yes\nboots = 2\n' >>test.ini
k run test.ini
answers 0 "It is not reverted, as nothing is built here" "with type = none nothing is reverted, and the report says why"
is "$(value 'state, .confirm.revert, .confirm.apply' | tr '\n' ' ')" "confirmed not_built same " "json too"
touch file
k run --revert file test.ini
refused 129 "'file' is a file, but nothing is built here" "a patch is of no use then"
k run --revert mended test.ini
answers 0 "Reverted on the bad end, the difference is gone" "a commit is"
answers 0 "made by hand      mended" "and is named"
is "$(tail -n 2 calls | sort -u)" "$(rev mended)" "the measuring program gets it"
done_testing
