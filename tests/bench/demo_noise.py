# SPDX-License-Identifier: GPL-2.0-or-later
"""What record-boots and live-noise share: the demo's history, its campaign, load, kregress."""
import os, random, signal, subprocess, sys, time

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
demo = os.environ.get("KREGRESS_DEMO_DIR", os.path.join(
    os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "kregress-demo"))
repo = os.path.join(demo, "linux")
env = dict(os.environ, XDG_CACHE_HOME=os.path.join(demo, "cache"))
env.setdefault("CCACHE_DIR", os.path.join(demo, "ccache"))
env.setdefault("KREGRESS_DATADIR", top)
kregress = os.environ.get("KREGRESS", os.path.join(top, "kregress"))
BURNER_LIFE_S = 7200

CAMPAIGN = """[campaign]
name = {name}
repo = {repo}
[build]
config = tinyconfig
fragments = {fragments}
[target]
type = qemu
memory = 512M
deterministic = no
[workload]
use = {tmp}/fault_rounds.ini
metric = round_us
timeout = 1m
[measure]
runs_per_boot = 5
warmup_runs = 1
{measure}
[verdict]
better = lower
{verdict}
"""

WORKLOAD = """[workload]
name = fault_rounds
description = map, fill and unmap 32 pages, again and again
command = ./fault_rounds
[metric round_us]
unit = us
better = lower
"""

def git(*args):
    return subprocess.run(["git", "-C", repo, *args], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def truth():
    """Name -> the commits that the history's script planted by it."""
    with open(os.path.join(repo, ".git/kregress-demo/truth")) as f:
        return {name: ids.split() for name, ids in (line.split("=") for line in f)}


def history():
    """(id, parents' numbers, is broken) of each commit, the good end first."""
    broken = {c for name, ids in truth().items() if name.endswith("-broken") for c in ids}
    lines = [git("rev-parse", "demo-good^{commit}").split()]
    lines += [l.split() for l in git("rev-list", "--topo-order", "--reverse", "--parents",
                                     "demo-good..demo-bad").splitlines()]
    number = {l[0]: i for i, l in enumerate(lines)}
    return [(l[0], [number[p] for p in l[1:] if p in number] if i else [], l[0] in broken)
            for i, l in enumerate(lines)]


def burn(seed):
    """A child that is busy and idle by turns; ends with us, at the latest after BURNER_LIFE_S."""
    pid = os.fork()
    if pid:
        return pid
    rng, parent, end = random.Random(seed), os.getppid(), time.monotonic() + BURNER_LIFE_S
    os.nice(5)
    while time.monotonic() < end and os.getppid() == parent:
        busy = time.monotonic() + rng.expovariate(1 / 2)
        while time.monotonic() < busy:
            pass
        time.sleep(rng.expovariate(1 / 6))
    os._exit(0)


class Load:
    """Two programs that are busy and idle by turns, while the block runs."""

    def __init__(self, seed):
        self.seed = seed

    def __enter__(self):
        self.pids = [burn(self.seed * 10 + k) for k in range(2)] if self.seed else []

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)


def run(*args):
    """Output of kregress; None: the commit cannot be tested."""
    p = subprocess.run([kregress, "-q", *args], env=env, stdout=subprocess.PIPE, timeout=3600,
                       text=True)
    if p.returncode not in (0, 1, 125):
        sys.exit(f"kregress {' '.join(args)} ended with {p.returncode}")
    return p.stdout if p.returncode != 125 else None


def prepare(tmp, **keys):
    """The campaign's file, its workload and the program for the guest, in folder tmp."""
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-static", "-o",
                    os.path.join(tmp, "fault_rounds"),
                    os.path.join(top, "tests/bench/fault_rounds.c")], check=True)
    campaign = os.path.join(tmp, "noise.ini")
    for path, text in ((campaign, CAMPAIGN), (os.path.join(tmp, "fault_rounds.ini"), WORKLOAD)):
        with open(path, "w") as f:
            f.write(text.format(repo=repo, tmp=tmp, **keys))
    return campaign
