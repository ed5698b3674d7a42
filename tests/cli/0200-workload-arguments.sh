#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Command lines of the workloads: wrong ones are refused with the argument named, --help fits 80 columns.

bin=${KREGRESS_BUILD:-build}/workloads
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

ok() { # STATUS TITLE
	nr=$((nr + 1))
	[ "$1" = 0 ] && { echo "ok $nr - $2"; return; }
	failed=1
	echo "not ok $nr - $2"
	sed 's/^/# /' "$tmp/out" "$tmp/err"
}

# refused WORDS PROGRAM ARGS...: exit 2, nothing on stdout, the words and a hint on stderr
refused() {
	words=$1 program=$2
	shift 2
	"$bin/$program" "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? = 2 ] && [ ! -s "$tmp/out" ] && grep -qF -e "$words" "$tmp/err" &&
		grep -qF -e "Try '$program --help'" "$tmp/err"
	ok $? "$program $* is refused with a message that has: $words"
}

echo 1..57

refused "'x' for --pages" hugetlb_exit --pages x
refused "'-1' for --pages" hugetlb_exit --pages -1
refused "'0' for --pages" hugetlb_exit --pages 0
refused "'' for --pages" hugetlb_exit --pages ''
refused "'2 ' for --pages" hugetlb_exit --pages '2 '
refused "'99999999999999999999' for --pages" hugetlb_exit --pages 99999999999999999999
refused "'2T' for --page-size" hugetlb_exit --page-size 2T
refused "'2MB' for --page-size" hugetlb_exit --page-size 2MB
refused "'M' for --page-size" hugetlb_exit --page-size M
refused "'-2M' for --page-size" hugetlb_exit --page-size -2M
refused "'99999999999G' for --page-size" hugetlb_exit --page-size 99999999999G
refused "no power of two" hugetlb_exit --page-size 3M
refused "'two' for --mappings: one of each, one" hugetlb_exit --mappings two
refused "'disk' for --backing: one of anon, file" hugetlb_exit --backing disk
refused "'any' for --sharing: one of private, shared" hugetlb_exit --sharing any
refused "'big' for --pool: one of persistent, surplus" hugetlb_exit --pool big
refused "--touch 9 is more than --pages 8" hugetlb_exit --pages 8 --touch 9
refused "--register has nothing" hugetlb_exit --register --touch 0
refused "--dir is for --backing file" hugetlb_exit --dir /tmp
refused "option '--pages' needs a value" hugetlb_exit --pages
refused "'--frobnicate'" hugetlb_exit --frobnicate
refused "'-x'" hugetlb_exit -x
refused "argument 'extra'" hugetlb_exit extra

refused "'0' for --count" mmap_fragmenter --count 0
refused "'1e3' for --count" mmap_fragmenter --count 1e3
refused "'4632kB' for --size" mmap_fragmenter --size 4632kB
refused "'4k k' for --size" mmap_fragmenter --size '4k k'
refused "'100' for --size: from 4096" mmap_fragmenter --size 100
refused "'2X' for --align" mmap_fragmenter --align 2X
refused "--align 3M is no power of two" mmap_fragmenter --align 3M
refused "--streams 3 is more than --count 2" mmap_fragmenter --count 2 --streams 3
refused "'0' for --passes" mmap_fragmenter --passes 0
refused "'-5' for --points" mmap_fragmenter --points -5
refused "'maybe' for --madvise: one of none, huge, nohuge" mmap_fragmenter --madvise maybe
refused "'0x1' for --seed" mmap_fragmenter --seed 0x1
refused "option '--size' needs a value" mmap_fragmenter --size
refused "argument '12'" mmap_fragmenter 12

refused "'0' for -n" ebizzy -n 0
refused "'7' for -s: from 8" ebizzy -s 7
refused "'1P' for -s" ebizzy -s 1P
refused "'0' for -S" ebizzy -S 0
refused "'nan' for -S" ebizzy -S nan
refused "'inf' for -S" ebizzy -S inf
refused "'1s' for -S" ebizzy -S 1s
refused "'1.2.3' for -S" ebizzy -S 1.2.3
refused "'0' for -t" ebizzy -t 0
refused "'2.5' for -t" ebizzy -t 2.5
refused "option '-i' needs a value" ebizzy -i
refused "-a needs -i" ebizzy -a 3
refused "-m and -M exclude each other" ebizzy -mM
refused "-M excludes -p and -P" ebizzy -M -P
refused "-p and -P exclude each other" ebizzy -p -P
refused "'-q'" ebizzy -q
refused "argument '5'" ebizzy -z 5

for program in hugetlb_exit mmap_fragmenter ebizzy; do
	"$bin/$program" --help >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status = 0 ] && [ ! -s "$tmp/err" ] && head -n 1 "$tmp/out" | grep -q "^Usage: $program " &&
		awk 'length > 80 { bad = 1 } END { exit bad }' "$tmp/out"
	ok $? "$program --help is on stdout, exits 0, and no line is wider than 80"
done
exit $failed
