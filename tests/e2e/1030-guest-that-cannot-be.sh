#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests that cannot work, and a sick lab: an error that names the remedy, never a verdict.
. "$(dirname "$0")/lib.sh"

campaign mmap-fragmenter target.memory=24M
refused 129 "memory" "an initramfs larger than the guest's memory is refused, naming the key"

# A PATH that has all but QEMU
mkdir bin
for dir in /usr/bin /bin /usr/sbin /sbin; do
	for p in "$dir"/*; do
		case $p in
		*/qemu-system-*) ;;
		*) ln -sf "$p" bin/ ;;
		esac
	done
done
old_path=$PATH
PATH=$tmp/bin
campaign mmap-fragmenter
PATH=$old_path
refused 128 "qemu-system-x86" "QEMU missing is our failure, and its package is named"

# First a healthy campaign of the good half, then a lab in which nothing boots in time
bad=$(git -C "$demo/linux" rev-list --first-parent --reverse demo-good..demo-bad | sed -n 4p)
rm -rf "$tmp/state-mmap-fragmenter"
campaign mmap-fragmenter "campaign.bad=$bad" measure.end_boots=1 measure.max_boots=1
is "$status" 1 "two ends that do not differ end without a culprit"
is "$(json 'r["status"]')" no_difference "and the status is no_difference"
# The sick lab is a fake: every QEMU, made slow, freezes after it answered and before its guest can.
mkdir sick
cat >sick/qemu-system-x86_64 <<END
#!/bin/sh
case "\$*" in *-version*|*--version*) ;; *) (sleep 0.6; kill -STOP \$\$) & ;; esac
exec $(command -v qemu-system-x86_64) "\$@" -singlestep
END
chmod +x sick/qemu-system-x86_64
PATH=$tmp/sick:$PATH
campaign mmap-fragmenter "campaign.bad=$bad" measure.end_boots=2 measure.max_boots=2 \
	target.boot_timeout=2s
PATH=$old_path
refused 128 "not the commit" "boots that all time out are the lab's fault: the canary did not boot either"
k status --json -o "campaign.state=$tmp/state-mmap-fragmenter" -o "campaign.repo=$demo/linux" \
	-o "campaign.bad=$bad" -o measure.end_boots=2 -o measure.max_boots=2 \
	"$top/configs/campaigns/mmap-fragmenter.ini"
is "$(json '[c["outcome"] for c in r["tested"]]')" "['ok', 'ok']" "no commit was blamed"
done_testing
