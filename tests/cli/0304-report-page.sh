#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The page in a browser: light, dark and on a phone, contrast, keyboard, nothing fetched.
. "$(dirname "$0")/lib.sh"
command -v chromium >/dev/null || skip_all "chromium is not installed"

measure_sh
merged_history repo
campaign test.ini
printf '[confirm]\nboots = 2\n' >>test.ini
k run test.ini
k report --format html test.ini
cp out page.html
for page in page.html state/status.html; do
	timeout 280 python3 "$top/tests/cli/page-check" $page >faults 2>&1
	code=$?
	[ $code != 77 ] || skip_all "$(cat faults)"
	is "$(cat faults) $code" " 0" "${page##*/} shows all on any screen, can be read, and is reached by the keyboard"
done
# a page that cannot be read must be found
sed 's/--dim:#56606b/--dim:#c0c8d0/; s/\.scroll{overflow-x:auto}/.scroll{}/; s/outline:3px solid/outline:0 none/' page.html >broken.html
timeout 280 python3 "$top/tests/cli/page-check" broken.html >faults 2>&1
is "$? $(grep -c 'contrast' faults | sed 's/[1-9][0-9]*/some/') $(grep -c 'the focus does not show' faults | sed 's/[1-9][0-9]*/some/')" \
	"1 some some" "a page with faint text and without focus marks is refused"
done_testing
