#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# compare with real kernels: a planted commit, its parent and the tip without it, with a setting of
# the guest, boot parameters, and a sweep over an argument of the workload.
. "$(dirname "$0")/lib.sh"

planted=$(truth hugetlb-exit)
compare() { # ARGS…
	k compare --json -o "campaign.state=$tmp/state" -o "campaign.repo=$demo/linux" \
		-o measure.runs_per_boot=1 -o measure.warmup_runs=1 -o compare.boots=2 "$@"
}

file=$top/configs/campaigns/hugetlb-exit.ini
compare "$file" "$planted~1" "$planted" "demo-bad~revert:$planted"
is "$status" 0 "three kernels are measured"
is "$(json '[k["commit"] for k in r["kernels"]][:2] == ["'"$(git -C "$demo/linux" rev-parse "$planted~1")"'", "'"$planted"'"]')" \
	True "parent and planted commit"
is "$(json 'len(r["kernels"][2]["reverted"]), r["kernels"][2]["base"] == "'"$(git -C "$demo/linux" rev-parse demo-bad)"'"')" \
	"(1, True)" "and the tip without it"
is "$(json 'r["cells"][1]["change_percent"] > 300')" True "the planted commit is many times slower than its parent"
is "$(json 'abs(r["cells"][2]["mean"] - r["cells"][0]["mean"]) < 0.2 * r["cells"][1]["mean"]')" True \
	"the tip without it is not"
is "$(json '[len(c["boots"]) for c in r["cells"]]')" "[2, 2, 2]" "of two boots each"
echo "# means $(json '[round(c["mean"], 3) for c in r["cells"]]')"
is "$(git -C "$demo/linux" status --porcelain | wc -l)" 0 "the user's tree is as it was"
is "$(sqlite3 "$tmp/state/campaign.db" "select count(distinct boot_id) from trial where outcome = 'ok'")" 6 \
	"in six boots of their own"

# the sweep reaches the workload, and the variant the guest: with fewer pages there is less to free
compare -o compare.boots=1 -o 'compare.sweep=pages 4,32' \
	-o 'compare.variant.cmdline=append="kregress.test=1" /proc/sys/vm/swappiness=7' "$file" "$planted"
is "$status" 0 "a sweep with a variant"
is "$(json 'r["cells"][1]["mean"] > r["cells"][0]["mean"]')" True "more pages take longer to free"
echo "# means $(json '[round(c["mean"], 3) for c in r["cells"]]')"
last=$(sqlite3 "$tmp/state/campaign.db" 'select dir from trial order by id desc limit 1')
grep -qa 'kregress.test=1' "$tmp/state/$last/console.log" "$tmp/state/$last/qemu.log" 2>/dev/null ||
	grep -rqa 'kregress.test=1' "$tmp/state/$last"
ok $? "the boot parameter reached the guest"
boots=$(sqlite3 "$tmp/state/campaign.db" 'select count(*) from trial')
compare "$file" "$planted~1" "$planted" "demo-bad~revert:$planted"
is "$status $(sqlite3 "$tmp/state/campaign.db" 'select count(*) from trial')" "0 $boots" "the first again boots nothing"

# where the time goes
compare --profile -o confirm.observe_time=500ms "$file" "$planted~1" "$planted"
is "$status" 0 "a profile of both"
is "$(json 'len(r["profiles"]) == 1 and len(r["profiles"][0]["symbols"]) > 5')" True "has symbols"
is "$(json '[abs(s["difference"]) for s in r["profiles"][0]["symbols"]] == sorted([abs(s["difference"]) for s in r["profiles"][0]["symbols"]], reverse=True)')" \
	True "the largest difference first"
echo "# $(json '[(s["symbol"], round(s["difference"], 1)) for s in r["profiles"][0]["symbols"]][:3]')"
is "$(json '[len(c["boots"]) for c in r["cells"]]')" "[2, 2]" "whose boots do not count"
done_testing
