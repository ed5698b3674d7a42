#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The exit status of test is what git bisect run takes for a verdict, or for a reason to stop.
. "$(dirname "$0")/lib.sh"

measure_sh
new_repo repo
commit repo good 10
git -C repo tag v1
commit repo same 11
commit repo untestable skip
git -C repo tag untestable
commit repo lab lab
git -C repo tag lab
commit repo dies fail
git -C repo tag dies
commit repo bad 20
git -C repo tag v2
commit repo beyond 30
git -C repo tag beyond
git -C repo checkout -q -b side v1
commit repo beside 9
git -C repo tag beside
git -C repo checkout -q main
campaign test.ini

short() { # REV: 12 digits of it
	rev "$1" | cut -c 1-12
}

one_line() { # STATUS LINE TITLE: after k
	is "$status $(cat out)" "$1 $2" "$3"
}

cd repo || exit 1
k test -c ../test.ini v1~0
cd ..
one_line 0 "good $(short v1): ms 10 ms, threshold 12 ms, 3 boots" "0: good, here the good end"
k test -c test.ini v2
one_line 1 "bad $(short v2): ms 20 ms, threshold 12 ms, 3 boots" "1: bad, here the bad end"
is "$(calls)" 6 "the ends were measured once, by the first of the two"
k test -c test.ini untestable
one_line 125 "skip $(short untestable): untestable: the command says so (exit status 125)" \
	"125: a commit that cannot be tested"
k test -c test.ini dies
answers 125 "skip $(short dies): crashed" "125: a workload that dies"
k test -c test.ini -o verdict.on_crash=bad dies
answers 1 "bad $(short dies): crashed" "1: the same where a crash is bad"
is "$(calls)" 8 "it was not measured again for that"
k test -c test.ini lab
refused 128 "measure.sh" "128: the lab fails"
k test -c test.ini beyond
one_line 1 "bad $(short beyond): ms 30 ms, threshold 12 ms, 1 boot" "a commit after the range is measured too"
k test -c test.ini beside
one_line 0 "good $(short beside): ms 9 ms, threshold 12 ms, 1 boot" "a commit beside the range is measured too"
n=$(calls)
for rev in v1 v2 untestable beyond beside; do
	k test -c test.ini $rev
done
is "$(calls)" "$n" "asked again, the store answers"
k test -c test.ini "$(short beyond)"
answers 1 "bad $(short beyond)" "a commit can be named by the start of its name"
(cd repo && git checkout -q --detach beyond~2 2>/dev/null && "$KREGRESS" test -c ../test.ini >../out 2>../err)
is "$? $(cut -d: -f1 out)" "125 skip $(short dies)" "without COMMIT it is HEAD of the repository one stands in"

# noise: unsure is 125 as well, and what was decided before it stays decided
cat >noisy.sh <<-'EOF'
	#!/bin/sh
	echo "$KREGRESS_COMMIT" >>calls
	boot=$(grep -c "$KREGRESS_COMMIT" calls)
	case $(git -C repo show "$KREGRESS_COMMIT:log") in
	good) set -- 10 12 10 ;;
	same) set -- 15 5 25 15 ;;
	bad) set -- 20 20 20 ;;
	beyond) set -- 30 30 30 ;;
	esac
	shift $((boot - 1))
	echo "kregress: metric ms $1 ms"
EOF
chmod +x noisy.sh
: >calls
noisy() { # REV
	k test -c test.ini -o target.command=./noisy.sh -o campaign.state=state-noisy -o measure.max_boots=4 \
		-o verdict.threshold=+40% "$1"
}
noisy beyond
is "$status $(cut -c 1-20 out)" "1 bad $(short beyond): ms" "before the noise: bad"
n=$(calls)
noisy untestable~1
is "$status $(calls)" "125 $((n + 4))" "125: unsure after max_boots boots"
grep -q "^unsure $(short untestable~1): ms 15 ms \[.*\], threshold 14.9[0-9]* ms, 4 boots$" out
ok $? "the line says so, with the interval"
for rev in untestable~1 beyond; do
	noisy $rev
	is "$status $(calls)" "$([ $rev = beyond ] && echo 1 || echo 125) $((n + 4))" \
		"after the noise: $rev is what it was, and is not measured again"
done
n=$(calls)

# wrong command line or file: 129, nothing is measured
k test -c test.ini v1 v2
refused 129 "one commit at a time" "129: two commits"
k test -c test.ini no-such-revision
refused 129 "no-such-revision" "129: a revision that is not there"
k test -c test.ini
refused 129 "name a commit" "129: no COMMIT, and not in a repository"
k test v1
refused 129 "kregress init" "129: no FILE and no kregress.ini"
k test -c no-such.ini v1
refused 129 "no-such.ini" "129: a FILE that is not there"
k test -c test.ini -o verdict.threshold=x v1
refused 129 "threshold" "129: a wrong setting"
new_repo other
commit other first 1
(cd other && "$KREGRESS" test -c ../test.ini >../out 2>../err)
status=$?
refused 129 "repo = in [campaign]" "129: HEAD here is no commit of the campaign's repository"
grep -q "$(git -C other rev-parse HEAD | cut -c 1-12)" err && grep -q "$tmp/repo" err
ok $? "the message names the commit and that repository"
is "$(calls)" "$n" "nothing of that was measured"

# interrupted: 130, state saved
DELAY=5 "$KREGRESS" test -c test.ini beyond~1 -o campaign.state=state-2 >out-2 2>err-2 &
pid=$!
tries=0
while [ "$(calls)" -le "$n" ] && [ $tries -lt 200 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
k test -c test.ini -o campaign.state=state-2 beyond
refused 128 "in use by another kregress" "128: the store is in use by another"
kill -TERM $pid
wait $pid
status=$?
mv out-2 out
mv err-2 err
refused 130 "saved in '$tmp/state-2'" "130: interrupted; says where the state is"
"$KREGRESS" status -o campaign.state=state-2 test.ini >/dev/null 2>&1
is $? 0 "the state can be read"

# a lab that fails stops git bisect run, and no verdict is recorded
git clone -q repo clone 2>/dev/null
git -C clone bisect start v2 v1 >/dev/null 2>&1
git -C clone checkout -q lab
git -C clone bisect log >before
(cd clone && git bisect run "$KREGRESS" test -c ../test.ini) >out 2>err
[ $? -ge 128 ] && git -C clone bisect log | cmp - before && grep -q 'exit code 128' err
ok $? "128: git bisect run stops, its log is as before"

# a bisection where kregress.ini stands above
mkdir inside
mv test.ini kregress.ini
git clone -q repo inside/clone 2>/dev/null
git -C inside/clone checkout -q v1
(cd inside/clone && "$KREGRESS" test >../../out 2>../../err)
is "$? $(cut -d: -f1 out)" "0 good $(short v1)" "without -c the campaign is kregress.ini above"

mkdir gone
(cd gone && rmdir ../gone && "$KREGRESS" test -c "$tmp/test.ini" v2) >out 2>err
[ $? -lt 130 ]
ok $? "in a folder that was deleted it does not crash"
done_testing
