#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command explains itself; wrong command lines are refused with a way on.
. "$(dirname "$0")/lib.sh"

narrow() { # no line of out is wider than 80 characters
	LC_ALL=C.UTF-8 awk 'length > 80 { bad = 1; print "# " $0 } END { exit bad }' out
}

k --help
commands=$(awk '/^Commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }' out)
is "$(echo "$commands" | tr '\n' ' ')" "run test status log compare report replay doctor clean init help " \
	"the commands listed are those that there are"

for command in $commands; do
	for flag in -h --help; do
		k "$command" $flag
		[ $status = 0 ] && [ ! -s err ] && head -n 1 out | grep -q "^Usage: kregress $command" && narrow
		ok $? "$command $flag is on standard output, exits 0, and fits 80 columns"
	done
	cp out by-flag
	k help "$command"
	[ $status = 0 ] && cmp -s out by-flag
	ok $? "help $command is the same text"
	k "$command" --no-such-option
	refused 129 "Try 'kregress $command --help'" "$command refuses an unknown option"
done

for flag in -h --help help; do
	k $flag
	[ $status = 0 ] && [ ! -s err ] && head -n 1 out | grep -q '^Usage: kregress ' && narrow
	ok $? "kregress $flag is on standard output, exits 0, and fits 80 columns"
done

k help campaign
[ $status = 0 ] && grep -q '^\[verdict\]' out && narrow
ok $? "help campaign explains the sections in 80 columns"
k help workloads
[ $status = 0 ] && grep -q '^hugetlb_exit' out && grep -q exit_ms out
ok $? "help workloads lists hugetlb_exit and its metric exit_ms"

k --version
is "$status $(cat out)" "0 kregress $(cat "$top/VERSION")" "--version is that of the file VERSION"
k
refused 129 "Try 'kregress --help'" "no command at all is refused"
k rnu
refused 129 "did you mean 'run'?" "a mistyped command is refused with the nearest one"
k zzzzzz
grep -q 'did you mean' err
is $? 1 "a word that is near no command gets no guess"
k help campain
refused 129 "did you mean 'campaign'?" "a mistyped topic is refused with the nearest one"
k -C /no/such/folder status
refused 129 "'/no/such/folder'" "-C to a folder that is not there is refused"
k run --json=yes
refused 129 "'--json=yes' takes no value" "a value for an option that takes none is refused"
k run -o
refused 129 "'-o' needs a value" "a missing value is refused"
k run a.ini b.ini
refused 129 "one campaign file at a time" "two campaign files are refused"
k run
refused 129 "kregress init" "no campaign file here or above: says how to make one"
k run no-such.ini
refused 129 "no-such.ini" "a campaign file that is not there is refused by name"
"$KREGRESS" --help >/dev/full 2>err
is $? 128 "an answer that cannot be written is a failure"
done_testing
