#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# git bisect run kregress test ends at the commit of the campaign, and touches no file of the tree.
. "$(dirname "$0")/lib.sh"

# Two branches merged, commits that cannot be tested on both and after; slow is on the first one.
history() {
	new_repo repo
	echo kept >repo/kept
	linear repo 1 3 10
	git -C repo tag v1
	git -C repo checkout -q -b one
	linear repo 4 7 10
	commit repo slow 20
	git -C repo tag slow
	linear repo 8 11 20
	git -C repo checkout -q -b two v1
	linear repo 12 13 10
	linear repo 14 15 skip
	linear repo 16 18 10
	git -C repo checkout -q main
	linear repo 19 20 10
	merge repo two
	merge repo one
	linear repo 21 23 skip
	linear repo 24 44 20
	git -C repo tag v2
}

# the log of a bisection as "good|bad|skip COMMIT" lines, and the first bad commit
order_of() { # DIR
	git -C "$1" bisect log | sed -n 's/^git bisect \(good\|bad\|skip\) /\1 /p'
}

culprit_in() { # FILE: output of git bisect run
	sed -n 's/^\([0-9a-f]\{40\}\) is the first \(bad\|fixed\) commit.*/\1/p' "$1"
}

# by_git DIR [BISECT OPTIONS]: the reference, git with a script that reads the file itself
by_git() {
	dir=$1
	shift
	git -C "$dir" bisect start "$@" v2 v1 -- >/dev/null 2>&1
	git -C "$dir" bisect run sh -c '
		v=$(git show $(git rev-parse -q --verify BISECT_HEAD || echo HEAD):value)
		[ "$v" != skip ] || exit 125; [ "$v" -le 12 ]' >git.log 2>&1
	culprit_in git.log >want-culprit
	order_of "$dir" >want-order
	git -C "$dir" bisect reset >/dev/null 2>&1
}

# by_kregress DIR [BISECT OPTIONS]
by_kregress() {
	dir=$1
	shift
	git -C "$dir" bisect start "$@" v2 v1 -- >/dev/null 2>&1
	(cd "$dir" && git bisect run "$KREGRESS" test -c "$tmp/test.ini") >out 2>err
	status=$?
	culprit_in out >got-culprit
	order_of "$dir" >got-order
}

same() { # TITLE
	is "$status $(cat got-culprit)" "0 $(cat want-culprit)" "$1: the first bad commit is that of git alone"
	is "$(cat got-order)" "$(cat want-order)" "$1: the same commits with the same verdicts"
}

fingerprint() { # DIR...: every file, its content and its times
	find "$@" -type f -printf '%p %s %T@ %m\n' | sort
	find "$@" -type f -print0 | sort -z | xargs -0 sha256sum
}

measure_sh
history
campaign test.ini
STATE=state-run
campaign run.ini
k run --json run.ini
is "$status $(json .culprit)" "0 $(rev slow)" "the campaign ends at the planted commit"
: >calls

git clone -q repo clone
by_git clone
is "$(cat want-culprit)" "$(rev slow)" "git alone ends at the planted commit"
[ "$(grep -c '^skip' want-order)" -ge 1 ] && [ "$(wc -l <want-order)" -ge 5 ]
ok $? "on its way are at least five commits, and one that cannot be tested"
by_kregress clone
same "a clone"
is "$(calls)" "$((6 + $(wc -l <want-order)))" "each end was measured three times, each commit once"
head -n 3 calls >first
is "$(sort -u calls | wc -l) $(grep -cFx -e "$(rev v1)" -e "$(rev v2)" first)" "$((2 + $(wc -l <want-order))) 3" \
	"the ends were measured first"
grep -q '^bad [0-9a-f]\{12\}: ms 20 ms, threshold 12 ms, 1 boot$' out &&
	grep -q '^good [0-9a-f]\{12\}: ms 10 ms, threshold 12 ms, 1 boot$' out &&
	grep -q '^skip [0-9a-f]\{12\}: untestable' out
ok $? "each step prints its result in one line"
git -C clone bisect reset >/dev/null 2>&1

# again in other places: the store has it all
before=$(calls)
git -C repo worktree add -q --detach ../tree v2
echo mine >>tree/kept
echo mine >tree/untracked
mkdir tree/folder
echo mine >"tree/folder/an odd name"
git -C tree status --porcelain --untracked-files=all >status-before
fingerprint tree/kept tree/untracked tree/folder >files-before
by_git tree
by_kregress tree
same "a linked worktree"
git -C tree bisect reset >/dev/null 2>&1
git -C tree status --porcelain --untracked-files=all >status-after
fingerprint tree/kept tree/untracked tree/folder >files-after
cmp status-before status-after >>err && cmp files-before files-after >>err
ok $? "modified and untracked files are as they were"
is "$(wc -l <status-before)" 3 "there were three of them"

git -C clone checkout -q main
by_git clone --no-checkout
by_kregress clone --no-checkout
same "--no-checkout"
is "$(git -C clone rev-parse HEAD)" "$(rev v2)" "--no-checkout: the tree stays where it was"
git -C clone bisect reset >/dev/null 2>&1
is "$(calls)" "$before" "nothing of that was measured again"

by_git clone --first-parent
by_kregress clone --first-parent
same "--first-parent"
is "$(cat got-culprit)" "$(git -C repo rev-list --first-parent --grep 'Merge one' v2)" \
	"--first-parent: the first bad commit is the merge"
git -C clone bisect reset >/dev/null 2>&1

# git tells the command by GIT_DIR which repository it means
git clone -q --bare repo bare.git
git -C clone checkout -q v1
(
	cd clone || exit
	git --git-dir=../bare.git bisect start --no-checkout v2 v1 >/dev/null 2>&1
	git --git-dir=../bare.git bisect run env KREGRESS="$KREGRESS" sh -c '
		"$KREGRESS" test -c ../test.ini' 2>/dev/null
) >by-git-dir
grep -q "^$(rev slow) is the first bad commit" by-git-dir
ok $? "under git --git-dir=... bisect run it is that repository's commit"
git -C clone checkout -q main

# one call alone, with everything that git keeps looked at
fingerprint tree repo/.git >before
for args in "" HEAD~3 "--json v1"; do
	# shellcheck disable=SC2086
	(cd tree && "$KREGRESS" test -c ../test.ini $args >"$tmp/out" 2>"$tmp/err")
done
fingerprint tree repo/.git >after
cmp before after >>err
ok $? "neither the tree nor the repository has changed by a byte"
done_testing
