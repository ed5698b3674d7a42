#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# GRUB boots a kernel once; one that panics falls back to the default; all of it can be removed.
. "$(dirname "$0")/lib-machine.sh"

# The workload tells what GRUB's memory holds while it runs, and how the kernel was started.
cat >look.sh <<'END'
#!/bin/sh
grub-editenv /boot/grub/grubenv list >/root/seen.env
cat /proc/cmdline >/root/seen.cmdline
sync
echo "kregress: metric boots 1 boots"
END
chmod +x look.sh
cat >look.ini <<'END'
[workload]
name = look
description = looks around
command = ./look.sh
files = look.sh
[metric boots]
unit = boots
better = lower
END
{
	cat <<-END
	[campaign]
	name = ssh-grub
	repo = $demo/linux
	good = $good
	bad = $broken
	state = $tmp/state
	[build]
	config = tinyconfig
	fragments = $machine_fragments
	END
	INSTALL=grub target_lines
	cat <<-END
	[workload]
	use = look.ini
	metric = boots
	[measure]
	runs_per_boot = 1
	warmup_runs = 0
	[verdict]
	threshold = 10
	END
} >c.ini

up
saved=$(there 'grub-editenv /boot/grub/grubenv list' | grep '^saved_entry=')

k test -c c.ini "$good"
is "$status" 0 "a kernel is booted by GRUB, and is good"
is "$(there 'grep -c "BOOT_IMAGE=[^ ]*/kregress/image .* kregress=[0-9a-f]" /root/seen.cmdline')" 1 \
	"GRUB loaded it from our entry"
is "$(there 'cat /root/seen.env' | grep '^saved_entry=')" "$saved" \
	"while it ran the default was the one from before"
is "$(there 'grep -c "^next_entry=." /root/seen.env')" 0 "and the choice for one boot was used up"
given_back "after that"

k test --json -c c.ini "$broken"
is "$status $(json 'r["outcome"], r["verdict"]')" "125 ('boot_failed', 'skip')" \
	"a kernel that panics falls back to the default: it cannot be tested"
k log c.ini
answers 0 'uid hash: ' "the console has the reason"
is "$(sqlite3 state/campaign.db "select group_concat(purpose || ' ' || outcome, ', ') from trial where purpose = 'canary'")" \
	"canary ok" "the kernel that worked was booted once more before that counted"
given_back "after the fall-back"

# Killed while its kernel boots: all lies about, until somebody cleans.
STATE=state2
"$KREGRESS" test -c c.ini -o campaign.state=state2 -o target.install=grub "$good" >first.out 2>&1 &
victim=$!
for _ in $(seq 600); do
	there 'grub-editenv /boot/grub/grubenv list' | grep -q '^next_entry=kregress' && break
	sleep 0.1
done
kill -9 "$victim"
wait "$victim" 2>/dev/null
m wait-ssh
# the lock too, where it was on the disk by then
is "$(leftovers | grep -v 'kregress\.lock$' | tr '\n' ' ')" "/boot/grub/custom.cfg /boot/kregress /var/tmp/kregress " \
	"kregress was killed, and its kernel lies on the machine"
k clean c.ini
is "$status" 0 "kregress clean"
grep -q '/boot/kregress' out
ok $? "says what it removed"
given_back "then"
done_testing
