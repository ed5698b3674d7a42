#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor names what is missing with its remedy, and its exit status says whether something is.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
campaign test.ini

only_findings() { # each line is a finding, then an empty one and the count
	awk '/^$/ { rest = 1; next } rest { if (!/^[0-9]+ problems?, [0-9]+ notes?$/) bad = 1; n++; next }
		!/^(ok|note|problem) +[a-z]+: ./ { bad = 1; print "# " $0 } END { exit bad || n != 1 }' out
}

k doctor test.ini
[ $status = 0 ] && [ ! -s err ] && only_findings
ok $? "a campaign with all it needs: findings on standard output, exit 0"
answers 0 "campaign: 24 commits between the ends, about 4 steps" "it counts the commits"
is "$(git -C repo rev-list --count v2 --not v1)" 24 "as git does"
answers 0 "command: './measure.sh'" "it finds the command"
is "$(grep -c 'flex\|qemu\|kvm' out)" 0 "what the campaign does not use is not looked at"
is "$(find . -name 'state*' | wc -l)" 0 "it writes no state"

chmod -x measure.sh
k doctor test.ini
refused 129 "not executable (chmod +x '$tmp/measure.sh')" "a command that is not executable is exit 129, with the remedy"
chmod +x measure.sh

# PATH without any of the tools
mkdir bin
PATH=$tmp/bin "$KREGRESS" doctor >out 2>err
status=$?
only_findings
ok $? "without a campaign and without tools: findings in the same form"
for pair in gcc:gcc ld:binutils make:make flex:flex bison:bison bc:bc perl:perl; do
	answers 1 "tool: ${pair%:*} is missing" "${pair%:*} is missed"
	grep -q "tool: ${pair%:*} .*apt-get install ${pair#*:})" out
	ok $? "with its package ${pair#*:}"
done
answers 1 "problem  qemu: 'qemu-system-x86_64' is missing (apt-get install qemu-system-x86)" "QEMU is missed"
grep -q '^note     tool: ccache is missing' out
ok $? "ccache is missed, but it is no problem"

# a QEMU that dies, and one that does not end a guest in time is a matter of real machines
if [ -e /dev/kvm ] && [ -w /dev/kvm ]; then
	printf '#!/bin/sh\necho "first line" >&2\necho "failed to set MSR" >&2\nexit 3\n' >bin/qemu-system-x86_64
	chmod +x bin/qemu-system-x86_64
	mkdir -p "$XDG_CACHE_HOME/kregress/kernels/key"
	: >"$XDG_CACHE_HOME/kregress/kernels/key/bzImage"
	PATH=$tmp/bin:/bin:/usr/bin "$KREGRESS" doctor >out 2>err
	status=$?
	grep -q "^note     kvm: .*a kernel does not start under it .*exit status 3: failed to set MSR.*TCG" out
	ok $? "a guest that does not start under KVM is a note with the last words of QEMU"
	printf '#!/bin/sh\nexit 0\n' >bin/qemu-system-x86_64
	PATH=$tmp/bin:/bin:/usr/bin "$KREGRESS" doctor >out 2>err
	grep -q "^ok       kvm: a kernel starts under it" out
	ok $? "a guest that runs to its reset is ok"
else
	PATH=$tmp/bin:/bin:/usr/bin "$KREGRESS" doctor >out 2>err
	printf '#!/bin/sh\nexit 0\n' >bin/qemu-system-x86_64
	chmod +x bin/qemu-system-x86_64
	PATH=$tmp/bin:/bin:/usr/bin "$KREGRESS" doctor >out 2>err
	grep -q "^note     kvm: cannot open '/dev/kvm'" out
	ok $? "a machine without KVM is a note"
fi

GOOD=nonesuch
campaign test.ini
k doctor test.ini
is $status 129 "an unknown revision in the campaign is exit 129"
grep -q "nonesuch" err
ok $? "and is named"
echo "[nonsense]" >test.ini
k doctor test.ini
refused 129 "test.ini:1" "a wrong campaign file is refused by line"
done_testing
