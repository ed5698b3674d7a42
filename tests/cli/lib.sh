# SPDX-License-Identifier: GPL-2.0-or-later
# TAP helpers, a folder of its own for each test, little histories and campaigns. Sourced.
# shellcheck shell=sh

top=$(cd "$(dirname "$0")/../.." && pwd)
KREGRESS=${KREGRESS:-$top/kregress}
export KREGRESS_DATADIR="${KREGRESS_DATADIR:-$top}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export HOME="$tmp/home" XDG_STATE_HOME="$tmp/xdg-state" XDG_CACHE_HOME="$tmp/xdg-cache"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
mkdir "$HOME"
cd "$tmp" || exit 1
nr=0 failed=0 status=0
: >out
: >err

ok() { # STATUS TITLE: on failure shows what kregress printed last
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
		return
	fi
	failed=1
	echo "not ok $nr - $2"
	head -n 40 "$tmp/out" "$tmp/err" 2>/dev/null | cut -c 1-300 | sed 's/^/# /'
}

is() { # GOT WANT TITLE
	[ "$1" = "$2" ]
	set -- $? "$1" "$2" "$3"
	ok "$1" "$4"
	[ "$1" = 0 ] || printf '# got:  %s\n# want: %s\n' "$2" "$3"
}

k() { # ARGS...: kregress; sets status, out, err
	"$KREGRESS" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# refused STATUS WORDS TITLE: after k; nothing on standard output, the words in the message
refused() {
	[ "$status" = "$1" ] && [ ! -s "$tmp/out" ] && grep -qF -e "$2" "$tmp/err"
	ok $? "$3"
	[ "$status" = "$1" ] || echo "# exit status $status, not $1"
}

# answers STATUS WORDS TITLE: after k; the words on standard output
answers() {
	[ "$status" = "$1" ] && grep -qF -e "$2" "$tmp/out"
	ok $? "$3"
	[ "$status" = "$1" ] || echo "# exit status $status, not $1"
}

skip() { # REASON TITLE
	nr=$((nr + 1))
	echo "ok $nr - $2 # SKIP $1"
}

done_testing() {
	echo "1..$nr"
	exit $failed
}

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 77
}

# --- little histories: the file "value" is what a commit measures ---

clock=1700000000
# commit REPO MESSAGE [VALUE]: on the branch checked out there; each a minute later
commit() {
	clock=$((clock + 60))
	[ -z "$3" ] || echo "$3" >"$1/value"
	echo "$2" >"$1/log"
	git -C "$1" add -A
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" \
		git -C "$1" commit -q --allow-empty -m "$2"
}

# merge REPO BRANCH: keeps what the file value says in the branch if it changed there
merge() {
	clock=$((clock + 60))
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" \
		git -C "$1" merge -q --no-ff -X theirs -m "Merge $2" "$2" >/dev/null
}

# linear REPO FROM TO VALUE: commits c<FROM> … c<TO> with this value
linear() {
	linear_i=$2
	while [ "$linear_i" -le "$3" ]; do
		commit "$1" "c$linear_i" "$4"
		linear_i=$((linear_i + 1))
	done
}

new_repo() { # REPO
	git init -q -b main "$1"
}

# merged_history REPO: two branches merged, 10 in v1 and 20 in v2 since "slow" on the first branch
merged_history() {
	new_repo "$1"
	linear "$1" 1 3 10
	git -C "$1" tag v1
	git -C "$1" checkout -q -b one
	linear "$1" 4 7 10
	commit "$1" slow 20
	git -C "$1" tag slow
	linear "$1" 8 9 20
	git -C "$1" checkout -q -b two v1
	linear "$1" 10 14 10
	git -C "$1" checkout -q main
	linear "$1" 15 17 10
	merge "$1" two
	merge "$1" one
	linear "$1" 18 24 20
	git -C "$1" tag v2
}

# --- campaigns whose command reads that file ---

# measure_sh: ./measure.sh prints the value of the commit, and notes each call in ./calls
measure_sh() {
	cat >measure.sh <<-'EOF'
	#!/bin/sh
	# One line of the value a run; "fail", "skip" and "lab" instead of a value end otherwise.
	echo "$KREGRESS_COMMIT" >>calls
	[ -z "$DELAY" ] || sleep "$DELAY"
	value=$(git -C repo show "$KREGRESS_COMMIT:value") || exit 129
	case $value in
	fail) exit 1 ;;
	skip) exit 125 ;;
	lab) exit 128 ;;
	esac
	run=0
	while [ "$run" -lt "$KREGRESS_RUNS" ]; do
		echo "kregress: metric ms $value ms"
		run=$((run + 1))
	done
	EOF
	chmod +x measure.sh
	: >calls
}

calls() {
	wc -l <calls | tr -d ' '
}

# campaign FILE [LINES of [campaign]]: from v1 to v2 of ./repo, one run a boot
campaign() {
	cat >"$1" <<-EOF
	[campaign]
	name = test
	repo = repo
	good = ${GOOD:-v1}
	bad = ${BAD:-v2}
	state = ${STATE:-state}
	$2
	[build]
	type = none
	[target]
	type = command
	command = ./measure.sh
	[workload]
	metric = ms
	[measure]
	runs_per_boot = 1
	warmup_runs = 0
	[verdict]
	threshold = ${THRESHOLD:-+20%}
	better = lower
	EOF
}

rev() { # NAME: of ./repo
	git -C repo rev-parse "$1^{commit}"
}

json() { # EXPRESSION: of the object in ./out, by jq
	jq -r "$1" "$tmp/out"
}

# ---- noise ---------------------------------------------------------------------------------

# noisy_sh: ./measure.sh prints the commit's value with a deviation of SD, by seed, commit and trial
noisy_sh() {
	cat >measure.sh <<-'EOF'
	#!/bin/sh
	echo "$KREGRESS_COMMIT" >>calls
	[ -z "$DELAY" ] || sleep "$DELAY"
	value=$(git -C repo show "$KREGRESS_COMMIT:value") || exit 129
	[ "$value" != skip ] || exit 125
	awk -v x="$(echo "${SEED:-1} $KREGRESS_COMMIT $KREGRESS_TRIAL" | cksum | cut -d ' ' -f 1)" \
		-v v="$value" -v sd="${SD:-5}" -v runs="$KREGRESS_RUNS" 'BEGIN {
		for (r = 0; r < runs; r++) {
			sum = -6
			for (i = 0; i < 12; i++) {
				x = (x * 69069 + 12345) % 4294967296
				sum += x / 4294967296
			}
			printf "kregress: metric ms %.6f ms\n", v + sd * sum
		}
	}'
	EOF
	chmod +x measure.sh
	: >calls
}

# bayes FILE [LINES of [verdict]]: the threshold half-way, where it is needed at all
bayes() {
	campaign "$1"
	sed -i '/^threshold/d' "$1"
	printf '%s\n' "${2:-search = bayes}" >>"$1"
}
