#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A series that cannot be used is refused with what is wrong and what to do; nothing is left behind.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
mkdir repo/mm
seq 1 200 >repo/mm/x.c
seq 1 100 >repo/mm/y.c
commit repo base 10
git -C repo tag v1
git -C repo checkout -q -b topic
sed -i 's/^20$/twenty/' repo/mm/x.c
commit repo "mm: one"
sed -i 's/^100$/hundred/; s/^150$/more/' repo/mm/x.c
sed -i 's/^50$/fifty/' repo/mm/y.c
commit repo "mm: two"
commit repo "mm: three" 20
git -C repo checkout -q -b release v1
sed -i 's/^99$/changed/' repo/mm/x.c
commit repo "in the way"
git -C repo tag v1.1
git -C repo checkout -q main
# lib.sh's file "log" is in the way of patches on another base
git -C repo format-patch -q -o ../patches v1..topic -- mm value
cat patches/*.patch >series.mbox

series() { # FILE [LINES]: the campaign
	campaign "$1" "series = ${SERIES:-series.mbox}
base = ${BASE:-v1}
$2"
	sed -i '/^good =/d; /^bad =/d' "$1"
}

wrong() { # WORDS TITLE: series.mbox is refused
	k run test.ini
	refused 129 "$1" "$2"
}

series test.ini
k run --json test.ini
is "$status $(json .status)" "0 found" "the series as it is serves"
rm -rf state
find repo/.git -type f | sort | xargs sha256sum >before

BASE=v1.1
series test.ini
git -C repo cat-file -e v1:mm/x.c
k run test.ini
refused 129 "patch 2/3 'mm: two' does not apply on v1.1: mm/x.c:97" "a patch that does not apply is named, with the place"
refused 129 "test.ini:5: series '$tmp/series.mbox'" "the line of the campaign file is named"
refused 129 "(the reject is in '$tmp/state/series.rej')" "the file with the reject is named"
grep -q '^error: patch failed: mm/x.c:97$' state/series.rej
ok $? "the reject has git's words"
grep -q '^-100$' state/series.rej && grep -q '^+hundred$' state/series.rej
ok $? "the reject has the hunk that does not apply"
! grep -q '^+more$\|^+fifty$' state/series.rej
ok $? "the reject has no hunk that applies"
! [ -e state/campaign.db ] && [ -z "$(ls "$XDG_CACHE_HOME"/kregress/repos/*/repo.git/kregress-series 2>/dev/null)" ]
ok $? "nothing else is left behind"
rm -rf state
k status test.ini
refused 129 "patch 2/3 'mm: two' does not apply" "status says the same"
! [ -e state ]
ok $? "status writes no reject"
find repo/.git -type f | sort | xargs sha256sum >after
cmp -s before after
ok $? "the user's repository is untouched"

# three-way: the mail's blobs are there and the lines that changed are not the same
git -C repo checkout -q v1
sed -i 's/^97$/near/' repo/mm/x.c
sed -i 's/^20$/twenty/' repo/mm/x.c
commit repo "has patch 1, and a line in the context of patch 2"
git -C repo tag v1.2
git -C repo checkout -q main
BASE=v1.2
series test.ini
k run --json test.ini
is "$status $(json .status)" "0 found" "a patch that is in the base already is no obstacle"
grep -q "patch 1/3 is there already: an empty commit\|patch 1/3 applied by a three-way merge" err
ok $? "it is said"
grep -q "patch 2/3 applied by a three-way merge" err
ok $? "a patch whose context has changed is merged, and that is said"
tip=$(json .bad.commit)
ours=$(echo "$XDG_CACHE_HOME"/kregress/repos/*/repo.git)
rm -rf clone
git clone -q repo clone
git -C clone checkout -q v1.2
cat patches/*.patch | git -C clone am -q -3 >/dev/null 2>&1
is "$(git --git-dir="$ours" rev-parse "$tip^{tree}")" "$(git -C clone rev-parse 'HEAD^{tree}')" \
	"the tree is that of git am -3"
rm -rf state

# without the mail's blobs
sed 's/^index [0-9a-f]*\.\.[0-9a-f]*/index 1111111..2222222/; s,1/3,1/2,' patches/0001-*.patch >series.mbox
sed 's,3/3,2/2,' patches/0003-*.patch >>series.mbox
k run --json test.ini
grep -q "patch 1/2 is there already: an empty commit" err
ok $? "a patch that is in the base already is an empty commit, and that is said"
is "$(git --git-dir="$ours" rev-parse "$(json .bad.commit)~1^{tree}")" "$(git -C repo rev-parse 'v1.2^{tree}')" \
	"its tree is that of the base"
is "$status $(json .culprit)" "0 $(json .bad.commit)" "the guilty patch behind it is found"
rm -rf state
BASE=v1
series test.ini

# not the file that it should be
echo "Just a note." >series.mbox
wrong "series '$tmp/series.mbox' is not an mbox" "text that is no mbox"
: >series.mbox
wrong "is empty" "an empty file"
echo >series.mbox
wrong "is empty" "a file of blank lines"
cat patches/*.patch | gzip >series.mbox
wrong "is compressed (gunzip it first)" "lore's t.mbox.gz as it comes"
cat patches/0001-*.patch patches/0003-*.patch >series.mbox
wrong "patch 2/3 of version 1 is missing" "a missing number"
cat patches/0003-*.patch >series.mbox
wrong "patch 1/3, 2/3 of version 1 are missing" "two missing numbers"
sed 's/^+hundred$/+other/' patches/0002-*.patch | cat - patches/*.patch >series.mbox
wrong "patch 2/3 is there twice with different content: 'mm: two' (mail 1) and 'mm: two' (mail 3)" \
	"a number given twice"
sed 's,3/3,4/4,' patches/0003-*.patch | cat patches/000[12]-*.patch - >series.mbox
wrong "'mm: one' is patch 1/3, but 'mm: three' is 4/4" "two series in one file"
sed '/^---$/,/^-- $/d' patches/0001-*.patch >series.mbox
wrong "no patch in 1 mails" "a mail without a diff"
sed 's/^Subject: /Subject: Re: /' patches/0001-*.patch >series.mbox
wrong "no patch in 1 mails" "only a reply"
cat patches/000[12]-*.patch >series.mbox
sed 's/^ 3$/ 3 wrapped/; s/^@@ -0,0.*//; s/^@@ -1 .*/@@ -1,4 +1,4 @@/' patches/0003-*.patch >>series.mbox
wrong "patch 3/3 'mm: three' does not apply on v1: corrupt patch at line" "a patch that a mailer has broken"
sed 's,mm/x.c,../../../x.c,g' patches/0001-*.patch | sed 's,1/3,1/1,' >series.mbox
wrong "does not apply on v1: ../../../x.c: does not exist" "a patch that leads out of the repository"
cat >series.mbox <<-'EOF'
From x Mon Sep 17 00:00:00 2001
From: Eve <eve@example.org>
Subject: [PATCH] new
Date: Mon, 20 Nov 2023 10:00:00 +0000

---
diff --git a/../../../x.c b/../../../x.c
new file mode 100644
--- /dev/null
+++ b/../../../x.c
@@ -0,0 +1 @@
+evil
EOF
wrong "does not apply on v1: invalid path '../../../x.c'" "a new file outside the repository"
[ -z "$(find "$tmp" -name 'x.c*' ! -path '*/mm/*')" ]
ok $? "it wrote no file anywhere"
sed 's,mm/x.c,mm/gone.c,g' patches/0001-*.patch | sed 's,1/3,1/1,' >series.mbox
wrong "does not apply on v1: mm/gone.c: does not exist in index" "a patch of a file that is not there"
grep -q '^+twenty$' state/series.rej
ok $? "its reject is the whole patch"
rm -r state

# the campaign file
cat patches/*.patch >series.mbox
k run -o campaign.base=v9 test.ini
refused 129 "unknown revision 'v9'" "a base that does not exist"
k run -o campaign.series=none.mbox test.ini
refused 129 "none.mbox" "an mbox that does not exist"
k run -o campaign.series=repo test.ini
refused 129 "not a file" "a folder for an mbox"
k run -o campaign.good=v1 test.ini
refused 129 "good contradicts series" "good beside series"
sed -i '/^base/d' test.ini
wrong "series without a commit to apply it on" "a series without a base"
series test.ini
printf 'From x Mon Sep 17 00:00:00 2001\n\033[31mred\n' >series.mbox
k run test.ini
is "$status $(tr -d '\11\12\40-\176' <err | wc -c | tr -d ' ')" "129 0" "bytes of the file do not reach the terminal as they are"
done_testing
