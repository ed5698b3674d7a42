#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults whose end takes minutes to come; run by `make soak`.
. "$(dirname "$0")/lib-machine.sh"

bench good good-net slow
bench_campaign c.ini
up

# The cable is pulled in the workload, and plugged in again: nobody is told.
cat >fault-good-net <<END
"$top/tests/machine/machine" ssh "$machine_dir" "$box" 'echo stage >/root/fault; sync'
END
(
	until grep -q '^stage: run' "$(m console-path)"; do sleep 0.5; done
	m link off
	sleep 90
	m link on
) &
k run --json -o target.boot_timeout=4m c.ini
wait
is "$status $(json 'r["culprit"]')" "0 $(rev c3)" "a half-open connection is noticed, and the run made again"
is "$(trials "outcome != 'ok'")" 0 "nothing is stored that is not good"

# kexec loads, and does not jump.
there 'mv /sbin/kexec /sbin/kexec.real
printf "#!/bin/sh\n[ \"\$1\" != -e ] || exec sleep 1000\nexec /sbin/kexec.real \"\$@\"\n" >/sbin/kexec
chmod +x /sbin/kexec; sync'
STATE=stays
bench_campaign stays.ini
k test -c stays.ini c1
[ "$status" = 128 ] && grep -qF "did not leave the kernel that ran" err
ok $? "kexec without effect is our trouble"
is "$(trials 1)" 0 "and nothing is stored"
given_back
there 'mv /sbin/kexec.real /sbin/kexec; sync'

# Nothing has booted yet under these settings: who is to tell the kernel from the network?
STATE=no-net
bench_campaign net.ini 'append = machine.net=off'
k test -c net.ini -o target.boot_timeout=60s c1
[ "$status" = 128 ] && grep -qF "no kernel has booted here yet" err
ok $? "a kernel without network is no verdict where none has booted before"
is "$(trials "purpose != 'canary'")" 0 "and nothing is stored"

# Silent, and no command to switch it off and on.
STATE=silent
bench_campaign silent.ini
m freeze
k test -c silent.ini -o target.power_cycle= -o target.boot_timeout=5s c1
[ "$status" = 128 ] && grep -qF "switch it off and on" err
ok $? "a machine that stands still, and cannot be switched, is our trouble"
is "$(trials 1)" 0 "and nothing is stored"
m thaw
k clean c.ini
given_back
done_testing
