#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# status.html: there while a campaign runs, whole at every moment, and never a reason to fail.
. "$(dirname "$0")/lib.sh"
validate=$top/tests/cli/validate

measure_sh
merged_history repo
campaign test.ini
printf '[confirm]\nboots = 2\n' >>test.ini
# as a browser would: look again and again while it runs
DELAY=0.1 "$KREGRESS" run test.ini >out 2>err &
pid=$!
looks=0 live=0 torn=0
while kill -0 "$pid" 2>/dev/null; do
	if [ -e state/status.html ]; then
		cat state/status.html >seen 2>/dev/null && looks=$((looks + 1))
		[ "$(tail -n 1 seen)" = "</html>" ] || torn=$((torn + 1))
		! grep -q 'http-equiv="refresh"' seen || { live=$((live + 1)); cp seen running.html; grep Now: seen >>now; }
	fi
	sleep 0.02
done
wait "$pid"
status=$?
is "$status" 0 "the campaign ends"
[ "$looks" -gt 5 ] && [ "$live" -gt 5 ]
ok $? "the page was there while it ran ($looks looks, $live of them at a page that loads itself again)"
is "$torn" 0 "and whole each time"
python3 "$validate" html running.html >>err
ok $? "a page of a running campaign is valid"
grep -q 'Now: boot [0-9]* of [0-9a-f]\{12\} (\(ends\|search\))' now
ok $? "it says what is being done"
python3 "$validate" html state/status.html >>err
ok $? "the last page is valid"
! grep -q 'http-equiv="refresh"' state/status.html && grep -q "$(rev slow | cut -c 1-12) is the first bad commit" state/status.html
ok $? "it has the answer, and does not load itself again"
is "$(grep -o 'href="trials/[0-9]*/[a-z.]*"' state/status.html | sed 's/href="//; s/"//' | while read -r f; do [ -f "state/$f" ] || echo "$f"; done)" "" \
	"its links lead to the logs beside it"
is "$(ls state | grep -c 'status.html.')" 0 "nothing is left beside it"

# what cannot be written is no failure
rm -r state
mkdir -p state/status.html
k run --json test.ini
is "$status $(json .status)" "0 found" "a page that cannot be written does not matter"
rm -r state
mkdir -p state/status.html.new
k run --json test.ini
is "$status $(json .status)" "0 found" "nor one that cannot be begun"

# a failure of the lab ends the page, too
rm -rf state
sed -i 's/^case \$value in/[ "$(wc -l <calls)" -lt 6 ] || exit 128\n&/' measure.sh
: >calls
k run test.ini
is "$status" 128 "a lab that fails"
! grep -q 'http-equiv="refresh"' state/status.html && grep -q 'stopped: ' state/status.html
ok $? "is said on a page that does not load itself again"

# it must not slow the loop: pages take their share of the time and no more
cat >measure.sh <<'EOS'
#!/bin/sh
echo "kregress: metric ms $((10 + KREGRESS_TRIAL % 2)) ms"
EOS
rm -rf state
start=$(date +%s%N)
k -v run -o measure.end_boots=100 -o measure.max_boots=100 -o verdict.threshold=auto test.ini
all=$((($(date +%s%N) - start) / 1000))
is "$(sqlite3 state/campaign.db 'SELECT count(*) FROM trial')" 200 "200 short trials"
sed -n 's/.*status.html: made in \([0-9.]*\) ms.*/\1/p' err >pages
awk -v all="$all" '{ sum += 1000 * $1 } END { printf "# %d pages took %.0f of %.0f ms\n", NR, sum / 1000, all / 1000; exit !(NR >= 2 && sum < 0.05 * all + 50000) }' pages
ok $? "the pages took less than a twentieth of the time"
done_testing
