#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# To and Cc of the mail come from the script of the tree that is bisected, in a folder of our own.
. "$(dirname "$0")/lib.sh"
command -v perl >/dev/null || skip_all "perl is not installed"
export TMPDIR="$tmp/tmp"
mkdir "$TMPDIR"

# A tree whose script looks at what it is given, and says so in addresses.
tree() { # LINES OF PERL
	rm -rf repo state
	new_repo repo
	mkdir repo/scripts
	{ echo '#!/usr/bin/perl'; echo "$1"; } >repo/scripts/get_maintainer.pl
	echo 'MAINT of the tree' >repo/MAINTAINERS
	linear repo 1 2 10
	git -C repo tag v1
	commit repo slow 20
	git -C repo tag slow
	git -C repo tag v2
}

measure_sh
campaign test.ini
tree '
open(my $m, "<", "MAINTAINERS") or die; my $first = <$m>;
open(my $p, "<", "patch") or die; my $patch = join("", <$p>);
die "not the patch" unless $patch =~ /^-10$/m && $patch =~ /^\+20$/m && $patch =~ m{^\+\+\+ b/value$}m;
die "wrong tree" unless $first eq "MAINT of the tree\n";
die "@ARGV" unless "@ARGV" =~ /--nogit .*patch$/;
die "not alone" if -e ".git" || $ENV{HOME} eq "'"$HOME"'";
open(my $f, ">", "litter");
print "Some Maintainer <maint\@example.org> (maintainer:THE AREA)\n";
print "Sup, Porter <sup\@example.org> (supporter:THE AREA)\n";
print "Reviewer <rev\@example.org> (reviewer:THE AREA)\n";
print "list\@example.org (open list:THE AREA)\n";
print "Some Maintainer <maint\@example.org> (maintainer:ANOTHER)\n";
print "\"Evil\" <a\@b>, <victim\@example.org\@> (maintainer:X)\n";
print "no role at all\n";'
k run test.ini
k report --format mail test.ini
python3 "$top/tests/cli/validate" mail out >>err
is "$status $?" "0 0" "the mail is valid"
is "$(sed -n '/^To:/,/^Subject:/p' out | sed '$d')" 'To: "Ada" <ada@example.org>,
 "Some Maintainer" <maint@example.org>,
 "Sup, Porter" <sup@example.org>
Cc: "Reviewer" <rev@example.org>,
 list@example.org,
 regressions@lists.linux.dev' "author and maintainers are To, the others Cc, each once"
! grep -q 'did not run here' out
ok $? "nothing is left to be added"
is "$(ls "$TMPDIR")" "" "its folder is gone"
is "$(git -C repo status --short)" "" "and the user's checkout as it was"

tree 'exit 3;'
k run test.ini
k report --format mail test.ini
is "$status" 0 "a script that fails is no failure"
grep -q 'did not run here: exit status 3\]' out || tr '\n' ' ' <out | grep -q 'did not run here: exit status 3\]'
ok $? "the mail says why"

tree 'while (1) { print "x" x 1000, " <a\@example.org> (maintainer:A)\n"; }'
k run test.ini
k report --format mail test.ini
[ "$status" = 0 ] && [ "$(wc -c <out)" -lt 20000 ] && tr '\n' ' ' <out | grep -q 'did not run here'
ok $? "a script that never stops printing is stopped"
is "$(ls "$TMPDIR")" "" "and leaves nothing"
done_testing
