#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One kregress at a time on a state directory, and one campaign.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign test.ini

DELAY=2 "$KREGRESS" run test.ini >first.out 2>first.err &
pid=$!
tries=0
while [ "$(calls)" -lt 1 ] && [ $tries -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
k run test.ini
refused 128 "in use by another kregress, pid $pid" "a second run on the same state is refused with the pid of the first"
k status test.ini
answers 0 "not started" "status works beside it"
[ -d "/proc/$pid" ]
ok $? "the first one is not disturbed"
kill -TERM $pid
wait $pid
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "when it has ended, the next one goes on"

db=$(sha256sum state/campaign.db | cut -d' ' -f1)
BAD=v2~1
campaign other.ini
k run other.ini
refused 129 "belongs to another campaign" "the state of another campaign is refused"
grep -qF "'$tmp/state'" err && grep -q "bad = $(rev v2)" err && grep -q "bad = $(rev v2~1)" err
ok $? "the message names the state, and what differs"
grep -q "state = in \[campaign\]" err
ok $? "and the remedy"
for command in status doctor; do
	k $command other.ini
	[ $status = 129 ] && grep -q "belongs to another campaign" err
	ok $? "$command refuses it too"
done
k log other.ini
is "$status" 0 "log shows what is there"
is "$(sha256sum state/campaign.db | cut -d' ' -f1)" "$db" "the other campaign's store is untouched"

# the same ends by other names are the same campaign
GOOD=$(rev v1) BAD=main
campaign same.ini
n=$(calls)
k run --json same.ini
is "$status $(json .culprit) $(calls)" "0 $(rev slow) $n" "the same ends by other names go on with the same state"

# ends that were refused claim nothing: better ones go on with what was measured
GOOD=v2~1 BAD=v2 STATE=state-refused
campaign near.ini
k run near.ini
answers 1 "no difference" "ends that do not differ"
n=$(calls)
GOOD=v1
campaign far.ini
k run --json far.ini
is "$status $(json .culprit)" "0 $(rev slow)" "other ends in the same state directory are taken then"
[ "$(tail -n +$((n + 1)) calls | grep -c "$(rev v2)")" = 0 ]
ok $? "and the end that both have is not measured again"

echo "not a database, but long enough to look like one of those" >state/campaign.db
rm -f state/campaign.db-wal state/campaign.db-shm
k run same.ini
refused 128 "campaign.db" "a damaged store is exit 128 and named"
done_testing
