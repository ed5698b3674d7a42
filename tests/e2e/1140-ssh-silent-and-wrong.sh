#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that hang, come up without network, or crash; and one that is not the one asked for.
. "$(dirname "$0")/lib-machine.sh"

# With rootwait on its command line a dead kernel waits for ever for the disk it has no driver for.
bench good dead good-no-net good-crash slow
cat >fault-good-no-net <<END
"$top/tests/machine/machine" ssh "$machine_dir" "$box" 'echo 2 >/root/no-net; sync'
END
cat >fault-good-crash <<END
"$top/tests/machine/machine" ssh "$machine_dir" "$box" 'echo crash >/root/fault; sync'
END
BOOT_TIMEOUT=45s bench_campaign c.ini 'append = rootwait'
up
# As many kernels of ours as /root/no-net says come up without network: two, for one that fails
# after a jump out of a test kernel is tried once more from the default.
cat >no-net.sh <<'END'
no_net() {
	n=$(cat /root/no-net 2>/dev/null) && grep -q kregress= /proc/cmdline && [ "$n" -gt 0 ] || return 1
	echo $((n - 1)) >/root/no-net
	sync
}
END
m put no-net.sh /root/no-net.sh
there "sed -i 's/^if ! grep -qw machine.net=off .*/. \/root\/no-net.sh\nif ! no_net; then/' /etc/init.d/rcS
	sync; grep -q '^if ! no_net' /etc/init.d/rcS"
ok $? "it can be told to come up without network"

of() { # COMMIT FIELD: of what was tested
	json "[c['$2'] for c in r['tested'] if c['commit'] == '$(rev "$1")']"
}

k run --json c.ini
is "$status $(json 'r["status"]')" "1 short_list" "what cannot be tested stays beside the culprit"
is "$(json 'sorted(c["commit"] for c in r["candidates"])')" \
	"$(json "sorted('$(rev c2) $(rev c3) $(rev c4) $(rev c5)'.split())")" "all four of them"
is "$(of c2 outcome)$(of c2 verdict)" "['boot_failed']['skip']" "the kernel that hangs did not boot"
is "$(of c3 outcome)$(of c3 verdict)" "['boot_failed']['skip']" "nor the one without network"
is "$(of c4 outcome)$(of c4 verdict)" "['crashed']['skip']" "the one that panics in the workload crashed"
is "$(sqlite3 state/campaign.db "select count(*) from trial where outcome = 'crashed' and detail like '%sysrq%'")" 1 \
	"with its own words as the reason"
is "$(trials "purpose = 'canary' and outcome = 'ok'")" 2 \
	"before a silent one counted, the last kernel that worked was booted"
# each of them twice: after a test kernel, and from the default
is "$(grep -c "is silent: power_cycle" err)" 4 "the machine was got back by its power each time"
given_back

# What is set to be booted is another kernel of ours, with the same release.
cat >wrong.sh <<'END'
cat >/boot/kregress/image </root/other
grub-editenv /boot/grub/grubenv set next_entry=other
printf 'menuentry other --id other {\nsearch --no-floppy --fs-uuid --set=root %s\nlinux /kregress/image %s\n}\n' \
	6b726567-7265-7373-0000-000000000002 "$KREGRESS_CMDLINE" >/boot/grub/custom.cfg
sync
END
m put wrong.sh /root/wrong.sh && m put "$kernels/$slow" /root/other
ok $? "another kernel is there"
sed -e "s|^repo = .*|repo = $demo/linux|" -e "s/^good = .*/good = $good/" \
	-e "s/^bad = .*/bad = $slow/" -e "s/^state = .*/state = wrong/" \
	-e "s|^install = .*|install = sh /root/wrong.sh|" -e '/^append = /d' \
	-e "s/^command = .*/config = tinyconfig\nfragments = $machine_fragments/" c.ini >wrong.ini
STATE=wrong
XDG_CACHE_HOME=$demo/cache
k test -c wrong.ini -o target.boot_timeout=90s "$good"
[ "$status" = 128 ] && grep -q "wrong kernel on '127.0.0.1': [^ ]*-kregress (build id [0-9a-f]*)" err
ok $? "another build under the same release is found out"
is "$(trials 1)" 0 "and nothing is stored"
there 'rm -f /boot/grub/custom.cfg'
given_back
done_testing
