#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Under noise search = bayes finds what the threshold cannot, says how sure it is, and resumes as it was.
. "$(dirname "$0")/lib.sh"

noisy_sh
new_repo repo
linear repo 1 1 100
git -C repo tag v1
linear repo 2 60 100
commit repo slow 112
git -C repo tag slow
linear repo 62 100 112
git -C repo tag v2

# --- a step of 2.4 deviations among 100 commits, three times: the threshold is lost, bayes is not
found=0 lost=0 sure=0
for SEED in 1 2 3; do
	export SEED
	rm -rf state
	bayes test.ini
	k run --json test.ini
	[ "$status $(json .culprit)" = "0 $(rev slow)" ] && found=$((found + 1))
	[ "$(json '.candidates[0].share >= 0.95 and .confidence == .candidates[0].share')" = true ] &&
		sure=$((sure + 1))
	rm -rf state
	k run --json -o verdict.search=bisect test.ini
	[ "$(json .culprit)" = "$(rev slow)" ] || lost=$((lost + 1))
done
[ $found -ge 2 ]
ok $? "bayes finds the culprit in $found of 3 campaigns"
is "$sure" "$found" "each with its share, which is the confidence"
[ $lost -ge 2 ]
ok $? "the threshold does not in $lost of 3"
unset SEED

# --- one campaign, looked at
rm -rf state
bayes test.ini
: >calls
k run test.ini
answers 0 "$(rev slow) is the first bad commit" "the culprit is said"
answers 0 "It is the one with 9" "and with which chance"
all=$(calls)
k run test.ini
is "$(calls)" "$all" "a campaign that has ended measures nothing"
k status test.ini
answers 0 "Most weight" "status shows the commits with most weight"
answers 0 "  boot to boot   " "and the spread"
answers 0 "  no commit of this range" "and the chance of none"
k status --json test.ini
is "$(json '.search | .mode, (.no_culprit < 0.05), (.bits_left < 1),
	(.levels.old.interval[0] < 100 and 100 < .levels.old.interval[1]),
	(.levels.new.interval[0] < 112 and 112 < .levels.new.interval[1]),
	(.deviation.boot > 3 and .deviation.boot < 8)' | tr '\n' ' ')" \
	"bayes true true true true true " "status --json has the levels that were planted, and the deviation"
is "$(json '[.tested[] | select(.verdict == "unsure")] | length < (.tested | length) / 2' 2>/dev/null)$(
	json '[.tested[].verdict] | unique | map(select(. != "good" and . != "bad" and . != "unsure")) | length')" \
	0 "commits are good, bad or unsure"

# git takes the log, and comes to the same commit
k log --git test.ini
cp out git.log
rm -rf clone
git clone -q repo clone
git -C clone bisect replay "$tmp/git.log" >/dev/null 2>replay.err
ok $? "git bisect replays log --git"
is "$(git -C clone rev-parse refs/bisect/bad)" "$(rev slow)" "and then has the culprit as the bad one"
is "$(git -C clone for-each-ref --format='%(objectname)' 'refs/bisect/good-*' | while read -r good; do
	git -C clone merge-base --is-ancestor "$good" "$(rev slow)" || echo wrong
done)" "" "and no good commit that has it"

# --- killed in the middle: the next step is the same, the answer too
k log --json test.ini
jq -r .commit out >whole.order
rm -rf state
: >calls
DELAY=0.1 "$KREGRESS" run test.ini >out 2>err &
pid=$!
tries=0
while [ "$(calls)" -lt 12 ] && [ $tries -lt 300 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
kill -KILL $pid
wait $pid 2>/dev/null
k status --json test.ini
next=$(json .search.next.commit)
stored=$("$KREGRESS" log --json test.ini | wc -l | tr -d ' ')
is "$next" "$(sed -n "$((stored + 1))p" whole.order)" "killed after $stored boots: the next step is that of the run in one go"
[ "$(json '.search.expected | .interval[0] <= .boots and .boots <= .interval[1]')" = true ]
ok $? "status --json says how many boots are to go"
k status test.ini
answers 0 "To go     about " "so does status"
answers 0 "Next      $(echo "$next" | cut -c 1-12)" "and why the next one was chosen"
k run test.ini
k log --json test.ini
[ "$(jq -r .commit out | head -n $((stored + 1)))" = "$(head -n $((stored + 1)) whole.order)" ]
ok $? "and it was measured next"
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "the answer is the same"

# --- auto
rm -rf state
bayes auto.ini 'search = auto'
k run --json auto.ini
is "$(json .culprit) $(json .search.mode)" "$(rev slow) bayes" "auto takes bayes for noisy ends"
grep -q "search = bayes (auto): the threshold lies .* deviations" err
ok $? "and says why"
k log auto.ini
grep -q "search .*search = bayes (auto): " out
ok $? "the log has it"
k run auto.ini
answers 0 "search = bayes (auto): the threshold lies" "the report has it"
rm -rf state
SD=0.01 k run --json auto.ini
is "$(json .culprit) $(json .search) $(json .confidence)" "$(rev slow) null null" "auto takes bisect for quiet ends"
k run auto.ini
answers 0 "search = bisect (auto): the threshold lies " "and says so"
rm -rf state
k run -o verdict.threshold=+6% auto.ini
answers 1 "search = bisect (auto): the threshold is given" "auto leaves a threshold that is given in force"

# --- no step: refused or denied, with figures; never a culprit
git -C repo tag none "$(git -C repo log --format=%H --grep '^c50$')"
rm -rf state
BAD=none
bayes none.ini
k run --json none.ini
is "$status $(json .culprit)" "1 null" "equal ends: no culprit"
k run none.ini
grep -q "A 2% step with .*% boot-to-boot spread needs [0-9]* boots an end" out
ok $? "and how many boots a step of effect needs"
rm -rf state
SD=0.5 k run --json none.ini
is "$status $(json .status)" "1 no_difference" "equal ends that hardly scatter: no difference"
unset BAD

# --- pass or fail: the metric is 0 or 1, wrong one time of ten
rm -rf repo state
new_repo repo
linear repo 1 1 0
git -C repo tag v1
linear repo 2 30 0
commit repo slow 1
linear repo 32 60 1
git -C repo tag v2
cat >measure.sh <<'EOF'
#!/bin/sh
value=$(git -C repo show "$KREGRESS_COMMIT:value")
luck=$(echo "$KREGRESS_COMMIT $KREGRESS_TRIAL" | cksum | cut -d ' ' -f 1)
[ $((luck / 7 % 10)) != 0 ] || value=$((1 - value))
echo "kregress: metric ms $value"
EOF
bayes test.ini
k run --json test.ini
is "$status $(json .culprit)" "0 $(git -C repo log --format=%H --grep '^slow$')" "0 and 1, one in ten wrong: found"
k status test.ini
answers 0 "old end fails" "status shows rates"

# --- what is said in the file
k run -o verdict.build_sd=lots test.ini
refused 129 "bad deviation 'lots' for build_sd (auto, 0, 1.5 or 2%)" "a deviation that is none is refused"
done_testing
