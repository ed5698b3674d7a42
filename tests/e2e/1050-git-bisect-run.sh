#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# git bisect run kregress test, with kernels that are built and booted, ends at the planted commit.
. "$(dirname "$0")/lib.sh"

# A clone without files: the commits are picked, not checked out. The kernels are the demo's.
git clone -q --no-checkout "$demo/linux" clone
settings="-o campaign.state=$tmp/state -o campaign.repo=$demo/linux"
bisect_run() {
	# shellcheck disable=SC2086
	(cd clone && git bisect run "$KREGRESS" test $settings \
		-c "$top/configs/campaigns/mmap-fragmenter.ini") >out 2>err
	status=$?
}

git -C clone bisect start --no-checkout demo-bad demo-good >/dev/null
bisect_run
is "$status $(sed -n 's/ is the first bad commit$//p' out)" "0 $(truth mmap-fragmenter)" \
	"the first bad commit is the planted one"
git -C clone bisect log | sed -n 's/^git bisect \(good\|bad\|skip\) //p' | sort >asked
grep -qFx "$(truth build-broken | tail -n 1)" asked && grep -q '^skip [0-9a-f]*: build_failed: .*loadavg.c' out
ok $? "a commit that does not compile is skipped, with its first error"
is "$(git -C clone bisect log | sed -n 's/^git bisect bad //p' | while read -r c; do
	git -C "$demo/linux" merge-base --is-ancestor "$(truth mmap-fragmenter)" "$c" || echo "$c"
done)" "" "no commit without the planted one was called bad"
is "$(git -C clone status --porcelain | grep -vc '^D ')" 0 "no file was written to the clone"

# shellcheck disable=SC2086
"$KREGRESS" log --json $settings "$top/configs/campaigns/mmap-fragmenter.ini" >trials
is "$(python3 -c '
import json
print(" ".join(sorted({t["purpose"] for t in map(json.loads, open("trials"))})))')" "ends test" \
	"the store has the ends, and single commits"
git -C clone bisect reset >/dev/null 2>&1
git -C clone bisect start --no-checkout demo-bad demo-good >/dev/null
bisect_run
# shellcheck disable=SC2086
"$KREGRESS" log --json $settings "$top/configs/campaigns/mmap-fragmenter.ini" >again
[ -s trials ] && cmp trials again >>err
ok $? "the same bisection again boots nothing"
campaign mmap-fragmenter verdict.skips=git
is "$status" 0 "a campaign after it finds a culprit"
is "$(json 'r["culprit"]')" "$(truth mmap-fragmenter)" "and it is the planted one"
done_testing
