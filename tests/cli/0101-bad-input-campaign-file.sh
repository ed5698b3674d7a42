#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each kind of mistake in a campaign file is refused by line, before anything is written.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign good.ini

# wrong WORDS TITLE: test.ini is refused with its name and the words
wrong() {
	k run test.ini
	[ $status = 129 ] && [ ! -s out ] && grep -qF -e "test.ini" err && grep -qF -e "$1" err && [ ! -e state ]
	ok $? "$2"
}

edit() { # SED SCRIPT
	sed "$1" good.ini >test.ini
}

edit 's/^metric = /metrik = /'
wrong "metrik" "an unknown key"
grep -q "did you mean 'metric'" err
ok $? "with the one that is near"
grep -q "test.ini:$(grep -n metrik test.ini | cut -d: -f1):" err
ok $? "and its line"
edit 's/^\[workload\]/[worklod]/'
wrong "worklod" "an unknown section"
edit 's/^metric = .*/&\nmetric = ms/'
wrong "metric" "a key given twice"
edit '/^metric = /d'
wrong "metric" "a required key that is missing"
edit 's/^runs_per_boot = .*/runs_per_boot = one/'
wrong "one" "a number that is none"
edit 's/^runs_per_boot = .*/runs_per_boot = -1/'
wrong "-1" "a number that is too small"
edit 's/^runs_per_boot = .*/runs_per_boot = 99999999999999999999/'
wrong "99999999999999999999" "a number that is too large"
edit 's/^metric = .*/&\ntimeout = 5 parsecs/'
wrong "5 parsecs" "a unit that there is not"
edit 's/^threshold = .*/threshold = 20 %+/'
wrong "20 %+" "a threshold that is none"
edit 's/^threshold = .*/threshold = -20%/'
wrong "better" "a threshold whose sign contradicts better"
edit 's/^better = .*/better = smaller/'
wrong "smaller" "a word that is no choice"
edit 's/^metric = .*/&\nuse = .\/no-such-workload.ini/'
wrong "no-such-workload.ini" "a workload that is not there"
edit 's/^runs_per_boot = .*/&\nmin_boots = 5\nmax_boots = 2/'
wrong "max_boots" "min_boots above max_boots"
edit 's/^command = .*/&\naccel = kvm/'
wrong "accel" "a key of another target type"
edit 's/^command = .*/command = ".\/measure.sh/'
wrong "command" "an open quote in a command"
edit '/^command = /d'
wrong "command" "a command target without command"
printf 'repo = repo\n' >test.ini
cat good.ini >>test.ini
wrong "test.ini:1" "a key before any section"
{ cat good.ini; echo 'no equals sign here'; } >test.ini
wrong "no equals sign here" "a line that is none"
{ cat good.ini; printf 'effect = 2%%\000\n'; } >test.ini
wrong "test.ini:" "a NUL byte"
mkdir -p dir.ini
k run dir.ini
refused 129 "dir.ini" "a folder as campaign file"
cp good.ini test.ini
for setting in nonsense campaign.nonsense=1 nosuch.key=1 measure.runs_per_boot=zero =; do
	k run -o "$setting" test.ini
	[ $status = 129 ] && grep -qF -e "${setting%%=*}" err && [ ! -e state ]
	ok $? "-o $setting is refused by name"
done
k run --json -o verdict.threshold=15 -o campaign.state=elsewhere test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "-o sets a key over the file's"
[ -d elsewhere ] && [ ! -e state ]
ok $? "and the state is where -o says"
done_testing
