#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Layouts of a real kernel: the same code at other addresses, by a link, repeatable, and it boots.
# What a kernel was built from is what its .cmd files say.
. "$(dirname "$0")/lib.sh"

build=${KREGRESS_BUILD:-$top/build}
layouts() { # MODE LAYOUT…: lines of build_layouts
	mode=$1
	shift
	"$build/tests/e2e/build_layouts" "$demo/linux" demo-good "$mode" "$tmp/log" \
		"qemu-x86_64 hugetlb thp" "$@" >"$tmp/lines" 2>"$tmp/lines.err" ||
		{ cat "$tmp/lines.err"; return 1; }
}
field() { # N LAYOUT: of the last lines
	sed -n "s/^$2 /$2 /p" "$tmp/lines" | cut -d ' ' -f "$1"
}
forget() { # KEY: made again, not found again
	rm -rf "${XDG_CACHE_HOME:?}/kregress/kernels/${1:?}"
}

layouts tree 0
ok $? "the kernel as the tree lays it out"
tree=$(field 3 0) key=$(field 2 0)
layouts random 1 2
ok $? "layouts 1 and 2 are there"
hash1=$(field 3 1) hash2=$(field 3 2)
cp "$(field 5 1)" "$tmp/vmlinux.1"
cp "$(field 5 2)" "$tmp/vmlinux.2"
cp "$(field 4 1)" "$tmp/image.1"
cp "$(field 4 2)" "$tmp/image.2"

# Functions and their sizes in order of address, and where they are.
for n in 1 2; do
	nm -nS "$tmp/vmlinux.$n" | awk '$3 ~ /^[tT]$/ { print $2, $4 >o; print $1, $4 >a }' \
		o="$tmp/code.$n" a="$tmp/at.$n"
done
cmp -s "$tmp/code.1" "$tmp/code.2"
ok $? "both have the same functions of the same sizes in the same order"
all=$(wc -l <"$tmp/code.1")
same=$(sort "$tmp/at.1" >"$tmp/s1" && sort "$tmp/at.2" >"$tmp/s2" && comm -12 "$tmp/s1" "$tmp/s2" | wc -l)
[ "$all" -gt 5000 ] && [ $((same * 10)) -lt "$all" ]
ok $? "at other addresses: $same of $all functions are where they were"
code() { # FILE FUNCTION: its instructions, without addresses and what depends on them
	objdump -d --no-show-raw-insn --no-addresses --disassemble="$2" "$1" |
		sed 's/0x[0-9a-f]*//g; s/<[^>]*>//g; s/[0-9a-f]\{6,\}//g; s/#.*//; 1,3d'
}
for f in schedule do_mmap vfs_read; do
	is "$(code "$tmp/vmlinux.1" $f | cksum)" "$(code "$tmp/vmlinux.2" $f | cksum)" \
		"$f has the same instructions"
	[ "$(code "$tmp/vmlinux.1" $f | wc -l)" -gt 20 ]
	ok $? "and these are some"
done

forget "$key"
layouts random 0
is "$(field 6 0) $(field 2 0) $(field 3 0)" "built $key $tree" \
	"layout 0, built by the linker of layouts, is the tree's kernel byte for byte"
layouts random 1
forget "$(field 2 1)"
layouts random 1
echo "# make took $(field 7 1) s"
is "$(grep -cE '^ +(CC|AS|HOSTCC) +[^ ]*(mm|kernel|fs|init|lib)/' "$tmp/log")" 0 \
	"another layout compiles nothing of the kernel"
is "$(field 6 1) $(field 3 1)" "built $hash1" "layout 1 repeats byte for byte"
[ "$hash1" != "$hash2" ] && [ "$hash1" != "$tree" ]
ok $? "and each is another kernel"

# What the kernel was built from, by grep's word.
src=$(sed -n 's/^kregress: + make -C \([^ ]*\) .*/\1/p' "$tmp/log" | head -n 1)
find "${src%/src}/out" -name '.*.cmd' -exec cat {} + | grep -o "$src/[^] '\"();:\\\\<>|&$*?=]*[.][chS]\b" |
	sort -u | xargs realpath -ms --relative-to="$src" | grep -v '^[.][.]' | LC_ALL=C sort -u >"$tmp/want"
grep '[.][chS]$' "${XDG_CACHE_HOME}/kregress/kernels/$(field 2 1)/used" >"$tmp/got"
[ "$(wc -l <"$tmp/want")" -gt 1500 ]
ok $? "make's records name $(wc -l <"$tmp/want") sources and headers"
diff "$tmp/want" "$tmp/got" >"$tmp/differ"
ok $? "and these are what the kernel counts as built from"
head -5 "$tmp/differ"

for n in 1 2; do
	cat >"$tmp/boot.ini" <<END
[campaign]
name = layout-$n
repo = $demo/linux
state = $tmp/state-$n
[build]
command = sh -c 'cp $tmp/image.$n \$KREGRESS_IMAGE'
layout = random
[target]
type = qemu
memory = 512M
[workload]
use = mmap_fragmenter
metric = vmas
[measure]
runs_per_boot = 1
warmup_runs = 0
[verdict]
threshold = 1000
better = lower
END
	k test --json -c "$tmp/boot.ini" demo-good
	is "$(json '[c["outcome"] for c in r["tested"]]')" "['ok']" "layout $n boots and is measured"
done
done_testing
