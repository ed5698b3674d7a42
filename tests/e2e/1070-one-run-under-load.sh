#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# deterministic = yes: every regression of the demo is found with one run of each commit while the
# machine is loaded on purpose; and every verdict says what instruction-counted time cannot see.
. "$(dirname "$0")/lib.sh"
blind='contention are'

# load SEED: bursts of counting, of memory traffic and of nothing, for as long as we live
load() {
	python3 -c '
import os, random, sys, time
rng, parent = random.Random(int(sys.argv[1])), os.getppid()
memory = bytearray(64 << 20)
while os.getppid() == parent:
    end, what = time.monotonic() + rng.uniform(0.01, 0.4), rng.choice("cccmmi")
    while time.monotonic() < end:
        if what == "c":
            sum(range(20000))
        elif what == "m":
            memory[:32 << 20] = memory[32 << 20:]
        else:
            time.sleep(0.01)
' "$1" &
	loads="$loads $!"
}
busy_ticks() { # of our own load: user and system time, in clock ticks
	for pid in $loads; do
		sed 's/.*) //' "/proc/$pid/stat"
	done | awk '{ n += $12 + $13 } END { print n }'
}

loads=
for seed in 1 2 3; do
	load "$seed"
done
# shellcheck disable=SC2086
trap 'kill $loads 2>/dev/null; rm -rf "$tmp"' EXIT

for name in hugetlb-exit mmap-fragmenter ebizzy; do
	before=$(busy_ticks)
	campaign "$name" target.deterministic=yes confirm.revert=no confirm.boots=0 \
		measure.runs_per_boot=1 measure.warmup_runs=0 measure.end_boots=1 measure.max_boots=1
	is "$status" 0 "$name: one run of each commit finds a culprit"
	is "$(json 'r["culprit"]')" "$(truth "$name")" "$name: it is the planted commit"
	is "$(json 'max(len(c["samples"]) for c in r["tested"])')" 1 "$name: no commit has more than one value"
	is "$(json 'r["trials"] == len([c for c in r["tested"] if c["trials"]]) == r["samples"] + len([c for c in r["tested"] if c["trials"] and not c["samples"]])')" \
		True "$name: nor more than one boot"
	grep -q "contention are invisible" "$tmp/err"
	ok $? "$name: what is not seen is said"
	[ $(($(busy_ticks) - before)) -gt 100 ]
	ok $? "$name: the machine was loaded meanwhile"
done
# shellcheck disable=SC2086
kill $loads

# Each way to read a verdict, from what is stored.
# shellcheck disable=SC2086
k run $args "$top/configs/campaigns/ebizzy.ini"
answers 0 "$blind" "the report says what is not seen"
# shellcheck disable=SC2086
k status $args "$top/configs/campaigns/ebizzy.ini"
answers 0 "$blind" "so does status"
# shellcheck disable=SC2086
k replay $args "$top/configs/campaigns/ebizzy.ini"
answers 0 "$blind" "so does replay"
# shellcheck disable=SC2086
k test $args -c "$top/configs/campaigns/ebizzy.ini" "$(truth ebizzy)"
cat err >>out
answers 1 "$blind" "so does test"
# shellcheck disable=SC2086
k replay --json $args -o workload.metric=user_s "$top/configs/campaigns/ebizzy.ini"
is "$(json 'r["after"]["good"]["estimate"] == float(__import__("subprocess").getoutput("sqlite3 state-ebizzy/campaign.db \"SELECT value FROM sample WHERE metric = \x27user_s\x27 ORDER BY trial LIMIT 1\""))')" \
	True "another metric can decide again, with the values that were stored beside it"
done_testing
