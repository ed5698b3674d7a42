#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# search = bayes with builds: prices are learnt, identical kernels are one, and every resumption goes on alike.
. "$(dirname "$0")/lib.sh"

new_repo repo
linear repo 0 0 100
git -C repo tag v1
i=0
while [ $i -lt 45 ]; do
	i=$((i + 1))
	# three commits in a row make one kernel
	echo $((i / 3)) >repo/part
	if [ $i -lt 27 ]; then commit repo "c$i" 100; else commit repo "c$i" 114; fi
	[ $i != 27 ] || git -C repo tag slow
done
git -C repo tag v2
cat >build.sh <<'EOF'
#!/bin/sh
cd "$KREGRESS_SRC" && cat part value >"$KREGRESS_IMAGE" 2>/dev/null || cat value >"$KREGRESS_IMAGE"
EOF
cat >measure.sh <<'EOF'
#!/bin/sh
echo "$KREGRESS_COMMIT" >>calls
[ "$(wc -l <calls)" -le "${LIMIT:-9999}" ] || kill -KILL $PPID
awk -v x="$(echo "$KREGRESS_COMMIT $KREGRESS_TRIAL" | cksum | cut -d ' ' -f 1)" \
	-v v="$(git -C repo show "$KREGRESS_COMMIT:value")" 'BEGIN {
	sum = -6
	for (i = 0; i < 12; i++) {
		x = (x * 69069 + 12345) % 4294967296
		sum += x / 4294967296
	}
	printf "kregress: metric ms %.6f ms\n", v + 4 * sum
}'
EOF
chmod +x build.sh measure.sh
campaign test.ini
sed -i -e '/^threshold/d' -e 's/^type = none/type = kernel\ncommand = .\/build.sh/' test.ini
echo 'search = bayes' >>test.ini

# --- killed with KILL in the middle of every third boot: status says what comes, and it does
: >calls
limit=3 same=0 kills=0 differ=
while [ $limit -lt 200 ]; do
	: >calls
	LIMIT=3 k run --json test.ini
	[ $status = 137 ] || break
	kills=$((kills + 1))
	k status --json test.ini
	next=$(json '.search.next.commit // empty')
	[ -n "$next" ] || continue
	stored=$("$KREGRESS" log --json test.ini | wc -l | tr -d ' ')
	: >calls
	LIMIT=2 k run test.ini
	k log --json test.ini
	if [ "$(sed -n "$((stored + 1))p" out | jq -r .commit)" = "$next" ]; then
		same=$((same + 1))
	else
		differ="$differ $stored"
	fi
	limit=$((limit + 1))
done
[ $kills -ge 3 ] && [ $same -ge 2 ]
ok $? "it was killed $kills times, and $same times went on with what status had said"
is "$differ" "" "and never with anything else"
is "$status $(json .culprit)" "0 $(rev slow)" "the culprit is found all the same"
k run test.ini
answers 0 "is byte for byte the kernel of" "identical kernels are told"
[ "$("$KREGRESS" log --json test.ini | jq -r 'select(.twin) | .commit' | wc -l)" -ge 1 ]
ok $? "and their trials are taken over"
k status --json test.ini
is "$(json '[.candidates[0].share >= 0.95, .builds <= 30] | all')" true "with the confidence, and not by building everything"
done_testing
