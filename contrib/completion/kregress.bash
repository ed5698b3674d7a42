# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for kregress: commands, their options, files, keys and topics.

# Options of a command, or of kregress itself; kept equal to the help texts by a test.
_kregress_options() {
	case $1 in
	run) echo '--from-git --replay --recheck --revert --json -o -h --help' ;;
	status|replay) echo '--json -o -h --help' ;;
	log) echo '--git --json -o -h --help' ;;
	compare) echo '--json --plots --profile -o -h --help' ;;
	report) echo '--format --plots -o -h --help' ;;
	test) echo '--json -c -o -h --help' ;;
	doctor|clean) echo '-o -h --help' ;;
	init) echo '--repo --good --bad --hunt --workload --metric --threshold --search --target' \
		'--command --name -o --output --force -h --help' ;;
	help) echo '-h --help' ;;
	'') echo '-C -v --verbose -q --quiet -h --help --version' ;;
	esac
}

# The command among the words, and nothing before one is there.
_kregress_command() {
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-C) ((i++)) ;;
		-*) ;;
		*) echo "${COMP_WORDS[i]}"; return ;;
		esac
	done
}

_kregress_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_kregress_revisions() {
	_kregress_words "$(git for-each-ref --format='%(refname:short)' 2>/dev/null)" "$1"
}

# The value that the option before the cursor takes; fails where it takes none.
_kregress_value() {
	case $1 in
	-C|--repo|--plots) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	--output|--replay|--revert) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	--workload|-c) mapfile -t COMPREPLY < <(compgen -f -X '!*.ini' -- "$2"; compgen -d -- "$2") ;;
	--format) _kregress_words 'text mail html json junit' "$2" ;;
	--hunt) _kregress_words 'regression fix' "$2" ;;
	--target) _kregress_words 'qemu ssh command' "$2" ;;
	--threshold) _kregress_words 'auto' "$2" ;;
	--search) _kregress_words 'bisect bayes auto' "$2" ;;
	-o)
		_kregress_words "$(kregress help keys 2>/dev/null | sed 's/$/=/')" "$2"
		compopt -o nospace 2>/dev/null
		;;
	--good|--bad) _kregress_revisions "$2" ;;
	--metric|--command|--name) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

_kregress() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command
	COMPREPLY=()
	_kregress_value "$prev" "$cur" && return
	command=$(_kregress_command)
	if [[ $cur == -* ]]; then
		_kregress_words "$(_kregress_options "$command")" "$cur"
	elif [[ -z $command ]]; then
		_kregress_words 'run test status log compare report replay doctor clean init help' "$cur"
	elif [[ $command == help ]]; then
		_kregress_words 'campaign workloads keys run test status log compare report replay doctor clean init help' "$cur"
	elif [[ $command == test ]] || [[ $command == compare && ${COMP_WORDS[*]:1:COMP_CWORD-1} == *.ini* ]]; then
		_kregress_revisions "$cur"
	elif [[ $command != init ]]; then
		mapfile -t COMPREPLY < <(compgen -f -X '!*.ini' -- "$cur"; compgen -d -- "$cur")
	fi
}

complete -o filenames -F _kregress kregress
