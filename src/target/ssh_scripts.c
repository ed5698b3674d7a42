/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done on a machine over SSH: the shell scripts. */
#include "target/ssh_scripts.h"

/* Before each: the PATH, p KEY VALUE answers, get FILE sets l to its first line. */
static const char prelude_text[] =
	"R=$1\n"
	"shift\n"
	"PATH=${R:+$R/bin:}$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin\n"
	"LC_ALL=C\n"
	"export PATH LC_ALL\n"
	"set -f\n"
	"umask 022\n"
	"p() { printf '%s=%s\\n' \"$1\" \"$2\"; }\n"
	"get() {\n"
	"\tl=\n"
	"\t[ -r \"$1\" ] || return 1\n"
	"\t{ IFS= read -r l <\"$1\" || [ -n \"$l\" ]; } 2>/dev/null\n"
	"}\n"
	"p begin 1\n" SSH_SCRIPT_MINE;

/*
 * For restore and setup. The values before ours lie in a file whose first line names the boot
 * that they belong to: "f PATH VALUE" for a file, "s UNIT" for a service that was stopped.
 */
static const char settings_text[] =
	"s=$1 boot=$2\n"
	"shift 2\n"
	"bad=\n"
	"val() {\n"
	"\tv=\n"
	"\t[ -r \"$1\" ] || return 1\n"
	"\t{ IFS= read -r v <\"$1\" || [ -n \"$v\" ]; } 2>/dev/null || return 1\n"
	"\tcase $v in *\\[*\\]*) v=${v#*\\[} v=${v%%\\]*} ;; esac\n"
	"\t# shellcheck disable=SC2086\n"
	"\tset -- $v\n"
	"\tv=$*\n"
	"}\n"
	"put() { m=$({ printf '%s\\n' \"$2\" >\"$1\"; } 2>&1); }\n"
	"restore() {\n"
	"\t[ -f \"$s\" ] && mine \"${s%/*}\" || return 0\n"
	"\tget \"$s\"\n"
	"\tif [ \"$l\" = \"boot $boot\" ]; then\n"
	"\t\tsed -n '1!{G;h;$p}' \"$s\" | while read -r kind name value; do\n"
	"\t\t\tcase $kind in\n"
	"\t\t\tf)\n"
	"\t\t\t\tval \"$name\" && [ \"$v\" = \"$value\" ] && continue\n"
	"\t\t\t\tput \"$name\" \"$value\"\n"
	"\t\t\t\tval \"$name\"\n"
	"\t\t\t\t[ \"$v\" = \"$value\" ] || p unrestored \"$name says '$v', was '$value'\"\n"
	"\t\t\t\t;;\n"
	"\t\t\ts) systemctl start \"$name\" || p unrestored \"service $name\" ;;\n"
	"\t\t\tesac\n"
	"\t\tdone\n"
	"\t\tp restored 1\n"
	"\tfi\n"
	"\trm -f \"$s\"\n"
	"}\n";

/*
 * For prepare and clean: an agent is ended only if its start time is the one that it left. Its
 * worker ends all that it started; nothing else is ever looked for or killed from here.
 */
static const char agents_text[] =
	"is_it() {\n"
	"\t{ IFS= read -r l <\"/proc/$pid/stat\"; } 2>/dev/null || return 1\n"
	"\t# shellcheck disable=SC2086\n"
	"\tset -- ${l##*) }\n"
	"\t[ \"$1\" != Z ] && [ \"${20}\" = \"$start\" ]\n"
	"}\n"
	"end_agent() {\n"
	"\t{ read -r pid start <\"$1/agent.pid\"; } 2>/dev/null || return 0\n"
	"\ti=0\n"
	"\twhile [ \"$i\" -lt 100 ] && is_it; do\n"
	"\t\tcase $i in\n"
	"\t\t0) kill -s TERM \"$pid\"; kill -s CONT \"$pid\" ;;\n"
	"\t\t60) kill -s KILL \"$pid\" ;;\n"
	"\t\tesac\n"
	"\t\tsleep 0.1 2>/dev/null || sleep 1\n"
	"\t\ti=$((i + 1))\n"
	"\tdone\n"
	"}\n"
	"end_agents() {\n"
	"\tmine \"$1\" || return 0\n"
	"\tset +f\n"
	"\tfor f in \"$1\"/run-*; do\n"
	"\t\tif [ ! -d \"$f\" ] || [ -L \"$f\" ]; then continue; fi\n"
	"\t\tend_agent \"$f\"\n"
	"\t\trm -rf \"$f\" && p removed \"$f\"\n"
	"\tdone\n"
	"\tset -f\n"
	"}\n";

static const char identify_text[] =
	"get \"$R/proc/sys/kernel/random/boot_id\"; p boot_id \"$l\"\n"
	"get \"$R/proc/sys/kernel/osrelease\"; p release \"$l\"\n"
	"get \"$R/proc/uptime\"; p uptime \"${l%% *}\"\n"
	"get \"$R/proc/cmdline\"; p cmdline \"$l\"\n"
	"p arch \"$(uname -m)\"\n"
	"u=$(id -u)\n"
	"p uid \"$u\"\n"
	"p gid \"$(id -g)\"\n"
	"f=$R/sys/kernel/notes\n"
	"p notes \"$({ od -An -v -tx1 \"$f\" || hexdump -v -e '1/1 \"%02x\"' \"$f\"; } 2>/dev/null "
	"| tr -d ' \\n')\"\n"
	"if [ \"$u\" != 0 ]; then\n"
	"\tif sudo -n true 2>/dev/null; then p sudo 1; else p sudo 0; fi\n"
	"fi\n"
	"p end 1\n";

/*
 * A link appears with all its contents, or not at all; who breaks a lock holds a lock for it. A jump
 * that a campaign set off, and did not live to see, comes first: to unload its kernel now would leave
 * the machine with file systems that are read-only.
 */
static const char lock_text[] =
	"f=$1 text=$2 steal=$3\n"
	"is_leaving() {\n"
	"\tset +f\n"
	"\tcat \"$R\"/proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' '\\n' |\n"
	"\t\tgrep -q '^kregress-jum[p]$'\n"
	"}\n"
	"i=0\n"
	"while [ $i -lt 15 ] && (is_leaving); do sleep 1; i=$((i + 1)); done\n"
	"d=${f%/*}\n"
	"[ -d \"${d:-/}\" ] || mkdir -p \"$d\" || exit 1\n"
	"t=$f.$$\n"
	"rm -f \"$t\"\n"
	"if ! (set -C; printf '%s\\n' \"$text\" >\"$t\"); then\n"
	"\trm -f \"$t\"\n"
	"\techo \"cannot write $t (is its file system full, or read-only?)\" >&2\n"
	"\texit 1\n"
	"fi\n"
	"taken() {\n"
	"\tsync \"$f\" 2>/dev/null\n"
	"\trm -f \"$t\"\n"
	"\tp lock taken\n"
	"\tp end 1\n"
	"\texit 0\n"
	"}\n"
	"is_stale() {\n"
	"\tif [ \"$steal\" = - ]; then\n"
	"\t\t! grep -q '^token=.' \"$f\" 2>/dev/null\n"
	"\telse\n"
	"\t\tgrep -qxF \"token=$steal\" \"$f\" 2>/dev/null\n"
	"\tfi\n"
	"}\n"
	"if [ -n \"$steal\" ]; then\n"
	"\tfind \"$f.break\" -prune -mmin +1 -exec rmdir {} \\; 2>/dev/null\n"
	"\tif mkdir \"$f.break\" 2>/dev/null; then\n"
	"\t\tif is_stale; then mv -f \"$t\" \"$f\" && m=1; fi\n"
	"\t\trmdir \"$f.break\"\n"
	"\t\t[ -z \"${m-}\" ] || taken\n"
	"\tfi\n"
	"fi\n"
	"ln \"$t\" \"$f\" 2>/dev/null && taken\n"
	"[ -e \"$f\" ] || { (set -C; cat \"$t\" >\"$f\") 2>/dev/null && taken; }\n"
	"rm -f \"$t\"\n"
	"[ -e \"$f\" ] || { echo \"cannot make $f\" >&2; exit 1; }\n"
	"p lock held\n"
	"while IFS= read -r l || [ -n \"$l\" ]; do p held \"$l\"; done <\"$f\"\n"
	"p end 1\n";

static const char unlock_text[] = "if grep -qxF \"token=$2\" \"$1\" 2>/dev/null; then\n"
				  "\trm -f \"$1\" || exit 1\n"
				  "\tp lock released\n"
				  "fi\n"
				  "p end 1\n";

static const char check_text[] =
	"w=$1 boot=$2 mods=$3\n"
	"shift 3\n"
	"space() {\n"
	"\td=$2\n"
	"\twhile [ ! -d \"$d\" ]; do d=${d%/*}; d=${d:-/}; done\n"
	"\tdf -Pk \"$d\" 2>/dev/null | { read -r _; read -r _ _ _ l _; p \"free_$1\" \"$l\"; }\n"
	"\t[ ! -w \"$d\" ] || p \"writable_$1\" 1\n"
	"}\n"
	"new=\n"
	"[ -e \"$w\" ] || new=1\n"
	"claim \"$w\" || p foreign 1\n"
	"space work \"$w\"\n"
	"space boot \"$boot\"\n"
	"space modules \"$mods\"\n"
	"t=$w/exec.$$\n"
	"if mine \"$w\" && printf '#!/bin/sh\\nexit 7\\n' >\"$t\" && [ -s \"$t\" ] && chmod 755 "
	"\"$t\"; then\n"
	"\t\"$t\" 2>/dev/null\n"
	"\tp exec $?\n"
	"fi\n"
	"! mine \"$w\" || rm -f \"$t\"\n"
	"[ -z \"$new\" ] || release \"$w\"\n"
	"for t; do ! l=$(command -v \"$t\") || p tool \"$t\"; done\n"
	"get \"$R/proc/sys/kernel/kexec_load_disabled\" && p kexec_disabled \"$l\"\n"
	"[ ! -e \"$R/sys/kernel/kexec_loaded\" ] || p kexec 1\n"
	"get \"$R/sys/kernel/security/lockdown\" && p lockdown \"$l\"\n"
	"[ ! -c \"$R/dev/watchdog\" ] || p watchdog 1\n"
	"for g in \"$boot/grub\" \"$boot/grub2\" ''; do [ ! -d \"$g\" ] || break; done\n"
	"if [ -n \"$g\" ]; then\n"
	"\tp grub_dir \"$g\"\n"
	"\tl=$(sed -n 's/^[[:blank:]]*GRUB_DEFAULT=//p' \"$R/etc/default/grub\" 2>/dev/null | sed "
	"-n '$p')\n"
	"\tp grub_default \"$l\"\n"
	"\t[ ! -f \"$g/grubenv\" ] || p grub_env 1\n"
	"\t! grep -q next_entry \"$g/grub.cfg\" 2>/dev/null || p grub_next 1\n"
	"\tbest='' dev='' fs=''\n"
	"\twhile read -r _ _ m _ l rest; do\n"
	"\t\tcase $g/ in \"${l%/}\"/*) [ ${#l} -lt ${#best} ] || { best=$l dev=$m fs=${rest#* - }; "
	"} ;; esac\n"
	"\tdone <\"$R/proc/self/mountinfo\"\n"
	"\tp grub_fs \"${fs%% *}\"\n"
	"\tfor l in dm md; do\n"
	"\t\tfor d in \"$R/sys/dev/block/$dev\" \"$R/sys/dev/block/$dev/..\"; do\n"
	"\t\t\t[ ! -d \"$d/$l\" ] || p \"grub_$l\" 1\n"
	"\t\tdone\n"
	"\tdone\n"
	"fi\n"
	"p end 1\n";

static const char facts_text[] =
	"c=$R/sys/devices/system/cpu\n"
	"model='' micro='' n=0\n"
	"while IFS=: read -r k v; do\n"
	"\tcase $k in\n"
	"\t\"model name\"*) [ -n \"$model\" ] || model=${v# } ;;\n"
	"\t\"CPU implementer\"*) [ -n \"$model\" ] || model=\"ARM implementer ${v# }\" ;;\n"
	"\tmicrocode*) [ -n \"$micro\" ] || micro=${v# } ;;\n"
	"\tprocessor*) n=$((n + 1)) ;;\n"
	"\tesac\n"
	"done <\"$R/proc/cpuinfo\"\n"
	"p cpu_model \"$model\"\n"
	"p microcode \"$micro\"\n"
	"p cpus_online \"$n\"\n"
	"while read -r k v _; do\n"
	"\tcase $k in MemTotal:) p memory_total_kb \"$v\" ;; HugePages_Total:) p hugepages \"$v\" "
	";; esac\n"
	"done <\"$R/proc/meminfo\"\n"
	"get \"$R/proc/cmdline\" && p cmdline \"$l\"\n"
	"get \"$R/sys/devices/system/clocksource/clocksource0/current_clocksource\" && p "
	"clocksource \"$l\"\n"
	"get \"$R/proc/loadavg\" && p load_before \"$l\"\n"
	"get \"$c/smt/active\" && p smt_active \"$l\"\n"
	"get \"$c/intel_pstate/no_turbo\" && p no_turbo \"$l\"\n"
	"get \"$c/cpufreq/boost\" && p boost \"$l\"\n"
	"get \"$R/sys/kernel/mm/transparent_hugepage/enabled\" && p thp \"$l\"\n"
	"get \"$R/proc/sys/kernel/randomize_va_space\" && p aslr \"$l\"\n"
	"get \"$R/sys/class/dmi/id/product_name\" && p product \"$l\"\n"
	"get \"$R/sys/class/dmi/id/bios_version\" && p bios \"$l\"\n"
	"get \"$R/proc/sys/kernel/tainted\" && p tainted \"$l\"\n"
	"set +f\n"
	"all=\n"
	"for f in \"$c\"/cpufreq/policy*/scaling_governor; do\n"
	"\tget \"$f\" || continue\n"
	"\tcase \" $all \" in *\" $l \"*) ;; *) all=\"$all${all:+ }$l\" ;; esac\n"
	"done\n"
	"[ -z \"$all\" ] || p governor \"$all\"\n"
	"for f in \"$c\"/vulnerabilities/*; do get \"$f\" && p \"mitigation.${f##*/}\" \"$l\"; "
	"done\n"
	"p end 1\n";

static const char restore_text[] = "restore\n"
				   "p end 1\n";

/* Each value is noted before it is changed, and read back after. */
static const char setup_text[] =
	"no() { bad=1; p failed \"$w: $1\"; }\n"
	"file() {\n"
	"\tif ! val \"$1\"; then no \"cannot read $1\"; return; fi\n"
	"\t[ \"$v\" != \"$2\" ] || return 0\n"
	"\tprintf 'f %s %s\\n' \"$1\" \"$v\" >>\"$s\" || { no \"cannot write $s\"; return; }\n"
	"\tput \"$1\" \"$2\"\n"
	"\tval \"$1\"\n"
	"\t[ \"$v\" = \"$2\" ] || no \"$1 says '$v' after '$2' was written${m:+ (${m##*: })}\"\n"
	"}\n"
	"files() {\n"
	"\tn=0\n"
	"\tset +f\n"
	"\tfor f in $2; do\n"
	"\t\tset -f\n"
	"\t\t[ ! -e \"$f\" ] || { n=$((n + 1)); file \"$f\" \"$1\"; }\n"
	"\tdone\n"
	"\tset -f\n"
	"\t[ \"$n\" -gt 0 ]\n"
	"}\n"
	"turbo() {\n"
	"\tif [ -e \"$c/intel_pstate/no_turbo\" ]; then file \"$c/intel_pstate/no_turbo\" $((1 - "
	"$1))\n"
	"\telif [ -e \"$c/cpufreq/boost\" ]; then file \"$c/cpufreq/boost\" \"$1\"\n"
	"\telse files \"$1\" \"$c/cpufreq/policy*/boost\" || no \"no control of it in $c\"; fi\n"
	"}\n"
	"smt() {\n"
	"\tval \"$c/smt/control\" || { no \"no control of it in $c/smt\"; return; }\n"
	"\tcase $1$v in offforceoff | offnot*) return ;; esac\n"
	"\tfile \"$c/smt/control\" \"$1\"\n"
	"}\n"
	"stop() {\n"
	"\tcommand -v systemctl >/dev/null || { no \"no systemctl there\"; return; }\n"
	"\tsystemctl is-active --quiet \"$1\" || return 0\n"
	"\tprintf 's %s\\n' \"$1\" >>\"$s\" || { no \"cannot write $s\"; return; }\n"
	"\tsystemctl stop \"$1\" >&2\n"
	"\t! systemctl is-active --quiet \"$1\" || no \"it goes on\"\n"
	"}\n"
	"restore\n"
	"[ $# -gt 0 ] || { p end 1; exit 0; }\n"
	"claim \"${s%/*}\" && printf 'boot %s\\n' \"$boot\" >\"$s\" || exit 1\n"
	"c=$R/sys/devices/system/cpu\n"
	"for w; do\n"
	"\tv=${w#*=}\n"
	"\tcase $w in\n"
	"\tgovernor=*)\n"
	"\t\tfiles \"${w#*=}\" \"$c/cpufreq/policy*/scaling_governor\" ||\n"
	"\t\t\tfiles \"${w#*=}\" \"$c/cpu[0-9]*/cpufreq/scaling_governor\" ||\n"
	"\t\t\tno \"no control of it in $c/cpufreq\"\n"
	"\t\t;;\n"
	"\tturbo=on) turbo 1 ;;\n"
	"\tturbo=off) turbo 0 ;;\n"
	"\tsmt=*) smt \"$v\" ;;\n"
	"\tthp=*) file \"$R/sys/kernel/mm/transparent_hugepage/enabled\" \"$v\" ;;\n"
	"\taslr=on) file \"$R/proc/sys/kernel/randomize_va_space\" 2 ;;\n"
	"\taslr=off) file \"$R/proc/sys/kernel/randomize_va_space\" 0 ;;\n"
	"\tstop=*) stop \"$v\" ;;\n"
	"\t/*=*) file \"$R${w%%=*}\" \"$v\" ;;\n"
	"\t*) no \"unknown\" ;;\n"
	"\tesac\n"
	"done\n"
	"[ -z \"$bad\" ] || restore\n"
	"p end 1\n";

/* Heat needs two looks: the counters of throttling only ever grow. */
static const char quiet_text[] =
	"max=$1 limit=$2 step=$3\n"
	"throttle() {\n"
	"\tt=0 n=0\n"
	"\tfor f in \"$R\"/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count; do\n"
	"\t\tget \"$f\" && t=$((t + l)) n=1\n"
	"\tdone\n"
	"}\n"
	"set +f\n"
	"waited=0 why='' pause=2\n"
	"throttle\n"
	"[ \"$n\" = 0 ] || pause=1\n"
	"old=$t unsure=$n\n"
	"while :; do\n"
	"\tget \"$R/proc/loadavg\"\n"
	"\tload=${l%% *}\n"
	"\tc=${load%%.*}${load#*.}\n"
	"\twhile [ ${#c} -gt 1 ] && [ \"${c#0}\" != \"$c\" ]; do c=${c#0}; done\n"
	"\t[ \"$max\" -lt 0 ] || [ \"$c\" -le \"$max\" ] || why=\"load $load\"\n"
	"\tif [ -z \"$why\" ] && [ \"$unsure\" = 0 ]; then p quiet 1; break; fi\n"
	"\t[ -z \"$why\" ] || p wait \"$why\"\n"
	"\tif [ \"$waited\" -ge \"$limit\" ]; then p quiet 0; break; fi\n"
	"\tsleep \"$pause\"\n"
	"\twaited=$((waited + pause)) pause=$step why=\n"
	"\tthrottle\n"
	"\tunsure=0\n"
	"\t[ \"$t\" -le \"$old\" ] || unsure=1 why=\"the CPU is throttled for its temperature\"\n"
	"\told=$t\n"
	"done\n"
	"p load \"$load\"\n"
	"p waited \"$waited\"\n"
	"p end 1\n";

/* Files are kept by their checksum, so that only what is new is sent. */
static const char prepare_text[] =
	"w=$1 d=$2 owner=$3\n"
	"shift 3\n"
	"claim \"$w\" || { echo \"'$w' is not ours (set work_dir = in [target])\" >&2; exit 1; }\n"
	"[ -d \"$w/files\" ] || mkdir \"$w/files\" || exit 1\n"
	"chown \"$owner\" \"$w/files\" 2>/dev/null\n"
	"end_agents \"$w\"\n"
	"set +f\n"
	"for f in \"$w\"/files/*; do\n"
	"\tcase \" $* \" in *\" ${f##*/} \"*) ;; *) rm -f \"$f\" ;; esac\n"
	"done\n"
	"for f; do\n"
	"\t[ -f \"$w/files/$f\" ] || continue\n"
	"\tl=$(sha256sum <\"$w/files/$f\" 2>/dev/null)\n"
	"\t[ \"${l%% *}\" != \"$f\" ] || p have \"$f\"\n"
	"done\n"
	"mkdir \"$d\" \"$d/work\" || exit 1\n"
	"p end 1\n";

/* The mark in the kernel log tells what was said since: printed after the agent ended. */
static const char run_text[] =
	"w=$1 d=$2 mark=0\n"
	"shift 2\n"
	"cat >\"$d/job\" || exit 99\n"
	"while [ $# -ge 3 ]; do\n"
	"\tcp \"$w/files/$1\" \"$d/$2\" && chmod \"$3\" \"$d/$2\" || exit 99\n"
	"\tshift 3\n"
	"done\n"
	"{ printf 'kregress: trial %s\\n' \"${d##*/}\" >\"$R/dev/kmsg\"; } 2>/dev/null && mark=1\n"
	"\"$d/agent\" --here \"$d\"\n"
	"s=$?\n"
	"if [ \"$mark\" = 1 ]; then\n"
	"\tprintf 'kregress: log %s\\n' \"${d##*/}\"\n"
	"\tdmesg >\"$d/log\" 2>/dev/null\n"
	"\tif grep -qF \"kregress: trial ${d##*/}\" \"$d/log\"; then\n"
	"\t\tl=\"/kregress: trial ${d##*/}/\"\n"
	"\t\tsed -e \"$l,\\$!d\" -e \"${l}d\" \"$d/log\"\n"
	"\telse\n"
	"\t\tcat \"$d/log\"\n"
	"\tfi\n"
	"fi\n"
	"rm -rf \"$d\"\n"
	"exit \"$s\"\n";

static const char clean_text[] = "end_agents \"$1\"\n"
				 "p end 1\n";

static const struct {
	const char *name, *part, *text;
} scripts[SSH_SCRIPTS] = {
	[SSH_IDENTIFY] = { "identify", NULL, identify_text },
	[SSH_LOCK] = { "lock", NULL, lock_text },
	[SSH_UNLOCK] = { "unlock", NULL, unlock_text },
	[SSH_CHECK] = { "check", NULL, check_text },
	[SSH_FACTS] = { "facts", NULL, facts_text },
	[SSH_RESTORE] = { "restore", settings_text, restore_text },
	[SSH_SETUP] = { "setup", settings_text, setup_text },
	[SSH_QUIET] = { "quiet", NULL, quiet_text },
	[SSH_PREPARE] = { "prepare", agents_text, prepare_text },
	[SSH_RUN] = { "run", NULL, run_text },
	[SSH_CLEAN] = { "clean", agents_text, clean_text },
};

void ssh_script_text(enum ssh_script s, struct str *out)
{
	str_add(out, prelude_text);
	if (scripts[s].part)
		str_add(out, scripts[s].part);
	str_add(out, scripts[s].text);
}

const char *ssh_script_name(enum ssh_script s)
{
	return scripts[s].name;
}
