#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Repositories and revisions that cannot serve are refused before anything is measured.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo

mkdir plain
campaign test.ini
sed 's/^repo = .*/repo = plain/' test.ini >plain.ini
k run plain.ini
refused 129 "'$tmp/plain'" "a folder that is no repository is refused by name"
grep -q "plain.ini:$(grep -n '^repo' plain.ini | cut -d: -f1):" err
ok $? "and the line to change is named"
sed 's/^repo = .*/repo = no-such-folder/' test.ini >none.ini
k run none.ini
refused 129 "no-such-folder" "a folder that is not there is refused by name"
mkdir damaged
cp -r repo/.git damaged/.git
rm damaged/.git/HEAD
sed 's/^repo = .*/repo = damaged/' test.ini >damaged.ini
k run damaged.ini
refused 129 "damaged" "a repository without HEAD is refused by name"

for end in good bad; do
	for rev in nonesuch v1~99 'v1^2' deadbeef 0123456789012345678901234567890123456789 'v1:value' '' '-v1'; do
		sed "s/^$end = .*/$end = $rev/" test.ini >rev.ini
		k run rev.ini
		[ $status = 129 ] && grep -q "$end\|rev.ini:[0-9]" err && grep -qF -e "$rev" err && [ ! -e state ]
		ok $? "$end = '$rev' is refused by name, nothing is written"
	done
done
short=$(rev v1 | cut -c 1-9)
sed "s/^good = .*/good = $short/; s/^bad = .*/bad = v2^{}/; s|^state = .*|state = by-name|" test.ini >rev.ini
k run --json rev.ini
is "$status $(json .culprit)" "0 $(rev slow)" "a short name and v2^{} are resolved as git does"

for pair in 'v1 v1' "v2 main" "$(rev v1) v1"; do
	sed "s/^good = .*/good = ${pair% *}/; s/^bad = .*/bad = ${pair#* }/" test.ini >same.ini
	k run same.ini
	refused 129 "are the same" "good = bad (${pair% *}, ${pair#* }) is refused"
done
sed "s/^good = .*/good = v2/; s/^bad = .*/bad = v1/" test.ini >swapped.ini
k run swapped.ini
refused 129 "swap them" "good newer than bad is refused with the remedy"

git -C repo checkout -q --orphan other
git -C repo commit -q -m orphan
git -C repo tag orphan
git -C repo checkout -q main
sed "s/^good = .*/good = orphan/" test.ini >orphan.ini
k run orphan.ini
refused 129 "no common history" "ends without common history are refused"

sed "s/^state = .*/paths = no-such-path\nstate = state-paths/" test.ini >paths.ini
k run paths.ini
refused 129 "paths" "paths that no commit touches are refused"

git clone -q --depth 5 "file://$tmp/repo" shallow
git -C shallow fetch -q --depth 1 origin tag v1
sed 's/^repo = .*/repo = shallow/; s|^state = .*|state = state-shallow|' test.ini >shallow.ini
k run shallow.ini
refused 129 "shallow" "a shallow clone whose history ends before the good end is refused"
grep -q "unshallow\|deepen\|--depth" err
ok $? "and how to get the history is said"

# what is not committed is never measured, and stays as it is
echo 5 >repo/value
echo junk >repo/untracked
git -C repo add untracked
rm repo/log
# state_of_repo: what git sees, all contents, all times and modes
state_of_repo() {
	GIT_OPTIONAL_LOCKS=0 git -C repo status --porcelain
	find repo -type f | sort | xargs sha256sum
	find repo -printf '%p %T@ %m\n' | sort
}
before=$(state_of_repo)
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "with a dirty checkout the committed history is searched"
[ "$(state_of_repo)" = "$before" ]
ok $? "index, files and times of the user's repository are untouched"

if [ "$(id -u)" = 0 ]; then
	cp -r repo foreign
	chown -R 12345 foreign
	sed 's/^repo = .*/repo = foreign/; s|^state = .*|state = state-foreign|' test.ini >foreign.ini
	k run foreign.ini
	refused 129 "safe.directory" "a repository of another user is refused with the setting to add"
	grep -qF "$tmp/foreign" err
	ok $? "and with its path"
	GIT_CONFIG_GLOBAL=$tmp/config git config --global safe.directory "$tmp/foreign"
	cp config "$HOME/.gitconfig"
	k run --json foreign.ini
	is "$status $(json .culprit)" "0 $(rev slow)" "with that setting it is searched"
else
	skip "only root can give files away" "a repository of another user is refused with the setting to add"
fi
done_testing
