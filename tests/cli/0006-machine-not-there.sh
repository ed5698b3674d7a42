#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine over SSH that is not there is trouble of ours: said, with the place, and blamed on nothing.
. "$(dirname "$0")/lib.sh"

measure_sh
merged_history repo
# a port on which nothing listens
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$tmp/box.ini" <<-END
[campaign]
repo = repo
good = v1
bad = v2
state = state
[build]
command = sh -c 'echo x >"\$KREGRESS_IMAGE"'
[target]
type = ssh
host = 127.0.0.1
port = $port
boot_timeout = 1m
[workload]
use = mmap_fragmenter
metric = vmas
END

k doctor box.ini
answers 1 "problem  machine: " "doctor finds that the machine does not answer"
answers 1 "127.0.0.1:$port" "and says which"
answers 1 "note     power: no power_cycle in [target]" "and that nothing can get it back"
answers 1 "note     console: no console in [target]" "nor show its last words"
k doctor -o target.console="no-such-program x" box.ini
answers 1 "cannot start 'no-such-program': no such program (console = in [target])" "a command that is not there is found"
is "$(find . -name 'state*' | wc -l)" 0 "it writes no state"

# It may be booting: it is waited for, longer than this test has.
patience() { # ARGS...: k, told to stop after a while
	timeout --preserve-status -s INT 5 "$KREGRESS" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	grep -q "127.0.0.1:$port" "$tmp/err" && grep -q "is waited for" "$tmp/err"
}
patience run box.ini
ok $? "run says whom it waits for"
is "$status" 130 "and can be told to stop"
k status --json box.ini
answers 0 '"tested":[]' "no commit has an outcome"
patience clean box.ini
ok $? "clean waits too"
is "$status" 130 "and can be told to stop"

# One that was never seen, and that nothing of ours can switch on, is not waited for twice.
k clean -o target.boot_timeout=1s box.ini
refused 128 "'127.0.0.1' cannot be reached: " "after the time for a boot it is given up"
grep -q "waited for, at most 1" err && grep -q "is it on, and host = in \[target\] right?" err
ok $? "which was announced, and the remedy is said"
k run -o target.host=no-such-host.invalid box.ini
refused 128 "cannot look up 'no-such-host.invalid': no such name (host = in [target]" "a name that nobody knows is not waited for"

k run -o 'target.append=dyndbg="file x' box.ini
refused 129 "a double quote is not closed in 'dyndbg=\"file x'" "what would swallow our own boot parameters is refused"
k clean -o target.host= box.ini
refused 129 "'host' has no value" "clean without a host is refused"
campaign other.ini
k clean other.ini
refused 129 "only machines are cleaned" "clean of a campaign without a machine is refused"

k run -o target.setup=smt=perhaps box.ini
refused 129 "-o target.setup: 'smt=perhaps': it is smt=on|off" "a wrong setup is refused before anything is done, with its place"
k run -o target.identity=nothing box.ini
refused 129 "identity 'nothing' is not there" "so is a key that is not there"
done_testing
