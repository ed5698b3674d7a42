#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real kernels bisected on a machine over SSH, each started by kexec; one of them panics at boot.
. "$(dirname "$0")/lib-machine.sh"

# what mends the kernel that does not boot
bad=$(git -C "$demo/linux" rev-list "$broken..demo-bad" -- kernel/user.c | tail -n 1)

{
	cat <<-END
	[campaign]
	name = ssh-kexec
	repo = $demo/linux
	good = $good
	bad = $bad
	paths = mm/mmap.c kernel/user.c
	state = $tmp/state
	[build]
	config = tinyconfig
	fragments = $machine_fragments
	END
	target_lines 'setup = aslr=off thp=always'
	cat <<-END
	[workload]
	use = mmap_fragmenter
	args = --count 20 --size 4632k --points 20000
	metric = vmas
	timeout = 1m
	[measure]
	runs_per_boot = 2
	warmup_runs = 0
	end_boots = 2
	max_boots = 3
	[verdict]
	threshold = auto
	better = lower
	[confirm]
	revert = yes
	boots = 1
	END
} >c.ini

of() { # COMMIT FIELD: of what was tested
	json "[c['$2'] for c in r['tested'] if c['commit'] == '$1']"
}

sql() {
	sqlite3 "$tmp/state/campaign.db" "$1"
}

up

k run --json c.ini
is "$status" 0 "the campaign finds a culprit"
is "$(json 'r["status"], r["culprit"]')" "('found', '$slow')" "it is the planted commit"
is "$(of "$good" verdict)$(of "$bad" verdict)$(of "$slow" verdict)" "['good']['bad']['bad']" \
	"ends and culprit have their verdicts"
is "$(of "$broken" outcome)$(of "$broken" verdict)" "['boot_failed']['skip']" \
	"the commit that panics at boot did not boot, and is skipped"
k log c.ini
answers 0 'uid hash: ' "the log has the panic's line, which only the console showed"
# A good kernel merges what the slow one keeps apart.
k run --json c.ini
is "$(json '[sorted(set(c["samples"])) for c in r["tested"][:2]]')" "[[1.0], [20.0]]" \
	"20 mappings are one area at the good end, and 20 at the bad"

# The machine's own console is the witness: each boot that was measured came up under our kernel.
sql "select boot_id from trial where outcome = 'ok' and coalesce(twin, 0) = 0" >boots
n=$(wc -l <boots)
sort -u boots >measured
is "$(wc -l <measured)" "$n" "no two trials share a boot"
sed -n 's/^machine: up, boot \([^ ]*\) of .*-kregress.*/\1/p' "$(m console-path)" | sort -u |
	comm -12 - measured >witnessed
is "$(wc -l <witnessed)" "$n" "the console shows each of them under a kernel of ours"
is "$(sql "select count(*) > 0 from trial where purpose = 'canary'")" 1 \
	"the last kernel that worked was booted before the failure counted"

given_back
done_testing
