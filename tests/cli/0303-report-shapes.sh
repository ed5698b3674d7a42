#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports of campaigns of every kind of end and size: valid each time, and saying what came out.
. "$(dirname "$0")/lib.sh"
validate=$top/tests/cli/validate schema=$top/doc/report.schema.json

formats() { # TITLE [OPTIONS of the campaign]: all are valid, and none fails
	title=$1
	shift
	faults=
	for format in text json html mail junit; do
		k report --format $format "$@" test.ini
		cp out report.$format
		[ "$status" = 0 ] || faults="$faults $format: exit $status"
		[ $format = text ] || python3 "$validate" $format report.$format "$schema" >>err ||
			faults="$faults $format: $(python3 "$validate" $format report.$format "$schema" | head -n 1)"
	done
	is "$faults" "" "$title: all formats are valid"
}

says() { # FORMAT WORDS TITLE
	grep -qF -e "$2" "report.$1"
	ok $? "$3"
}

points() {
	grep -o '<path class="\(p\|fresh\) [a-z]*" d="[^"]*"' report.html | grep -o 'M[0-9]' | wc -l | tr -d ' '
}

measure_sh
merged_history repo
campaign test.ini
formats "before the first trial"
says html '<h1 id="answer">not started</h1>' "html says that nothing was measured"
says junit 'skipped="1"' "junit skips what has no answer"

cp measure.sh whole.sh
sed -i 's/^case \$value in/[ "$(wc -l <calls)" -lt 2 ] || exit 128\n&/' measure.sh
k run test.ini
formats "one trial"
is "$(points) $(jq '.log | length' report.json) $(grep -c '<tr id="t-' report.html)" "1 1 1" "one trial is one point and one row"
cp whole.sh measure.sh

# thirty
k run -o confirm.boots=3 -o measure.end_boots=10 test.ini
n=$(sqlite3 state/campaign.db 'SELECT count(*) FROM trial')
formats "thirty trials" -o confirm.boots=3 -o measure.end_boots=10
[ "$n" -ge 30 ] && [ "$(points)" = "$n" ]
ok $? "$n trials are $n points"

# three thousand: as if the last had been done again and again
sqlite3 state/campaign.db "
	CREATE TEMP TABLE last AS SELECT * FROM trial ORDER BY id DESC LIMIT 1;
	CREATE TEMP TABLE many AS WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 3000 - $n)
		SELECT n, n + (SELECT max(seq) FROM log) AS seq, n + (SELECT max(id) FROM trial_begin) AS id FROM i;
	INSERT INTO log(seq, kind) SELECT seq, 'trial' FROM many;
	INSERT INTO trial_begin(id, commit_id, time) SELECT many.id, commit_id, time FROM many, last;
	INSERT INTO trial SELECT many.seq, many.id, commit_id, build_row, setup, purpose, outcome, detail, dir, boot_id,
		facts, twin, boot_seconds, run_seconds, total_seconds, time, layout FROM many, last;
	INSERT INTO sample SELECT many.id, 0, 'ms', 'ms', 0, 0, 20 + (many.n % 7) / 10.0 FROM many;"
start=$(date +%s)
formats "three thousand trials" -o confirm.boots=3 -o measure.end_boots=10
took=$(($(date +%s) - start))
is "$(points) $(grep -c '<tr id="t-' report.html) $(jq '.log | length' report.json)" "3000 3000 3000" "3000 trials are 3000 points and rows"
[ "$took" -lt 60 ] && [ "$(wc -c <report.html)" -lt 4000000 ]
ok $? "that takes $took s and makes a page of $(wc -c <report.html) bytes"

# skips, and a short list
rm -rf state repo
new_repo repo
linear repo 1 3 10
git -C repo tag v1
commit repo broken1 fail
commit repo broken2 skip
commit repo broken3 fail
linear repo 4 6 20
git -C repo tag v2
k run test.ini
formats "skips and no single culprit"
says html 'the first bad commit is one of 4 that cannot be tested' "html says how many are left"
is "$(grep '^#regzbot' report.mail)" "#regzbot introduced: $(rev v1 | cut -c 1-12)..$(rev v2 | cut -c 1-12)" "the mail gives regzbot the range"
says mail 'broken2' "and the list"
! grep -q '^Fixes:' report.mail
ok $? "and no tag for a commit that is not known"
is "$(jq -r '.candidates | length' report.json)" 4 "json has the list"
[ "$(xmllint --xpath 'count(//testcase/skipped)' report.junit)" -ge 3 ]
ok $? "junit skips what could not be tested"

# no difference
rm -rf state
k run -o campaign.bad=v1~0 -o campaign.good=v1~2 test.ini
formats "no difference" -o campaign.bad=v1~0 -o campaign.good=v1~2
says html 'no difference: the two ends cannot be told apart' "html says so"
is "$(grep -c '^#regzbot\|^Fixes\|^Reported-by' report.mail)" 0 "the mail reports no regression"
is "$(xmllint --xpath 'count(//testcase[contains(@classname, "answer")]/*)' report.junit)" 0 "junit passes"

# a fix
rm -rf state repo
new_repo repo
linear repo 1 3 20
git -C repo tag v2
commit repo "the fix" 10
git -C repo tag fix
linear repo 4 6 10
git -C repo tag v1
k run -o campaign.hunt=fix -o confirm.boots=2 test.ini
formats "a fix" -o campaign.hunt=fix -o confirm.boots=2
says mail 'Subject: [FIX FOUND] test' "the mail tells of a fix"
is "$(grep -c '^#regzbot\|^Fixes' report.mail)" 0 "and of no regression"
says html "fixed by $(rev fix | cut -c 1-12), the first good commit" "html says what fixed it"
is "$(jq -r '[.commits[].position] | tostring' report.json)" "$(jq -r '[.commits[].position] | sort | tostring' report.json)" "older commits stand first"

# a commit that fails, and counts as bad
rm -rf state repo
new_repo repo
linear repo 1 3 10
git -C repo tag v1
commit repo crash fail
git -C repo tag crash
commit repo after fail
git -C repo tag v2
k run -o verdict.on_crash=bad -o confirm.boots=2 test.ini
is "$status" 0 "a crash is found"
formats "a crash" -o verdict.on_crash=bad -o confirm.boots=2
says mail 'fail:runs  %reproduction    fail:runs' "the mail counts failures as 0-day does"
says html "$(rev crash | cut -c 1-12) is the first bad commit" "html has the culprit"
is "$(grep -o '<path class="failed" d="[^"]*"' report.html | grep -o 'M[0-9]' | wc -l | tr -d ' ')" \
	"$(sqlite3 state/campaign.db "SELECT count(*) FROM trial WHERE outcome <> 'ok'")" "each failed boot is a cross"

# not confirmed
rm -rf state repo
: >calls
merged_history repo
slow=$(rev slow)
sed "s/^case \$value in/[ \"\$(grep -c $slow calls)\" -lt 2 ] || [ \$KREGRESS_COMMIT != $slow ] || value=10\n&/" whole.sh >measure.sh
k run -o confirm.boots=2 test.ini
formats "not confirmed" -o confirm.boots=2
says html 'not confirmed: fresh boots do not show the difference' "html says that it is not confirmed"
is "$(grep -c '^#regzbot\|^Fixes' report.mail)" 0 "the mail blames no commit"
is "$(jq -r '.culprit, .confirm.state' report.json)" "null
contradicted" "nor does json"
cp whole.sh measure.sh

# single commits, without ends
rm -rf state
sed -i '/^good/d; /^bad/d' test.ini
k test -c test.ini -o verdict.threshold=15 "$(rev slow)"
formats "single commits" -o verdict.threshold=15
is "$(jq -r '.tested[].commit' report.json)" "$slow" "json has the commit"

# who is suspected under noise
rm -rf state repo
noisy_sh
new_repo repo
linear repo 1 1 100
git -C repo tag v1
linear repo 2 20 100
commit repo slow 112
linear repo 22 30 112
git -C repo tag v2
bayes test.ini
k run --json -o measure.max_boots=9 test.ini
cp out run.json
formats "a search under noise" -o measure.max_boots=9
is "$(jq -c '[.evidence.posterior[] | select(.share > 0.001) | .commit[:12]] | sort' report.json)" \
	"$(jq -c '[.search.most_weight[] | select(.share > 0.001) | .commit[:12]] | sort' run.json)" "json has the commits in doubt"
is "$(jq '([.evidence.posterior[].share] | add) + .search.no_culprit | . > 0.99 and . < 1.001' report.json)" true \
	"whose shares come to 1 with that of no culprit, but for the smallest"
is "$(grep -c '<h2 id="posterior"' report.html)" 1 "html shows them"
done_testing
