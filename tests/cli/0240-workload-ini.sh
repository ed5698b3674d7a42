#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-all: alone (it sets aside huge pages of the host)
# Drift: a workload's INI, README and program agree on metrics and units; the programs need no root file system.

bin=${KREGRESS_BUILD:-build}/workloads
src=$(dirname "$0")/../../workloads
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

ok() { # STATUS TITLE
	nr=$((nr + 1))
	[ "$1" = 0 ] && { echo "ok $nr - $2"; return; }
	failed=1
	echo "not ok $nr - $2"
	sed 's/^/# /' "$tmp/out" "$tmp/want" "$tmp/got"
}

skip() { # REASON TITLE
	nr=$((nr + 1))
	echo "ok $nr - $2 # SKIP $1"
}

key() { # INI KEY: its value in [workload]
	awk -v key="$2" '/^\[/ { on = $0 == "[workload]" } on && $1 == key && $2 == "=" {
		sub(/^[^=]*= */, ""); print }' "$1"
}

# lines "NAME UNIT", sorted
declared() {
	awk '/^\[metric / { name = $2; sub(/\]/, "", name) } name && $1 == "unit" { print name, $3 }' "$1" |
		sort
}
printed() {
	awk '$1 == "kregress:" && $2 == "metric" { print $3, $5 }' "$1" | sort
}

may_measure() { # PROGRAM: huge pages are for root, on a machine that has them
	[ "$1" != hugetlb_exit ] ||
		{ [ "$(id -u)" = 0 ] && [ -d /sys/kernel/mm/hugepages/hugepages-2048kB ]; }
}

echo 1..21
for name in hugetlb_exit mmap_fragmenter ebizzy; do
	ini=$src/$name/$name.ini
	: >"$tmp/out"
	: >"$tmp/got"
	declared "$ini" >"$tmp/want"

	[ "$(key "$ini" name)" = $name ] && [ "$(key "$ini" command)" = "./$name {args}" ] &&
		[ -n "$(key "$ini" description)" ]
	ok $? "$name.ini: name, command and description are there"

	missing=0
	for fragment in $(key "$ini" kernel); do
		[ -f "$src/../configs/kernel/$fragment.config" ] || missing=1
	done
	[ $missing = 0 ]
	ok $? "$name.ini: the kernel fragments exist"

	awk '/^\[/ { s = $0 } s ~ /^\[metric / && $1 ~ /^(unit|better|min|max)$/ { seen[s, $1]++; all[s] }
		$1 == "better" && $3 !~ /^(lower|higher|none)$/ { bad = 1 }
		END { for (m in all) if (seen[m, "unit"] != 1 || seen[m, "better"] != 1) bad = 1; exit bad }' "$ini"
	ok $? "$name.ini: each metric has one unit and one known better"

	missing=0
	while read -r metric _; do
		grep -qw -e "$metric" "$src/$name/README.md" || missing=1
		"$bin/$name" --help | grep -qw -e "$metric" || missing=1
	done <"$tmp/want"
	[ $missing = 0 ]
	ok $? "$name: README and --help name each metric"

	# long options and single letters of --help
	"$bin/$name" --help | awk '/^  -/ { for (i = 1; i <= 2; i++) if ($i ~ /^-/) { sub(/,$/, "", $i); print $i } }' |
		sort >"$tmp/got"
	missing=0
	while read -r option; do
		case $option in
		--*) grep -q "{ \"${option#--}\", " "$src/$name/$name.c" || missing=1 ;;
		esac
	done <"$tmp/got"
	known=$(grep -c '^	{ "[a-z-]*", [a-z_]*_argument, ' "$src/$name/$name.c")
	[ $missing = 0 ] && [ "$known" = "$(grep -c '^--' "$tmp/got")" ]
	ok $? "$name: --help lists the long options that the program takes, no more and no fewer"

	args=$(key "$ini" args)
	[ $name = hugetlb_exit ] && grep -qs '^0$' /proc/sys/kernel/io_uring_disabled && args="$args --register"
	title="$name: prints each metric that the INI declares, in its unit and range, and no other"
	if may_measure $name; then
		# shellcheck disable=SC2086 # plain words
		"$bin/$name" $args >"$tmp/out" 2>&1
		printed "$tmp/out" >"$tmp/got"
		case $args in *--register) ;; *) [ $name = hugetlb_exit ] && sed -i '/register_ms/d' "$tmp/want" ;; esac
		cmp -s "$tmp/want" "$tmp/got" && awk '
			FNR == NR && /^\[metric / { m = $2; sub(/\]/, "", m) }
			FNR == NR && $1 == "min" { min[m] = $3 }
			FNR == NR && $1 == "max" { max[m] = $3 }
			FNR != NR && $2 == "metric" && ($4 + 0 < min[$3] + 0 || $4 + 0 > max[$3] + 0) { bad = 1 }
			END { exit bad }' "$ini" "$tmp/out"
		ok $? "$title"
	else
		skip "huge pages need root" "$title"
	fi

	title="$name: runs with nothing but itself, /proc and /sys, in an empty environment"
	if [ "$(id -u)" = 0 ] && may_measure $name; then
		mkdir -p "$tmp/root/proc" "$tmp/root/sys"
		cp "$bin/$name" "$tmp/root/"
		unshare -m sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /sys "$1/sys" &&
			root=$1 program=$2 && shift 2 && exec env -i /usr/sbin/chroot "$root" "/$program" "$@"' \
			sh "$tmp/root" $name $(key "$ini" args) >"$tmp/out" 2>&1
		ok $? "$title"
	else
		skip "chroot and mount need root" "$title"
	fi
done
exit $failed
