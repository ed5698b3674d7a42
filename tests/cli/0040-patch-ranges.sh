#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# patch.NAME = file from..to mends the commits of a range: they alone are built and measured anew.
. "$(dirname "$0")/lib.sh"

# The "kernel" is the value of the commit; where the file code is broken it does not build.
cat >build.sh <<'EOS'
#!/bin/sh
echo "$KREGRESS_COMMIT" >>builds
if grep -q broken "$KREGRESS_SRC/code"; then
	echo "code.c:1:1: error: broken"
	exit 1
fi
cat "$KREGRESS_SRC"/value* >$KREGRESS_IMAGE
[ -n "$ALIKE" ] || echo "$KREGRESS_COMMIT" >>$KREGRESS_IMAGE
EOS
cat >measure.sh <<'EOS'
#!/bin/sh
echo "$KREGRESS_COMMIT" >>calls
echo "kregress: metric ms $(awk 'NF && $1 + 0 == $1 { n += $1 } END { print n }' "$KREGRESS_IMAGE") ms"
EOS
chmod +x build.sh measure.sh

step() { # NAME FILE TEXT: a commit with this tag that changes one file
	clock=$((clock + 60))
	echo "$3" >"repo/$2"
	git -C repo add -A
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" \
		git -C repo commit -q --allow-empty -m "$1"
	git -C repo tag "$1"
}

# a campaign file that builds: LINES of [build]
building() { # FILE [LINES]
	campaign "$1"
	awk -v lines="$2" '/^type = none/ { print "command = ./build.sh"; if (lines) print lines; next } 1' \
		"$1" >with-build
	mv with-build "$1"
}

# All of the lines of FILE beyond the first N are commits of the range FROM..TO, and there are some.
only_in() { # FILE N RANGE
	tail -n +$(($2 + 1)) "$1" | sort -u >new
	git -C repo rev-list "$3" | sort >range
	[ -s new ] && [ -z "$(comm -23 new range)" ]
}

lines() {
	wc -l <"$1" | tr -d ' '
}

# c6 … c11 do not build; c9, among them, is slow
new_repo repo
step c1 value 10
step c2 code fine
git -C repo tag v1
step c3 other 3
step c4 other 4
step c5 other 5
step c6 code broken
step c7 other 7
step c8 other 8
step c9 value 20
step c10 other 10
step c11 other 11
step c12 code fixed
for n in 13 14 15 16; do
	step c$n other $n
done
git -C repo tag v2
printf -- '--- a/code\n+++ b/code\n@@ -1 +1 @@\n-broken\n+mended\n' >fix.patch
: >builds
: >calls

building test.ini
k run --json test.ini
is "$status $(json '.status, (.candidates | length)')" "1 short_list
7" "a step within commits that do not build leaves a short list"
k report --format json test.ini
cp out before.json
built=$(lines builds) called=$(lines calls)

# --- the fix comes later ---
k run --json -o "build.patch.fix = fix.patch c5..c11" test.ini
is "$status $(json '.status, .culprit')" "0 found
$(rev c9)" "with the fix the step is found"
grep -q 'patched: fix.patch' err
ok $? "which kernels are patched is said"
only_in calls "$called" c5..c11
ok $? "only commits of the range were measured"
only_in builds "$built" c5..c11
ok $? "and only these were built"
is "$(json '[.tested[] | select(.outcome != "ok")] | length')" 0 "what failed to build before does not count any more"
slot=$(echo "$XDG_CACHE_HOME"/kregress/slots/*/src)
last=$(tail -n 1 builds)
mkdir want && git -C repo archive "$last" | tar -xf - -C want
diff -r want "$slot"
ok $? "the sources of the last build are left as the commit has them"

built=$(lines builds) called=$(lines calls)
k run --json test.ini
is "$status $(json '.status, (.candidates | length)')" "1 short_list
7" "without the fix the failures count again"
k report --format json test.ini
is "$(json '[.tested[] | {commit, verdict, outcome, samples}]')" \
	"$(jq -r '[.tested[] | {commit, verdict, outcome, samples}]' before.json)" "each as it was before"
building test.ini 'patch.fix = fix.patch c5..c11'
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev c9)" "with the fix in the file it is found again"
is "$(lines builds) $(lines calls)" "$built $called" "and none of that built or measured anything"

printf -- '--- a/code\n+++ b/code\n@@ -1 +1 @@\n-broken\n+mended otherwise\n' >fix.patch
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev c9)" "another fix: found"
only_in calls "$called" c5..c11
ok $? "its range was measured anew, and nothing else"

# --- a fix that does not fit ---
called=$(lines calls)
k run --json -o "build.patch.fix = fix.patch v1..v2" test.ini
is "$status $(json '.status, (.tested[] | select(.outcome != "ok") | .commit, .outcome)')" "1 no_culprit
$(rev v2)
untestable" "a fix for a commit that it does not apply to: the commit cannot be tested"
k run -o "build.patch.fix = fix.patch v1..v2" test.ini
answers 1 "patch fix does not apply: fix.patch: patch failed: code:1" "the report names patch, file and place"
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev c9)" "with the right range it is found"
is "$(lines calls)" "$called" "and nothing was measured again"

building wrong.ini 'patch.fix = fix.patch nosuch..c11'
k run wrong.ini
refused 129 "wrong.ini:10: " "a range of an unknown commit is refused with its line"
grep -q "nosuch" err && grep -q 'patch.fix in \[build\]' err
ok $? "its key and the name"
building wrong.ini 'patch.fix = fix.patch c11..c5'
k run wrong.ini
refused 129 "wrong.ini:10: patch.fix is for no commit" "a range the wrong way round is refused"
grep -q 'swap them' err
ok $? "with what to do"
k run -o "build.patch.fix = fix.patch c11" test.ini
refused 129 "-o build.patch.fix: bad range 'c11'" "a range without two sides is refused"

# --- kernels that are alike, in and out of the range ---
rm -rf state "$XDG_CACHE_HOME"
: >calls
ALIKE=yes
export ALIKE
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev c9)" "where patched kernels are byte for byte others: found"
is "$(lines calls)" 6 "all but the ends take over the values of an end"
k log --json test.ini
n=$(lines out)
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev c9)" "and found again from what is stored"
k log --json test.ini
is "$(lines calls) $(lines out)" "6 $n" "without another measurement, and without taking them over again"
unset ALIKE

# --- the newer end and the reverted culprit need the fix too ---
rm -rf repo state
new_repo repo
step c1 value 10
step c2 code fine
git -C repo tag v1
step c3 code broken
step c4 other 4
step c5 value2 8
step c6 other 6
git -C repo tag v2
: >builds
: >calls
building revert.ini 'patch.fix = fix.patch c2..v2'
printf '[confirm]\nboots = 1\nrevert = yes\n' >>revert.ini
k run --json revert.ini
is "$status $(json .culprit)" "0 $(rev c5)" "a range up to the newer end: found and confirmed"
k run revert.ini
answers 0 "everted" "the report tells of the revert"
revert=$(sort -u calls | while read -r id; do git -C repo cat-file -e "$id" 2>/dev/null || echo "$id"; done)
is "$(echo "$revert" | grep -c .)" 2 "the commits without the culprit and with it alone, which no range holds, were patched and measured"
k doctor revert.ini
cat out err >said
grep -q 'state' said && ! grep -q 'another setup' said
ok $? "and its values are known as the campaign's own"

# --- a mail series on a base that needs the fix ---
git -C repo checkout -q -b topic c4
step s1 other s1
step s2 value 30
step s3 other s3
git -C repo format-patch -q --stdout c4..topic >series.mbox
git -C repo checkout -q main
rm -rf state
building series.ini 'patch.fix = fix.patch c2..c4'
sed -i 's/^good = .*/series = series.mbox/; s/^bad = .*/base = c4/' series.ini
k run --json series.ini
is "$status $(json .status)" "0 found" "a series on a broken base: the patches take after the base"
k run series.ini
answers 0 "s2" "and the patch of the series is found"
done_testing
