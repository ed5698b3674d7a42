#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-all: alone (it sets aside huge pages of the host)
# hugetlb_exit: real huge pages of this machine, its counters while it runs and after, times against the wall clock.

run=${KREGRESS_BUILD:-build}/workloads/hugetlb_exit
sys=/sys/kernel/mm/hugepages/hugepages-2048kB
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

skip() {
	echo "1..0 # SKIP $1"
	exit 77
}

ok() { # STATUS TITLE
	nr=$((nr + 1))
	[ "$1" = 0 ] && { echo "ok $nr - $2"; return; }
	failed=1
	echo "not ok $nr - $2"
	sed 's/^/# /' "$tmp/out"
}

metric() { # NAME: its value in $tmp/out, nothing unless there is exactly one line with a number
	awk -v name="$1" '$1 == "kregress:" && $2 == "metric" && $3 == name && $5 == "ms" { v = $4; n++ }
		END { if (n == 1 && v ~ /^[0-9]+([.][0-9]+)?$/) print v }' "$tmp/out"
}

pool() { # all counters in one line
	cat "$sys/nr_hugepages" "$sys/free_hugepages" "$sys/surplus_hugepages" \
		"$sys/resv_hugepages" "$sys/nr_overcommit_hugepages" | tr '\n' ' '
}

# The parts lie within the whole, and the whole within the wall clock around the program
times_agree() {
	awk -v alloc="$(metric alloc_ms)" -v fault="$(metric fault_ms)" -v reg="$(metric register_ms)" \
		-v end="$(metric exit_ms)" -v total="$(metric total_ms)" -v user="$(metric user_ms)" \
		-v sys="$(metric sys_ms)" -v wall="$wall" 'BEGIN {
		if (alloc == "" || fault == "" || end == "" || total == "" || user == "" || sys == "") exit 1
		exit !(end > 0 && alloc > 0 && alloc + fault + reg + end <= total && total <= wall &&
			user + sys <= total + 10) }'
}

measures() { # TITLE ARGS...: it runs, its times agree, and the pool is as before
	title=$1
	shift
	was=$(pool)
	before=$(date +%s%N)
	"$run" "$@" >"$tmp/out" 2>&1
	status=$?
	wall=$(echo "$before $(date +%s%N)" | awk '{ printf "%.6f", ($2 - $1) / 1e6 }')
	echo "# exit_ms $(metric exit_ms) of total_ms $(metric total_ms), wall $wall"
	[ $status = 0 ] && times_agree
	ok $? "$title: runs, and its times lie within each other and the wall clock"
	now=$(pool)
	[ "$now" = "$was" ] || echo "# pool was $was now $now"
	[ "$now" = "$was" ]
	ok $? "$title: the pool is as it was"
}

refuses() { # WORDS TITLE ARGS...: exit 1, the words on stderr, no metric, the pool restored
	words=$1 title=$2
	shift 2
	was=$(pool)
	"$run" "$@" >"$tmp/out" 2>&1
	[ $? = 1 ] && grep -qF -e "$words" "$tmp/out" && ! grep -q '^kregress: metric' "$tmp/out" &&
		[ "$(pool)" = "$was" ]
	ok $? "$title"
}

# the counters of the kernel, read from outside while it runs
peak() { # ARGS...: the largest number of used and of surplus pages seen while it ran
	"$run" "$@" >"$tmp/out" 2>&1 &
	pid=$!
	used=0 surplus=0
	while kill -0 $pid 2>/dev/null; do
		now=$(($(cat "$sys/nr_hugepages") - $(cat "$sys/free_hugepages")))
		[ $now -gt $used ] && used=$now
		now=$(cat "$sys/surplus_hugepages")
		[ "$now" -gt $surplus ] && surplus=$now
	done
	wait $pid
	echo "# $*: at most $used pages used and $surplus surplus"
}

[ "$(id -u)" = 0 ] || skip "huge pages can be reserved by root only"
[ -d $sys ] || skip "this machine has no huge pages of 2 MB"
[ "$(cat $sys/nr_hugepages) $(cat $sys/nr_overcommit_hugepages)" = "0 0" ] ||
	skip "the pool of huge pages is in use"
trap 'umount "$tmp/dir" 2>/dev/null; echo 0 >$sys/nr_hugepages; rm -rf "$tmp"' EXIT
echo 200 >$sys/nr_hugepages
got=$(cat $sys/nr_hugepages)
echo 0 >$sys/nr_hugepages
[ "$got" = 200 ] || skip "only $got of 200 huge pages can be reserved here"

echo 1..33
measures "each page its own mapping" --pages 32
[ -z "$(metric register_ms)" ]
ok $? "without --register there is no register_ms"
measures "one mapping" --pages 32 --mappings one
measures "surplus pages" --pages 32 --pool surplus
measures "surplus pages, most untouched" --pages 32 --pool surplus --touch 5
measures "a file of a hugetlbfs that is mounted nowhere" --pages 16 --backing file
measures "a shared file, page by page" --pages 16 --backing file --sharing shared
mkdir "$tmp/dir"
measures "a file in a directory where none is mounted" --pages 16 --backing file --dir "$tmp/dir"
! grep -q " $tmp/dir " /proc/self/mounts
ok $? "nothing is left mounted"
mount -t hugetlbfs -o pagesize=2M none "$tmp/dir"
measures "a file in a mounted hugetlbfs" --pages 16 --backing file --dir "$tmp/dir"
[ -z "$(ls "$tmp/dir")" ]
ok $? "no file is left in it"
umount "$tmp/dir"

if [ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 2)" = 0 ]; then
	measures "registered with io_uring, page by page" --pages 16 --register
	[ -n "$(metric register_ms)" ]
	ok $? "with --register there is register_ms"
else
	refuses "io_uring_setup" "without io_uring --register says so" --pages 4 --register
	ok 0 "(no register_ms where io_uring is off)"
	ok 0 "(no register_ms where io_uring is off)"
fi

peak --pages 200
[ $used -gt 1 ] && [ $used -le 200 ] && [ $surplus = 0 ]
ok $? "persistent pages: the kernel counts up to 200 used and no surplus"
peak --pages 200 --pool surplus
[ $surplus -gt 1 ] && [ $surplus -le 200 ]
ok $? "surplus pages: the kernel counts up to 200 surplus"

echo 20 >$sys/nr_hugepages
measures "a pool that is large enough" --pages 20
measures "a pool that is half of what is needed" --pages 40
echo 0 >$sys/nr_hugepages

refuses "could be had" "more pages than the machine has are refused, with a remedy" --pages 1000000
refuses "no huge pages of 128 kB here; --page-size can be one of:" \
	"a page size that does not exist is refused with those that do" --page-size 128k
refuses "cannot use --dir '/nonexistent'" "a directory that does not exist is named" \
	--backing file --dir /nonexistent
mount -t hugetlbfs -o ro,pagesize=2M none "$tmp/dir"
refuses "Read-only file system" "a read-only hugetlbfs is refused" \
	--pages 4 --backing file --dir "$tmp/dir"
umount "$tmp/dir"

"$run" --pages 200 >"$tmp/out" 2>&1 &
pid=$!
while [ "$(cat $sys/nr_hugepages)" = 0 ] && kill -0 $pid; do :; done
kill -TERM $pid
wait $pid
status=$?
[ $status = 1 ] && grep -q 'interrupted by signal 15' "$tmp/out" &&
	! grep -q '^kregress: metric' "$tmp/out" && [ "$(pool)" = "0 0 0 0 0 " ]
ok $? "TERM ends it with a message, without metrics, and with the pool restored"
exit $failed
