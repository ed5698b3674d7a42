# SPDX-License-Identifier: GPL-2.0-or-later
# For the tests of compare: a history whose commits can be undone one by one. Sourced after lib.sh.
# shellcheck shell=sh

# put FILE TEXT TAG: a commit that changes one file of ./repo alone
put() {
	clock=$((clock + 60))
	echo "$2" >"repo/$1"
	git -C repo add -A
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" git -C repo commit -qm "$1 is $2"
	git -C repo tag "$3"
}

# compare_history: what is measured is a + b; slow-a and slow-b raise one each, v2 neither
compare_history() {
	new_repo repo
	put a 10 base
	put b 5 v1
	put a 20 slow-a
	put b 9 slow-b
	put c 1 v2
}

# compare_campaign [LINES of [compare]]: test.ini with a command that measures a + b, and notes its
# calls. Each trial is off by its number, so that no two values are the same; $OUTLIER is a trial.
compare_campaign() {
	cat >measure.sh <<-'END'
	#!/bin/sh
	echo "$KREGRESS_TRIAL $KREGRESS_COMMIT '$*' '$KREGRESS_VARIANT' '$KREGRESS_SETUP' '$KREGRESS_SWEEP'" >>calls
	[ -z "$DELAY" ] || sleep "$DELAY"
	a=$(git -C repo show "$KREGRESS_COMMIT:a") || exit 129
	b=$(git -C repo show "$KREGRESS_COMMIT:b") || exit 129
	case $a in
	skip) exit 125 ;;
	die) exit 1 ;;
	esac
	while [ $# -gt 0 ]; do
		[ "$1" != --interval ] || interval=$2
		shift
	done
	[ "$KREGRESS_TRIAL" != "$OUTLIER" ] || a=$((a + 900))
	for run in 1 2 3; do
		awk -v a="$a" -v b="$b" -v i="${interval:-100}" -v t="$KREGRESS_TRIAL" -v run=$run \
			'BEGIN { printf "kregress: metric ms %.6f ms\n", (a + b) * i / 100 + (t * 37 % 11) / 10 + (run == 3) * 5 }'
	done
	END
	chmod +x measure.sh
	: >calls
	cat >test.ini <<-END
	[campaign]
	name = test
	repo = repo
	state = state
	[build]
	type = none
	[target]
	type = command
	command = ./measure.sh
	[workload]
	metric = ms
	[measure]
	runs_per_boot = 3
	warmup_runs = 0
	[verdict]
	better = lower
	[compare]
	$1
	END
}
