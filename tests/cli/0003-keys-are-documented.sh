#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every key of a campaign file is in the man page and in its help, and the other way round.
. "$(dirname "$0")/lib.sh"

k help keys
sort out >accepted
is "$(grep -c . accepted)" "$(sort -u accepted | grep -c '^[a-z]*\.[a-z_]*\(\.NAME\)\{0,1\}$')" "keys are listed once each"
[ "$(wc -l <accepted)" -ge 40 ]
ok $? "there are at least 40 of them"

awk '$1 == ".Ss" && $2 ~ /^\[/ { section = substr($2, 2, length($2) - 2); next }
	$1 == ".Ss" || $1 == ".Sh" { section = "" }
	section && $1 == ".It" && $2 == "Cm" { print section "." $3 }' "$top/doc/kregress.1" | sort >documented
is "$(comm -23 accepted documented)" "" "each accepted key is in the man page"
is "$(comm -13 accepted documented)" "" "each key of the man page is accepted"

k help campaign
awk '/^\[[a-z]*\]/ { section = substr($1, 2, length($1) - 2) }
	section && $2 == "=" && /^  [a-z]/ { print section "." $1 }' out | sort >explained
is "$(comm -3 accepted explained)" "" "help campaign explains the same keys"

if command -v mandoc >/dev/null; then
	is "$(mandoc -Tlint -Wwarning "$top/doc/kregress.1" 2>&1)" "" "mandoc finds nothing to warn of"
fi
done_testing
