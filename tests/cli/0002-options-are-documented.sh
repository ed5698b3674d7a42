#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Help texts, the man page and the completion list the same commands and options.
. "$(dirname "$0")/lib.sh"
man=$top/doc/kregress.1
completion=$top/contrib/completion/kregress.bash

# Options at the start of lines of a help text: "-o", "-h, --help", "    --json"
help_options() {
	sed -n 's/^ \{2,6\}\(-[-a-zA-Z]*\)\(, \(--[a-z-]*\)\)\{0,1\}.*/\1 \3/p' out | tr ' ' '\n' | sort -u | sed '/^$/d'
}

# .It Fl lines of a part of the man page, as options
man_options() { # AWK CONDITION that opens the part
	awk -v open="$1" -v stop="$2" '
		$0 ~ open { on = 1; next }
		on && $0 ~ stop { on = 0 }
		on && $1 == ".It" && $2 == "Fl" {
			for (i = 2; i <= NF; i++)
				if ($i == "Fl") print "-" $(i + 1)
		}' "$man" | sort -u
}

completed() { # WORDS...: what is offered for the last one
	bash -c '
		complete() { :; }
		compopt() { :; }
		kregress() { "$KREGRESS" "$@"; }
		. "$1"
		shift
		COMP_WORDS=(kregress "$@") COMP_CWORD=$#
		_kregress
		printf "%s\n" "${COMPREPLY[@]}"' - "$completion" "$@" | sort -u | sed '/^$/d'
}
export KREGRESS

k --help
commands=$(awk '/^Commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }' out | sort)
help_options >by-help
man_options '^\.Sh DESCRIPTION' '^\.Sh COMMANDS' >by-man
completed - >by-completion
[ "$(wc -l <by-help)" -ge 7 ] && cmp by-help by-man >>err && cmp by-help by-completion >>err
ok $? "global options are the same in help, man page and completion"

is "$(awk '$1 == ".Sh" { on = $2 == "COMMANDS" } on && $1 == ".Ss" { print $2 }' "$man" | sort)" "$commands" \
	"the man page has the commands of the help"
is "$(completed '')" "$commands" "the completion offers the commands of the help"
is "$(completed help '')" "$(printf '%s\ncampaign\nworkloads\nkeys\n' "$commands" | sort)" \
	"the completion offers the topics of help"
k help
topics=$(k help -h; awk '/^Topics:/ { on = 1; next } !NF { on = 0 } on && $1 !~ /</ { print $1 }' out | sort)
is "$topics" "$(printf 'campaign\nkeys\nworkloads\n' | sort)" "the topics are those that the completion knows"

for command in $commands; do
	k "$command" --help
	help_options >by-help
	man_options "^\\.Ss $command( |\$)" '^\.S[sh]' >by-man
	completed "$command" - >by-completion
	[ -s by-help ] && cmp by-help by-man >>err && cmp by-help by-completion >>err
	ok $? "options of $command are the same in help, man page and completion"
	for option in $(cat by-help); do
		case $option in -h|--help) continue ;; esac
		# refused for its missing value or file, but never as unknown
		k "$command" "$option"
		! grep -q 'unknown option' err
		ok $? "$command knows $option"
	done
done
done_testing
