#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# replay where there is nothing, too little, something foreign or something broken; beside a running
# campaign; and with metrics that some commits do not print.
. "$(dirname "$0")/lib.sh"
reference=$top/tests/cli/replay-reference

cat >measure.sh <<'EOS'
#!/bin/sh
echo "$KREGRESS_COMMIT" >>calls
has() { git -C repo merge-base --is-ancestor "$1" "$KREGRESS_COMMIT"; }
[ -z "$DELAY" ] || sleep "$DELAY"
ms=10
has slow && ms=20
echo "kregress: metric ms $ms ms"
echo "kregress: metric other $((3 * ms)) us"
# from the branch "two" on, and where "slow" is not in it, there is no such value
! has c12 || has slow && echo "kregress: metric odd $((5 * ms)) n"
exit 0
EOS
chmod +x measure.sh
: >calls
merged_history repo
git -C repo tag c12 "$(git -C repo log --format=%h --grep='^c12$' --all)"
campaign test.ini

# answer: what the last replay came to, as the reference prints it
answer() {
	jq -cS '{status: (if .needs then "needs" else .after.status end),
		commit: (.needs.commit // .after.culprit), used: .trials.used}' out
}
referee() { # KEY=VALUE...
	python3 "$reference" state/campaign.db repo v1 v2 "$@" 2>>err | jq -cS '{status, commit, used}'
}

# --- nothing there ---
k replay test.ini
refused 128 "nothing to decide again" "a campaign that was never run has nothing to decide again"
[ ! -e state ]
ok $? "and nothing was made"
mkdir state
: >state/campaign.db
k replay test.ini
refused 128 "no store" "an empty store is no store yet"
mkdir state/trials
k replay test.ini
refused 128 "it was damaged" "an empty store beside trials is a damaged one"
rmdir state/trials
echo "this is no database, whatever its name says" >state/campaign.db
k replay test.ini
refused 128 "not a SQLite database" "a file that is no store is refused"
rm -rf state
timeout -s INT 1 env DELAY=5 "$KREGRESS" run test.ini >out 2>err
k replay test.ini
refused 128 "no trial is stored" "a store without trials has nothing to decide again"
rm -rf state
mkdir state
sqlite3 state/campaign.db 'CREATE TABLE t(x)'
k replay test.ini
refused 128 "no store of kregress" "another program's database is refused"
rm -rf state

# --- a store of a campaign whose ends were refused keeps no settings: the file's are before ---
"$KREGRESS" run -o verdict.threshold=+200% test.ini >out 2>err
is "$(sqlite3 state/campaign.db 'SELECT count(*) FROM campaign')" 0 "refused ends leave no settings"
k replay --json -o verdict.threshold=+200% test.ini
is "$(json '.before.threshold, .after.threshold, .after.status, (.settings | map(.key) | join(" "))')" \
	"$(printf '12\n30\nno_culprit\nverdict.threshold')" "before is then the file without -o"
is "$(json '.needs, .before.status')" "$(printf 'null\ninterrupted')" "which has not come to its end"
rm -rf state
: >calls

# --- beside a running campaign ---
DELAY=0.3 "$KREGRESS" run test.ini >ran 2>ran.err &
runner=$!
tries=0
until [ -s state/campaign.db ] && [ "$(calls)" -ge 3 ]; do
	sleep 0.1
	tries=$((tries + 1))
	[ $tries -lt 300 ] || break
done
k replay --json test.ini
is "$status $(json '.after.status, .needs.phase')" "0 interrupted
ends" "beside a running campaign replay says how far it is"
k replay -o measure.end_boots=1 -o measure.max_boots=1 test.ini
is "$status" 0 "also with settings that need less"
wait $runner
is "$?" 0 "the running campaign was not disturbed"
grep -q "$(rev slow) is the first bad commit" ran
ok $? "and found its culprit"
stored=$(sqlite3 state/campaign.db 'SELECT count(*) FROM trial')
is "$(calls)" "$stored" "nobody else measured"
sum=$(sha256sum <state/campaign.db)

# --- what cannot be decided again ---
cp measure.sh elsewhere.sh
k replay -o target.command=./elsewhere.sh test.ini
refused 129 "target.command was" "another command is another setup"
grep -q "measured under another setup" err
ok $? "and the message says why that matters"
k replay -o measure.runs_per_boot=4 test.ini
refused 129 "measure.runs_per_boot was '1', is '4'" "so is another number of runs"
k replay -o measure.warmup_runs=1 test.ini
refused 129 "measure.warmup_runs was '0', is '1'" "so is another number of warm-ups"
k replay -o campaign.good=slow~1 test.ini
refused 129 "belongs to another campaign" "another end is another campaign"
k replay -o campaign.hunt=fix test.ini
[ "$status" = 129 ]
ok $? "so is another hunt"
k replay -o workload.metric=us test.ini
refused 129 "no stored trial has a value of metric 'us' (they have: ms, other, odd)" \
	"a metric that nothing printed is refused with those that there are"
k replay -o workload.metric='a b' test.ini
refused 129 "workload.metric" "a metric with a name that cannot be is refused"
k replay -o verdict.search=magic test.ini
refused 129 "verdict.search" "an unknown search is refused"
k replay -o workload.timeout=1s test.ini
grep -q "workload.timeout: makes no difference" err && [ "$status" = 0 ]
ok $? "a setting that cannot matter is said to make no difference"
sed '/^good =/d; /^bad =/d' test.ini >single.ini
k replay single.ini
refused 129 "'bad' is missing" "single commits without ends are no search"

# --- settings: the store's before, the file's now ---
sed 's/^threshold = .*/threshold = 15/' test.ini >edited.ini
k replay --json edited.ini
is "$status $(json '.settings | map([.key, .before, .after] | join(" ")) | join(";")')" "0 verdict.threshold +20% 15" \
	"a file that was edited is compared with what the campaign was run with"
sed '/^better/d' test.ini >edited.ini
k replay --json edited.ini
is "$(json '.settings | map([.key, .before, .after] | join(" ")) | join(";")')" "verdict.better lower " \
	"a setting that was taken out too"
k replay --json -o measure.max_boots=7 -o campaign.skip=slow~1 -o verdict.on_crash=bad test.ini
is "$(json '.settings | map([.key, .before, .after] | join(" ")) | join(";")')" \
	"campaign.skip  'slow~1';measure.max_boots 8 7;verdict.on_crash skip bad" "each setting that differs is listed"
k replay test.ini
answers 0 "the settings are those that the campaign was run with" "with the same settings it says so"
answers 0 "the same commits in the same order" "and that the search is the same"
answers 0 "$stored of $stored used" "and that all trials are used"
k replay -o measure.end_boots=1 test.ini
answers 0 "$((stored - 2)) of $stored used; 2 beyond what a verdict needs" "boots beyond what is asked for are counted"
k replay -o verdict.threshold=25 test.ini
answers 0 "the threshold is not between the ends" "a threshold that finds nothing says so"
answers 0 "$(rev v2 | cut -c 1-12)  bad    -> good" "and whose verdict it changes"
k replay -o campaign.skip=slow test.ini
answers 0 "which was never measured:" "the replay ends where a commit was never measured"
answers 0 "Go on with: kregress run -o campaign.skip=slow test.ini" "and says how to go on"
answers 0 "instead of $(rev slow | cut -c 1-12) (slow)" "and where the search left its way"
k run -o campaign.skip=slow -o campaign.state=other test.ini
next=$("$KREGRESS" log --json -o campaign.state=other test.ini | jq -r .commit | awk '!n[$0]++')
k replay --json -o campaign.skip=slow test.ini
is "$(json '.after.tested[].commit, .needs.commit')" "$(echo "$next" | head -n "$(json '.after.tested | length + 1')")" \
	"a campaign that is run so asks for the same commits in the same order"
rm -rf other

# --- values that some lack ---
k replay --json -o workload.metric=other -o verdict.threshold=+50% test.ini
is "$(json '.after.good.estimate, .after.bad.estimate, .after.unit')" "$(printf '30\n60\nus')" "another metric has its own values and unit"
is "$(answer)" "$(referee metric=other threshold=0.5)" "and its own search"
k replay --json -o workload.metric=odd -o verdict.skips=git test.ini
lacking=$(sqlite3 state/campaign.db "SELECT count(*) FROM trial WHERE id NOT IN (SELECT trial FROM sample WHERE metric = 'odd')")
is "$([ "$lacking" -gt 0 ] && json .trials.no_value)" "$lacking" "trials without a value of the metric are counted"
is "$(answer)" "$(referee metric=odd)" "they are garbled, and walked like skipped ones"
is "$(json '[.commits[] | select(.after == "skip")] | length > 0')" true "none of them is a zero"

# --- what another metric garbled ---
rm -rf state
: >calls
"$KREGRESS" run -o workload.metric=odd -o verdict.skips=git test.ini >out 2>err
garbled=$(sqlite3 state/campaign.db "SELECT count(*) FROM trial WHERE outcome = 'garbled'")
k replay --json -o verdict.skips=git test.ini
is "$([ "$garbled" -gt 0 ] && json .trials.mended)" "$garbled" "trials garbled for another metric's sake are measured ones"
is "$(answer)" "$(referee mend=yes)" "and the search is that of their values"

# --- fresh boots that confirm the culprit are no part of the search ---
rm -rf state
"$KREGRESS" run -o confirm.boots=2 test.ini >out 2>err
k replay --json -o confirm.boots=2 test.ini
is "$(json '.trials.stored, .trials.used, .needs, .after.culprit')" "$(sqlite3 state/campaign.db \
	"SELECT count(*) FROM trial WHERE purpose != 'confirm'" | sed p)
null
$(rev slow)" "boots of the confirmation are not told to the search, and confirm what it finds"
k replay --json -o confirm.boots=5 test.ini
is "$(json '.needs.phase, .needs.commit, .needs.at_least, .needs.at_most, .after.culprit')" "confirm
$(rev slow)
6
12
null" "two of five boots of culprit and parent are there: six are missing at least, and 12 where these leave it open"
k replay -o confirm.boots=5 test.ini
answers 0 "6 to 12 more boots of it and its parent" "which the text says too"

# --- an identical kernel: its values are copies, as the campaign stores them ---
rm -rf state
"$KREGRESS" run test.ini >out 2>err
k replay --json -o campaign.skip=slow test.ini
missing=$(json .needs.commit)
[ "$missing" != null ]
ok $? "a commit is missing"
sqlite3 state/campaign.db <<END
BEGIN;
INSERT INTO log(kind) VALUES('trial');
INSERT INTO trial_begin(commit_id, time) VALUES('$missing', 1);
INSERT INTO trial SELECT (SELECT max(seq) FROM log), (SELECT max(id) FROM trial_begin), '$missing',
	$(sqlite3 state/campaign.db 'PRAGMA table_info(trial)' | cut -d '|' -f 2 | tail -n +4 |
		sed 's/^twin$/id/; s/^dir$/'"''"'/' | paste -sd ,)
	FROM trial WHERE commit_id = '$(rev v2)' LIMIT 1;
INSERT INTO sample SELECT (SELECT max(id) FROM trial), $(sqlite3 state/campaign.db 'PRAGMA table_info(sample)' |
	cut -d '|' -f 2 | tail -n +2 | paste -sd ,)
	FROM sample WHERE trial = (SELECT twin FROM trial WHERE commit_id = '$missing');
COMMIT;
END
k replay --json -o campaign.skip=slow test.ini
is "$(json ".commits[] | select(.commit == \"$missing\") | [.after, .used, .estimate] | map(tostring) | join(\" \")")" \
	"bad 1 20" "with a copy of the bad end's boot it is bad"
[ "$(json .needs.commit)" != "$missing" ]
ok $? "and the replay goes on"

# --- a damaged store: an answer or an error, never a crash, never a change ---
sed 's/^threshold = .*/threshold = +20%/' test.ini >fuzz.ini
cp state/campaign.db sound.db
rm -f state/campaign.db-*
python3 - "$KREGRESS" >counts 2>>err <<'END'
import json, os, random, subprocess, sys
rng, sound = random.Random(71), open("sound.db", "rb").read()
bad, statuses = [], set()
for i in range(50):
    data, at = bytearray(sound), rng.randrange(len(sound))
    kind = rng.choice(["cut", "flip", "zero"])
    if kind == "cut":
        del data[at:]
    elif kind == "flip":
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    else:
        data[at:at + 1024] = bytes(len(data[at:at + 1024]))
    for name in os.listdir("state"):
        if name.startswith("campaign.db"):
            os.unlink("state/" + name)
    open("state/campaign.db", "wb").write(data)
    p = subprocess.run([sys.argv[1], "replay", "--json", "fuzz.ini"], timeout=120,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    statuses.add(p.returncode)
    fine = (p.returncode == 0 and "after" in json.loads(p.stdout)) or (
        p.returncode in (128, 129) and p.stderr and not p.stdout)
    if not fine or open("state/campaign.db", "rb").read() != data:
        bad.append((i, kind, at, p.returncode, p.stderr[:200]))
print(bad, sorted(statuses)[:2])
END
is "$(cat counts)" "[] [0, 128]" "50 damaged stores: each has an answer or an error, and stays as it is"

# without the triggers that keep the log append-only
cp sound.db open.db
{
	echo 'PRAGMA synchronous = OFF;'
	sqlite3 open.db "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_schema WHERE type = 'trigger'"
} >drop.sql
sqlite3 open.db <drop.sql >>err
damage() { # SQL
	rm -f state/campaign.db*
	cp open.db state/campaign.db
	sqlite3 state/campaign.db "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; $1"
	k replay --json fuzz.ini
}
damage "UPDATE sample SET value = 'fast' WHERE trial = 1"
refused 128 "sample 1 has no valid value" "a value that is no number is damage, not a zero"
damage "UPDATE sample SET value = 9e999 WHERE trial = 1"
refused 128 "sample 1 has no valid value" "so is an infinite one"
damage "UPDATE trial SET outcome = 'fine' WHERE id = 2"
refused 128 "trial" "an unknown outcome is damage"
damage "UPDATE trial SET commit_id = 'HEAD' WHERE id = 2"
refused 128 "commit" "so is a commit that is no object name"
damage "DELETE FROM trial WHERE id = 3"
refused 128 "damaged" "so is a row that the log promises"
damage "UPDATE trial SET twin = id WHERE id = 4"
is "$status" 0 "a copy of itself goes round no circle"
damage "UPDATE trial SET twin = 5 WHERE id = 4; UPDATE trial SET twin = 4 WHERE id = 5"
is "$status" 0 "nor do two that are copies of each other"
damage "UPDATE trial SET commit_id = '0123456789012345678901234567890123456789' WHERE id = 2"
[ "$status" = 0 ] || [ "$status" = 128 ]
ok $? "a trial of a commit that is not in the repository does no harm"
damage "UPDATE campaign SET text = 'verdict.threshold = soon' || char(10) || 'nonsense'"
[ "$status" = 0 ] && grep -q "cannot be used any more" err
ok $? "settings that cannot be read any more are said, and the file's are compared with"
damage "PRAGMA user_version = 99"
refused 128 "schema 99" "a store of a newer kregress is refused"
done_testing
