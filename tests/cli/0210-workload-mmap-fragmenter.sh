#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# mmap_fragmenter: its counts against those computed from its dump of /proc/self/smaps by awk.

run=${KREGRESS_BUILD:-build}/workloads/mmap_fragmenter
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

ok() { # STATUS TITLE
	nr=$((nr + 1))
	[ "$1" = 0 ] && { echo "ok $nr - $2"; return; }
	failed=1
	echo "not ok $nr - $2"
	sed 's/^/# /' "$tmp/out"
}

metric() { # NAME: its value in $tmp/out, nothing unless there is exactly one line with a number
	awk -v name="$1" '$1 == "kregress:" && $2 == "metric" && $3 == name { v = $4; n++ }
		END { if (n == 1 && v ~ /^[0-9]+([.][0-9]+)?$/) print v }' "$tmp/out"
}

same() { # METRIC EXPECTED TITLE
	got=$(metric "$1")
	echo "# $1: printed '$got', computed '$2'"
	[ -n "$got" ] && [ "$got" = "$2" ]
	ok $? "$3"
}

# hexadecimal strings of one width compare like numbers; padded here
sorted_ranges() { # WORD: "start end" of the lines with this word, 16 digits each, in address order
	awk -v w="$1" 'function pad(x) { return substr("0000000000000000", 1, 16 - length(x)) x }
		$1 == w && $2 ~ /^[0-9a-f]+-[0-9a-f]+$/ { split($2, r, "-"); print pad(r[1]), pad(r[2]) }' "$tmp/out" | sort
}

# areas of smaps that overlap a mapping
areas() {
	sorted_ranges mapping >"$tmp/mappings"
	sorted_ranges smaps | awk -v f="$tmp/mappings" '
		BEGIN { while ((getline line < f) > 0) { n++; split(line, r, " "); s[n] = r[1]; e[n] = r[2] } }
		{ for (i = 1; i <= n; i++) if (("x" $1) < ("x" e[i]) && ("x" s[i]) < ("x" $2)) { c++; break } }
		END { print c + 0 }'
}

# AnonHugePages of the whole process: nothing else of it is large enough for a huge page
huge_kb() {
	awk '$1 == "smaps" && $2 == "AnonHugePages:" { kb += $3 } END { print kb + 0 }' "$tmp/out"
}

gaps() {
	sorted_ranges mapping |
		awk 'NR > 1 && ("x" $1) != ("x" last) { c++ } { last = $2 } END { print c + 0 }'
}

# low 21 bits: the last five hexadecimal digits, and the lowest bit of the sixth
aliased() {
	awk '$1 == "stream" { d = substr("000000" $2, length($2) + 1)
			odd = index("13579bdf", substr(d, 1, 1)) ? 1 : 0
			low[odd substr(d, 2)]++ }
		END { for (k in low) if (low[k] > 1) c += low[k]; print c + 0 }' "$tmp/out"
}

check_layout() { # TITLE ARGS...
	title=$1
	shift
	"$run" --dump-maps "$@" >"$tmp/out" 2>&1
	ok $? "$title: it runs"
	same vmas "$(areas)" "$title: vmas is the number of areas of smaps that overlap its mappings"
	same gaps "$(gaps)" "$title: gaps is the number of holes between its sorted mappings"
	same aliased "$(aliased)" "$title: aliased is the number of streams with equal low 21 bits"
}

# What the walk reads: page starts hold the number of their mapping, all else is zero
checksum() { # EDGE STREAMS PASSES POINTS(0: all)
	awk -v n="$1" -v streams="$2" -v passes="$3" -v points="$4" 'BEGIN {
		off[2] = 1; off[3] = -1; off[4] = n; off[5] = -n; off[6] = n * n; off[7] = -n * n
		left = points ? points : -1
		for (k = 1; k < n - 1; k++) for (j = 1; j < n - 1; j++) for (i = 1; i < n - 1; i++) {
			if (!left--) { k = j = n; break }
			accesses += 7 * streams
			for (o = 1; o <= 7; o++)
				if ((i + n * j + n * n * k + off[o]) % 512 == 0) sum += streams * (streams + 1) / 2
		}
		printf "walked %d accesses, checksum %d\n", passes * accesses, passes * sum }'
}

walked() { # TITLE EXPECTED
	echo "# computed: $2"
	grep -qxF -e "$2" "$tmp/out"
	ok $? "$1"
}

echo 1..39
check_layout "default" --points 1000
check_layout "an odd small size" --count 50 --size 36k --streams 50
check_layout "placed on 2 MB boundaries" --align 2M --points 10
[ "$(metric vmas) $(metric gaps) $(metric aliased)" = "24 23 20" ]
ok $? "24 mappings of 4632 kB on 2 MB boundaries: 24 areas, 23 gaps, 20 aliased streams"
check_layout "placed on 1 MB boundaries" --align 1M --count 3 --streams 3 --size 100k --seed 3
# starts are 1 MB apart: the first and the last have the same low 21 bits, the middle one has not
[ "$(metric vmas) $(metric gaps) $(metric aliased)" = "3 2 2" ]
ok $? "3 mappings of 100 kB on 1 MB boundaries: 3 areas, 2 gaps, 2 aliased streams"
# 2 MB areas are placed on 2 MB boundaries wherever THP is built in, and then all starts alias
check_layout "whole huge pages" --count 6 --size 2M --streams 5 --points 10
check_layout "one mapping" --count 1 --size 512k
check_layout "a shuffled choice of streams" --count 30 --size 260k --streams 12 --seed 7

grep -c '^mapping ' "$tmp/out" | grep -qx 30 && grep -c '^stream ' "$tmp/out" | grep -qx 12
ok $? "as many mappings and streams are dumped as were asked for"
grep '^stream ' "$tmp/out" | awk '{ print $2 }' | sort >"$tmp/a"
grep '^mapping ' "$tmp/out" | awk '{ sub(/-.*/, "", $2); print $2 }' | sort >"$tmp/b"
[ "$(sort -u "$tmp/a" | wc -l)" = 12 ] && [ -z "$(comm -23 "$tmp/a" "$tmp/b")" ]
ok $? "the shuffled streams are different mappings"

"$run" --count 3 --size 64k --passes 2 >"$tmp/out" 2>&1
walked "checksum and accesses of the walk are those of the stencil, computed by awk" \
	"$(checksum 20 3 2 0)"
"$run" --count 3 --size 64k --points 700 >"$tmp/out" 2>&1
walked "--points cuts the walk after so many grid points" "$(checksum 20 3 1 700)"

"$run" --count 2 --size 4k --points 5 >"$tmp/out" 2>&1 &&
	[ "$(metric thp_kb)" = 0 ] && [ -n "$(metric populate_ms)" ] && [ -n "$(metric walk_ns)" ]
ok $? "pages of 4 kB are never huge, and all metrics are there with values"

# 2 MB boundaries and 3 MB each: one huge page and a rest in each of 3 areas
"$run" --count 3 --size 3M --align 2M --madvise huge --points 10 --dump-maps >"$tmp/out" 2>&1
same thp_kb "$(huge_kb)" "with --madvise huge thp_kb is the sum of AnonHugePages in smaps"
thp=/sys/kernel/mm/transparent_hugepage/enabled
if [ -e $thp ] && ! grep -q '\[never\]' $thp; then
	[ "$(metric thp_kb)" -gt 2048 ]
	ok $? "with --madvise huge the mappings hold huge pages"
else
	[ "$(metric thp_kb)" = 0 ]
	ok $? "this kernel gives no transparent huge pages, and none are reported"
fi

"$run" --count 60000 --size 1024G >"$tmp/out" 2>&1
[ $? = 1 ] && grep -q 'cannot map area' "$tmp/out" && ! grep -q 'kregress: metric' "$tmp/out"
ok $? "a mapping that is impossible is exit 1 with a remedy and no metric"
# an address space of 20 MB: the tables fit, the mappings do not
(ulimit -v 20000 && "$run" >"$tmp/out" 2>&1)
[ $? = 1 ] && grep -q 'smaller --count or --size' "$tmp/out" && ! grep -q 'kregress: metric' "$tmp/out"
ok $? "too little memory is exit 1 with a remedy and no metric"
exit $failed
