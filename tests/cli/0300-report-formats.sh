#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kregress report: five formats of one campaign, each valid, its numbers recomputed from the rows.
. "$(dirname "$0")/lib.sh"
validate=$top/tests/cli/validate schema=$top/doc/report.schema.json

# Values that differ from boot to boot and from run to run: 10 or 20, and some hundredths that
# the number of the trial gives.
noisy_sh() {
	measure_sh
	sed -i 's/echo "kregress: metric ms $value ms"/echo "kregress: metric ms $value.$((KREGRESS_TRIAL % 5 * 7 + run)) ms"\n		echo "kregress: metric other $((value * 3)) kB"/' measure.sh
}

sql() {
	sqlite3 state/campaign.db "$1"
}

# side PURPOSE(S) COMMIT: mean over boots of the median over runs, and the boots, by awk alone
side() {
	sql "SELECT t.id, s.value FROM trial t JOIN sample s ON s.trial = t.id WHERE t.purpose IN ($1)
		AND t.commit_id = '$2' AND s.metric = 'ms' AND NOT s.warmup ORDER BY t.id, s.value" |
		awk -F '|' '
			function done() { if (n) { sum += n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2; boots++ } n = 0 }
			$1 != trial { done(); trial = $1 }
			{ v[++n] = $2 }
			END { done(); printf "%.4g %d\n", sum / boots, boots }'
}

noisy_sh
merged_history repo
campaign test.ini
printf '[confirm]\nboots = 3\n' >>test.ini
slow=$(rev slow) parent=$(rev slow~1) options='-o measure.runs_per_boot=3 -o measure.warmup_runs=1'
k run $options test.ini
is "$status" 0 "the campaign ends"
cp out run.text
n=$(calls)

k report $options test.ini
sed '/^Time /d; /^All time/d' run.text >want
sed '/^Time /d; /^All time/d' out >got
cmp want got
ok $? "report prints what run printed"
for format in json html mail junit; do
	k report $options --format $format test.ini
	cp out report.$format
	python3 "$validate" $format report.$format "$schema" >>err
	is "$status $?" "0 0" "$format is valid"
done
is "$(calls)" "$n" "nothing is measured for a report"
for command in run status; do
	k $command --json $options test.ini
	python3 "$validate" json out "$schema" >>err
	ok $? "$command --json is valid by the same schema"
done

# json: every row of the store, and nothing else
is "$(jq -r '.log[] | [.trial, .commit, .purpose, .outcome] | join("|")' report.json)" \
	"$(sql 'SELECT id, commit_id, purpose, outcome FROM trial ORDER BY id')" "json: the trials are the rows"
is "$(jq -r '.log[] | .trial as $t | .samples | to_entries[] | .key as $k | .value[] | [$t, $k, .] | join("|")' report.json | sort)" \
	"$(sql "SELECT trial, metric, value FROM sample WHERE NOT warmup" | sed 's/\.0$//' | sort)" "json: the samples are the rows"
is "$(jq -r '.culprit + " " + (.commits[] | select(.role | startswith("culprit")) | .commit)' report.json)" "$slow $slow" \
	"json: the culprit"
jq -r '.log[].commit' report.json | sort -u >booted
is "$(jq -r '.commits[].commit' report.json)" "$( (rev v1; git -C repo rev-list --reverse v1..v2) | grep -xF -f booted)" \
	"json: commits are in the order of history"
is "$(jq -r '.confirm | .parent.estimate, .culprit.estimate' report.json | awk '{ printf "%.4g\n", $1 }')" \
	"$(side "'confirm'" "$parent" | cut -d ' ' -f 1)
$(side "'confirm'" "$slow" | cut -d ' ' -f 1)" "json: both sides of the confirmation are the means of the medians"

# mail: the numbers of the table
row() { # TITLE: first row under the table of that title
	awk -v title="$1" 'index($0, title) == 1 { on = 1 } on && /ms \(ms\)$/ { print; exit }' report.mail
}
numbers() { # of a row: value, change, value
	sed 's/±[ >]*[0-9]*%//g' | awk '{ print $1, $2, $3 }'
}
want() { # PURPOSE A B
	{ side "$1" "$2"; side "$1" "$3"; } | awk '{ v[NR] = $1 } END { printf "%s %+.1f%% %s\n", v[1], 100 * (v[2] - v[1]) / v[1], v[2] }'
}
near() { # A B TITLE: three numbers each, equal to the last digit of the change
	echo "$1 $2" | tr -d '%' | awk '{ exit !($1 == $4 && $3 == $6 && ($2 - $5) ^ 2 < 0.1) }'
	ok $? "$3"
	[ "$(echo "$1" | wc -w)" = 3 ] || echo "# got: $1 want: $2"
}
near "$(row 'parent and culprit' | numbers)" "$(want "'confirm'" "$parent" "$slow")" "mail: parent and culprit are the rows' means"
near "$(row 'good end and bad end' | numbers)" "$(want "'ends','search'" "$(rev v1)" "$(rev v2)")" "mail: the ends are the rows' means"
grep -q "^Subject: \[REGRESSION\] test: ms since $(echo "$slow" | cut -c 1-12) (\"slow\")\$" report.mail
ok $? "mail: the subject says what and since when"
is "$(grep -c '^#regzbot' report.mail) $(grep '^Fixes:' report.mail)" "1 Fixes: $(echo "$slow" | cut -c 1-12) (\"slow\")" "mail: its tags"
grep -qx "#regzbot introduced: $(echo "$slow" | cut -c 1-12)" report.mail
ok $? "mail: regzbot is told the culprit"
grep -q '^Reported-by: ' report.mail && grep -q '^Closes: https://' report.mail
ok $? "mail: placeholders for who reports and where"
for word in 'host CPU:' 'host memory' 'host kernel' '^To: "Ada" <ada@example.org>$' 'regressions@lists.linux.dev'; do
	grep -q "$word" report.mail
	ok $? "mail: has $word"
done
sed -n '/^git bisect start/,/^# first bad commit/p' report.mail >log
git -C repo bisect replay "$tmp/log" >>err 2>&1
is "$(git -C repo rev-parse bisect/bad)" "$slow" "mail: its log brings git bisect to the same commit"
git -C repo bisect reset >>err 2>&1
tr '\n' ' ' <report.mail | grep -q 'did not run here: this tree has no scripts/get_maintainer.pl\]' 
ok $? "mail: says why there are no maintainers"
! grep -q "$tmp" report.mail
ok $? "mail: no folder of this machine is in it"

# html: as many points as stored values of the metric that decides
points=$(grep -o '<path class="\(p\|fresh\) [a-z]*" d="[^"]*"' report.html | grep -o 'M[0-9]' | wc -l)
is "$points" "$(sql "SELECT count(*) FROM sample WHERE metric = 'ms' AND NOT warmup")" "html: one point for each stored value"
is "$(grep -o '<path class="fresh [a-z]*" d="[^"]*"' report.html | grep -o 'M[0-9]' | wc -l)" \
	"$(sql "SELECT count(*) FROM trial t JOIN sample s ON s.trial = t.id WHERE metric = 'ms' AND NOT warmup AND purpose = 'confirm'")" \
	"html: those of fresh boots have a shape of their own"
is "$(grep -c '<tr id="t-' report.html)" "$(sql 'SELECT count(*) FROM trial')" "html: one line for each trial"
links=$(grep -o 'href="file://[^"]*"' report.html | sed 's,href="file://,,; s,"$,,')
is "$(echo "$links" | while read -r f; do [ -f "$f" ] || echo "$f"; done)" "" "html: each log that is linked is there"
is "$(echo "$links" | wc -l)" "$(sql 'SELECT count(*) FROM trial')" "html: each trial has its log"
grep -q 'name="color-scheme" content="light dark"' report.html && grep -q 'prefers-color-scheme:dark' report.html
ok $? "html: light and dark"
! grep -qiE '<script|https?://[^"]*"' report.html || ! grep -oiE '<script|(src|href)="https?:' report.html | grep -q .
ok $? "html: no script, nothing from the network"
if command -v tidy >/dev/null; then
	# tidy knows no href of SVG 2
	is "$(tidy -q -e report.html 2>&1 | grep -v '<a> proprietary attribute "href"')" "" "html: tidy finds nothing"
else
	skip "tidy is not installed" "html: tidy finds nothing"
fi

# junit
xmllint --noout report.junit 2>>err
ok $? "junit: xmllint finds nothing"
is "$(xmllint --xpath 'count(//testcase)' report.junit)" "$(($(jq '.tested | length' report.json) + 1))" \
	"junit: a case for each commit and one for the answer"
is "$(xmllint --xpath 'string(//testcase[contains(@classname, "answer")]/failure/@message)' report.junit)" \
	"$(echo "$slow" | cut -c 1-12) is the first bad commit" "junit: a regression found is a failure"

# plots
k report $options --plots plots --format json test.ini
is "$(jq -c 'del(.seconds)' out)" "$(jq -c 'del(.seconds)' report.json)" "--plots changes nothing of the report"
xmllint --noout plots/walk.svg
ok $? "the plot is an SVG of its own"
is "$(grep -o 'd="[^"]*"' plots/walk.svg | grep -o 'M[0-9.]* [0-9.]*h' | wc -l)" "$points" "with the same points"
is "$(sed -n '/EOD$/,/^EOD/p' plots/walk.gnuplot | grep -c '^[0-9]')" "$points" "and so has the script for gnuplot"
if command -v gnuplot >/dev/null; then
	is "$(head -c 8 plots/walk.png | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a "gnuplot made the PNG"
else
	skip "gnuplot is not installed" "gnuplot made the PNG"
fi
mkdir bin
for tool in git; do ln -s "$(command -v $tool)" bin/; done
PATH=$tmp/bin k report $options --plots plain --format json test.ini
[ "$status" = 0 ] && [ -s plain/walk.svg ] && [ ! -e plain/walk.png ] && grep -q 'gnuplot is not installed' err
ok $? "without gnuplot that is said, and the rest is written"

k report --format pdf test.ini
refused 129 "unknown format 'pdf'" "an unknown format is refused"
k report --format htm test.ini
refused 129 "did you mean 'html'" "with what was perhaps meant"
done_testing
