# SPDX-License-Identifier: GPL-2.0-or-later
# For tests on the machine of tests/machine: one of its own for each test, removed at the end.
# Sourced.
# shellcheck shell=sh

machine_dir=${KREGRESS_MACHINE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/kregress-machine}
. "$(dirname "$0")/lib.sh"
box=e2e-$$
# One configuration for all tests on the machine: its kernels are built by tests/e2e/demo.
machine_fragments="qemu-x86_64 hugetlb thp machine"
slow=$(truth mmap-fragmenter)
good=$(git -C "$demo/linux" rev-parse "$slow~1")
broken=$(truth boot-broken | head -n 1)
kernels=$demo/state/machine

m() { # COMMAND [ARGUMENT…]: of tests/machine
	what=$1
	shift
	"$top/tests/machine/machine" "$what" "$machine_dir" "$box" "$@"
}

there() { # SHELL TEXT: as root on the machine; one line of words or of script
	m ssh "$1" </dev/null 2>>"$tmp/there.err"
}

# What a test that was shot left behind: its process is gone.
remove_stale() {
	for dir in "$machine_dir"/machines/e2e-*; do
		pid=${dir##*-}
		[ ! -d "$dir" ] || kill -0 "$pid" 2>/dev/null ||
			"$top/tests/machine/machine" remove "$machine_dir" "e2e-$pid"
	done
}

end_machine() {
	m remove
	rm -rf "$tmp"
}

"$top/tests/machine/make-machine" "$machine_dir" >"$tmp/make-machine.log" 2>&1 ||
	{ cat "$tmp/make-machine.log"; echo "Bail out! no machine"; exit 1; }
[ -s "$kernels/$good" ] || { echo "Bail out! no kernels in '$kernels' (make machine-kernel)"; exit 1; }
remove_stale
trap end_machine EXIT
trap 'exit 1' HUP INT TERM
m start || exit 1

# target_lines [LINE…]: section [target] for the machine; LINEs come last
target_lines() {
	cat <<-END
	[target]
	type = ssh
	host = 127.0.0.1
	port = $(m port)
	user = ${LOGIN:-root}
	identity = $(m key)
	known_hosts = $(m known-hosts)
	install = ${INSTALL:-kexec}
	power_cycle = ${POWER:-$top/tests/machine/machine power-cycle $machine_dir $box}
	console = $top/tests/machine/machine console $machine_dir $box
	boot_timeout = ${BOOT_TIMEOUT:-90s}
	END
	for line; do
		echo "$line"
	done
}

# ---- what the machine is to be after each campaign: its own again ---------------------------

running() {
	there 'uname -r; cat /proc/cmdline'
}

grub_state() { # the default, and what comes next
	there 'grub-editenv /boot/grub/grubenv list | grep -v "^next_entry=\$"; cat /boot/grub/custom.cfg 2>/dev/null'
}

leftovers() { # files of ours on the machine
	there 'ls -d /boot/kregress /lib/modules/*kregress /var/tmp/kregress* /boot/grub/custom.cfg 2>/dev/null; exit 0' ||
		echo 'cannot be asked'
}

# Waits for the machine, and notes what it is by itself: $before of GRUB, $own of its kernel.
up() {
	m wait-ssh
	ok $? "the machine is up"
	before=$(grub_state)
	own=$(running)
	# ends all connections that are open, its caller's too, and says which; sshd goes on
	cat >cut <<-'EOF'
	#!/bin/sh
	for f in /proc/[0-9]*/stat; do
		read -r pid _ _ parent _ <"$f"
		[ "$parent" != "$(cat /run/dropbear.pid)" ] || kill -9 "$pid"
	done 2>/dev/null
	EOF
	m put cut /root/cut && there 'chmod +x /root/cut; sync'
}

# given_back [WORDS]: as it was found
given_back() {
	is "$(running)" "$own" "${1:-in the end} the machine runs its own kernel"
	is "$(grub_state)" "$before" "which still is its default, and nothing is due"
	is "$(leftovers)" "" "nothing of ours is left on it"
}

# ---- faults --------------------------------------------------------------------------------

# A history whose kernels are those built already: kind good or slow (20 mappings are 1 or 20
# areas), or dead, Debian's own without an initramfs, which panics for want of a root file system.
# Where there is a file fault-KIND, the build of such a commit runs it first. The workload does
# once what the file /root/fault on the machine says.
bench() { # KIND…: commits c1, c2, …
	mkdir "$tmp/cache"
	export XDG_CACHE_HOME="$tmp/cache"
	new_repo repo
	bench_n=0
	for kind; do
		bench_n=$((bench_n + 1))
		commit repo "c$bench_n" "$kind"
		git -C repo tag "c$bench_n"
	done
	echo "kernels=$kernels good=$good slow=$slow dead=$(ls "$machine_dir"/base/vmlinuz-*-cloud-*)" >where
	cat >build.sh <<-'EOF'
	#!/bin/sh
	# The kernel of a commit, and what marks it as its own.
	. ./where
	kind=$(git -C repo show "$KREGRESS_COMMIT:value") || exit 128
	[ ! -f "fault-$kind" ] || sh "./fault-$kind"
	case $kind in
	dead*) cat "$dead" ;;
	slow*) cat "$kernels/$slow" ;;
	*) cat "$kernels/$good" ;;
	esac >"$KREGRESS_IMAGE"
	head -c "${PADDING:-0}" /dev/zero >>"$KREGRESS_IMAGE"
	echo "$KREGRESS_COMMIT" >>"$KREGRESS_IMAGE"
	EOF
	cat >probe.sh <<-'EOF'
	#!/bin/sh
	if fault=$(cat /root/fault 2>/dev/null); then
		rm /root/fault
		echo "$fault" >>/root/faults
		sync
	fi
	case $fault in
	run) /root/cut; sleep 30 ;;
	clock) date -s 2031-01-01; sleep 1; date -s 2001-01-01 ;;
	stage) echo 'stage: run' >/dev/console; sleep 30 ;;
	crash) echo c >/proc/sysrq-trigger; sleep 30 ;;
	esac
	exec ./mmap_fragmenter --count 20 --size 4632k --points 20000
	EOF
	chmod +x build.sh probe.sh
	cp "${KREGRESS_BUILD:-$top/build}/workloads/mmap_fragmenter" .
	cat >probe.ini <<-END
	[workload]
	name = probe
	description = how many areas 20 mappings are
	command = ./probe.sh
	files = probe.sh mmap_fragmenter
	[metric vmas]
	unit = areas
	better = lower
	END
}

bench_campaign() { # FILE [LINE of [target]…]: from c1 to the last
	bench_file=$1
	shift
	{
		cat <<-END
		[campaign]
		name = bench
		repo = repo
		good = c1
		bad = c$bench_n
		state = ${STATE:-state}
		[build]
		command = ./build.sh
		END
		target_lines "$@"
		cat <<-END
		[workload]
		use = probe.ini
		metric = vmas
		[measure]
		runs_per_boot = 1
		warmup_runs = 0
		end_boots = 1
		max_boots = 1
		[verdict]
		threshold = 10
		[confirm]
		revert = no
		boots = 0
		END
	} >"$bench_file"
}

trials() { # SQL condition: how many are stored
	sqlite3 "${STATE:-state}/campaign.db" "select count(*) from trial where $1" 2>/dev/null || echo 0
}
