#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# compare: what is wrong is refused with its place; kernels that fail are told; names may be hostile.
. "$(dirname "$0")/lib.sh"
. "$top/tests/cli/compare-lib.sh"

wrong() { # LINE OF [compare] | WORDS | TITLE
	compare_campaign "$1"
	k compare test.ini v2 v1
	refused 129 "$2" "$3"
	grep -q 'test.ini:18: ' err
	ok $? "  and where it stands"
}

compare_history
printf 'a\nb\n' >both.patch
git -C repo diff v2 slow-b -- c >c.patch
git -C repo diff slow-a base -- a >fix.patch

wrong 'sweep = interval' "NAME FROM..TO step N" "a sweep without values"
wrong 'sweep = interval 1..3' "a range needs its step" "a range without a step"
wrong 'sweep = interval 1..3 step 0' "step is a number above 0" "a step of nothing"
wrong 'sweep = interval 3..1 step 1' "two numbers in order" "a range that goes back"
wrong 'sweep = interval 1..1e9 step 1' "more than 1000 values" "too many values"
wrong 'sweep = interval 1,2,1' "a value is there twice" "a value twice"
wrong 'sweep = interval 1,,2' "a value is empty" "an empty value"
wrong 'sweep = --interval 1,2' "without the dashes" "a name with dashes"
wrong 'swep = interval 1,2' "did you mean 'sweep'?" "a misspelt key"
wrong 'boots = 0' "from 1 to 10000" "no boots"
wrong 'average = 1..2' "average without a sweep" "an average of nothing"
wrong 'variant.x = thp' "NAME=VALUE" "a setting without a value"
wrong 'variant.a b = x=1' "NAME of letters" "a name with a blank"
compare_campaign "sweep = mode fast,slow
average = 1..2"
k compare test.ini v2 v1
refused 129 "average needs numbers, but the sweep has 'fast'" "an average of words"
compare_campaign "sweep = interval 1,2
average = 5..9"
k compare test.ini v2 v1
refused 129 "no value of the sweep is in this range" "an average of no value"

compare_campaign ""
k compare test.ini
refused 129 "a campaign file and the kernels are needed" "no kernel"
k compare test.ini v2 v9
refused 129 "kernel 'v9'" "an unknown revision is named"
k compare test.ini v2 "$(git -C repo rev-parse v2)"
refused 129 "are the same" "a kernel twice"
k compare test.ini v2 v2~revert:
refused 129 "a commit to revert is missing" "a revert of nothing"
k compare test.ini v2 v2~revert:nope
refused 129 "nope" "a revert of an unknown commit"
k compare test.ini v2 v1~revert:slow-a
[ $status = 129 ] && grep -qE "conflicts in|changes nothing" err
ok $? "a revert of what is not in there"
k compare test.ini v2 v2+no.patch
refused 129 "patch 'no.patch' is no file here" "a patch that is not there"
k compare test.ini v2 v2+both.patch
refused 129 "has no patch that git can read" "a patch that is none"
k compare test.ini v2 base+c.patch
refused 129 "does not apply" "a patch that does not apply"
k compare --profile test.ini v2 v1
refused 129 "type = qemu" "a profile without QEMU"
is "$(sqlite3 state/campaign.db 'select count(*) from note where kind = "profile"')" 0 "and nothing of it is stored"

# conflicts: all files are named, and left
git -C repo checkout -q -b twisted v2
printf '1\n' >repo/d
put e 1 both
git -C repo rm -q --cached a >/dev/null 2>&1
git -C repo reset -q --hard
echo 21 >repo/a; echo 10 >repo/b; put c 2 more
echo 22 >repo/a; echo 11 >repo/b; put c 3 most
k compare test.ini v2 twisted~revert:slow-a,more
refused 129 "conflicts in 'a'" "a revert that conflicts names the file"
k compare test.ini v2 twisted~revert:more
refused 129 "'a', 'b', 'c'" "and all files where there are several"
grep -q '<<<<<<<' "state/compare-conflict-$(rev more | cut -c 1-12)/a"
ok $? "which are left with git's marks"
git -C repo checkout -q main

# what kernels do is told, of the others the numbers
put a skip untestable
put a die dead
: >calls
k compare --json test.ini v2 untestable dead
is "$status" 125 "two kernels that cannot be measured are no failure of ours"
is "$(json '[.cells[].boots | length] | tostring')" "[4,1,4]" "an untestable one is not tried again, a dying one is"
is "$(json '.cells[2].boots | map(.outcome) | unique | tostring')" '["crashed"]' "what became of it is told"
is "$(json '.cells[0].median != null')" true "and the one that works has its numbers"
k compare test.ini v2 untestable dead
[ $status = 125 ] && grep -q 'exit status 1' out && grep -q 'says so' out
ok $? "the text says why"
is "$(calls)" 9 "failures are not measured twice either"
compare_campaign ""
printf '#!/bin/sh\nexit 128\n' >measure.sh
rm -r state
k compare test.ini v2 v1
is "$status" 128 "a lab that does not work is our failure"
[ ! -s out ] && is "$(sqlite3 state/campaign.db 'select count(*) from trial')" 0 "of which nothing is stored"

# kernels that are built: reverts too, each once, all before the first boot
compare_campaign "boots = 2"
rm -rf state
put a nobuild broken
cat >build.sh <<-'END'
#!/bin/sh
echo "build $KREGRESS_COMMIT $(cat "$KREGRESS_SRC/a")" >>calls
case $(cat "$KREGRESS_SRC/a") in
nobuild) echo "a.c:1:1: error: no"; exit 1 ;;
esac
cat "$KREGRESS_SRC/a" "$KREGRESS_SRC/b" >"$KREGRESS_IMAGE"
END
chmod +x build.sh
sed -i 's|^type = none|command = ./build.sh|; s|^\[target\]|&\n# here|' test.ini
cat >measure.sh <<-'END'
#!/bin/sh
echo boot >>calls
for run in 1 2 3; do
	awk '{ sum += $1 } END { print "kregress: metric ms", sum, "ms" }' "$KREGRESS_IMAGE"
done
END
: >calls
k compare --json test.ini v2 broken v2~revert:slow-a
is "$status" 125 "a kernel that does not build is told"
is "$(json '[.cells[].mean] | tostring')" "[29,null,19]" "the others have the values of what was built"
is "$(json '.kernels[1].build_failure' | grep -c 'error: no')" 1 "with the first error of the compiler"
is "$(awk '{ print $1, $3 }' calls | tr '\n' ';')" "build 20;build nobuild;build 10;boot ;boot ;boot ;boot ;" \
	"each is built once, and before the first boot"
k compare test.ini v2 broken v2~revert:slow-a
[ $status = 125 ] && grep -q 'cannot be built: .*error: no' out && [ "$(wc -l <calls)" = 7 ]
ok $? "the same again builds and boots nothing"

# hostile names
compare_campaign "boots = 2"
rm -rf state
git -C repo tag 'v1+x' v1
git -C repo tag 'p,q~' v1 2>/dev/null
git -C repo branch 'n,m' slow-a
name="it's+a~revert:<b>\`\$(id)\`.patch"
cp fix.patch "$name"
esc=$(printf 'evil\033]0;x\007 <script>')
put f "$esc" hostile
git -C repo commit -q --amend -m "$esc"
git -C repo tag -f hostile >/dev/null
k compare --json --plots plots test.ini v1+x "hostile~revert:broken,dead,untestable,n,m" "v2+$name"
is "$status" 0 "a + or a comma in a name of git's, and all of it in a file's"
is "$(json '.kernels[0].commit')" "$(rev v1)" "the tag with a + is a tag"
is "$(json '.kernels[1].reverted | length')" 4 "the branch with a comma is one commit"
is "$(json '.kernels[1].reverted[3]')" "$(rev slow-a)" "the right one"
is "$(json '.kernels[2].patches[0]')" "$name" "the patch with all that in its name is a patch"
k compare test.ini v1+x "hostile~revert:broken,dead,untestable,n,m" "v2+$name"
is "$(LC_ALL=C tr -d '\n -~\200-\377' <out | wc -c)" 0 "no control byte reaches the terminal"
if command -v gnuplot >/dev/null; then
	[ -s plots/value.png ] && [ -s plots/change.png ]
	ok $? "gnuplot takes such names as text"
	is "$(grep -c '<b>' plots/value.svg)" 0 "and they are escaped in the SVG"
fi
is "$(find . -maxdepth 1 -name 'id' | wc -l)" 0 "nothing was run of it"
done_testing
