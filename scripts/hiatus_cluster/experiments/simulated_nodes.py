"""A stretch of a trace on a real ResourceManager before hundreds of simulated nodes, and the same in the simulator."""

import csv
import json
import statistics
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .. import bare, hiatus
from ..errors import ClusterError
from ..replay.machine import Watch
from ..replay.side_by_side import part
from ..scaled import KNOB
from . import kept, tables, together

#: Jobs are told apart by their number of maps.
_CLASSES = {"1 map": 1, "2 to 15": 15, "16 to 150": 150, "more": 10 ** 9}
_BASE = "Fair"
#: What the simulator calls the schedulers: policy and preemption.
_SIMULATED = {"HFSP/suspend": ("hfsp", "suspend"), "HFSP/wait": ("hfsp", "wait"), "Fair": ("fair", "wait"), "FIFO": ("fifo", "wait")}
_TASK_MB = 1024
_MASTER_START_MS = 3000
#: A window in which no job would take longer than four minutes alone, and none is more than an eighth of all work.
_TRACE, _LINES, _SCALE = "fb-2010", "8701-8850", Fraction(1, 3)


@dataclass
class Outcome:
    """What became of the jobs under one scheduler."""

    sojourn_s: list  #: in the workload's order
    suspended: int
    pauses: int  #: by the nodes' account: whose room nobody needed was suspended and not paused
    lost: int
    manager_cpu_s: float
    others: float  #: the share of all CPUs that other processes took


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--nodes", type=int, default=200, metavar="N", help="simulated nodes (default: 200)")
    parser.add_argument("--slots", type=int, default=8, metavar="N", help=f"containers of {_TASK_MB} MB and a vcore that fit on a node (default: 8)")
    parser.add_argument("--trace", default=_TRACE, metavar="NAME", help=f"fb-2009, fb-2010, or a file of that form (default: {_TRACE})")
    parser.add_argument("--lines", default=_LINES, metavar="FIRST-LAST", help=f"of the trace (default: {_LINES})")
    parser.add_argument("--scale", type=part, default=_SCALE, metavar="PART", help=f"of the trace's bytes (default: {_SCALE})")
    parser.add_argument("--load", type=float, default=0.9, help="of the containers that arrivals are spaced for (default: 0.9)")
    parser.add_argument("--timeout-s", type=int, default=3600, metavar="S", help="for one scheduler's run (default: 3600)")
    together.options(parser)
    parser.set_defaults(schedulers=["Fair", "HFSP/suspend"])
    kept.option(parser)


def run(options, say):
    """All schedulers; prints and writes the tables."""
    jobs = spaced(window(options), options.nodes * options.slots, options.load)
    tasks = sum(stage["tasks"] for job in jobs for stage in job["simulated"]["stages"])
    say(f"{len(jobs)} jobs of {tasks} tasks, arriving over {jobs[-1]['at_s']:.0f} s")
    nodes = bare.Nodes(options.nodes, options.slots * _TASK_MB, options.slots)
    outcomes = kept.Outcomes("simulated-nodes", Outcome, options.resume)

    def scene(cluster, _):
        return play(cluster, nodes, jobs, options.timeout_s)

    wanted = [(name,) for name in options.schedulers if (name,) not in outcomes]
    for key, outcome in together.play("simulated-nodes", wanted, options, lambda key: spec(key[0], options.slots), scene, say, bare.BareCluster):
        outcomes[key] = outcome
    simulated = simulate(jobs, nodes, options.schedulers)
    method = (
        f"A real ResourceManager daemon before {options.nodes} simulated nodes of {options.slots} containers of {_TASK_MB} MB (`java/simulated`): they "
        "register, report each second and obey over YARN's own protocols, and treat a demoted container as a NodeManager with Hiatus' executor does. "
        f"Lines {options.lines} of {options.trace}, bytes times {options.scale}, as `hiatus simulate cluster` makes jobs of them, with arrivals spaced for "
        f"a load of {options.load:g}: {len(jobs)} jobs of {tasks} tasks over {jobs[-1]['at_s']:.0f} s. Simulated masters register "
        f"{_MASTER_START_MS / 1000:g} s after their start, ask each second, and have their reduces wait for the maps; tasks work for the model's times, which "
        "stand still while they are paused. HFSP is Hiatus as it is shipped but for `rm.report-port`, over which masters tell their tasks; Fair is CapacityScheduler "
        "with the ordering policy `fair`. Both may give out 100 containers a heartbeat anywhere, and masters have no limit of their own. Times are from "
        "submission to end by the ResourceManager's clock. *Lost* are containers that ended before their task was done; *CPU* is the ResourceManager's, whole "
        f"run; *others* is the share of the machine's processors that other processes took meanwhile. Runs at the same time: {options.at_once}. "
        f"Beside it ran: {options.beside or 'not told'}.")
    tables.write("simulated-nodes", "A real ResourceManager before simulated nodes, measured", method,
                 report(jobs, {name: outcomes[name,] for name in options.schedulers}, simulated))


def spec(name, slots):
    """The cluster of a scheduler: a ResourceManager alone."""
    told = {KNOB + "rm.report-port": bare.report_port()} if together.SCHEDULERS[name][0] == "hiatus" else {}
    return together.spec(name, nodes=1, node_memory=[slots * _TASK_MB], jvm_options={"resourcemanager": ["-Xmx2g"]}, properties={
        **told, "yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments": 100})


def window(options):
    """The jobs of these lines of the trace, as the simulator makes them, at the trace's times."""
    try:
        first, last = map(int, options.lines.split("-"))
    except ValueError as error:
        raise ClusterError(f"--lines {options.lines}: FIRST-LAST, such as {_LINES}, is needed") from error
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "jobs.json"
        hiatus.run("simulate", "cluster", "--workload", f"swim:{options.trace}", "--jobs", last, "--scale", float(options.scale), "--nodes", options.nodes, "--policy", "fifo",
                "--preemption", "wait", "--save", file)
        jobs = json.loads(file.read_text())["jobs"][first - 1:]
    if not jobs:
        raise ClusterError(f"--lines {options.lines}: {options.trace} has fewer")
    return jobs


def spaced(jobs, slots, load):
    """The same jobs, the first at once and the others so far apart that they offer ``slots`` containers that load on average."""
    work_s = sum(stage["tasks"] * stage["each_s"] for job in jobs for stage in job["simulated"]["stages"])
    begin, span_s = jobs[0]["at_s"], jobs[-1]["at_s"] - jobs[0]["at_s"]
    stretch = work_s / (slots * load * span_s) if span_s else 1
    return [{**job, "at_s": round((job["at_s"] - begin) * stretch, 3)} for job in jobs]


def play(cluster, nodes, jobs, timeout_s):
    """The Outcome of these jobs. Raises ClusterError if one of them does not succeed."""
    watch = Watch(cluster.dir)
    with watch:
        played = bare.play(cluster, nodes, jobs, timeout_s, _MASTER_START_MS)
    if failed := [job.name for job in played.jobs if job.state != "SUCCEEDED"]:
        raise ClusterError(f"{', '.join(failed)} did not succeed; log: {cluster.dir}/logs")
    return Outcome([job.sojourn_s for job in played.jobs], together.suspensions(cluster), played.pauses, sum(job.lost for job in played.jobs),
                   played.manager_cpu_s, watch.readings().others_during)


def simulate(jobs, nodes, names):
    """Sojourns in s in the simulator, in the workload's order, by scheduler."""
    with tempfile.TemporaryDirectory() as place:
        file, out = Path(place) / "jobs.json", Path(place) / "outcome.csv"
        file.write_text(json.dumps({"jobs": jobs}))
        ways = [_SIMULATED[name] for name in names]
        hiatus.run("simulate", "cluster", "--workload", file, "--out", out, "--nodes", nodes.count, "--node-mb", nodes.memory_mb, "--node-vcores", nodes.vcores,
                "--heartbeat-ms", nodes.heartbeat_ms, "--master-share", 1, "--master-start-ms", _MASTER_START_MS, "--task-start-ms", 0,
                "--policy", ",".join(dict.fromkeys(policy for policy, _ in ways)), "--preemption", ",".join(dict.fromkeys(how for _, how in ways)))
        with out.open() as rows:
            sojourns = {(row["policy"], row["preemption"], row["job"]): float(row["sojourn_s"]) for row in csv.DictReader(rows)}
    return {name: [sojourns[(*_SIMULATED[name], job["name"])] for job in jobs] for name in names}


def class_of(job):
    """The class of a job, by its maps."""
    maps = job["simulated"]["stages"][0]["tasks"]
    return next(name for name, most in _CLASSES.items() if maps <= most)


def report(jobs, outcomes, simulated):
    """The tables as parts of a page."""
    classes = ["all", *_CLASSES]
    counts = [len(jobs), *(sum(class_of(job) == name for job in jobs) for name in _CLASSES)]
    titles = [f"{name} ({count})" for name, count in zip(classes, counts)]
    live = {name: _means(jobs, outcome.sojourn_s) for name, outcome in outcomes.items()}
    model = {name: _means(jobs, sojourns) for name, sojourns in simulated.items()}
    parts = [tables.table("Mean sojourn by the jobs' maps, s", ["scheduler", *titles, "suspensions", "paused", "lost", "CPU, s", "others"],
                          [[name, *live[name], one.suspended, one.pauses, one.lost, one.manager_cpu_s, one.others] for name, one in outcomes.items()])]
    if _BASE in outcomes:
        parts.append(tables.table(f"The same over that of {_BASE}: on the ResourceManager, and in the simulator", ["scheduler", "where", *titles], [
            [name, where, *(_ratio(mean, base) for mean, base in zip(means[name], means[_BASE]))]
            for name in outcomes if name != _BASE for where, means in (("ResourceManager", live), ("simulator", model))]))
    parts.append(tables.table("The simulator's mean sojourn over the ResourceManager's", ["scheduler", *titles],
                              [[name, *(_ratio(mean, base) for mean, base in zip(model[name], live[name]))] for name in outcomes]))
    return parts


def _means(jobs, sojourns):
    """Of all, then by class; None where there is no job."""
    by_class = {name: [] for name in _CLASSES}
    for job, sojourn_s in zip(jobs, sojourns):
        by_class[class_of(job)].append(sojourn_s)
    return [statistics.mean(ours) if ours else None for ours in (sojourns, *by_class.values())]


def _ratio(mean, base):
    return mean / base if mean is not None and base else None
