#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# log --git leaves git bisect replay the refs that git bisect itself has; --from-git and --replay take over.
. "$(dirname "$0")/lib.sh"

refs() { # REPO: of its bisection
	git -C "$1" for-each-ref --format='%(refname) %(objectname)' refs/bisect
}

# in_git NAME LIMIT BISECT_ARGS...: git's own bisection in ./NAME; values above LIMIT are new
in_git() {
	in_git_name=$1 in_git_limit=$2
	shift 2
	git clone -q repo "$in_git_name"
	git -C "$in_git_name" bisect start "$@" >/dev/null 2>&1
	LIMIT=$in_git_limit git -C "$in_git_name" bisect run sh -c 'v=$(cat value)
		case $v in skip|fail) exit 125 ;; esac; [ "$v" -le "$LIMIT" ]' >"$in_git_name.out" 2>&1
}

# same_refs NAME CAMPAIGN TITLE: log --git, replayed in a fresh clone, against git's bisection in ./NAME
same_refs() {
	k log --git "$2"
	cp out "$1.log"
	is "$status" 0 "$3: log --git"
	git clone -q repo "$1-replayed"
	git -C "$1-replayed" bisect replay "$tmp/$1.log" >"$1.replay" 2>&1
	is "$(refs "$1-replayed")" "$(refs "$1")" "$3: git bisect replay leaves the refs of git bisect run"
	is "$(cat "$1-replayed/.git/BISECT_TERMS")" "$(cat "$1/.git/BISECT_TERMS")" "$3: and its terms"
	[ "$(refs "$1" | wc -l)" -ge "${4:-4}" ]
	ok $? "$3: there are refs to compare"
}

measure_sh
merged_history repo
campaign plain.ini
k run plain.ini
in_git plain 12 v2 v1 --
same_refs plain plain.ini "merges"
grep -qxF "# first bad commit: [$(rev slow)] slow" plain.log
ok $? "log --git ends with git's words for the answer"

STATE=state-fp
campaign fp.ini 'first_parent = yes'
k run fp.ini
in_git fp 12 --first-parent v2 v1 --
same_refs fp fp.ini "first_parent"

STATE=state-paths
campaign paths.ini 'paths = value log'
k run paths.ini
in_git paths 12 v2 v1 -- value log
same_refs paths paths.ini "paths"
is "$(git -C paths-replayed bisect log | grep '^git bisect start' | tail -n 1 | sed "s,.*'--' ,,")" "'value' 'log'" \
	"paths: they are in the start line"

# a history with skips and with a good end on another branch
new_repo skips
linear skips 1 3 10
git -C skips checkout -q -b side
commit skips other 10
git -C skips tag v1
git -C skips checkout -q main
linear skips 4 9 10
commit skips broken skip
commit skips broken-too skip
linear skips 11 16 20
commit skips broken-later fail
linear skips 17 24 20
git -C skips tag v2
rm -rf repo
mv skips repo
STATE=state-skips
campaign skips.ini
k run -o verdict.skips=git skips.ini
in_git skips 12 v2 v1 --
same_refs skips skips.ini "skips and a merge base" 5
refs skips | grep -q skip-
ok $? "skips: some were skipped"

# a fix hunt: v2 is fast again
new_repo fix
linear fix 1 9 20
commit fix faster 10
git -C fix tag faster
linear fix 10 20 10
git -C fix tag v2
git -C fix tag v1 "$(git -C fix rev-list --max-parents=0 HEAD)"
rm -rf repo
mv fix repo
STATE=state-fix GOOD=v2 BAD=v1
campaign fix.ini 'hunt = fix'
k run fix.ini
answers 0 "fixed by $(rev faster)" "a fix hunt finds the commit"
git clone -q repo fix
git -C fix bisect start --term-old=broken --term-new=fixed v2 v1 >/dev/null 2>&1
git -C fix bisect run sh -c '[ "$(cat value)" -gt 12 ]' >fix.out 2>&1
same_refs fix fix.ini "fix hunt" 3
grep -qF -e "--term-old=broken" fix.log && grep -qF -e "--term-new=fixed" fix.log
ok $? "fix hunt: the start line names the terms"
GOOD=v1 BAD=v2

# --- the other way ---
rm -rf repo
merged_history repo
git -C repo tag middle v2~3

begin() { # a bisection by hand in ./repo: two verdicts and a skip
	git -C repo bisect start v2 v1 >/dev/null
	git -C repo bisect bad middle >/dev/null
	git -C repo bisect skip "$(rev v2~9)" >/dev/null
	git -C repo bisect good two >/dev/null
}
begin
git -C repo bisect log >by-hand.log
before=$(refs repo; cat repo/.git/BISECT_LOG repo/.git/HEAD)
# neither good nor bad in the file
STATE=state-from
campaign from.ini
sed -i '/^good = /d; /^bad = /d' from.ini
: >calls
k run --json --from-git from.ini
is "$status $(json .culprit)" "0 $(rev slow)" "--from-git: the culprit"
is "$(json '.good.commit + " " + .bad.commit')" "$(rev v1) $(rev v2)" "--from-git: the ends are those of the bisection"
grep -qxF -e "$(rev middle)" -e "$(rev two)" -e "$(rev v2~9)" calls
is $? 1 "--from-git: what a person judged is not measured"
is "$(refs repo; cat repo/.git/BISECT_LOG repo/.git/HEAD)" "$before" "--from-git: git's bisection is not touched"
n=$(calls)
k run --json from.ini
is "$status $(json .culprit) $(calls)" "0 $(rev slow) $n" "run goes on with the imported log and measures nothing twice"
k run from.ini
answers 0 "3 verdicts of the bisect log counted without being measured" "the answer says what was not measured"
k log --git from.ini
git clone -q repo taken
git -C taken bisect replay "$tmp/out" >/dev/null 2>&1
is "$(refs taken | grep -c -e "bisect/skip-$(rev v2~9)" -e "bisect/good-$(rev two)")" 2 \
	"log --git has the person's verdicts too"
k run --json --recheck from.ini
is "$status $(json .culprit)" "0 $(rev slow)" "--recheck: the culprit"
grep -qxF "$(rev middle)" calls && grep -qxF "$(rev two)" calls
ok $? "--recheck: measures what the person judged"
grep -qxF "$(rev v2~9)" calls
is $? 1 "--recheck: but not what was skipped"
n=$(calls)
k run from.ini
is "$status $(calls)" "0 $n" "a recheck stays one"
k run --from-git from.ini
is "$status $(calls)" "0 $n" "also when the same log is taken over again"
k run -o campaign.good=v1~1 from.ini
grep -qF "good 'v1~1' is not used" err
ok $? "other ends in the file are not used in silence"
k run --recheck plain.ini
refused 129 "there is none here" "--recheck without a log"

STATE=state-replay
campaign replay.ini
: >calls
k run --json --replay by-hand.log replay.ini
is "$status $(json .culprit)" "0 $(rev slow)" "--replay: the culprit"
grep -qxF -e "$(rev middle)" -e "$(rev two)" calls
is $? 1 "--replay: what a person judged is not measured"

# a person's mistake, and how it is found
STATE=state-wrong
campaign wrong.ini
sed "s/^git bisect good .*$(rev two | cut -c 1-40)/git bisect good $(rev two)/; /^git bisect bad/s/.*/git bisect good $(rev middle)/; /^# bad: .*c21/d" by-hand.log |
	grep -v '^git bisect skip' >wrong.log
k run --json --replay wrong.log wrong.ini
[ "$(json .culprit)" != "$(rev slow)" ]
ok $? "a wrong verdict of a person leads astray"
k run --recheck wrong.ini
answers 0 "$(rev slow) is the first bad commit" "--recheck sets it right"
answers 0 "$(rev middle | cut -c 1-12) called good, measured bad" "and says which verdict was wrong"

# in a linked worktree, with words, first-parent and a path of its own
git -C repo bisect reset >/dev/null 2>&1
git -C repo worktree add -q --detach ../tree v2
git -C tree bisect start --first-parent --term-old=fast --term-new=slow v2 v1 -- value >/dev/null 2>&1
STATE=state-tree
campaign tree.ini
want=$(git -C repo rev-list --first-parent --grep 'Merge one' v2)
(cd tree && "$KREGRESS" run --json --from-git ../tree.ini) >out 2>err
status=$?
is "$status $(json .culprit)" "0 $want" "--from-git in a linked worktree, first-parent, path, own terms"
k log --git tree.ini
grep -qF -e "'--term-old=fast'" out && grep -qF -e "'--first-parent'" out && grep -qF -e "'--' 'value'" out
ok $? "log --git keeps the terms, first-parent and path"

# a good commit above the merge base makes that need no test, as in git
rm -rf repo clone
new_repo repo
commit repo root 10
commit repo base 20
git -C repo tag base
git -C repo branch side
linear repo 1 2 10
git -C repo tag over
linear repo 3 6 10
commit repo slow 20
git -C repo tag slow
linear repo 7 9 20
git -C repo checkout -q side
commit repo aside 10
git -C repo checkout -q main
git -C repo bisect start >/dev/null 2>&1
git -C repo bisect bad main >/dev/null
git -C repo bisect good side >/dev/null 2>&1
git -C repo bisect good over >/dev/null 2>&1
STATE=state-over
campaign over.ini
: >calls
k run --json --from-git over.ini
is "$status $(json .culprit)" "0 $(rev slow)" "a good commit above the merge base"
grep -qxF "$(rev base)" calls
is $? 1 "and the merge base is not measured"
git -C repo bisect reset >/dev/null 2>&1
merged_history other
rm -rf repo
mv other repo

# a word that was taken back does not count, as in git
git -C repo bisect start v2 v1 >/dev/null 2>&1
git -C repo bisect bad slow~2 >/dev/null 2>&1
git -C repo bisect bad v2 >/dev/null 2>&1
STATE=state-back
campaign back.ini
k run --json --from-git back.ini
is "$status $(json .culprit) $(json .bad.commit)" "0 $(rev slow) $(rev v2)" "a bad verdict that was taken back"
git -C repo bisect reset >/dev/null 2>&1

# what was measured stands against a person's word, whichever came first
STATE=state-first
campaign first.ini
printf 'git bisect start\ngit bisect bad %s\ngit bisect good %s\ngit bisect bad %s\n' \
	"$(rev v2)" "$(rev v1)" "$(rev slow~2)" >mistake.log
k test -c first.ini slow~2
is "$status" 0 "measured good"
k run --replay mistake.log first.ini
answers 0 "$(rev slow) is the first bad commit" "then called bad: what was measured counts"
answers 0 "$(rev slow~2 | cut -c 1-12) called bad, measured good" "and that is said"
STATE=state-then
campaign then.ini
k run --json --replay mistake.log then.ini
[ "$(json .culprit)" != "$(rev slow)" ]
ok $? "called bad, not measured: believed"
k test -c then.ini slow~1
k run --json then.ini
is "$status $(json .culprit)" "0 $(rev slow)" "a later commit measured good: the word is measured again"

# the bisection where one stands, also in another clone
git clone -q repo elsewhere-too
git -C elsewhere-too bisect start v2 v1 >/dev/null 2>&1
git -C repo bisect start v2~1 v1~1 >/dev/null 2>&1
STATE=state-clone
campaign clone.ini
sed -i '/^good = /d; /^bad = /d' clone.ini
(cd elsewhere-too && "$KREGRESS" run --json --from-git ../clone.ini) >out 2>err
is "$? $(json .bad.commit)" "0 $(rev v2)" "--from-git takes the bisection where one stands"
STATE=state-clone2
sed -i 's/^state = .*/state = state-clone2/' clone.ini
k run --json --from-git clone.ini
is "$status $(json .bad.commit)" "0 $(rev v2~1)" "and elsewhere that of the campaign's repository"
git -C repo bisect reset >/dev/null 2>&1

# --- what cannot be taken over ---
k run --from-git replay.ini
refused 129 "no bisection is in progress" "--from-git without a bisection"
k run --from-git --replay by-hand.log replay.ini
refused 129 "use one of them" "--from-git and --replay together"
k run --replay nowhere.log replay.ini
refused 129 "nowhere.log" "a log that does not exist"
STATE=state-other
campaign other.ini
new_repo elsewhere
linear elsewhere 1 5 10
git -C elsewhere bisect start HEAD HEAD~3 >/dev/null
git -C elsewhere bisect log >elsewhere.log
k run --replay elsewhere.log other.ini
refused 129 "elsewhere.log:" "the log of another repository"
head -c $(($(wc -c <by-hand.log) - 20)) by-hand.log >cut.log
k run --replay cut.log other.ini
refused 129 "cut.log:" "a truncated log"
k run --replay measure.sh other.ini
refused 129 "measure.sh" "a file that is no log"
sed 's/^git bisect bad/git bisect evil/' by-hand.log >evil.log
k run --replay evil.log other.ini
refused 129 "evil" "an unknown term"
printf "git bisect start\ngit bisect bad %s\n" "$(rev v2)" >half.log
k run --replay half.log other.ini
refused 129 "no good commit yet" "a log without a good commit"
printf "git bisect start '%s' '%s'\n" "$(rev v2)" "$(rev v2)" >same.log
k run --replay same.log other.ini
refused 129 "is called both" "a log with the same commit at both ends"
printf "git bisect start '%s' '%s' '--'\ngit bisect good %s\ngit bisect bad %s\n" "$(rev v2)" "$(rev v1)" \
	"$(rev slow)" "$(rev slow~1)" >against.log
k run --replay against.log other.ini
refused 129 "contradicts itself" "a log in which good descends from bad"
printf "git bisect start '%s' '%s' '--'\ngit bisect bad %s\ngit bisect good %s\n" "$(rev v2)" "$(rev v1)" \
	"$(rev slow)" "$(rev slow)" >both.log
k run --replay both.log other.ini
refused 129 "is called both bad and good" "a log that calls one commit both"
k run other.ini
answers 0 "$(rev slow)" "after all that the campaign works from its file"
campaign none.ini
sed -i '/^good = /d' none.ini
k run none.ini
refused 129 "'good' is missing in [campaign]" "a file without good needs a log"
done_testing
