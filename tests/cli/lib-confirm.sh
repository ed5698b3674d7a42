# SPDX-License-Identifier: GPL-2.0-or-later
# Campaigns that end with a confirmation, of kernels that take no time. Sourced after lib.sh.
# shellcheck shell=sh

# The value of a kernel is the sum of its files step_*; each boot tells which kernel it was.
tools() {
	cat >build.sh <<-'END'
	#!/bin/sh
	cd "$KREGRESS_SRC" && cat step_* | awk '{ n += $1 } END { print n }' >"$KREGRESS_IMAGE"
	END
	cat >measure.sh <<-'END'
	#!/bin/sh
	echo "$(cat "$KREGRESS_IMAGE")" >>calls
	[ ! -f lab ] || [ "$(wc -l <calls)" -ne "$(cat lab)" ] || exit 128
	[ ! -f die ] || [ "$(wc -l <calls)" -ne "$(cat die)" ] || kill -9 "$PPID"
	for run in $(seq "$KREGRESS_RUNS"); do
		echo "kregress: metric ms $(cat "$KREGRESS_IMAGE") ms"
	done
	END
	chmod +x build.sh measure.sh
	: >calls
}

change() { # SUBJECT FILE [LINE…]: no lines: remove it
	clock=$((clock + 60)) subject=$1 file=$2
	shift 2
	printf '%s\n' "$@" >"repo/$file"
	git -C repo add -A
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" git -C repo commit -q -m "$subject"
}

ini() { # [LINE of [confirm]…]
	campaign test.ini
	sed -i 's/^type = none/command = .\/build.sh/' test.ini
	printf '[confirm]\nrevert = yes\nboots = 2\n' >>test.ini
	printf '%s\n' "$@" >>test.ini
}

value() { # KEY: of the confirmation, by the JSON report
	k report --format json test.ini
	json ".confirm.$1"
}

confirmed() { # the boots of the confirmation, in their order: the trial's commit
	sqlite3 state/campaign.db "SELECT commit_id FROM trial WHERE purpose = 'confirm' ORDER BY seq"
}

# The estimate of a commit in the confirmation, by its rows: the mean of one value a boot.
mean_of() { # COMMIT
	sqlite3 state/campaign.db "SELECT value FROM sample JOIN trial ON trial.id = sample.trial
		WHERE purpose = 'confirm' AND commit_id = '$1'" | awk '{ n += $1 } END { printf "%.6g\n", n / NR }'
}
