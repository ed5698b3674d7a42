#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A mail series is applied on its base as git am does it, and bisected like commits.
. "$(dirname "$0")/lib.sh"

measure_sh

# make_repo: v1, the series on branch topic, and v1.1: another release that moves and renames
make_repo() {
	rm -rf repo
	new_repo repo
	mkdir repo/mm repo/tools
	seq 1 200 >repo/mm/x.c
	seq 1 300 | sed 's/^/line /' >repo/mm/y.c
	seq 1 50 >repo/tools/old
	printf '#!/bin/sh\necho x\n' >repo/tools/run
	commit repo base 10
	git -C repo tag v1
	git -C repo checkout -q -b topic
	sed -i 's/^20$/twenty/' repo/mm/x.c
	patch 1 "mm: twenty"
	seq 1 20 >repo/mm/new.c
	patch 2 "mm: a new file"
	git -C repo mv tools/old tools/renamed
	sed -i 's/^25$/twenty-five/' repo/tools/renamed
	patch 3 "tools: renamed and changed"
	chmod +x repo/tools/run
	patch 4 "tools: run is a program"
	head -c 3000 /dev/urandom >repo/tools/blob
	patch 5 "tools: a binary file"
	sed -i 's/^line 150$/line CL/' repo/mm/y.c
	patch 6 "mm: été, a subject with é and a body

With a line that looks like a mail's:
>From here on it is text.

-- >8 --
This too.

Signed-off-by: Ada <ada@example.org>"
	echo 20 >repo/value
	patch 7 "mm: [slow] the guilty one"
	git -C repo rm -q mm/new.c
	patch 8 "mm: no new file after all"
	printf 'no line end' >>repo/mm/x.c
	patch 9 "mm: no line end"
	head -c 3000 /dev/urandom >repo/tools/blob
	patch 10 "tools: another binary file"
	sed -i '5d;100d' repo/mm/y.c
	sed -i 's/^180$/last/' repo/mm/x.c
	patch 11 "mm: two files"
	git -C repo mv mm/y.c mm/z.c
	patch 12 "mm: y is z"
	git -C repo tag tip
	git -C repo checkout -q -b release v1
	sed -i '1i zero\nzero' repo/mm/x.c
	sed -i '20,24d' repo/mm/y.c
	commit repo "moves lines"
	git -C repo tag v1.1
	git -C repo checkout -q main
}

patch() { # NUMBER MESSAGE: a commit by somebody else, at another time
	git -C repo add -A
	GIT_AUTHOR_NAME="Séa $1" GIT_AUTHOR_EMAIL="sea$1@example.org" \
	GIT_AUTHOR_DATE="$((1600000000 + $1 * 1000)) +0530" \
	GIT_COMMITTER_DATE="$((1700009999 + $1 * 60)) +0000" git -C repo commit -q -m "$2"
}

# mails DIR [OPTIONS]: the series as files; the cover letter is 0000
mails() {
	dir=$1
	shift
	rm -rf "$dir"
	git -C repo format-patch -q --cover-letter --binary --full-index -M -o "../$dir" "$@" \
		v1..topic
}

shuffled() { # DIR: all its mails in an order that is neither the names' nor its reverse
	for i in 07 02 12 00 09 01 11 05 03 10 06 04 08; do
		cat "$1"/00$i-*.patch
	done
}

series() { # FILE [LINES]: the campaign
	campaign "$1" "series = ${SERIES:-series.mbox}
base = ${BASE:-v1}
$2"
	sed -i '/^good =/d; /^bad =/d' "$1"
}

# by_am BASE MAILS...: the trees that git am makes, one a line, to am-trees
by_am() {
	rm -rf clone
	git clone -q repo clone
	git -C clone checkout -q "$1"
	am_base=$1
	shift
	cat "$@" | git -C clone am -q >am.log 2>&1
	git -C clone log --reverse --format=%T "$am_base..HEAD" >am-trees
}

ours() { # ARGS...: git in our private repository
	git --git-dir="$(echo "$XDG_CACHE_HOME"/kregress/repos/*/repo.git)" "$@"
}

same_trees() { # BASE TITLE: after k run --json
	is "$(ours log --reverse --format=%T "$(rev "$1")..$(json .bad.commit)")" "$(cat am-trees)" "$2"
}

# send KIND: the mail on standard input as a mailer encodes it
send() {
	python3 -c '
import base64, quopri, sys
kind = sys.argv[1]
head, body = sys.stdin.buffer.read().decode().split("\n\n", 1)
head = [h for h in head.split("\n") if not h.startswith(("MIME-", "Content-"))]
charset = "utf-8"
body = body.encode()
if kind == "base64":
    body = base64.encodebytes(body)
elif kind == "quoted-printable":
    body = quopri.encodestring(body)
else:
    charset, kind, body = kind, "8bit", body.decode().encode(kind)
head += ["MIME-Version: 1.0", "Content-Type: text/plain; charset=" + charset,
         "Content-Transfer-Encoding: " + kind, "", ""]
sys.stdout.buffer.write("\n".join(head).encode() + body)
' "$1"
}

shape() { # what must not change in the user's repository
	git -C repo for-each-ref
	find repo/.git -type f ! -name index -print | sort | xargs sha256sum
	git -C repo status --porcelain
}

make_repo
mails patches
shuffled patches >series.mbox
shape >before

series test.ini
k run --json test.ini
is "$status $(json .status)" "0 found" "a series of 12 shuffled mails is bisected"
culprit=$(json .culprit)
k log --git test.ini
cp out log
git clone -q repo replayed
sed -n 's/^# \(git fetch .*\)/\1/p' log >fetch
[ "$(wc -l <fetch)" = 1 ] && (cd replayed && sh ../fetch 2>/dev/null) && git -C replayed bisect replay ../log >/dev/null 2>&1
ok $? "log --git says how to fetch the commits, and is replayed then"
is "$(git -C replayed rev-parse refs/bisect/bad)" "$culprit" "and the bad ref is the culprit"
k run --json test.ini
is "$(ours log -1 --format='%s|%an|%ae|%ad|%cn|%ce' --date=raw "$culprit")" \
	"mm: [slow] the guilty one|Séa 7|sea7@example.org|1600007000 +0530|kregress|kregress@localhost" \
	"the culprit is patch 7, with its author and date"
by_am v1 patches/000[1-9]-*.patch patches/001*.patch
is "$(wc -l <am-trees | tr -d ' ')" 12 "git am applies the 12 patches"
same_trees v1 "the tree of each commit is the one that git am makes"
is "$(ours log --reverse --format=%B "$(rev v1)..$(json .bad.commit)")" \
	"$(git -C clone log --reverse --format=%B v1..HEAD)" "so are the texts of the commits"
is "$(ours log --reverse --format='%an %ae %ad' --date=raw "$(rev v1)..$(json .bad.commit)")" \
	"$(git -C clone log --reverse --format='%an %ae %ad' --date=raw v1..HEAD)" \
	"so are the authors and their dates"
tip=$(json .bad.commit)
is "$(ours log --format=%ct -1 "$tip")" "$(($(git -C repo log --format=%ct -1 v1) + 12))" \
	"each commit is a second younger than the one before"
is "$(json .good.commit)" "$(rev v1)" "the good end is the base"
n=$(json '[.tested[2:][]] | length')
[ "$n" -ge 3 ] && [ "$n" -le 4 ]
ok $? "12 patches took $n steps"
k run test.ini
answers 0 "the guilty one" "the answer has the subject of the mail"
shape >after
cmp -s before after
ok $? "the user's repository is untouched, byte by byte"

# the same commits whatever the surroundings
first=$tip
rm -rf state "$XDG_CACHE_HOME"
git -C repo config apply.whitespace error-all
git -C repo config core.autocrlf true
git -C repo config commit.gpgsign true
git -C repo config user.name Somebody
git -C repo config i18n.commitEncoding latin1
mkdir -p "$HOME/.config/git" repo/.git/hooks
echo '* text eol=crlf' >"$HOME/.config/git/attributes"
printf '#!/bin/sh\nexit 1\n' >repo/.git/hooks/pre-applypatch
chmod +x repo/.git/hooks/pre-applypatch
cat >"$HOME/.gitconfig" <<-'EOF'
[apply]
	whitespace = error-all
[core]
	autocrlf = true
[mailinfo]
	scissors = true
[trailer "reviewed-by"]
	key = Hated-by
EOF
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=mailinfo.scissors GIT_CONFIG_VALUE_0=true \
	GIT_CONFIG_GLOBAL="$HOME/.gitconfig" GIT_INDEX_FILE=/nonexistent/index TZ=Asia/Tokyo \
	GIT_AUTHOR_DATE='1 +0000' GIT_COMMITTER_DATE='2 +0000' LC_ALL=C.UTF-8 \
	"$KREGRESS" run --json test.ini >out 2>err
is "$(json .bad.commit)" "$first" \
	"settings, hooks and environment of the user's git give the same commits"
rm -rf "$HOME/.gitconfig" "$HOME/.config" repo/.git/hooks/pre-applypatch
git -C repo config --remove-section apply
git -C repo config --unset core.autocrlf
git -C repo config --unset commit.gpgsign
git -C repo config --unset i18n.commitEncoding

# mails that went through mailers
for kind in quoted-printable base64 iso-8859-1 crlf; do
	case $kind in
	crlf) shuffled patches | sed 's/$/\r/' >series.mbox ;;
	*)
		mkdir -p sent
		for f in patches/*.patch; do
			send "$kind" <"$f" >"sent/$(basename "$f")"
		done
		shuffled sent >series.mbox
		;;
	esac
	rm -rf state "$XDG_CACHE_HOME"
	k run --json test.ini
	is "$status $(json .bad.commit)" "0 $first" "mails sent as $kind give the same commits"
done

# trailers in replies, an older version, discussion
shuffled patches >series.mbox
cat >>series.mbox <<-'EOF'
From mboxrd@z Thu Jan  1 00:00:00 1970
From: Bob <bob@example.org>
Subject: Re: [PATCH 06/12] =?UTF-8?q?mm:=20=C3=A9t=C3=A9,=20a=20subject?=
 =?UTF-8?q?=20with=20=C3=A9=20and=20a=20body?=
Message-ID: <r1@example.org>
Date: Mon, 20 Nov 2023 10:00:00 +0000

> Acked-by: Nobody <quoted@example.org>
Looks good.

Reviewed-by: Bob <bob@example.org>

diff --git a/mm/x.c b/mm/x.c
--- a/mm/x.c
+++ b/mm/x.c
@@ -1,3 +1,3 @@
-1
+one
 2
 3
EOF
rm -rf state
k run --json test.ini
is "$status $(json .status)" "0 found" "a reply with a diff is no patch"
is "$(ours log -1 --format='%(trailers:only)' "$(json .bad.commit)~6" | sed '/^$/d' | sort)" \
	"Reviewed-by: Bob <bob@example.org>
Signed-off-by: Ada <ada@example.org>" "its trailer goes to the patch that it answers"
same_trees v1 "trees are the same as without it"

# another release: lines have moved
shuffled patches >series.mbox
rm -rf state
BASE=v1.1
series test.ini
k run --json test.ini
is "$(ours log -1 --format=%s "$(json .culprit)")" "mm: [slow] the guilty one" \
	"on another release, where lines have moved, the guilty patch is found"
by_am v1.1 patches/000[1-9]-*.patch patches/001*.patch
same_trees v1.1 "the trees are those that git am makes there"
is "$(git -C clone rev-list --count v1.1..HEAD)" 12 "git am applies the 12 patches there"

# resume: nothing is measured twice, nothing applied twice
before=$(calls)
mv series.mbox kept.mbox
cp kept.mbox series.mbox
k -v run test.ini
is "$(calls)" "$before" "run again measures nothing"
! grep -q 'git .*mailsplit\|commit-tree' err
ok $? "run again applies nothing"
k status test.ini
answers 0 "the guilty one" "status knows the patch"
rm -rf state
DELAY=0.3 "$KREGRESS" run --json test.ini >out 2>err &
pid=$!
tries=0
: >calls
while [ "$(calls)" -lt 4 ] && [ $tries -lt 200 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -TERM $pid
wait $pid
is $? 130 "stopped in the middle"
rm -rf "$XDG_CACHE_HOME"
k run --json test.ini
is "$(ours log -1 --format=%s "$(json .culprit)")" "mm: [slow] the guilty one" \
	"goes on where it stopped, also when the cache was emptied"

# a fix: the series makes it faster
BASE=v1
git -C repo checkout -q main
echo 30 >repo/value
git -C repo commit -q -am "slow from the start"
git -C repo tag slow-base
git -C repo checkout -q --detach main
for i in 1 2 3 4; do
	if [ $i = 3 ]; then echo 10 >repo/value; else echo $i >repo/tools/f$i; fi
	patch $i "fix step $i"
done
git -C repo format-patch -q --stdout slow-base..HEAD >fix.mbox
git -C repo checkout -q main
SERIES=fix.mbox
BASE=slow-base
STATE=state-fix
THRESHOLD=auto
series fix.ini 'hunt = fix'
k run --json fix.ini
is "$status $(ours log -1 --format=%s "$(json .culprit)")" "0 fix step 3" "hunt = fix names the patch that fixes it"
is "$(json .bad.commit)" "$(rev slow-base)" "in a fix hunt the base is the bad end"

# a build of the user's own, and the culprit reverted on the last patch
BASE=v1
SERIES=series.mbox
STATE=state-build
THRESHOLD=+20%
cat >build.sh <<-'EOF'
#!/bin/sh
git -C repo show "$KREGRESS_COMMIT:value" >"$KREGRESS_IMAGE" &&
	cmp "$KREGRESS_SRC/value" "$KREGRESS_IMAGE"
EOF
cat >read.sh <<-'EOF'
#!/bin/sh
echo "kregress: metric ms $(cat "$KREGRESS_IMAGE") ms"
EOF
chmod +x build.sh read.sh
series build.ini
sed -i 's/^type = none/type = kernel\ncommand = .\/build.sh/; s/measure.sh/read.sh/' build.ini
printf '[confirm]\nboots = 2\nrevert = yes\n' >>build.ini
k run --json build.ini
is "$status $(ours log -1 --format=%s "$(json .culprit)")" "0 mm: [slow] the guilty one" \
	"a build command sees the commits of the series"
k run build.ini
grep -q "^Reverted on the bad end, the difference is gone" out
ok $? "the culprit is reverted on the last patch"

# names of the user's repository are known beside the commits of the series
STATE=state-skip
series skip.ini "skip = $(ours rev-parse "$first~8")"
k run --json skip.ini
is "$status $(json "[.tested[] | select(.commit == \"$(ours rev-parse "$first~8")\")] | length")" "0 0" \
	"a commit of the series can be skipped"
STATE=state-skip2
series skip.ini "skip = v1.1~1..v1.1"
k run skip.ini
grep -q "is not between the ends" err
ok $? "skip = knows the names of the user's repository"

# a shallow clone that has the base and nothing before it, in place of the repository
git clone -q --depth 1 --branch v1 "file://$PWD/repo" shallow 2>/dev/null
mv repo deep
mv shallow repo
for cache in old new; do
	STATE=state-shallow-$cache
	series shallow.ini
	k run --json shallow.ini
	is "$status $(ours log -1 --format=%s "$(json .culprit)")" "0 mm: [slow] the guilty one" \
		"a shallow clone that has only the base is enough, with the $cache cache"
	rm -rf "$XDG_CACHE_HOME"
done
done_testing
