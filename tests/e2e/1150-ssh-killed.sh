#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 while the kernel is sent, while it boots, and while the workload runs: the campaign goes
# on from what is stored, and the machine is given back in the end.
. "$(dirname "$0")/lib-machine.sh"

bench good good slow
PADDING=12000000
export PADDING
bench_campaign c.ini
up

# watch WORDS CONDITION: the machine says on its console when the condition holds there
watch() {
	there "setsid sh -c 'until $2; do sleep 0.1; done; echo \"stage: $1\" >/dev/console' >/dev/null 2>&1 </dev/null &"
}

# shoot WORDS: start the campaign, and kill it when the console says so
shoot() {
	seen=$(grep -c "^stage: $1" "$(m console-path)")
	"$KREGRESS" run c.ini >"$1.out" 2>&1 &
	victim=$!
	for _ in $(seq 1200); do
		[ "$(grep -c "^stage: $1" "$(m console-path)")" = "$seen" ] || break
		kill -0 "$victim" 2>/dev/null || break
		sleep 0.1
	done
	kill -9 "$victim"
	ok $? "killed: $1"
	wait "$victim" 2>/dev/null
}

watch sent 'test -s /var/tmp/kregress/boot/image.kregress-new'
shoot sent
is "$(trials 1)" 0 "nothing is stored"
watch loaded 'grep -q 1 /sys/kernel/kexec_loaded'
shoot loaded
is "$(trials 1)" 0 "nothing is stored"
m wait-ssh
there 'echo stage >/root/fault; sync'
shoot run
is "$(trials 1)" 0 "nothing is stored"

k run --json c.ini
is "$status $(json 'r["culprit"]')" "0 $(rev c3)" "the campaign ends with the right commit"
is "$(json 'sorted(c["verdict"] + str(c["samples"]) for c in r["tested"])')" \
	"['bad[20.0]', 'good[1.0]', 'good[1.0]']" "each kernel was measured once"
given_back
done_testing
