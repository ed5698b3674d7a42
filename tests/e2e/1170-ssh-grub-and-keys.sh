#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A GRUB that does not read custom.cfg, and one whose folder it cannot write; a host key that
# changes while a campaign goes on.
. "$(dirname "$0")/lib-machine.sh"

BOOT_TIMEOUT=4m
bench good good-key slow
up
INSTALL=grub bench_campaign c.ini

there 'chmod -x /etc/grub.d/41_custom && update-grub 2>/dev/null >&2; sync; ! grep -q custom.cfg /boot/grub/grub.cfg'
ok $? "grub.cfg does not read custom.cfg"
there 'cat /boot/grub/grub.cfg' >grub.cfg
STATE=state-cfg
k test --json -c c.ini -o campaign.state=state-cfg c3
is "$status $(json '[c["samples"] for c in r["tested"] if c["commit"] == r["commit"]]')" "1 [[20.0]]" \
	"a kernel is booted by an entry all the same"
given_back
there 'cat /boot/grub/grub.cfg' >grub.cfg.after
cmp grub.cfg grub.cfg.after
ok $? "grub.cfg is what it was"
is "$(there 'ls /etc/grub.d | grep kregress')" "" "and so are its snippets"

# What GRUB says of its own folder decides: it could not forget what was chosen for one boot.
there 'real=$(command -v grub-probe); mv "$real" "$real.real"
printf "#!/bin/sh\ncase \"\$*\" in *--target=abstraction*) echo lvm ;; *) exec $real.real \"\$@\" ;; esac\n" >"$real"
chmod +x "$real"; sync'
STATE=state-lvm
k test -c c.ini -o campaign.state=state-lvm c3
[ "$status" = 128 ] && grep -qF "GRUB cannot write to lvm, so that a choice for one boot would stay (install = kexec)" err
ok $? "a GRUB on LVM is refused, with the remedy"
is "$(trials 1)" 0 "and nothing is stored"
given_back

# What is started with the personality of a 32-bit machine is told that it runs on one.
sshd='dropbear -s -r /etc/dropbear/ed25519 -r /etc/dropbear/ecdsa -P /run/dropbear.pid'
there "kill \$(cat /run/dropbear.pid); linux32 $sshd"
m wait-ssh
k doctor -o build.command= -o build.config=tinyconfig c.ini
answers 1 "it is a machine of i686 where kernels for x86_64 are built" "doctor says that our kernels cannot run there"
there "kill \$(cat /run/dropbear.pid); $sshd"
m wait-ssh
k -v test -c c.ini -o campaign.state=state-v -o target.append="root=LABEL=x" c3
grep -q "^+ ssh .* kregress-identify" err && ! grep -q "PATH=" err
ok $? "scripts are shown by their names"

# The machine is installed anew between two commits.
cp "$(m known-hosts)" old_hosts
cat >fault-good-key <<END
rm fault-good-key
for what in power-off new-host-key start wait-ssh; do
	"$top/tests/machine/machine" \$what "$machine_dir" "$box" || exit 128
done
END
STATE=state-key
bench_campaign key.ini
k run -o target.known_hosts=old_hosts key.ini
[ "$status" = 128 ] && grep -q "the host key of .* has changed: .*ssh-keygen -R" err
ok $? "a host key that changes in the middle is refused, with the remedy"
is "$(trials "outcome != 'ok'")" 0 "and blamed on no commit"
k run --json key.ini
is "$status $(json 'r["culprit"]')" "0 $(rev c3)" "once it is known the campaign goes on"
given_back
done_testing
