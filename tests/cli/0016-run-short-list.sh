#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Where only commits that cannot be tested are left, they are listed, each with what it failed of.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
linear repo 1 4 10
git -C repo tag v1
linear repo 5 7 10
commit repo broken-a skip
commit repo broken-b fail
commit repo broken-c nan
linear repo 8 12 20
git -C repo tag v2
campaign test.ini
k run test.ini
answers 1 "the first bad commit is one of these 4" "four are left: three that fail and the first one measured bad"
for pair in 'broken-a:cannot be tested' 'broken-b:crashed' "broken-c:no valid value in the workload's output"; do
	id=$(git -C repo log --format=%H --grep "^${pair%%:*}\$")
	grep -A1 "^  $id ${pair%%:*}\$" out | grep -qF "    ${pair#*:}"
	ok $? "${pair%%:*} is listed with what it failed of"
done
answers 1 "Skipped (3)" "they are counted as skipped"
k status --json test.ini
is "$(json .status)" short_list "short_list in JSON"
git clone -q repo clone
git -C clone bisect start v2 v1 >/dev/null 2>&1
git -C clone bisect run sh -c 'v=$(cat value); case $v in skip|fail|nan) exit 125 ;; esac; [ "$v" -le 12 ]' >log 2>&1
is "$(json '.candidates[].commit' | sort)" "$(sed -n '/could be any of/,$p' log | grep -o '^[0-9a-f]\{40\}$' | sort)" \
	"git bisect names the same commits"
is "$(json '.candidates | length')" 4 "and they are four"
done_testing
