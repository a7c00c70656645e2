"""Hiatus and CapacityScheduler side by side under the same loads: CPU time through the scheduler's interface alone."""

import argparse
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hiatus_cluster import building, layout  # noqa: E402
from hiatus_cluster.errors import ClusterError, report  # noqa: E402

HIATUS, CAPACITY = "Hiatus", "CapacityScheduler"
#: Each in a JVM of its own, in turns; what is behind the class is what PeerBench takes.
SCHEDULERS = {HIATUS: "io.hiatus.scheduler.HiatusScheduler",
              CAPACITY: "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"}
#: Options of each JVM's own, beside those of the tests.
_JVM = ("-XX:+UseSerialGC",)
#: Other work on a machine may stretch a run so much; beyond, it stands still.
_STRETCH = 10


@dataclass(frozen=True)
class Load:
    """What PeerBench plays; ``fill``: what applications want, in percent of what the nodes hold."""

    name: str
    kind: str
    nodes: int
    apps: int
    fill: int = 100
    slots: int = 10

    @property
    def once(self):
        """Whether it happens once, and not in every round."""
        return self.kind in ("restart", "morning")

    def size(self):
        """For the table."""
        return f"{self.nodes:,} × {self.slots}, {self.apps:,} apps"


LOADS = [
    Load("churn-small", "churn", 200, 100, 120),
    Load("churn", "churn", 2_000, 500, 120),
    Load("full", "full", 2_000, 500),
    Load("half", "churn", 2_000, 500, 50),
    Load("half-large", "churn", 10_000, 5_000, 50),
    Load("limited", "limited", 2_000, 500),
    Load("fragmented", "fragmented", 2_000, 500),
    Load("restart", "restart", 10_000, 5_000),
    Load("morning", "morning", 2_000, 500),
    Load("morning-large", "morning", 10_000, 5_000),
]


def quick(load):
    """The same on a few nodes."""
    return Load(load.name, load.kind, 20, 20, load.fill, load.slots)


@dataclass
class Result:
    """One run: PeerBench's numbers, or why there are none."""

    numbers: dict = field(default_factory=dict)
    failure: str = ""

    def get(self, name):
        """A number, or None."""
        return None if self.failure else self.numbers.get(name)


#: Heading, name in PeerBench's result, format.
STEADY = [("containers per CPU s", "containers per CPU s", ",.0f"),
          ("node update µs, p50", "node update p50 us", ".1f"), ("p99", "node update p99 us", ".0f"),
          ("mean", "node update mean us", ".1f"),
          ("allocate µs, p50", "allocate p50 us", ".1f"), ("p99", "allocate p99 us", ".0f"), ("mean", "allocate mean us", ".1f"),
          ("other threads, CPU s", "other threads CPU s", ".2f"), ("rounds", "rounds", ".0f"),
          ("longest hold, ms", "longest hold ms", ".1f"), ("heap, MiB", "heap MiB", ".0f")]
ONCE = [("all taken in: CPU s", "ready CPU s", ".2f"), ("wall s", "ready wall s", ".2f"),
        ("placed: CPU s", "placed CPU s", ".2f"), ("wall s", "placed wall s", ".2f"), ("containers", "given", ",.0f"),
        ("other threads, CPU s", "placed other threads CPU s", ".2f"),
        ("longest hold, ms", "longest hold ms", ".1f"), ("heap, MiB", "heap MiB", ".0f")]
#: Ratios of these say nothing.
_NO_RATIO = {"rounds", "given"}


def jvm_options():
    """How Gradle would start the tests' JVM; builds them if they are not."""
    building.run(*building.GRADLE, "--quiet", ":scheduler:benchOptions")
    return (layout.ROOT / "java" / "scheduler" / "build" / "bench.options").read_text().splitlines()


def run_once(jvm, scheduler, load, options, profile=False):
    """One scheduler under one load in a new JVM; ``profile``: with samples of what its time goes to, which cost some."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "result.json"
        command = ["java", *_JVM, f"-Xmx{options.heap}", f"-Dhadoop.tmp.dir={scratch}", *jvm, "io.hiatus.scheduler.PeerBench",
                   f"scheduler={SCHEDULERS[scheduler]}", f"load={load.kind}", f"nodes={load.nodes}", f"slots={load.slots}",
                   f"apps={load.apps}", f"fill={load.fill}", f"seconds={options.seconds}", f"profile={str(profile).lower()}", f"out={out}"]
        log = layout.BUILD / "bench" / f"peers-{load.name}-{scheduler}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("w") as output:
                done = subprocess.run(command, cwd=scratch, stdout=output, stderr=subprocess.STDOUT, timeout=_STRETCH * options.limit_s,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (options.limit_s, options.limit_s)))
        except subprocess.TimeoutExpired:
            return Result(failure=f"stands still: not done after {_STRETCH * options.limit_s} s")
        if done.returncode == -signal.SIGKILL:
            return Result(failure=f"not done after {options.limit_s} s of CPU time")
        if not out.exists():
            return Result(failure=f"failed: see {log.relative_to(layout.ROOT)}")
        return judged(load, json.loads(out.read_text()))


def judged(load, numbers):
    """A result, or the failure it is: a number of stock's placement is none of Hiatus'."""
    if numbers["fault"]:
        return Result(numbers, f"switched itself off: {numbers['fault']}")
    wanted = numbers.get("wanted", 1) if load.once else 0
    if numbers["given"] < wanted:
        return Result(numbers, f"placed {numbers['given']:,} of {wanted:,} containers")
    return Result(numbers)


def median(values):
    """The median of those that are numbers, or None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def rows_of(load, results, columns):
    """Rows of one load: each scheduler, then the median of the ratios of runs that followed each other."""
    rows = []
    for scheduler, runs in results.items():
        failures = [run.failure for run in runs if run.failure]
        if failures:
            rows.append([load.name, load.size(), scheduler, f"**failure** in {len(failures)} of {len(runs)}: {failures[0]}",
                         *[""] * (len(columns) - 1)])
        else:
            rows.append([load.name, load.size(), scheduler,
                         *[_cell(median(run.get(name) for run in runs), form) for _, name, form in columns]])
    pairs = list(zip(results[HIATUS], results[CAPACITY]))
    if not any(run.failure for pair in pairs for run in pair):
        rows.append([load.name, "", f"{HIATUS} / {CAPACITY}",
                     *["" if name in _NO_RATIO else _cell(median(_ratio(ours.get(name), theirs.get(name)) for ours, theirs in pairs), ".2f")
                       for _, name, _ in columns]])
    return rows


def _ratio(ours, theirs):
    return ours / theirs if ours is not None and theirs else None


def _cell(value, form):
    return "" if value is None else format(value, form)


def table(columns, rows):
    """A table in Markdown."""
    heads = ["load", "nodes × slots", "scheduler", *[head for head, _, _ in columns]]
    lines = [heads, [*["---"] * 3, *["--:"] * len(columns)], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def holders(results):
    """Who held the scheduler longest, and which other thread was busiest, by load and scheduler."""
    lines = []
    for load, by_scheduler in results.items():
        for scheduler, runs in by_scheduler.items():
            last = next((run.numbers for run in reversed(runs) if not run.failure), None)
            if last:
                busiest = last.get("busiest thread") or last.get("placed busiest thread") or "none"
                lines.append(f"- {load.name}, {scheduler}: longest hold by {last['longest hold by']}; busiest other thread: {busiest}; "
                             f"{last['live']:,} containers held and {last['asked']:,} asked for at the end")
    return "\n".join(lines) + "\n"


def profiles(results):
    """What the time is spent on within each scheduler, by load: a table in Markdown, or nothing."""
    shares = {(load.name, scheduler): run.get("shares") for load, runs in results.items() for scheduler, run in runs.items() if run.get("shares")}
    parts = sorted({part for share in shares.values() for part in share})
    rows = [[load, scheduler, *[_cell(share.get(part), ".0%") for part in parts]] for (load, scheduler), share in shares.items()]
    lines = [["load", "scheduler", *parts], [*["---"] * 2, *["--:"] * len(parts)], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) if rows else ""


METHOD = """One thread plays all nodes and masters, in rounds: each master calls, then each node reports in, at full speed (`restart` and
`morning`: at most one round a second). All times are CPU times of that thread, except where "wall" is said; CPU time of all other
Java threads (Hiatus' ticker, the dispatcher) is told beside them and is in "containers per CPU s", "all taken in" and "placed".
The *longest hold* is the most CPU time of one call, one node update or one node's joining, or of another thread while it
held the scheduler's write lock. *Heap* is after a collection; what Hiatus' library allocates is not in it. Hiatus: policy `hfsp`, mode
`suspend`, all nodes able to suspend, all else by default; CapacityScheduler: up to 100 containers a heartbeat. Every scheduler runs in a
JVM of its own, in turns; cells are medians of the runs, and the rows of ratios medians of the ratios of runs that followed each other.
At full speed a round takes less (small clusters) or more (large ones) than the second it takes on a cluster, and what Hiatus does by
the clock, planning every 100 ms, comes less or more often per round than it would there.

| load | what happens |
| --- | --- |
| `churn` | containers end after 1 to 20 heartbeats and are asked for again; applications want 120 % of the cluster |
| `half` | the same, they want 50 % |
| `full` | nothing ends, nothing fits, every application wants at least 10 more |
| `limited` | nothing ends, half of the cluster is free, every application wants more, and every user has reached its limit |
| `fragmented` | every node has room for 1 GiB; most asks are for 3 GiB; small ones come and go |
| `restart` | all nodes join with 10 running containers each (*all taken in*), then every application asks for one more, until the first heartbeats gave some (*placed*) |
| `morning` | every application asks an empty cluster at once, together for all of it; until all is placed |
"""


def page(results, profiled, options, began, ended):
    """The whole document."""
    version = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.splitlines()[0]
    made = (f"Made by `scripts/bench peers {' '.join(sys.argv[1:])}`".rstrip() + f" on {ended[0]} at commit {began[2]}: {options.repeats} runs of each, "
            f"each measured for {options.seconds} s of CPU time, heap {options.heap}, at most {options.limit_s} s of CPU time in all; {os.cpu_count()} × {platform.machine()}, "
            f"{version}. Load average {began[1]:.1f} at the start, {ended[1]:.1f} at the end: {options.beside}.")
    parts = ["# Schedulers side by side, measured", "", made, "", METHOD]
    for title, columns, once in (("Round after round", STEADY, False), ("Once", ONCE, True)):
        rows = [row for load, by_scheduler in results.items() if load.once is once for row in rows_of(load, by_scheduler, columns)]
        if rows:
            parts += [f"## {title}", "", table(columns, rows)]
    if profiled:
        parts += ["## What the time goes to", "", "Samples of the stacks of all threads that run, within the scheduler, every 5 ms at safepoints, in a run of their own. Stock's commit, ends, "
                  "launches, masters' calls and joining nodes are the same code under both.", "", profiles(profiled)]
    return "\n".join([*parts, "## Who held it", "", holders(results)])


def now():
    """The time, the load average, and the commit."""
    commit = layout.commit() + (" with changes" if layout.git("status", "--porcelain") else "")
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), os.getloadavg()[0], commit


def arguments(given=None):
    """The options; refuses loads that there are not."""
    parser = argparse.ArgumentParser(prog="scripts/bench peers", description=__doc__)
    names = [load.name for load in LOADS]
    parser.add_argument("--loads", nargs="+", choices=names, default=names, metavar="LOAD", help=f"of {', '.join(names)}; all by default")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each scheduler under each load (default: 3)")
    parser.add_argument("--seconds", type=int, help="CPU time measured per run, after half as much of warming up (default: 10; 1 with --quick)")
    parser.add_argument("--profile", action="store_true", help="and one more run of each with samples of what the time goes to")
    parser.add_argument("--quick", action="store_true", help="20 nodes, one run of each kind of load: a minute in all, to see that it works")
    parser.add_argument("--heap", default="4g", help="of each JVM (default: 4g)")
    parser.add_argument("--limit-s", type=int, default=600, help="a run that takes more CPU time, of all its threads, is a failure (default: 600)")
    parser.add_argument("--beside", default="whether other work ran beside was not told", help="a word on other work on the machine, for the page")
    parser.add_argument("--out", type=Path, help="default: docs/bench/peers.md; build/bench/peers.md with --quick")
    options = parser.parse_args(given)
    if options.repeats < 1:
        raise ClusterError("--repeats: at least 1")
    if options.quick:
        options.repeats = 1
    if options.seconds is None:
        options.seconds = 1 if options.quick else 10
    if options.out is None:
        options.out = (layout.BUILD if options.quick else layout.ROOT / "docs") / "bench" / "peers.md"
    return options


def measure(jvm, options):
    """All runs, the schedulers in turns; after each load what there is so far, by load, then by scheduler: results, and profiles."""
    loads = [load for load in LOADS if load.name in options.loads]
    if options.quick:
        loads = list({(load.kind, load.fill): quick(load) for load in loads}.values())
    results, profiled = {}, {}
    for load in loads:
        by_scheduler = results[load] = {scheduler: [] for scheduler in SCHEDULERS}
        for repeat in range(options.repeats):
            for scheduler, runs in by_scheduler.items():
                begun = time.monotonic()
                runs.append(run_once(jvm, scheduler, load, options))
                print(f"bench: {load.name} {repeat + 1}/{options.repeats} {scheduler}: {runs[-1].failure or 'done'}, "
                      f"{time.monotonic() - begun:.0f} s", flush=True)
        if options.profile:
            profiled[load] = {scheduler: run_once(jvm, scheduler, load, options, profile=True) for scheduler in SCHEDULERS}
        yield results, profiled


def main():
    """Builds, measures and writes the page, anew after each load: who interrupts it has the loads before."""
    options = arguments()
    building.product(lambda text: print(f"bench: {text}", flush=True))
    jvm = jvm_options()
    began = now()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for results, profiled in measure(jvm, options):
        text = page(results, profiled, options, began, now())
        options.out.write_text(text)
    print(f"\n{text}\nbench: written to {options.out}")


if __name__ == "__main__":
    report(main)
