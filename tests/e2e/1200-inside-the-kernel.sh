#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What changed inside the kernel: the confirmation of a regression that waits for grace periods
# names the wait, the softirqs that it takes, and the idle CPU; shares are those of the rows.
. "$(dirname "$0")/lib.sh"

ini=$top/configs/campaigns/hugetlb-exit.ini
state=$tmp/state
culprit=$(truth hugetlb-exit)
FRAGMENTS=${KREGRESS_TEST_FRAGMENTS:-qemu-x86_64 hugetlb thp stacks}

hunt() {
	"$KREGRESS" run -o "campaign.state=$state" -o "campaign.repo=$demo/linux" \
		-o "campaign.good=$culprit~1" -o "campaign.bad=$culprit" \
		-o "build.fragments=$FRAGMENTS" -o measure.end_boots=2 -o measure.runs_per_boot=2 \
		-o confirm.revert=no -o confirm.boots=3 -o confirm.profile=100 \
		-o confirm.observe_time=3s "$ini" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# Text of the notes of one kind for the trials of a commit, one after another.
notes() { # KIND COMMIT
	sqlite3 "$state/campaign.db" "SELECT text FROM note, trial WHERE kind = '$1'
		AND commit_id = '$2' AND purpose = 'confirm'
		AND substr(text, 1, instr(text, char(10)) - 1) = cast(trial.id AS TEXT)"
}

# Share of looks at which some thread was at a place that the pattern matches.
asleep() { # COMMIT PATTERN
	notes stacks "$1" | awk -v p="$2" '/^looks/ { total += $2; next }
		$0 ~ p { n += $1 } END { printf "%.1f\n", 100 * n / total }'
}

# Share of samples in a function.
profiled() { # COMMIT FUNCTION
	notes profile "$1" | awk -v f="$2" '/^samples/ { total += $2; next }
		$2 == f { n += $1 } END { printf "%.1f\n", 100 * n / total }'
}

# The row of a table of the report that ends in these words: parent's and culprit's share.
row() { # WORDS
	awk -v w="$1" 'index($0, w) && $1 ~ /%$/ && substr($0, length($0) - length(w) + 1) == w {
		print $1, $2; exit }' "$tmp/out" | tr -d %
}

near() { # A B LIMIT
	awk -v a="$1" -v b="$2" -v l="$3" 'BEGIN { d = a - b; exit !(d <= l && d >= -l) }'
}

hunt
is "$status" 0 "the campaign finds a culprit"
grep -q "^$culprit is the first bad commit" "$tmp/out"
ok $? "it is the planted one"
parent=$(git -C "$demo/linux" rev-parse "$culprit~1")

grep -q "The culprit's workload is asleep in synchronize_rcu under hugetlb_vmemmap_restore_folios" "$tmp/out"
ok $? "the report says where its threads sleep"
set -- $(row "asleep in synchronize_rcu under hugetlb_vmemmap_restore_folios")
wait=' D __wait_rcu_gp;synchronize_rcu[^;]*;.*hugetlb_vmemmap_restore_folios'
is "${1:-none} ${2:-none}" "$(asleep "$parent" "$wait") $(asleep "$culprit" "$wait")" \
	"with the shares that awk finds in the rows"
near "${2:-0}" 100 70 && near "${1:-100}" 0 5
ok $? "the culprit sleeps there for most of its run, its parent does not"

awk '/^Counters of the kernel/ { t = 1 } t && /softirqs\/RCU$/ { ok = 1 } /^Profile/ { t = 0 }
	END { exit !ok }' "$tmp/out"
ok $? "softirqs of RCU are among the counters that moved"
grep -q '^  [1-9][0-9]* moved beyond their own spread' "$tmp/out"
ok $? "some moved further than so many counters do by chance"

# From inside (threads that run) and from outside (program counters): the same share is idle.
set -- $(row default_idle)
is "${1:-none} ${2:-none}" "$(profiled "$parent" default_idle) $(profiled "$culprit" default_idle)" \
	"the profile's shares are those that awk finds in the rows"
near "${2:-0}" "$(asleep "$culprit" "$wait")" 25
ok $? "the CPU is idle outside for about as long as the thread sleeps inside"

dirs=$(sqlite3 "$state/campaign.db" "SELECT dir FROM trial WHERE purpose = 'confirm'")
whole=0
for d in $dirs; do
	for f in proc-before.txt proc-during.txt proc-after.txt stacks.txt profile.txt; do
		[ -s "$state/$d/$f" ] && whole=$((whole + 1))
	done
done
is "$whole" 30 "each of six boots has its five files"
is "$(sqlite3 "$state/campaign.db" "SELECT count(*) FROM sample, trial WHERE trial.id = trial
	AND purpose = 'confirm' AND metric = 'exit_ms'")" 18 \
	"runs that are looked at left no values: six boots of one warm-up and two runs"

cp "$tmp/out" "$tmp/first"
trials=$(sqlite3 "$state/campaign.db" "SELECT count(*) FROM trial")
hunt
sed -n '/^Where its threads/,/^Its kernel/p' "$tmp/first" >"$tmp/one"
sed -n '/^Where its threads/,/^Its kernel/p' "$tmp/out" >"$tmp/two"
[ -s "$tmp/one" ] && cmp "$tmp/one" "$tmp/two" >>"$tmp/err" &&
	is "$(sqlite3 "$state/campaign.db" "SELECT count(*) FROM trial")" "$trials" \
		"the same again, from the rows alone"
done_testing
