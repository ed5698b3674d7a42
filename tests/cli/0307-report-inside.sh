#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the confirmation stored of the inside of the kernel is what each format shows.
. "$(dirname "$0")/lib.sh"
validate=$top/tests/cli/validate schema=$top/doc/report.schema.json

sql() {
	sqlite3 state/campaign.db "$1"
}

note() { # KIND TRIAL LINES: as a boot of the confirmation leaves it
	sql "INSERT INTO log(kind) VALUES ('note');
		INSERT INTO note VALUES (last_insert_rowid(), 0, '$1', '$2
$3', 0)"
}

boots() { # COMMIT PURPOSE
	sql "SELECT id FROM trial WHERE commit_id = '$1' AND purpose = '$2' ORDER BY id"
}

# inside COMMIT PURPOSE RCU ASLEEP IDLE: of each boot; RCU is 2 more from boot to boot
inside() {
	rcu=$3
	for id in $(boots "$1" "$2"); do
		note counters "$id" "c softirqs/RCU $rcu
l vmstat/nr_free_pages 500
"
		note stacks "$id" "looks 100
$4 D __wait_rcu_gp;synchronize_rcu;restore_folios;exit_mmap
$((100 - $4)) R
"
		note profile "$id" "samples 200 seconds 2 cost 0.1
$5 default_idle
$((200 - $5)) evil<b>
"
		rcu=$((rcu + 2))
	done
}

shown() { # FORMAT
	k report --format "$1" test.ini
	python3 "$validate" "$1" out "$schema" >>err
	is "$status $?" "0 0" "$1 is valid"
}

measure_sh
merged_history repo
campaign test.ini
printf '[confirm]\nboots = 3\n' >>test.ini
slow=$(rev slow) parent=$(rev slow~1)
k run test.ini
is "$status" 0 "the campaign ends"

k report --format json test.ini
is "$(json '.evidence | .counters + .stacks + .profile | length')" 0 "nothing stored is nothing shown"
k report --format html test.ini
! grep -qE 'id="(counters|stacks|profile)"' out
ok $? "nor a part of the page for it"

inside "$parent" confirm 10 2 20
inside "$slow" confirm 110 62 150
# Boots of the search, and of other commits, are not what was confirmed.
inside "$parent" search 50000 50 50
inside "$slow" search 100000 99 199
inside "$(rev v2)" ends 100000 99 199
is "$(for boot in "$parent confirm" "$slow confirm" "$parent search" "$slow search"; do
	boots $boot | wc -l
done | xargs)" "3 3 1 1" "three boots of each side told something, and one each of the search"

shown json
is "$(json '.evidence.counters[] | [.name, .parent, .culprit] | join(" ")')" "softirqs/RCU 12 112" \
	"json: means over the boots; a counter that stood still is left out"
# By hand: variances 4 and 4 of three boots, so 100 / sqrt(4/3 + 4/3).
is "$(json '.evidence.counters[0] | .moved * 100 | round')" 6124 "json: in standard errors"
is "$(json '.evidence.stacks[] | [.in, .under, .parent, .culprit] | join(" ")' | sort)" \
	"[running]  0.98 0.38
synchronize_rcu restore_folios 0.02 0.62" "json: where the threads were"
is "$(json '.evidence.stacks[] | select(.in == "synchronize_rcu") | .frames')" \
	"$(printf '__wait_rcu_gp\nsynchronize_rcu\nrestore_folios\nexit_mmap')" "json: the whole stack"
is "$(json '.evidence.profile[] | [.symbol, .parent, .culprit] | join(" ")' | sort)" \
	"default_idle 0.1 0.75
evil<b> 0.9 0.25" "json: the profile"

shown html
page() { # MARKUP: the words of its row of a table
	grep -F "$1" out | sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //; s/ $//'
}
is "$(page '<td class="id">softirqs/RCU')" "softirqs/RCU 12 112 +61.2 *" "html: the counter"
page 'synchronize_rcu</strong>' | grep -q '^synchronize_rcu restore_folios stack __wait_rcu_gp'
ok $? "html: the stack"
is "$(grep -o '[0-9.]* %</td><td class="n">[0-9.]* %</td><td class="n">[+-][0-9.]*' out | sed 's/<[^>]*>/ /g; s/  */ /g' | sort -n)" \
	"2.0 % 62.0 % +60.0
10.0 % 75.0 % +65.0
90.0 % 25.0 % -65.0
98.0 % 38.0 % -60.0" "html: the shares of stacks and of the profile"
grep -qF 'evil&lt;b&gt;' out && ! grep -qF 'evil<b>' out
ok $? "html: a name of the kernel is never markup"

shown mail
is "$(grep -F 'softirqs/RCU' out | sed 's/±[ >]*[0-9]*%//g' | awk '{ print $1, $2, $3, $4, $5 }')" \
	"12 +833.3% 112 * softirqs/RCU" "mail: the counter"
is "$(grep -F 'default_idle' out | awk '{ print $1, $2, $3 }')" "10.00 +65.00 75.00" "mail: the profile"
is "$(grep -B 1 'in synchronize_rcu under restore_folios' out | awk 'NR == 1 { print $1, $2, $3 }')" "2.00 +60.00 62.00" \
	"mail: the stack"

k report test.ini
answers 0 "The culprit's workload is asleep in synchronize_rcu under restore_folios" "text: the sentence"
is "$(awk '$NF == "default_idle" { print $1, $2, $3 }' out)" "10.0% 75.0% +65.0" "text: the profile"
is "$(awk '$NF == "softirqs/RCU" { print $1, $4, $7 }' out)" "12 112 +61.2" "text: the counter"

# A note of a boot that is none of these, and one that is no text of ours.
n=$(sql "SELECT max(id) FROM trial")
k report --format json test.ini
json .evidence >before
note stacks $((n + 1)) "looks 100
100 D nonsense"
note profile x "samples 1000 seconds 1 cost 0
1000 nonsense"
k report --format json test.ini
json .evidence >after
[ "$status" = 0 ] && cmp before after
ok $? "rows that belong to no boot of the confirmation change nothing"
done_testing
