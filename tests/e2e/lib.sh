# SPDX-License-Identifier: GPL-2.0-or-later
# For tests on real kernels: the demo's history and caches, and the helpers of tests/cli. Sourced.
# shellcheck shell=sh

demo=${KREGRESS_DEMO_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/kregress-demo}
. "$(dirname "$0")/../cli/lib.sh"
# Kernels, slots and ccache are the demo's: what one test built, the next one finds.
export XDG_CACHE_HOME="$demo/cache" CCACHE_DIR="${CCACHE_DIR:-$demo/ccache}"

if [ ! -f "$demo/linux/.git/kregress-demo/truth" ]; then
	echo "1..0 # SKIP no demo history in $demo (make demo makes it)"
	exit 77
fi

# Commits that the history's script planted by this name, one a line.
truth() {
	sed -n "s/^$1=//p" "$demo/linux/.git/kregress-demo/truth" | tr ' ' '\n'
}

# A campaign of the demo under a state directory of this test: SETTINGS… are -o values.
campaign() { # NAME [SETTING…]
	name=$1
	shift
	set -- "$@" "campaign.state=$tmp/state-$name" "campaign.repo=$demo/linux"
	args=
	for setting; do
		args="$args -o $setting"
	done
	# shellcheck disable=SC2086
	k run --json $args "$top/configs/campaigns/$name.ini"
}

# Value of a python expression over the JSON object `r` of the last command.
json() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
		"$tmp/out" "$1"
}
