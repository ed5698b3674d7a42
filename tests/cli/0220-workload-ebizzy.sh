#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ebizzy: its rate, times and options against the wall clock, its record counts and its areas.

run=${KREGRESS_BUILD:-build}/workloads/ebizzy
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

ok() { # STATUS TITLE
	nr=$((nr + 1))
	[ "$1" = 0 ] && { echo "ok $nr - $2"; return; }
	failed=1
	echo "not ok $nr - $2"
	sed 's/^/# /' "$tmp/out"
}

metric() { # NAME: its value in $tmp/out, nothing unless there is exactly one line with a number
	awk -v name="$1" '$1 == "kregress:" && $2 == "metric" && $3 == name { v = $4; n++ }
		END { if (n == 1 && v ~ /^[0-9]+([.][0-9]+)?$/) print v }' "$tmp/out"
}

holds() { # AWK-CONDITION TITLE: rate, user, sys: metrics; rec, el: counts of -v; wall, faults: from outside
	el=$(awk '/ records in .* s$/ { print $4 }' "$tmp/out")
	rec=$(awk '/ records in .* s$/ { print $1 }' "$tmp/out")
	echo "# rate $(metric records_s), $rec records in $el s, user $(metric user_s), sys $(metric sys_s), wall $wall, faults $faults"
	awk -v rate="$(metric records_s)" -v user="$(metric user_s)" -v sys="$(metric sys_s)" \
		-v rec="$rec" -v el="$el" -v wall="$wall" -v faults="$faults" \
		"BEGIN { if (rate == \"\" || user == \"\" || sys == \"\" || el == \"\") exit 1; exit !($1) }"
	ok $? "$2"
}

child_faults() { # page faults of all children of this shell that have ended: cminflt of proc(5)
	sed 's/.*) //' "/proc/$$/stat" | cut -d ' ' -f 9
}

timed() { # ARGS...
	faults=$(child_faults)
	before=$(date +%s%N)
	"$run" "$@" >"$tmp/out" 2>&1
	status=$?
	wall=$(echo "$before $(date +%s%N)" | awk '{ printf "%.9f", ($2 - $1) / 1e9 }')
	faults=$(($(child_faults) - faults))
	return $status
}

echo 1..33
timed -v -S 0.7 -t 2
ok $? "a run of 0.7 s with 2 threads ends well"
# the shell, fork and exec are in the wall time; nothing of it is missing from the run's time
holds 'el >= 0.7 && el <= wall && wall < el + 2' "its elapsed time is 0.7 s or a bit more and lies within the wall clock"
holds 'rec > 0 && rate * el > rec - 1 && rate * el < rec + 1' "the rate times the elapsed time is the number of records"
holds 'user + sys > 0 && user + sys <= 2 * el + 0.1' "2 threads use CPU time, and no more than twice the elapsed time"
awk -v rate="$(metric records_s)" '/^[0-9]+ records\/s$/ && $1 == int(rate) { n++ } END { exit n != 1 }' "$tmp/out"
ok $? "the line of ebizzy 0.2 has the rate in whole records/s"
awk -v user="$(metric user_s)" -v sys="$(metric sys_s)" -v el="$el" '
	function near(a, b) { return a - b < 0.0051 && b - a < 0.0051 }
	/^real +[0-9]+[.][0-9][0-9] s$/ && near($2, el) { r++ }
	/^user +[0-9]+[.][0-9][0-9] s$/ && near($2, user) { u++ }
	/^sys +[0-9]+[.][0-9][0-9] s$/ && near($2, sys) { s++ }
	END { exit !(r == 1 && u == 1 && s == 1) }' "$tmp/out"
ok $? "the lines real, user and sys of ebizzy 0.2 have the times with two decimals"

timed -vv -S 0.3 -t 3 -n 7 -s 96k
grep -q '^3 threads, 7 chunks of 98304 bytes, 0.300 s$' "$tmp/out"
ok $? "-t, -n, -s and -S arrive"
awk '/^thread / { sum += $3; n++ } / records in / { rec = $1 } END { exit !(n == 3 && sum == rec && rec > 0) }' "$tmp/out"
ok $? "the threads' records add up to all records"

timed -v -S 0.01
cpus=$(getconf _NPROCESSORS_ONLN)
grep -q "^$((2 * cpus)) threads, 10 chunks of 524288 bytes, " "$tmp/out"
ok $? "defaults are 2 threads for each of the $cpus CPUs, 10 chunks, and 512 kB"
"$run" --help | grep -q 'run time.*default 10)'
ok $? "the default run time is 10 s"

# 2 threads, asleep 50 ms after every 5 records, for 1 s: at most 20 times 5 records each
timed -v -S 1 -t 2 -s 4k -a 5 -i 50000
ok $? "a sleeping run ends well"
holds 'rec <= 2 * 5 * 20 && rec >= 2 * 5 * 5 && rec % 5 == 0' "-a 5 -i 50000 lets each thread do 5 records in 50 ms"
holds 'user + sys < 0.5 * el' "sleeping threads leave the CPU idle"
timed -v -S 1 -t 2 -s 4k -i 50000
holds 'rec <= 2 * 20 && rec >= 2 * 5' "-i without -a sleeps after every record"
timed -v -S 0.2 -t 1 -i 3600000000
holds 'rec == 1 && el < 1' "a long sleep does not outlast the run"

# 64 kB are 16 pages: with -m each record faults them in anew, without it malloc keeps the memory
timed -v -S 0.3 -t 1 -s 64k -m
holds 'faults >= 16 * rec && faults < 16 * rec + 3000' "-m maps 16 new pages for each record of 64 kB"
timed -v -S 0.3 -t 1 -s 64k -m -T
holds 'faults >= 16 * rec && faults < 16 * rec + 3000' "-T touches 16 pages for each record of 64 kB"
timed -v -S 0.3 -t 1 -s 64k -m -R
holds 'faults > 8 * rec && faults < 9 * rec + 3000 && rec > 1000' "-R copies half as much on average"
timed -v -S 0.3 -t 1 -s 64k
holds 'faults < rec' "without -m memory is reused"

for option in -T -l -m -M -R -z -p -P '-T -m' '-R -l -z -m' '-p -m' '-P -m'; do
	timed -v -S 0.1 -t 2 -s 64k $option
	holds 'rec > 0 && el >= 0.1' "$option runs and counts records"
done

# 7 chunks of 64 kB with a page between: no area of maps is larger than one chunk
areas() { # OPTION: number of areas of 60 to 69 kB in a running ebizzy
	"$run" -S 1 -t 1 -n 7 -s 64k -i 900000 $1 >/dev/null &
	pid=$!
	sleep 0.3
	awk '{ sub(/ .*/, ""); print }' "/proc/$pid/maps" | tr a-f A-F >"$tmp/out"
	wait $pid
	n=0
	for range in $(cat "$tmp/out"); do
		kb=$(((0x${range#*-} - 0x${range%-*}) / 1024)) 2>/dev/null
		[ "$kb" = 64 ] && n=$((n + 1))
	done
	echo $n
}
[ "$(areas -p)" = 7 ]
ok $? "-p keeps 7 chunks in 7 areas"
[ "$(areas -P)" = 7 ]
ok $? "-P keeps 7 chunks in 7 areas"
exit $failed
