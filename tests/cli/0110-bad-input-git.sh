#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Odd histories: submodules, odd names, shallow clones, paths and revisions that are not there.
. "$(dirname "$0")/lib.sh"

measure_sh

# --- a history with a submodule that comes, moves and goes, and with files of odd names
new_repo sub
linear sub 1 3 1
new_repo repo
linear repo 1 2 10
git -C repo tag v1
blank='with blank' quote='quo"te' apostrophe="it's" utf8='größe-日本' dash=-dash
newline='new
line' latin=$(printf 'latin-\344') tab=$(printf 'tab\there') backslash='back\slash' colon=':colon' star='st*ar'
mkdir "repo/$blank" "repo/.hidden"
link() { # N: the submodule at its commit cN
	git -C repo update-index --add --cacheinfo "160000,$(git -C sub log --format=%H --grep "^c$1$"),lib/sub"
	clock=$((clock + 60))
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" git -C repo commit -q -m "link $1"
}
file() { # NAME: a commit with it
	echo "$1" >"repo/$1" || exit 1
	git -C repo --literal-pathspecs add -- "$1"
	clock=$((clock + 60))
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" git -C repo commit -q -m "file"
}
link 1
for name in "$blank/x" "$blank/y" "$quote" "$apostrophe" "$utf8" "$dash" "$newline" "$latin" "$tab" "$backslash" "$colon" "$star" .hidden/x; do
	file "$name"
done
link 2
echo 20 >repo/value
file slow
git -C repo add value
file value2
git -C repo tag slow
file "$utf8.2"
# a submodule becomes a folder, and one again
git -C repo rm -q --cached lib/sub
mkdir -p repo/lib/sub
file lib/sub/in-its-place
git -C repo rm -q -r lib/sub
link 3
git -C repo rm -q -- "./$dash" "$blank/x"
file last
git -C repo tag v2

campaign test.ini
k run --json test.ini
is "$status $(json .culprit)" "0 $(rev slow)" "a history with submodules and odd names is searched"

# the build sees each commit as git writes it
cat >build.sh <<'EOF'
#!/bin/sh
cd "$KREGRESS_SRC" || exit 128
{ find . -mindepth 1 -printf '%y %p\0'; find . -type f -exec sha256sum -z {} +; } | sort -z >"$LISTINGS/$KREGRESS_COMMIT"
echo "$KREGRESS_COMMIT" >"$KREGRESS_IMAGE"
EOF
mkdir listings
export LISTINGS="$tmp/listings"
built() { # FILE: the campaign with a build of each commit
	sed "s/^type = none/type = kernel\ncommand = sh build.sh/; s/^state = .*/state = state-built/" test.ini >"$1"
}
built built.ini
k run --json built.ini
is "$status $(json .culprit)" "0 $(rev slow)" "also where every commit is built"
# from the folder to the submodule in its place
GOOD=$(git -C repo log --format=%H -n 1 --diff-filter=A -- lib/sub/in-its-place)
campaign test.ini
built folder.ini
# another command: what was built before is not taken from the cache
sed -i "s/^state = .*/state = state-folder/; s/^command = sh build.sh/& again/" folder.ini
rm "listings/$(rev v2)"
k run --json folder.ini
is "$status $(json .status)" "1 no_difference" "a folder becomes a submodule"
GOOD=v1
campaign test.ini
[ -s "listings/$(git -C repo log --format=%H -n 1 --diff-filter=A -- lib/sub/in-its-place)" ] && [ -s "listings/$(rev v2)" ]
ok $? "both are built"
seen=0 differ=
for listing in listings/*; do
	rm -rf want
	mkdir want
	git -C repo archive "$(basename "$listing")" | tar -x -C want
	seen=$((seen + 1))
	(cd want && { find . -mindepth 1 -printf '%y %p\0'; find . -type f -exec sha256sum -z {} +; } | sort -z) >want.list
	cmp -s "$listing" want.list || differ="$differ $(basename "$listing")"
done
is "$differ" "" "the sources are what git archive writes, names and contents"
[ $seen -ge 5 ]
ok $? "in all $seen builds"
links=
for listing in listings/*; do
	tr '\0' '\n' <"$listing" | grep -q '^d ./lib/sub$' && links=yes
done
is "$links" yes "a submodule is an empty folder there; nothing is fetched"

# --- paths, beside git rev-list
# in_range WORDS_FOR_GIT...: what git counts
in_range() {
	git -C repo rev-list --count v1..v2 -- "$@"
}
# counted PATHS: what we count
counted() {
	rm -rf state
	k status -o "campaign.paths=$1" test.ini
	sed -n 's/^Work *\([0-9]*\) commits.*/\1/p' out
}
is "$(counted lib/sub)" "$(in_range lib/sub)" "commits that move a submodule"
is "$(counted lib/sub/)" "$(in_range lib/sub/)" "the same with a slash at the end"
is "$(counted lib)" "$(in_range lib)" "or its folder"
is "$(counted lib/sub/in-its-place)" "$(in_range lib/sub/in-its-place)" "a file that came and went between the ends"
is "$(counted '"with blank"')" "$(in_range "$blank")" "a folder with a blank in its name"
is "$(counted 'with\ blank/x slow')" "$(in_range "$blank/x" slow)" "a blank after a backslash, two paths"
is "$(counted '"quo\"te"')" "$(in_range "$quote")" "a quote"
is "$(counted "\"it's\"")" "$(in_range "$apostrophe")" "an apostrophe"
is "$(counted "$utf8")" "$(in_range "$utf8")" "UTF-8"
is "$(counted "$latin")" "$(in_range "$latin")" "bytes that are no UTF-8"
is "$(counted ./-dash)" "$(in_range ./-dash)" "a dash in front"
is "$(counted .hidden)" "$(in_range .hidden)" "a dot in front"
is "$(counted 'new?line')" "$(in_range 'new?line')" "a line break, by a wildcard"
is "$(counted "'$tab'")" "$(in_range "$tab")" "a tab"
is "$(counted '":(literal)st*ar"')" "$(in_range ':(literal)st*ar')" "a star, literally"
is "$(counted '":(top,literal):colon"')" "$(in_range ':(top,literal):colon')" "a colon in front"
is "$(counted "'back\\\\slash'")" "$(in_range 'back\\slash')" "a backslash"
[ "$(in_range "$latin")" = 1 ] && [ "$(in_range lib/sub)" = 4 ]
ok $? "git counts what was committed"

# --- paths that never existed
no_path() { # PATHS WORDS TITLE
	sed "s|^state = .*|&\npaths = $1|" test.ini >paths.ini
	rm -rf state
	k run paths.ini
	refused 129 "$2" "$3"
}
no_path no-such-path "paths: 'no-such-path' did not match any file" "a path that never existed is refused by name"
grep -q "paths.ini:$(grep -n '^paths' paths.ini | cut -d: -f1):" err && [ ! -e state ]
ok $? "with its line, and nothing is written"
no_path "value no-such-path" "'no-such-path' did not match any file" "also beside one that exists"
no_path valeu "did you mean 'value'?" "a slip of the pen is corrected"
no_path lib/subs "did you mean 'lib/sub'?" "also in a folder"
no_path lub/sub "did you mean 'lib/sub'?" "also in the name of the folder"
no_path value/deeper "'value/deeper' did not match" "a path below a file"
no_path '*.none' "'*.none' did not match" "a wildcard that matches nothing"
no_path "$tmp/repo/value" "outside the repository" "an absolute path"
grep -q "paths.ini:" err
ok $? "with the line"
no_path "../repo/value" "outside the repository" "a path out of the repository"
no_path ':(icase)VALUE' "pathspec magic" "magic that is not known"

# --- skip =
skip_is() { # WORDS [STATUS]
	sed "s|^state = .*|&\nskip = $1|" test.ini >skip.ini
	rm -rf state
	k run skip.ini
}
skip_is v1~1
[ $status = 0 ] && grep -q "warning.*skip: $(rev v1~1 | cut -c 1-12) is not between the ends: it skips nothing" err
ok $? "a skip before the range is said to skip nothing"
answers 0 "$(rev slow) is the first bad commit" "and the culprit is found"
git -C repo checkout -q --orphan elsewhere
git -C repo commit -q -m elsewhere
git -C repo checkout -q -f main
skip_is elsewhere
[ $status = 0 ] && grep -q "it skips nothing" err
ok $? "a skip of another history likewise"
skip_is v2
refused 129 "skip 'v2' holds the bad end" "the bad end cannot be skipped"
skip_is v1..v2
refused 129 "holds the bad end" "nor in a range"
skip_is no-such-commit
refused 129 "skip in [campaign]: unknown revision 'no-such-commit'" "a skip of an unknown commit is refused"
skip_is ..v2
refused 129 "'..v2' is no range" "half a range is refused"
skip_is v1...v2
refused 129 "is no range" "three dots are no range"
skip_is "slow~3 slow~4"
answers 0 "is the first bad commit" "commits between are skipped"
grep -q "skips nothing" err
is $? 1 "without a warning"

# --- revisions
end_is() { # KEY REV
	sed "s|^$1 = .*|$1 = $2|" test.ini >end.ini
	rm -rf state
	k run end.ini
}
git -C repo tag tree 'v1^{tree}'
git -C repo tag -a -m x noted-tree 'v1^{tree}'
git -C repo tag blob v1:value
for end in good bad; do
	end_is $end tree
	refused 129 "$end in [campaign]: 'tree' does not name a commit (it is a tree)" "$end is the tag of a tree"
	end_is $end noted-tree
	refused 129 "'noted-tree' does not name a commit (it is a tree)" "$end is an annotated tag of a tree"
	end_is $end blob
	refused 129 "'blob' does not name a commit (it is a blob)" "$end is the tag of a file"
	end_is $end v9.9
	refused 129 "unknown revision 'v9.9'" "$end is unknown"
done
# so many files that four digits are not enough, for commits neither
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "blob\ndata %d\n%d\n", length(i ""), i }' |
	git -C repo fast-import --quiet
git -C repo cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' | sort >objects
git -C repo rev-list slow~1 | sort >older
# blobs alone; one commit before the slow one, and blobs
files=$(awk '{ p = substr($1, 1, 4); n[p]++; if ($2 != "blob") no[p] = 1 }
	END { for (p in n) if (n[p] > 1 && !no[p]) { print p; exit } }' objects)
mixed=$(awk 'FILENAME == "older" { is[$1] = 1; next }
	{ p = substr($1, 1, 4); n[p]++; if ($2 != "blob") { if ($1 in is) c[p]++; else no[p] = 1 } }
	END { for (p in c) if (n[p] > 1 && c[p] == 1 && !no[p]) { print p; exit } }' older objects)
[ -n "$files" ] && ! git -C repo rev-parse -q --verify "$files^{commit}" >git.out 2>&1
ok $? "git finds four digits that files share ambiguous"
end_is good "$files"
refused 129 "'$files' is ambiguous (give more digits" "and so do we"
want=$(git -C repo rev-parse "$mixed^{commit}" 2>/dev/null)
[ ${#want} = 40 ]
ok $? "git takes four digits that a commit and files share for the commit"
end_is good "$mixed"
answers 0 "good end  $(echo "$want" | cut -c 1-12)  10 ms" "and so do we"
git init -q -b main many
awk 'BEGIN { for (i = 1; i < 2000; i++)
	printf "commit refs/heads/main\ncommitter A <a@u> %d +0000\ndata 1\nx\n", 1700000000 + i }' |
	git -C many fast-import --quiet
twice=$(git -C many rev-list main | cut -c 1-4 | sort | uniq -d | head -n 1)
sed "s|^repo = .*|repo = many|; s|^good = .*|good = $twice|; s|^bad = .*|bad = main|" test.ini >many.ini
k run many.ini
refused 129 "'$twice' is ambiguous (give more digits" "four digits that two commits share are ambiguous"
end_is good "$(rev v1 | cut -c 1-3)"
refused 129 "unknown revision" "three digits name nothing"
git -C repo branch v1 v2 2>/dev/null
end_is good v1
answers 0 "$(rev slow) is the first bad commit" "a name of a tag and a branch is the tag, as for git"
git -C repo branch -q -D v1
git -C repo tag -a -m again v2-again v2
end_is good "$(git -C repo rev-parse v2-again)"
refused 129 "are the same commit" "good is the object of a tag on bad: the same commit"
end_is good "v2^0"
refused 129 "there is nothing between them" "good is another word for bad"

# --- where the repository is
at() { # PATH TITLE: the campaign with the repository there
	rm -rf state state-built
	sed "s|^repo = .*|repo = $1|" test.ini >at.ini
	k run --json at.ini
	is "$status $(json .culprit)" "0 $(rev slow)" "$2"
}
built_at() { # PATH TITLE: also from our own repository beside it
	rm -rf state state-built
	built at.ini
	sed -i "s|^repo = .*|repo = $1|" at.ini
	k run --json at.ini
	is "$status $(json .culprit)" "0 $(rev slow)" "$2"
}
for name in "$blank" "$quote" "$apostrophe" "$utf8" "$latin" "$dash" .dot '#hash' '"quoted"' 'semi;colon' 'a:b'; do
	git clone -q repo "./place/$name"
	at "place/$name" "a repository in a folder '$(printf %s "$name" | tr -c ' -~' '?')'"
	built_at "place/$name" "and built from there"
done
git clone -q repo -- -rf
at -rf "a repository whose path begins with a dash"
git clone -q repo "place/$newline"
k run --json -o "campaign.repo=place/$newline" test.ini
refused 129 "the value has control bytes" "a line break in the path is refused"
ln -s "place/$newline" broken-line
at broken-line "a link to such a folder"
built at.ini
sed -i "s|^repo = .*|repo = broken-line|" at.ini
k run at.ini
refused 129 "the path of the repository holds a line break" "but not where our own repository must borrow from it"
git clone -q --bare repo bare.git
at bare.git "a bare repository"
built_at bare.git "and built from it"
git -C repo worktree add -q ../tree v1 2>/dev/null
at tree "a linked worktree"
built_at tree "and built from it"
at repo/.git "the .git of a repository"
at repo/.hidden "a folder in it"
git init -q --object-format=sha256 other
git -C other commit -q --allow-empty -m x
sed 's/^repo = .*/repo = other/' test.ini >other.ini
k run other.ini
refused 129 "'$tmp/other'" "a repository of another object format is refused by name"
grep -q "SHA-256 object names" err
ok $? "and what it is"
git init -q newer
git -C newer config core.repositoryFormatVersion 99
sed 's/^repo = .*/repo = newer/' test.ini >other.ini
k run other.ini
refused 129 "'$tmp/newer': unsupported repository version 99" "a repository of a newer format is refused by name"

# --- shallow clones
git clone -q --no-tags --depth 6 "file://$tmp/repo" shallow
git -C shallow tag v2
shallow() { # GOOD
	rm -rf state
	sed "s|^repo = .*|repo = shallow|; s|^good = .*|good = $1|" test.ini >shallow.ini
	k run --json shallow.ini
}
shallow v1
refused 129 "the clone is shallow: git fetch --unshallow --tags" "a good end that a shallow clone lacks: the remedy"
git -C shallow fetch -q --depth 1 origin tag v1
shallow v1
refused 129 "because the clone is shallow (git fetch --unshallow" "a history that ends before the good end: the remedy"
git -C shallow tag border "$(git -C shallow rev-list v2 | tail -n 1)"
shallow border
is "$status $(json .culprit) $(json .good.commit)" "0 $(rev slow) $(git -C shallow rev-parse border)" \
	"a range within the shallow clone is searched, its border being an end"
git -C shallow fetch -q --unshallow --tags
shallow v1
is "$status $(json .culprit)" "0 $(rev slow)" "after the remedy the culprit is found"
done_testing
