#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Confirmation where ends fail, where boots are single, and reverts that belong to one culprit.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
linear repo 1 3 10
git -C repo tag v1
linear repo 4 6 10
commit repo slow 20
git -C repo tag slow
linear repo 8 9 20
linear repo 10 11 fail
git -C repo tag v2

campaign test.ini
printf 'on_crash = bad\n[confirm]\nboots = 3\n' >>test.ini
k run test.ini
answers 0 "Confirmed by 3 fresh boots of each" "a bad end that fails by policy does not unmake a culprit"

git -C repo tag -f v2 v2~2 >/dev/null
campaign single.ini
printf '[confirm]\nboots = 1\n' >>single.ini
k run -o campaign.state=single -o measure.end_boots=1 -o measure.max_boots=1 single.ini
answers 0 "Confirmed by 1 fresh boots of each" "single boots confirm by the values alone"

new_repo dies
mkdir d && cd d || exit 1
ln -s ../dies repo && cp ../measure.sh . && : >calls
linear repo 1 5 10
git -C repo tag v1
linear repo 6 8 10
commit repo breaks fail
linear repo 10 12 fail
git -C repo tag v2
campaign test.ini
printf 'on_crash = bad\n[confirm]\nboots = 2\n' >>test.ini
k run test.ini
answers 0 "it fails again" "a culprit that crashes is confirmed by crashing again beside a parent that does not"
cd .. || exit 1

# Two steps, each in a file of its own, so that each can be reverted alone: 10, 15 and 19.
mkdir two && cd two || exit 1
new_repo repo
amount() { # NAME FILE AMOUNT: without the file that commit() writes each time, which would conflict
	clock=$((clock + 60))
	echo "$3" >"repo/$2"
	git -C repo add -A
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" \
		git -C repo commit -q -m "$1"
}
amount base base 10
git -C repo tag v1
amount c2 other_a 0
amount c3 step_a 5
git -C repo tag first
amount c4 other_b 0
amount c5 step_b 4
git -C repo tag second
amount c6 other_c 0
git -C repo tag v2
cat >build.sh <<'END'
#!/bin/sh
cd "$KREGRESS_SRC" && cat base step_* 2>/dev/null | awk '{ n += $1 } END { print n }' >"$KREGRESS_IMAGE"
END
cat >measure.sh <<'END'
#!/bin/sh
run=0
while [ "$run" -lt "$KREGRESS_RUNS" ]; do
	echo "kregress: metric ms $(cat "$KREGRESS_IMAGE") ms"
	run=$((run + 1))
done
END
chmod +x build.sh measure.sh
campaign test.ini
sed -i 's/^type = none/command = .\/build.sh/' test.ini
k run -o confirm.boots=2 test.ini
answers 0 "$(rev first) is the first bad commit" "the first step is the culprit at +20%"
grep -q 'everted' "$tmp/out"
is $? 1 "and is not reverted unasked"
k run -o confirm.boots=2 -o confirm.revert=yes test.ini
answers 0 "the difference stays" "asked for later it is: the second step is still in (14)"
answers 0 "14 ms" "with the value of the newer end without the first step"
k run -o confirm.boots=2 -o confirm.revert=yes -o verdict.threshold=+60% test.ini
answers 0 "$(rev second) is the first bad commit" "at +60% the second step is the culprit"
answers 0 "the difference is gone" "and the revert shown is its own"
answers 0 "15 ms" "with the value of the newer end without the second step"
done_testing
