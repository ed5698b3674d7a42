#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A commit that changes nothing in the image takes over what was measured on its twin.
. "$(dirname "$0")/lib.sh"

# The first commit of the history touches Documentation only.
first=$(git -C "$demo/linux" rev-list --reverse demo-good..demo-bad | sed -n 1p)
is "$(git -C "$demo/linux" diff --name-only demo-good "$first" | cut -d/ -f1 | sort -u)" \
	Documentation "the commit changes documentation only"
campaign mmap-fragmenter "campaign.bad=$first"
is "$(json 'r["status"]')" no_difference "its kernel does not differ from its parent's"
grep -q "identical" "$tmp/err"
ok $? "kregress says that the kernels are identical"
is "$(json '[c["trials"] for c in r["tested"]]')" "[2, 0]" "the twin was not booted"
is "$(json 'r["tested"][0]["samples"] == r["tested"][1]["samples"] != []')" True \
	"it has its twin's values"
done_testing
