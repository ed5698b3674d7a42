#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is made for the confirmation: renames that only git sees, a whole tree for a person to mend,
# how much of the difference that is, and what is left when the cache is gone.
. "$(dirname "$0")/lib.sh"
. "$top/tests/cli/lib-confirm.sh"

part() { # FROM TO: in percent of the good end's value
	awk -v good="$(end_mean v1)" -v a="$1" -v b="$2" 'BEGIN { printf "%.4g\n", 100 * (b - a) / good }'
}

end_mean() { # REV: of an end, by the rows of the search
	sqlite3 state/campaign.db "SELECT value FROM sample JOIN trial ON trial.id = sample.trial
		WHERE purpose <> 'confirm' AND commit_id = '$(rev "$1")'" |
		awk '{ n += $1 } END { printf "%.6g\n", n / NR }'
}

# --- a file of three lines, renamed by a commit that changes one of them ---
tools
new_repo repo
change base step_a 1 2 3
change more step_base 10
git -C repo tag v1
change before step_b 1
change slow step_a 1 2 8
git -C repo tag slow
git -C repo mv step_a step_moved
change moved step_moved 0 2 8
change after step_c 2
git -C repo tag v2
ini
k run test.ini
answers 0 "$(rev slow) is the first bad commit" "the culprit is found"
answers 0 "Reverted on the bad end, the difference is gone" "it is reverted on a file that was renamed and changed"
is "$(ls -d state/revert-conflict-* 2>/dev/null)" "" "and no tree is left, as nothing conflicts"
git -C repo checkout -q --detach v2 && git -C repo revert --no-edit slow >/dev/null 2>&1
is "$(value reverted.estimate)" "$(cat repo/step_* | awk '{ n += $1 } END { print n }')" "its value is that of git's own revert"
git -C repo checkout -q main
reverted=$(sqlite3 state/campaign.db "SELECT substr(text, 42) FROM note WHERE kind = 'revert'")
applied=$(sqlite3 state/campaign.db "SELECT substr(text, 42) FROM note WHERE kind = 'apply'")
is "$(mean_of "$reverted") $(mean_of "$applied")" "18 21" "the stored rows say so too"
all=$(part "$(end_mean v1)" "$(end_mean v2)")
back=$(part "$(mean_of "$reverted")" "$(end_mean v2)")
taken=$(part "$(end_mean v1)" "$(mean_of "$applied")")
k run test.ini
answers 0 "brings back       $back of $all %" "how much comes back is said ($back of $all %)"
answers 0 "takes             $taken of $all %" "and how much it takes alone ($taken %)"
is "$(value 'ends_percent, .confirm.reverted_percent, .confirm.applied_percent' | awk '{ printf "%.4g ", $1 }')" \
	"$all $back $taken " "json has the same"
k report --format html test.ini
answers 0 "brings back       $back of $all %" "and so has the page"
parent=$(rev slow~1) slow=$(rev slow)
is "$(confirmed)" "$(printf '%s\n' "$parent" "$slow" "$reverted" "$applied" "$applied" "$reverted" "$slow" "$parent")" \
	"the store has the boots in their order: A B C D, D C B A"
k log test.ini
is "$(grep -c 'confirm' "$tmp/out" | awk '{ print ($1 >= 8) }')" 1 "the log has them"

# --- the cache is lost between a kill and the next run: what was made is made again, the same ---
rm -rf state
: >calls
k run -o confirm.boots=0 -o confirm.revert=no test.ini
n=$(wc -l <calls)
echo $((n + 3)) >die
"$KREGRESS" run test.ini >out 2>err
is $? 137 "kregress is killed in the third boot of the confirmation"
rm die
rm -rf "$XDG_CACHE_HOME"
k run test.ini
answers 0 "Confirmed by 2 fresh boots of each" "without the cache it goes on"
is "$(confirmed)" "$(printf '%s\n' "$parent" "$slow" "$reverted" "$applied" "$applied" "$reverted" "$slow" "$parent")" \
	"with the same commits, each boot once"
is "$(($(wc -l <calls) - n))" 9 "and one boot more than those, which was lost"

# --- the lab fails within it: never "not confirmed" ---
rm -rf state
k run -o confirm.boots=0 -o confirm.revert=no test.ini
echo $(($(wc -l <calls) + 4)) >lab
k run --json test.ini
refused 128 "go on with: kregress run" "a lab that fails while the applied kernel boots is exit 128"
rm lab
k run --json test.ini
is "$status $(json .status) $(confirmed | wc -l)" "0 found 8" "and the campaign goes on where it was"

# --- patches of a range are for what is made on its commits, also after a resume ---
rm -rf state
git -C repo checkout -q --detach v1
cat >fix.patch <<'END'
--- a/step_base
+++ b/step_base
@@ -1 +1 @@
-10
+9
END
git -C repo checkout -q main
sed "s/^\[target\]/patch.fix = fix.patch $(rev v1~1)..v2\n&/" test.ini >patched.ini
: >calls
k run -o confirm.boots=0 -o confirm.revert=no patched.ini
n=$(wc -l <calls)
echo $((n + 6)) >die
"$KREGRESS" run patched.ini >out 2>err
rm die
k run patched.ini
answers 0 "Confirmed by 2 fresh boots of each" "with patches of a range, killed and resumed, it ends"
is "$(confirmed | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')$(($(wc -l <calls) - n))" "2 2 2 2 9" \
	"and no kernel is booted once too often, neither the reverted nor the applied one"
k report --format json patched.ini
is "$(json '.confirm | .reverted.estimate, .applied.estimate' | tr '\n' ' ')" "17 20 " "both are patched"

# --- a conflict: the tree that is left is whole, and a person ends it there ---
rm -rf state repo
tools
new_repo repo
change base step_base 10
change other step_other 0 0 0
git -C repo tag v1
change new step_new 1
printf '4\n0\n0\n' >repo/step_other
change slow step_new 6
git -C repo tag slow
change again step_new 7
git -C repo tag v2
ini
k run test.ini
dir=$(echo state/revert-conflict-*)
answers 0 "  step_new" "the file that conflicts is named, and it alone"
is "$(value 'revert_detail, .confirm.apply')" "step_new
conflicts" "in json too"
is "$(git -C "$dir" rev-parse HEAD) $(git -C "$dir" diff --name-only --diff-filter=U)" "$(rev v2) step_new" \
	"what is left is a work tree on the bad end, as git leaves it"
is "$(cat "$dir/step_base") $(head -n 1 "$dir/step_other")" "10 0" "with all files, and what could be reverted"
echo 2 >"$dir/step_new"
git -C "$dir" diff HEAD >by-hand.patch
k run --revert by-hand.patch test.ini
answers 0 "Reverted on the bad end, the difference is gone" "the diff made there is taken"
answers 0 "made by hand      by-hand.patch" "the report says that it was made by hand"
is "$(value 'reverted.estimate, .confirm.by_hand')" "12
by-hand.patch" "so does json, with its value"
# more boots, without the cache and the file
rm -rf "$XDG_CACHE_HOME" by-hand.patch
k run -o confirm.boots=3 test.ini
answers 0 "made by hand      by-hand.patch" "it can be booted again without cache and file"
reverted=$(sqlite3 state/campaign.db "SELECT substr(text, 42) FROM note WHERE kind = 'revert'")
is "$(confirmed | grep -c "$reverted") $(mean_of "$reverted")" "3 12" "three boots of it are there"
k run --revert v2 test.ini
refused 129 "--revert: 'v2' is the bad end itself" "the bad end is not its own revert"
done_testing
