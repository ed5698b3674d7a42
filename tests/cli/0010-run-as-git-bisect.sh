#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A campaign over a history with merges tests the commits that git bisect tests, and ends at the same one.
. "$(dirname "$0")/lib.sh"

# by_git OLD NEW [BISECT OPTIONS]: first bad commit to by-git, commits tested to order
by_git() {
	old=$1 new=$2
	shift 2
	rm -rf clone
	git clone -q repo clone
	git -C clone bisect start "$@" "$new" "$old" -- >/dev/null 2>&1
	git -C clone bisect run sh -c 'v=$(cat value); [ "$v" != skip ] || exit 125; [ "$v" -le 12 ]' >bisect.log 2>&1
	sed -n 's/^\([0-9a-f]\{40\}\) is the first bad commit.*/\1/p' bisect.log >by-git
	git -C clone bisect log | sed -n 's/^git bisect \(good\|bad\|skip\) //p' >order
}

same_as_git() { # TITLE: after k run --json and by_git
	is "$status $(json .status) $(json .culprit)" "0 found $(cat by-git)" "$1: git bisect ends at the same commit"
	is "$(json '.tested[2:][].commit')" "$(cat order)" "$1: git bisect tests the same commits in the same order"
}

measure_sh
merged_history repo
campaign test.ini
k run --json test.ini
is "$(json .culprit)" "$(rev slow)" "the culprit is the planted commit"
by_git v1 v2
same_as_git "merges"
[ "$(wc -l <order)" -ge 4 ]
ok $? "the search took at least four steps"
is "$(json '[.tested[0].commit, .tested[1].commit] | join(" ")')" "$(rev v1) $(rev v2)" \
	"the ends are tested first"

k run test.ini
answers 0 "$(rev slow) is the first bad commit" "run again: the answer is there without measuring"
answers 0 "Author: Ada <ada@example.org>" "the answer names the author"
answers 0 "2023-11-14 " "the answer has the date"
answers 0 "      slow" "the answer has the subject"
answers 0 "good end" "the answer shows the good end"
answers 0 "20 ms" "the answer shows the value of the bad side"
is "$(calls)" "$(($(wc -l <order) + 6))" "each end was measured end_boots = 3 times, each commit once"

STATE=state-fp
campaign fp.ini 'first_parent = yes'
k run --json fp.ini
by_git v1 v2 --first-parent
same_as_git "first_parent"
is "$(json .culprit)" "$(git -C repo rev-list --first-parent --grep 'Merge one' v2)" \
	"first_parent: the culprit is the merge that brought it"

STATE=state-paths
campaign paths.ini 'paths = value'
k run --json paths.ini
is "$(json .culprit)" "$(rev slow)" "paths: the culprit is the planted commit"
is "$(json '[.tested[2:][].commit] | length')" "$(
	rm -rf clone
	git clone -q repo clone
	git -C clone bisect start v2 v1 -- value >/dev/null 2>&1
	git -C clone bisect run sh -c '[ "$(cat value)" -le 12 ]' >/dev/null 2>&1
	git -C clone bisect log | grep -c '^git bisect \(good\|bad\) ')" \
	"paths: as many steps as git bisect takes with the same path"

# commits that cannot be tested, near the middle of the walk
rm -rf repo state
new_repo repo
linear repo 1 3 10
git -C repo tag v1
linear repo 4 12 10
linear repo 13 16 skip
linear repo 17 20 10
commit repo slow 20
git -C repo tag slow
linear repo 21 26 20
git -C repo tag v2
STATE=state-skip
campaign skip.ini
k run --json -o verdict.skips=git skip.ini
by_git v1 v2
same_as_git "skipped commits"
[ "$(json '[.tested[] | select(.verdict == "skip" and .outcome == "untestable")] | length')" -ge 1 ]
ok $? "skipped commits: at least one was met and is an untestable skip"
culprit=$(json .culprit)
STATE=state-borders
campaign borders.ini
k run --json borders.ini
is "$status $(json .culprit)" "0 $culprit" "skips = borders, the default: the same culprit"

# a fix: good is the newer end
rm -rf repo
new_repo repo
linear repo 1 3 30
git -C repo tag old
linear repo 4 9 30
commit repo faster 10
git -C repo tag faster
linear repo 10 17 10
git -C repo tag new
STATE=state-fix GOOD=new BAD=old THRESHOLD=auto
campaign fix.ini 'hunt = fix'
k run --json fix.ini
is "$status $(json .culprit)" "0 $(rev faster)" "a fix hunt finds the commit that brought it"
is "$(json .good.estimate) $(json .bad.estimate)" "10 30" "a fix hunt: good is the newer end's value"
k run fix.ini
answers 0 "fixed by $(rev faster), the first good commit" "a fix hunt says fixed by"

# another worktree and a bare repository serve as well
git -C repo worktree add -q ../tree old
git clone -q --bare repo bare.git
for place in tree bare.git tree/../repo/.git; do
	STATE=state-$(basename $place)
	campaign place.ini 'hunt = fix'
	sed -i "s|^repo = .*|repo = $place|" place.ini
	k run --json place.ini
	is "$status $(json .culprit)" "0 $(rev faster)" "the repository can be given as $place"
done
done_testing
