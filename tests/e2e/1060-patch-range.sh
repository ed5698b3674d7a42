#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A build fix for a range of real kernels: what did not compile is measured, all else stays as it was.
. "$(dirname "$0")/lib.sh"

# Two commits after the one that is slow do not compile; the history mends them with this patch.
# Its text is new each time, so that at least one kernel is really built here.
fix=$tmp/loadavg-helper-fix.patch
sed "s|^+.*;\$|& /* $(date +%s%N) */|" "$top/tests/e2e/history/loadavg-helper-fix.patch" >"$fix"
first=$(truth build-broken | head -n 1)
bad=$(truth build-broken | tail -n 1)
slow=$(truth mmap-fragmenter)

hunt() { # [SETTING]: from before the slow commit to the last that does not compile
	set -- "${1:-measure.end_boots=2}"
	k run --json -o "campaign.state=$tmp/state" -o "campaign.repo=$demo/linux" \
		-o "campaign.good=$slow~1" -o "campaign.bad=$bad" -o "$1" \
		"$top/configs/campaigns/mmap-fragmenter.ini"
}

of() { # COMMIT FIELD: of what was tested
	json "[c['$2'] for c in r['tested'] if c['commit'] == '$1']"
}

hunt
is "$status $(json 'r["status"]') $(of "$bad" outcome)" "1 no_culprit ['build_failed']" \
	"an end that does not compile: no culprit"
good=$(git -C "$demo/linux" rev-parse "$slow~1")
is "$(of "$good" trials)" "[1]" "the good end was booted"

hunt "build.patch.loadavg = $fix $first~1..$bad"
is "$status $(json 'r["culprit"]')" "0 $slow" "with the fix for its range the slow commit is found"
is "$(of "$bad" outcome)$(of "$bad" trials)" "['ok'][2]" "the end was built with it and measured"
is "$(of "$good" trials) $(json 'r["trials"] - sum(c["trials"] for c in r["tested"])')" "[2] 0" \
	"the good end's boot from before counts, and only the other was added"
grep -q "kernel of $(echo "$bad" | cut -c 1-12): .*patched: loadavg-helper-fix.patch" err
ok $? "which kernel got the patch is said"
is "$(grep -c 'patched:' err)" 1 "and no kernel outside the range got it"
built=$(sed -n 's/.* \([0-9a-f]\{12\}\) .*boot 1: .*\[build .*/\1/p' err | tail -n 1)
src=$(sed -n 's/^kregress: + make -C \([^ ]*\) .*/\1/p' "$tmp/state/builds/$built.log" | head -n 1)
[ -n "$src" ] && git -C "$demo/linux" show "$built:fs/proc/loadavg.c" | cmp - "$src/fs/proc/loadavg.c"
ok $? "the sources are left as the commit built last has them"
n=$(json 'r["trials"]')

hunt
is "$status $(json 'r["status"]') $(of "$bad" outcome)" "1 no_culprit ['build_failed']" \
	"without the fix the failure counts again"
is "$(json 'r["trials"]')" "$n" "and nothing is booted for that"
done_testing
