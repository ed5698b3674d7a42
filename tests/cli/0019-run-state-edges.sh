#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a state directory and an environment can do to a run: mended ends, damage, read-only disks.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign test.ini
cp measure.sh plain.sh

sed "s/^case \$value in/[ \$KREGRESS_COMMIT != $(rev v2) ] || exit 1\n&/" plain.sh >measure.sh
k run --json test.ini
is "$status $(json .status)" "1 no_culprit" "a bad end that crashes ends without a culprit"
cp plain.sh measure.sh
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "what failed was mended: the next run tries the end again"
k status --json test.ini
is "$(json .culprit)" "$(rev slow)" "and status agrees afterwards"

(trap '' HUP; DELAY=0.2 exec "$KREGRESS" run -o campaign.state=hup test.ini >hup.out 2>&1) &
pid=$!
sleep 0.7
kill -HUP $pid
wait $pid
is $? 0 "a hangup that nohup ignores does not stop it"

sed 's/\$value ms"/$value $([ "$value" = 20 ] \&\& echo s || echo ms)"/' plain.sh >measure.sh
k run --json -o campaign.state=units test.ini
is "$status $(json '.tested[1].outcome')" "1 garbled" "a unit that changes between commits is garbled output, not a value"
cp plain.sh measure.sh

: >state/campaign.db
mkdir -p state/trials
k run test.ini
refused 128 "empty" "a store that lost its bytes beside its trials is not taken for a new campaign"
rm -rf state

echo 'env | grep ^KREGRESS_ >env.txt' >>measure.sh
KREGRESS_IMAGE=stale KREGRESS_SRC=stale k run test.ini
is "$(grep -c stale env.txt)" 0 "stale KREGRESS_ settings do not reach the command"
cp plain.sh measure.sh

"$KREGRESS" run --json -o campaign.state=closed test.ini <&- >&- 2>err
is $? 0 "closed standard files do no harm"
k status --json -o campaign.state=closed test.ini
is "$(json .culprit)" "$(rev slow)" "the store is whole"

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	unshare -m sh -c "mount --bind state state && mount -o remount,bind,ro state &&
		exec '$KREGRESS' status --json test.ini" >out 2>err
	is "$? $(json .culprit)" "0 $(rev slow)" "status reads a state on a read-only file system"
else
	skip "not root" "status reads a state on a read-only file system"
fi

git -C repo checkout -q main
n=$(git -C repo rev-list --count --first-parent v1..HEAD)
k run --json -o campaign.state=at -o "campaign.good=@~$n" test.ini
is "$(json .good.commit)" "$(git -C repo rev-parse "@~$n")" "@~N is HEAD~N"
done_testing
