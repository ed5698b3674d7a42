#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Connections that are lost, and a clock that jumps, cost another try and no verdict.
. "$(dirname "$0")/lib-machine.sh"

# The search comes by c1, c5, c3, c4. A connection is cut while the kernel of c1 is sent, in the
# workload of c3, and between that and c4, in whose workload the machine's clock jumps.
bench good-sent good good-run good-between slow
PADDING=12000000
export PADDING
cat >fault-good-sent <<END
"$top/tests/machine/machine" ssh "$machine_dir" "$box" 'setsid sh -c "
	until [ -s /var/tmp/kregress/boot/image.kregress-new ]; do sleep 0.1; done
	/root/cut
	echo sent >>/root/faults; sync" >/dev/null 2>&1 </dev/null &'
END
cat >fault-good-run <<END
"$top/tests/machine/machine" ssh "$machine_dir" "$box" 'echo run >/root/fault; sync'
END
cat >fault-good-between <<END
"$top/tests/machine/machine" ssh "$machine_dir" "$box" 'echo clock >/root/fault
	echo between >>/root/faults; sync
	/root/cut' 2>/dev/null
exit 0
END
bench_campaign c.ini
up

k run --json c.ini
is "$status $(json 'r["culprit"]')" "0 $(rev c5)" "the campaign ends with the right commit"
is "$(json 'sorted(c["verdict"] + str(c["samples"]) for c in r["tested"])')" \
	"['bad[20.0]', 'good[1.0]', 'good[1.0]', 'good[1.0]']" "each kernel has the value that it has"
is "$(trials "outcome != 'ok'")" 0 "nothing is stored that is not good"
is "$(there 'cat /root/faults' | tr '\n' ' ')" "sent run between clock " \
	"the connections were cut where they should, and the clock jumped"
is "$(grep -c 'is lost: ' err)" 3 "each of the three is said"
given_back
done_testing
