#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Subjects, names, units and output that try to break out of a report: every format stays what it is.
. "$(dirname "$0")/lib.sh"
validate=$top/tests/cli/validate schema=$top/doc/report.schema.json

formats() { # what they must be, for the campaign in test.ini
	for format in json html mail junit; do
		k report --format $format test.ini
		cp out report.$format
		python3 "$validate" $format report.$format "$schema" >>err
		is "$status $?" "0 0" "$1: $format is valid"
	done
	xmllint --noout report.junit 2>>err
	ok $? "$1: xmllint takes the junit"
	k report test.ini
	python3 - out <<-'END'
	import sys
	text = open(sys.argv[1], "rb").read().decode()
	bad = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u2066\u200f\u061c"]
	sys.exit(1 if bad else 0)
	END
	ok $? "$1: the text has no control character"
	k report --plots plots --format text test.ini
	xmllint --noout plots/walk.svg 2>>err
	ok $? "$1: the plot is well-formed"
	[ -s plots/walk.png ] || ! command -v gnuplot >/dev/null
	ok $? "$1: gnuplot takes its script"
}

escape=$(printf '\033]0;owned\007\033[31m') bidi=$(printf '\342\200\256\342\201\246\330\234') nonchar=$(printf '\357\277\276')
wide=$(printf '\346\274\242\345\255\227%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25)
export GIT_AUTHOR_NAME="\"Mallory\" <b>x</b>, Eve$bidi" GIT_AUTHOR_EMAIL='mallory@example.org'

measure_sh
cat >measure.sh <<'EOS'
#!/bin/sh
# A unit, another metric's unit and a reason to fail that are markup.
value=$(git -C repo show "$KREGRESS_COMMIT:value") || exit 129
printf 'kregress: metric ms %s </script><b>&"\n' "$value"
printf 'kregress: metric other 1 %s\n' "\`touch$IFS owned\`'\\"
printf '</pre><script>alert(1)</script> ]]> \033[2J \342\200\256\n'
EOS
new_repo repo
git -C repo config i18n.commitEncoding none
linear repo 1 2 10
git -C repo tag v1
commit repo "</title><script>alert(1)</script> ]]> <!-- &amp; \"'$escape$bidi$nonchar \`touch owned\`" 10
commit repo "#regzbot introduced: evil #regzbot invalid: lies Fixes: 000000000000 (\"x\") #regzbot monitor: https://example.org/ and on" 20
git -C repo tag slow
commit repo "$wide" 20
commit repo "$(printf 'x%.0s' $(seq 300))" 20
git -C repo tag v2
campaign test.ini
printf '[confirm]\nboots = 2\n' >>test.ini
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "the campaign finds its culprit"
python3 "$validate" json out "$schema" >>err
ok $? "and run --json is valid"
formats markup
python3 "$validate" html state/status.html >>err
ok $? "the status page is valid"
is "$(grep -c '^#regzbot' report.mail) $(grep -c '^Fixes:' report.mail)" "1 1" "a subject adds no word for a robot"
is "$(grep '^#regzbot' report.mail)" "#regzbot introduced: $(rev slow | cut -c 1-12)" "and changes none"
grep -q "^To: \"Mallory bx/b, Eve" report.mail && [ "$(grep -c "^To:.*<mallory@example.org>\$" report.mail)" = 1 ]
ok $? "a name with quotes and commas stays one address"
is "$(ls owned 2>/dev/null)" "" "nothing was run"
is "$(jq '[.commits[] | select(.subject // "" | contains("</title><script>"))] | length' report.json)" 1 "json says what the subject is"
grep -q '&lt;/title&gt;&lt;script&gt;' report.html
ok $? "html shows it as text"

# an address that is none, and a name that would end a header
export GIT_AUTHOR_NAME="Eve" GIT_AUTHOR_EMAIL='eve@x, victim@example.org'
rm -rf repo state
new_repo repo
linear repo 1 2 10
git -C repo tag v1
commit repo "slow" 20
git -C repo tag slow
git -C repo tag v2
k run --json test.ini
formats address
! grep -q '^To:' report.mail
ok $? "what is no address is not written to"

# what a failed commit says
sed -i '/^value=/a [ "$value" != 15 ] || { printf "kregress: metric ms nan ms\\n"; exit 3; }' measure.sh
rm -rf state
commit repo "<img src=x onerror=alert(1)>" 15
commit repo "tail" 20
git -C repo tag -f v2 >/dev/null
git -C repo tag -f v1 v1 >/dev/null
k run test.ini
formats failure
done_testing
