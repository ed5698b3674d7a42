#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# search = bayes with real kernels and real time, where no two boots measure the same: the planted
# commit with a confidence, the same again from the store alone, and nothing measured twice.
. "$(dirname "$0")/lib.sh"

campaign hugetlb-exit target.deterministic=no confirm.revert=no confirm.boots=0 \
	measure.runs_per_boot=1 measure.warmup_runs=1 verdict.search=bayes measure.end_boots=2
is "$status" 0 "the campaign finds a culprit"
is "$(json 'r["culprit"]')" "$(truth hugetlb-exit)" "it is the planted commit"
is "$(json 'r["confidence"] >= 0.95 and r["confidence"] <= 1')" True "with the confidence asked for"
is "$(json 'r["candidates"][0]["commit"] == r["culprit"] and r["candidates"][0]["share"] == r["confidence"]')" \
	True "which is its share"
is "$(json 'len(set(r["tested"][0]["samples"])) > 1')" True "boots of the good end do differ"
is "$(json 'r["good"]["estimate"] < r["bad"]["estimate"]')" True "the good end's level is the lower one"
culprit=$(json 'r["culprit"]') boots=$(json 'r["trials"]')
state=$tmp/state-hugetlb-exit
is "$(sqlite3 "$state/campaign.db" "select count(*) from trial where outcome = 'ok' and twin is null")" "$boots" \
	"the boots that it tells are those that are stored"
echo "# $boots boots of $(json 'len(r["tested"])') commits"

campaign hugetlb-exit target.deterministic=no confirm.revert=no confirm.boots=0 \
	measure.runs_per_boot=1 measure.warmup_runs=1 verdict.search=bayes measure.end_boots=2
is "$(json 'r["culprit"], r["trials"]')" "('$culprit', $boots)" "a second call boots nothing"
done_testing
