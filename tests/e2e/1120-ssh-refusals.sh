#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What keeps us from a machine is said, with the remedy, and is no word on any commit.
. "$(dirname "$0")/lib-machine.sh"

bench good slow
up
boot=$(there 'cat /proc/sys/kernel/random/boot_id')

lab() { # WORDS TITLE: exit 128, the words said, and nothing stored of the kernel
	[ "$status" = 128 ] && grep -qF -e "$1" err && [ "$(trials 1)" = 0 ]
	ok $? "$2"
	[ "$status" = 128 ] || echo "# exit status $status"
}

echo "[127.0.0.1]:$(m port) $(cut -d ' ' -f 1,2 "$(m key).pub")" >other_hosts
bench_campaign c.ini
k test -c c.ini -o target.known_hosts=other_hosts c2
lab "ssh-keygen -R" "another host key than the known one is refused, with the remedy"
: >no_hosts
k test -c c.ini -o target.known_hosts=no_hosts c2
lab "ssh-keyscan" "an unknown host key is refused, with the remedy"

eval "$(ssh-agent)" >agent.log
sed '/^identity/d' c.ini >agent.ini
k test -c agent.ini c2
lab "ssh-add" "an agent without keys"
ssh-add -q "$(m key)" && ssh-add -l >keys
k test -c agent.ini -o target.user=visitor c2
lab "sudo" "the key comes from the agent, but its user may not do anything"
kill "$SSH_AGENT_PID"
unset SSH_AUTH_SOCK

there 'dd if=/dev/zero of=/boot/fill bs=1M 2>/dev/null; sync'
k test -c c.ini -o target.install=grub c2
lab "/boot" "a full /boot"
is "$(leftovers)" "" "leaves nothing behind"
there 'rm /boot/fill; dd if=/dev/zero of=/var/tmp/fill bs=1M 2>/dev/null; sync'
k test -c c.ini c2
lab "0 MiB free" "a full disk where the kernel is sent to"
# on the disk too: the plug is pulled below
there 'rm /var/tmp/fill; rm -rf /var/tmp/kregress; sync'

is "$(there 'cat /proc/sys/kernel/random/boot_id')" "$boot" \
	"the machine was not booted for any of that"

there 'kill $(cat /run/dropbear.pid)'
bench_campaign quick.ini
k test -c quick.ini -o target.boot_timeout=3s -o target.power_cycle=false c2
lab "power_cycle = 'false' failed" "sshd is gone, and the power command fails"
m power-off
k test -c quick.ini -o target.boot_timeout=3s -o "target.power_cycle=sh -c 'exit 3'" c2
lab "exit status 3" "the machine is off, and the power command fails"

k test --json -c c.ini -o target.boot_timeout=60s c2
is "$status $(json '[(c["verdict"], c["samples"]) for c in r["tested"] if c["commit"] == r["commit"]]')" \
	"1 [('bad', [20.0])]" "a machine that is off is switched on, and measured"
grep -q 'power_cycle' err
ok $? "which is said"
given_back
done_testing
