#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An initramfs that is sent, one that is made there; a user with sudo; names that no shell may see;
# and kexec -e that does not jump.
. "$(dirname "$0")/lib-machine.sh"

# initrd NAME: an initramfs that leaves the file /root/initramfs-NAME, then hands over
initrd() {
	rm -rf rd
	mkdir -p rd/bin rd/dev rd/root
	cp "$(command -v busybox)" rd/bin/busybox
	cat >rd/init <<-END
	#!/bin/busybox sh
	bb=/bin/busybox
	\$bb mount -t devtmpfs dev /dev
	until \$bb mount -t ext4 /dev/vda1 /root; do \$bb sleep 1; done
	echo >>/root/root/initramfs-$1
	\$bb mount -o remount,ro /root
	\$bb mount -o move /dev /root/dev
	exec \$bb switch_root /root /sbin/init
	END
	chmod +x rd/init
	(cd rd && find . | busybox cpio -o -H newc 2>/dev/null) >"rd-$1"
}

# boots NAME: how often the initramfs was used, and no more
boots() {
	there "wc -l </root/initramfs-$1 2>/dev/null; rm -f /root/initramfs-$1" | tr -d ' \n'
}

initrd sent
initrd made
bench good slow
up
m put rd-made /root/made
there 'printf "#!/bin/sh\necho \"\$*\" >>/root/asked; cp /root/made \"\$2\"\n" >/usr/sbin/mkinitramfs
	chmod +x /usr/sbin/mkinitramfs; sync'

# Everything that may hold what a shell would take for its own holds it.
odd="it's \"a\" \$(touch pwned) \`touch pwned\`; touch pwned"
LOGIN=tester
BOOT_TIMEOUT=4m
bench_campaign c.ini "initramfs = $tmp/rd-sent" 'append = odd="$(touch /tmp/pwned)" x=`touch$IFS/tmp/pwned`' \
	"work_dir = /var/tmp/kregress $odd" 'setup = aslr=off /proc/sys/kernel/domainname="$(touch /tmp/pwned) a= b"'
own_name=$(there 'cat /proc/sys/kernel/domainname')
k run --json c.ini
is "$status $(json 'r["culprit"]')" "0 $(rev c2)" "a campaign of a user with sudo, with an initramfs that is sent"
is "$(boots sent)" 2 "which was used in each boot"
there 'find / -xdev -name pwned; ls /tmp/pwned 2>/dev/null; exit 0' >seen
is "$(cat seen)" "" "no shell there took a name for its own"
[ ! -e /tmp/pwned ] && [ -z "$(find . -name pwned)" ]
ok $? "nor one here"
is "$(there 'cat /proc/sys/kernel/domainname')" "$own_name" "the setting is the machine's own again"
given_back
is "$(there 'ls -A /var/tmp')" "" "nor is there a work folder"

# Made there, for the release: of a kernel that is built here.
STATE=state-made
bench_campaign made.ini 'initramfs = make'
k test -c made.ini c2
[ "$status" = 129 ] && grep -qF "initramfs = make in [target] is for kernels that are built here" err
ok $? "whose release nobody knows gets none"
sed -e "s|^repo = .*|repo = $demo/linux|" -e "s/^good = .*/good = $good/" -e "s/^bad = .*/bad = $slow/" \
	-e "s/^command = .*/config = tinyconfig\nfragments = $machine_fragments/" made.ini >kernel.ini
XDG_CACHE_HOME="$demo/cache" k test --json -c kernel.ini "$slow"
is "$status $(json '[c["samples"] for c in r["tested"] if c["commit"] == r["commit"]]')" "1 [[20.0]]" \
	"a kernel with an initramfs that is made there"
is "$(boots made)" "$(trials "outcome = 'ok'")" "which was used in each boot"
is "$(there 'sort -u /root/asked')" "-o /var/tmp/kregress/boot/initramfs $(strings -n 8 "$kernels/$slow" |
	sed -n 's/^\([^ ]*-kregress\) (.*/\1/p' | head -n 1)" "and made for this kernel's release"
given_back

# kexec loads, and does not jump; there is less time for the boot than kexec is given to leave.
there 'mv /sbin/kexec /sbin/kexec.real
printf "#!/bin/sh\n[ \"\$1\" != -e ] || exec sleep 1000\nexec /sbin/kexec.real \"\$@\"\n" >/sbin/kexec
chmod +x /sbin/kexec; sync'
STATE=state-stays
bench_campaign stays.ini
k test -c stays.ini -o target.boot_timeout=30s c1
[ "$status" = 128 ] && grep -qF "did not leave the kernel that ran" err
ok $? "kexec without effect is our trouble, also where the time for a boot is short"
is "$(trials 1)" 0 "and nothing is stored"
given_back
there 'mv /sbin/kexec.real /sbin/kexec; sync'
done_testing
