"""Global Preemption that kills or suspends, youngest first, and both stock schedulers' preemption, on one scaled Table III.

The busy group of GP's experiments with the long job as 66th (GP, section VI), a twenty-fifth of the containers and of the maps of a job, a
twentieth of all times: 16 containers for 400 slots. Production work is guaranteed 80 %. The jobs are applications that cost nothing
(unmanaged masters, containers that sleep in strokes, so that time in which they are suspended does not count).
"""

import random
import statistics
import time
from dataclasses import dataclass, field

from .. import layout
from ..applications import Applications, work
from ..cluster import Cluster
from ..configuration import Spec
from ..scaled import KNOB
from . import kept, tables

_NODES, _NODE_MEMORY_MB, _TASK_MB = 4, 1024, 256
_SLOTS = _NODES * _NODE_MEMORY_MB // _TASK_MB
_FEWER, _FASTER = 25, 20  #: what maps are divided by, and times
_HEARTBEAT_MS = 150  #: three seconds, scaled as the tasks are
_BETWEEN_ARRIVALS_S = 30 / _FASTER
_PRODUCTION = 0.3  #: part of the jobs
_LONG_AT = 66  #: the long job's place among all, from 1
_LONG = (250, 2500)
_SPREAD = 0.2  #: task times are within this part of their mean
#: Maps of a job, and how many jobs have tasks of so many seconds on average (Table III without the long job).
_TABLE_III = {
    1: {100: 16, 160: 16, 300: 11, 600: 6},
    2: {100: 7, 160: 7, 300: 4, 600: 3},
    10: {100: 7, 160: 6, 300: 3, 600: 2},
    50: {100: 4, 160: 4, 300: 2, 600: 1},
    100: {100: 4, 160: 3, 300: 1},
    250: {30: 3, 60: 2, 100: 2},
    400: {30: 2, 60: 2, 100: 1},
    800: {12: 1, 30: 2, 60: 2},
    1500: {8: 1, 12: 1},
    3000: {20: 1},
    5000: {6: 1},
    8000: {5: 1},
}

_PREFIX = "yarn.scheduler.capacity."
_QUEUES = {
    _PREFIX + "root.queues": "production,other",
    _PREFIX + "root.production.capacity": 80,
    _PREFIX + "root.other.capacity": 20,
    **{f"{_PREFIX}root.{queue}.{key}": value for queue in ("production", "other")
       for key, value in {"maximum-capacity": 100, "ordering-policy": "fair", "user-limit-factor": 100}.items()},
    _PREFIX + "maximum-am-resource-percent": 1,
}
_HIATUS = {
    KNOB + "policy": "fair",
    KNOB + "min-run-ms": 0,
    KNOB + "min-resumed-ms": 500,
    KNOB + "max-suspended-memory": 4,
    KNOB + "gp-starvation": "on",
    KNOB + "gp-interval-ms": 20_000 // _FASTER,
    KNOB + "gp-period-ms": 180_000 // _FASTER,
    KNOB + "gp-timeout-ms": 360_000 // _FASTER,
    KNOB + "gp-long-task-ms": 500_000 // _FASTER,
}
_KILL = {KNOB + "mode": "kill", KNOB + "preemption": "kill"}
#: CapacityScheduler's monitor without its delays, which are for clusters of a thousand nodes.
_MONITOR = {
    "yarn.resourcemanager.scheduler.monitor.enable": "true",
    "yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval": 20_000 // _FASTER,
    "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill": 0,
    "yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round": 1,
    "yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor": 1,
}
_ALLOCATIONS = """<allocations>
  <queue name="production"><weight>4</weight></queue>
  <queue name="other"><weight>1</weight></queue>
  <defaultQueueSchedulingPolicy>fair</defaultQueueSchedulingPolicy>
  <defaultFairSharePreemptionTimeout>1</defaultFairSharePreemptionTimeout>
  <defaultFairSharePreemptionThreshold>1</defaultFairSharePreemptionThreshold>
</allocations>
"""
SCHEDULERS = {
    "GP kills": ("hiatus", {**_HIATUS, **_KILL, KNOB + "victims": "gp"}),
    "GP suspends": ("hiatus", {**_HIATUS, KNOB + "mode": "suspend", KNOB + "victims": "gp"}),
    "GP kills, rule off": ("hiatus", {**_HIATUS, **_KILL, KNOB + "victims": "gp", KNOB + "gp-starvation": "off"}),
    "youngest": ("hiatus", {**_HIATUS, **_KILL, KNOB + "victims": "youngest"}),
    "Hiatus as shipped": ("hiatus", {}),
    "CapacityScheduler": ("capacity", _MONITOR),
    "FairScheduler": ("fair", {
        "yarn.scheduler.fair.preemption": "true",
        "yarn.scheduler.fair.preemption.cluster-utilization-threshold": 0,
        "yarn.scheduler.fair.waitTimeBeforeKill": 0,
        # It rounds asks up to a GiB otherwise.
        "yarn.resource-types.memory-mb.increment-allocation": _TASK_MB,
    }),
}
_METHOD = (
    f"130 applications a repetition on {_NODES} real NodeManagers of {_SLOTS // _NODES} containers each, a real ResourceManager, heartbeats of "
    f"{_HEARTBEAT_MS} ms: Table III with maps divided by {_FEWER} (one at least) and times by {_FASTER}, the long job as {_LONG_AT}th, one "
    f"arrival in {_BETWEEN_ARRIVALS_S} s on average. Masters are unmanaged: all containers are tasks. Both stock schedulers preempt without "
    "waiting, as Hiatus does. *Wasted* is the time from the allocation to the end of containers that did not succeed. The 25 jobs that follow "
    "in the paper are left out. Compare within a repetition.")


@dataclass
class Drawn:
    """A job: when it comes, where to, its tasks and their mean time."""

    name: str
    at_s: float
    queue: str
    tasks: int
    task_s: float


@dataclass
class Outcome:
    """What one scheduler made of one repetition's jobs, in their order."""

    responses_s: list
    wasted_s: list
    lost: list  #: containers that did not succeed
    why: list = field(default_factory=list)  #: each of them, with its exit status and YARN's words


def draw(seed):
    """The jobs of a repetition, in the order of their arrival; the long job is called ``long``."""
    chooser = random.Random(seed)
    shapes = [(maps, mean_s) for maps, rows in _TABLE_III.items() for mean_s, jobs in rows.items() for _ in range(jobs)]
    queues = ["production"] * round((len(shapes) + 1) * _PRODUCTION)
    queues += ["other"] * (len(shapes) - len(queues))
    chooser.shuffle(shapes)
    chooser.shuffle(queues)
    named = [(f"job-{number:03}", queue, *shape) for number, (queue, shape) in enumerate(zip(queues, shapes))]
    named.insert(_LONG_AT - 1, ("long", "other", *_LONG))
    jobs, at_s = [], 0.0
    for name, queue, maps, mean_s in named:
        task_s = mean_s / _FASTER * chooser.uniform(1 - _SPREAD, 1 + _SPREAD)
        jobs.append(Drawn(name, at_s, queue, max(1, round(maps / _FEWER)), round(task_s, 1)))
        at_s += chooser.expovariate(1 / _BETWEEN_ARRIVALS_S)
    return jobs


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], metavar="N", help="repetitions, by their draws (default: 1 2 3)")
    parser.add_argument("--schedulers", nargs="+", choices=SCHEDULERS, default=list(SCHEDULERS), metavar="NAME",
                        help=f"of {', '.join(SCHEDULERS)} (default: all)")
    kept.option(parser)


def run(options, say):
    """All repetitions under all schedulers; prints and writes the tables."""
    drawn = {seed: draw(seed) for seed in options.seeds}
    outcomes = kept.Outcomes("gp-live", Outcome, options.resume)  # an hour and a half is long
    for name in options.schedulers:
        if all((seed, name) in outcomes for seed in drawn):
            continue
        scheduler, properties = SCHEDULERS[name]
        cluster = Cluster(layout.BUILD / "experiments" / "gp-live")
        cluster.down()
        allocations = layout.BUILD / "experiments" / "gp-live-allocations.xml"
        allocations.parent.mkdir(parents=True, exist_ok=True)
        allocations.write_text(_ALLOCATIONS)
        cluster.up(Spec(nodes=_NODES, node_memory=[_NODE_MEMORY_MB], node_vcores=[32], node_heartbeat_ms=_HEARTBEAT_MS, scheduler=scheduler,
                        fs="local", properties={**_QUEUES, "yarn.scheduler.fair.allocation.file": str(allocations), **properties}))
        try:
            for seed, jobs in drawn.items():
                if (seed, name) in outcomes:
                    continue
                outcomes[seed, name] = one = _run(cluster, jobs)
                say(f"{name}, seed {seed}: mean response {statistics.mean(one.responses_s):.1f} s, wasted {sum(one.wasted_s):.0f} s")
                if name == "GP suspends":  # nobody expects these
                    for loss in one.why:
                        say(loss)
        finally:
            cluster.down()
    tables.write("gp-live", "GP on real daemons, measured", _METHOD, report(options, drawn, outcomes))


def _run(cluster, jobs):
    applications = Applications(cluster)
    try:
        begin = time.monotonic()
        for job in jobs:
            time.sleep(max(0.0, begin + job.at_s - time.monotonic()))
            applications.start(job.name, job.tasks, memory_mb=_TASK_MB, command=work(job.task_s), queue=job.queue)
        for job in jobs:
            applications.wait(job.name, timeout_s=3600)
        responses, wasted, lost, why = [], [], [], []
        for job in jobs:
            begins, ends = applications.events(job.name, "submitted"), applications.events(job.name, "ended")
            responses.append((ends[0]["at_ms"] - begins[0]["at_ms"]) / 1000)
            given = {one["container"]: one["at_ms"] for one in applications.events(job.name, "allocated")}
            vain = [one for one in applications.events(job.name, "completed") if one["exit"] != 0 and one["container"] in given]
            wasted.append(sum(one["at_ms"] - given[one["container"]] for one in vain) / 1000)
            lost.append(len(vain))
            why += [f"{job.name}: {one['container']} ended with {one['exit']}: {one['why']}" for one in vain]
    finally:
        applications.close()
    return Outcome(responses, wasted, lost, why)


# The tables -----------------------------------------------------------------------------------------------------------


def report(options, drawn, outcomes):
    """The tables and claims as parts of a page."""
    def mean_response(which):
        return lambda jobs, one: statistics.mean(response for job, response in zip(jobs, one.responses_s) if which(job))

    def lost_of_long(jobs, one):
        return sum(lost for job, lost in zip(jobs, one.lost) if job.name == "long")

    measures = {
        "Mean response of production jobs, s": mean_response(lambda job: job.queue == "production"),
        "Mean response of the others, s": mean_response(lambda job: job.queue == "other"),
        "Response of the long job, s": mean_response(lambda job: job.name == "long"),
        "Wasted, container-seconds": lambda _, one: sum(one.wasted_s),
        "Attempts of the long job that were killed": lost_of_long,
    }
    columns = ["scheduler", *(f"seed {seed}" for seed in drawn), "mean"]
    rows = {title: [] for title in measures}
    for title, measure in measures.items():
        for name in options.schedulers:
            values = [float(measure(drawn[seed], outcomes[seed, name])) for seed in drawn]
            rows[title].append([name, *values, statistics.mean(values)])
    parts = [tables.table(title, columns, of) for title, of in rows.items()]
    means = {title: {row[0]: row[-1] for row in of} for title, of in rows.items()}
    lost, wasted = means["Attempts of the long job that were killed"], means["Wasted, container-seconds"]
    claims = "## Claims\n\n"
    for name in ("GP kills", "GP kills, rule off"):
        if {name, "CapacityScheduler"} <= lost.keys():
            claims += tables.claim(f"Fewer attempts of the long job are killed under {name} than by CapacityScheduler's monitor",
                                   lost[name] < lost["CapacityScheduler"], f"{lost[name]:.1f}, {lost['CapacityScheduler']:.1f}")
    for name in ("GP kills", "GP kills, rule off", "GP suspends"):
        if {name, "FairScheduler"} <= lost.keys():
            pairs = [(of[name], of["FairScheduler"]) for title, of in means.items() if title != "Mean response of production jobs, s"]
            claims += tables.claim(f"All but production jobs fare no worse under {name} than under FairScheduler's preemption",
                                   all(ours <= theirs for ours, theirs in pairs), "; ".join(f"{ours:.1f}, {theirs:.1f}" for ours, theirs in pairs))
    if "GP suspends" in wasted:
        claims += tables.claim("With suspension nothing is wasted", wasted["GP suspends"] == 0, f"{wasted['GP suspends']:.1f} container-seconds")
    return [*parts, claims]
