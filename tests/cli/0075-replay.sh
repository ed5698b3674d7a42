#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# replay decides again: every answer is that of a reference which reads the store with sqlite3,
# lets git bisect pick the commits and integrates the t distribution itself.
. "$(dirname "$0")/lib.sh"
reference=$top/tests/cli/replay-reference

# same FILE TITLE KEY=VALUE... -- SETTING...: the reference's KEYs are what the SETTINGs say
same() {
	file=$1 title=$2
	shift 2
	keys='' settings=''
	while [ "$1" != -- ]; do
		keys="$keys $1"
		shift
	done
	shift
	for setting; do
		settings="$settings -o $setting"
	done
	# shellcheck disable=SC2086
	python3 "$reference" state/campaign.db repo v1 v2 $base $keys >want 2>err ||
		{ ok 1 "the reference works: $title"; return; }
	# shellcheck disable=SC2086
	k replay --json -o verdict.skips=git $settings "$file"
	python3 - out want >differences 2>&1 <<-'END'
	import json, sys
	r, want = (json.load(open(f)) for f in sys.argv[1:3])
	a, needs = r["after"], r["needs"]
	status = ("needs" if needs else
	          {"no_culprit": want["status"] if want["status"] in ("swapped", "same_side") else "no_culprit"}
	          .get(a["status"], a["status"]))
	lack = [needs["at_least"], needs["at_most"]] if needs else None
	got = dict(lack=lack, status=status, commit=needs["commit"] if needs else a["culprit"],
	           stored=r["trials"]["stored"], used=r["trials"]["used"],
	           tested=[[c["commit"], c["verdict"]] for c in a["tested"]],
	           use={c["commit"]: c["used"] for c in r["commits"]})
	for key in got:
	    if got[key] != want[key]:
	        print(key, "got", got[key], "want", want[key])
	        bad = 1
	sys.exit("bad" in globals())
	END
	ok $? "$title"
	sed 's/^/# /' differences
	jq -r .status want >>answers
}

# --- three metrics; the noise of a boot is a function of its number ---
cat >measure.sh <<'EOS'
#!/bin/sh
echo "$KREGRESS_COMMIT" >>calls
has() { git -C repo merge-base --is-ancestor "$1" "$KREGRESS_COMMIT"; }
ms=1000 hits=1000
has small && ms=$((ms + 400))
has slow && ms=$((ms + 600))
has other && hits=700
has crash && ! has mend && exit 1
noise=$((KREGRESS_TRIAL * 7919 % 61 - 30))
run=0
while [ "$run" -lt "$KREGRESS_RUNS" ]; do
	echo "kregress: metric ms $((ms + NOISE * noise + run)) ms"
	echo "kregress: metric hits $((hits - noise + 2 * run)) n/s"
	has "${ODD:-v1}" && echo "kregress: metric odd $((ms / 10)) us"
	run=$((run + 1))
done
exit 0
EOS
chmod +x measure.sh

new_repo repo
linear repo 1 3 0
git -C repo tag v1
linear repo 4 8 0
git -C repo tag small
git -C repo checkout -q -b side
linear repo 9 12 0
git -C repo tag slow
linear repo 13 14 0
git -C repo checkout -q main
linear repo 15 17 0
git -C repo tag crash
linear repo 18 19 0
git -C repo tag mend
git -C repo tag other
linear repo 20 22 0
merge repo side
linear repo 23 30 0
git -C repo tag v2

noisy() { # FILE NOISE SETTINGS-of-measure...
	sed -e "s/^runs_per_boot = .*/runs_per_boot = 3/; s/^warmup_runs = .*/warmup_runs = 1/" \
		-e 's/^better = lower//' plain.ini >"$1"
	printf 'confidence = 95%%\nskips = git\n' >>"$1"
	sed -i "/^\[measure\]/a min_boots = $2\nmax_boots = $3\nend_boots = $4" "$1"
}
campaign plain.ini
noisy test.ini 1 6 3
NOISE=1 "$KREGRESS" run test.ini >first 2>err
is "$(sed -n 's/ is the first bad commit//p' first)" "$(rev small)" "the campaign finds the first step by ms"
before=$(sha256sum <state/campaign.db)
base="runs=3 min=1 max=6 end=3"

k replay --json test.ini
is "$status $(json '.before.culprit, .after.culprit, (.settings | length), .needs')" "0 $(rev small)
$(rev small)
0
null" "the settings it was run with: nothing changes"
is "$(json '[.commits[] | select(.before != .after)] | length')" 0 "no verdict changes"
is "$(json '.trials.stored == .trials.used')" true "each stored trial is used"
same test.ini "the same settings" --
same test.ini "a higher threshold" threshold=0.6 -- verdict.threshold=+60%
same test.ini "an absolute threshold" kind=absolute threshold=1700 -- verdict.threshold=1700
same test.ini "the threshold half-way" kind=auto -- verdict.threshold=auto
same test.ini "a threshold beyond both ends" threshold=1.5 -- verdict.threshold=+150%
same test.ini "more confidence, for which the boots do not suffice" confidence=0.9999999 -- \
	verdict.confidence=99.99999%
same test.ini "less confidence" confidence=0.6 -- verdict.confidence=60%
same test.ini "fewer boots" max=2 end=2 -- measure.end_boots=2 measure.max_boots=2
same test.ini "one boot each" max=1 end=1 -- measure.end_boots=1 measure.max_boots=1
same test.ini "more boots than are stored" min=4 end=4 -- measure.min_boots=4 measure.end_boots=4
same test.ini "another metric, the other way round" metric=hits better=higher threshold=-0.15 -- \
	workload.metric=hits verdict.better=higher verdict.threshold=-15%
same test.ini "another metric as it is: good and bad are swapped" metric=hits kind=auto -- \
	workload.metric=hits verdict.better=lower verdict.threshold=auto
same test.ini "an effect larger than the difference" metric=hits better=higher kind=auto effect=0.6 -- \
	workload.metric=hits verdict.better=higher verdict.threshold=auto verdict.effect=60%
same test.ini "failures are bad" on_crash=bad -- verdict.on_crash=bad
same test.ini "failures are bad, by another metric" metric=hits better=higher kind=auto on_crash=bad -- \
	workload.metric=hits verdict.better=higher verdict.threshold=auto verdict.on_crash=bad
for c in $(jq -r '.before.tested[2:][].commit' out | head -n 3); do
	same test.ini "a commit skipped" "skip=$c" -- "campaign.skip=$c"
done
is "$(sha256sum <state/campaign.db)" "$before" "the store is as it was, to the byte"
is "$(calls)" "$(sqlite3 state/campaign.db 'SELECT count(*) FROM trial')" "nothing was measured"

# --- the same with noise that asks for many boots ---
rm -rf state
noisy test.ini 2 6 4
NOISE=4 "$KREGRESS" run test.ini >first 2>err
base="runs=3 min=2 max=6 end=4"
is "$(sqlite3 state/campaign.db 'SELECT max(n) > 2 FROM (SELECT count(*) n FROM trial GROUP BY commit_id)')" 1 \
	"with more noise some commits took more boots"
same test.ini "much noise, the same settings" --
for c in 50.5 70 90 99 99.9; do
	same test.ini "much noise, confidence $c%" "confidence=0$(echo "$c" | awk '{ print $1 / 100 }' | cut -c 2-)" -- \
		"verdict.confidence=$c%"
done
for t in 20 30 45 60; do
	for n in 1 3; do
		same test.ini "much noise, threshold +$t%, at least $n boots" "threshold=0.$t" "min=$n" -- \
			"verdict.threshold=+$t%" "measure.min_boots=$n"
	done
done
# --- a campaign that searched by bayes, decided again by it and by git bisect ---
rm -rf state
sed -e '/^skips/a search = bayes' -e 's/^threshold = .*/threshold = auto/' test.ini >bayes.ini
NOISE=4 "$KREGRESS" run bayes.ini >first 2>err
stored=$(sqlite3 state/campaign.db 'SELECT count(*) FROM trial')
k replay --json bayes.ini
is "$status $(json '.before.culprit == .after.culprit, .needs, .trials.used, .search.next')" "0 true
null
$stored
null" "the settings of a bayes campaign give its own answer, with all its boots"
is "$(json '.after.tested == .before.tested')" true "in its own order, with its own verdicts"
k replay --json -o verdict.confidence=60% bayes.ini
is "$(json '.needs, (.trials.used < .trials.stored), (.before.tested[:(.after.tested | length)] | map(.commit)) == (.after.tested | map(.commit))')" \
	"null
true
true" "less confidence stops it earlier on the same way"
k replay --json -o verdict.confidence=99.99999% bayes.ini
is "$(json '.needs.phase, .needs.at_least, .needs.at_most, .trials.used == .trials.stored, .after.culprit')" "search
1
null
true
null" "more confidence needs boots that are not stored"
same bayes.ini "git bisect over the boots of bayes" kind=auto -- verdict.search=bisect
same bayes.ini "the same, by single boots" kind=auto min=1 max=1 end=1 -- verdict.search=bisect \
	measure.min_boots=1 measure.max_boots=1 measure.end_boots=1
is "$(sort -u answers | tr '\n' ' ')" "found needs no_difference same_side swapped " \
	"the answers above were of all these kinds"
done_testing
