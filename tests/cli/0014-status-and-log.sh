#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# status and log read the store, and change nothing.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign test.ini

k status test.ini
answers 0 "State     not started" "status of a campaign that was never run"
answers 0 "Start with: kregress run test.ini" "says how to start"
k log test.ini
is "$status $(wc -c <out)" "0 0" "its log is empty"
grep -q "nothing yet" err
ok $? "and says so"
k status --json test.ini
is "$status $(json '.status, .good.commit, .bad.commit, (.tested | length)')" "0 interrupted
$(rev v1)
$(rev v2)
0" "status --json knows the ends before they are measured"
[ ! -e state ]
ok $? "nothing was written"

"$KREGRESS" run test.ini >/dev/null 2>&1
k status test.ini
answers 0 "found $(rev slow)" "status of a campaign at its end names the culprit"
is "$(awk '/^Tested/ { on = 1; next } !NF { on = 0 } on' out | wc -l)" "$("$KREGRESS" status --json test.ini | jq '.tested | length')" \
	"status lists each commit tested"
grep -q "^  good end  good  *$(rev v1 | cut -c 1-12)" out && grep -q "^  bad end   bad  *$(rev v2 | cut -c 1-12)" out
ok $? "status names the ends"

k log test.ini
is "$(grep -c '  trial  ' out)" "$(calls)" "log has a line for each trial"
is "$(grep -vc '^[0-9]\{4\}-[0-9][0-9]-[0-9][0-9] [0-9:]\{8\} +0000  [a-z]' out)" 0 "each line has its time and kind"
grep -q "  trial    $(rev slow | cut -c 1-12)  [0-9]* search, ok: 20" out
ok $? "log has the values"
[ "$(grep -c '  start ' out)" = 1 ] && [ "$(grep -c '  stop ' out)" = 1 ]
ok $? "log has the start and the stop"
k log --json test.ini
is "$(jq -r .commit out)" "$(cat calls)" "log --json has the commits in the order of measuring"
is "$(jq -s 'map(.trial) == [range(1; length + 1)]' out)" true "trials are numbered from 1"
is "$(jq -r '.samples[] | .metric + " " + (.value | tostring) + " " + (.warmup | tostring)' out | sort -u | sed 's/\.0 / /')" "ms 10 false
ms 20 false" "log --json has the samples"
is "$(jq -r '.outcome + " " + .purpose' out | sort -u)" "ok ends
ok search" "and outcomes and purposes"
done_testing
