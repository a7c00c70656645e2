"""FLEX by number of tardy jobs and by total tardiness, HFSP, fair sharing and FIFO, on the same jobs with deadlines.

The jobs are of like size, so that an order by size knows nothing of deadlines; those are uniform from the time that a job takes alone
to what all the work takes, so that first come, first served misses some. With FLEX's own mix (section 4.1: eight of ten jobs small)
whoever serves small jobs first does as well. They are applications that cost nothing (unmanaged masters, containers that sleep in
strokes, so that time in which they are suspended does not count): what differs is when they get containers, not how fast two cores
start JVMs.
"""

import random
import statistics
from dataclasses import dataclass

from .. import layout
from ..applications import Applications, Wanted
from ..cluster import Cluster
from ..configuration import Spec
from ..scaled import KNOB
from . import tables, together

_NODES, _NODE_MEMORY_MB, _TASK_MB = 2, 1024, 256
_SLOTS = _NODES * _NODE_MEMORY_MB // _TASK_MB
_JOBS, _TASKS = 10, (8, 20)  #: least and most
_TASK_S = (1.5, 3.0)  #: mean task time of a job, least and most
_ARRIVE_WITHIN_S = 10
_HEARTBEAT_MS = 100  #: a second, scaled as the tasks are
_START_S = 2.0  #: from a submission to the first tasks' start, on an idle cluster
_TASK_COST_S = 0.5  #: of a container beyond its work

_HIATUS = {
    KNOB + "default-task-ms": 2000,
    KNOB + "training-tasks": 2,
    KNOB + "min-run-ms": 500,
    KNOB + "min-resumed-ms": 500,
    KNOB + "max-suspended-memory": 4,
    # Where tags are ignored, so is the one by which these applications say that they may be suspended.
    KNOB + "suspend-types": "*",
    # There are more jobs than containers: minima would leave the metric little to decide.
    KNOB + "flex-slack": 1,
    KNOB + "flex-sure-share": 0,
}
#: Policy and metric, and whether tags count, under one running ResourceManager; FIFO is stock CapacityScheduler, the order of whose
#: jobs is that of their arrival.
SCHEDULERS = {
    "FLEX number-tardy": {"policy": "flex", "flex-metric": "number-tardy", "hints": "honour"},
    "FLEX total-tardiness": {"policy": "flex", "flex-metric": "total-tardiness", "hints": "honour"},
    "FLEX, tags ignored": {"policy": "flex", "flex-metric": "number-tardy", "hints": "ignore"},
    "HFSP": {"policy": "hfsp", "flex-metric": "number-tardy", "hints": "honour"},
    "fair": {"policy": "fair", "flex-metric": "number-tardy", "hints": "honour"},
}
STOCK = "CapacityScheduler FIFO"
_METHOD = (
    f"{_JOBS} applications a seed on {_NODES} real NodeManagers of {_SLOTS // _NODES} containers each, a real ResourceManager, heartbeats of "
    f"{_HEARTBEAT_MS} ms. Jobs of {_TASKS[0]} to {_TASKS[1]} tasks of {_TASK_S[0]} to {_TASK_S[1]} s that sleep in strokes; all arrive within "
    f"{_ARRIVE_WITHIN_S} s; deadlines uniform from the time that a job takes alone to what all the work takes. "
    "Masters are unmanaged: all containers are tasks. FLEX has no minima (`flex-slack` 1, `flex-sure-share` 0: there are more jobs than containers). "
    "Suspension is allowed under all of Hiatus's policies, and nobody is told how long tasks take. *FLEX, tags ignored* is FLEX with `hints=ignore`, which "
    "sees no deadlines: what it does worse is what the tags are worth. Compare within a seed.")


@dataclass
class Drawn:
    """A job: when it comes, its tasks, and the seconds it has from then on."""

    name: str
    at_s: float
    tasks: int
    task_s: float
    deadline_s: float


def draw(seed):
    """The jobs of a seed, in the order of their arrival."""
    chooser = random.Random(seed)
    counts = [chooser.randint(*_TASKS) for _ in range(_JOBS)]
    times = [round(chooser.uniform(*_TASK_S), 1) for _ in counts]
    alone_s = [_START_S + -(-count // _SLOTS) * (task_s + _TASK_COST_S) for count, task_s in zip(counts, times)]
    all_s = _START_S + sum(count * (task_s + _TASK_COST_S) for count, task_s in zip(counts, times)) / _SLOTS
    at = sorted(chooser.uniform(0, _ARRIVE_WITHIN_S) for _ in counts)
    return [Drawn(f"job-{number}", at[number] - at[0], counts[number], times[number], round(chooser.uniform(alone_s[number], all_s), 1))
            for number in range(_JOBS)]


@dataclass
class Outcome:
    """What one scheduler made of one seed's jobs: seconds from submission to end, and containers suspended."""

    sojourns_s: list
    suspended: int


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], metavar="N", help="draws of the workload (default: 1 2 3 4 5)")


def run(options, say):
    """All seeds under all schedulers; prints and writes the tables."""
    drawn, outcomes = {seed: draw(seed) for seed in options.seeds}, {}
    for scheduler, names in (("hiatus", list(SCHEDULERS)), ("capacity", [STOCK])):
        cluster = Cluster(layout.BUILD / "experiments" / "flex-live")
        cluster.down()
        say(f"{scheduler}: starting")
        cluster.up(Spec(nodes=_NODES, node_memory=[_NODE_MEMORY_MB], node_vcores=[32], node_heartbeat_ms=_HEARTBEAT_MS, scheduler=scheduler, fs="local",
                        properties={"yarn.scheduler.capacity.maximum-am-resource-percent": 1, **_HIATUS}))
        try:
            for name in names:
                if scheduler == "hiatus":
                    cluster.configure({KNOB + knob: value for knob, value in SCHEDULERS[name].items()})
                    cluster.run("yarn", "rmadmin", "-refreshQueues")
                for seed, jobs in drawn.items():
                    outcomes[seed, name] = _run(cluster, jobs)
                    say(f"{name}, seed {seed}: {_tardy(outcomes[seed, name], jobs)} tardy, {_tardiness(outcomes[seed, name], jobs):.1f} s")
        finally:
            cluster.down()
    tables.write("flex-live", "FLEX on real daemons, measured", _METHOD, report(drawn, outcomes))


def _run(cluster, jobs):
    before = together.suspensions(cluster)
    applications = Applications(cluster)
    try:
        sojourns_s = applications.play([Wanted(job.name, job.at_s, job.tasks, job.task_s, _TASK_MB, (f"hiatus.deadline=+{job.deadline_s}",))
                                        for job in jobs])
    finally:
        applications.close()
    return Outcome(sojourns_s, together.suspensions(cluster) - before)


# The tables -----------------------------------------------------------------------------------------------------------


def _tardiness_of_each(outcome, jobs):
    return [max(0.0, sojourn - job.deadline_s) for sojourn, job in zip(outcome.sojourns_s, jobs)]


def _tardy(outcome, jobs):
    return sum(tardiness > 0 for tardiness in _tardiness_of_each(outcome, jobs))


def _tardiness(outcome, jobs):
    return sum(_tardiness_of_each(outcome, jobs))


def report(drawn, outcomes):
    """The tables and claims as parts of a page."""
    names = [*SCHEDULERS, STOCK]

    def rows(number):
        measured = {name: [number(outcomes[seed, name], drawn[seed]) for seed in drawn] for name in names}
        return [[name, *values, statistics.mean(values)] for name, values in measured.items()]

    columns = ["scheduler", *(f"seed {seed}" for seed in drawn), "mean"]
    tardy, tardiness = rows(_tardy), rows(_tardiness)
    mean_of = {"FLEX number-tardy": tardy, "FLEX total-tardiness": tardiness}
    claims = "## Claims\n\n"
    for name, table in mean_of.items():
        means = {row[0]: row[-1] for row in table}
        others = {other: means[other] for other in ("HFSP", "fair", STOCK)}
        claims += tables.claim(f"{name} has the least of it", means[name] <= min(others.values()),
                               f"mean {means[name]:.2f}; " + ", ".join(f"{other} {mean:.2f}" for other, mean in others.items()))
    means = {row[0]: row[-1] for row in tardy}
    claims += tables.claim("A job's own tag is seen", means["FLEX number-tardy"] < means["FLEX, tags ignored"],
                           f"{means['FLEX number-tardy']:.2f} tardy jobs with tags, {means['FLEX, tags ignored']:.2f} without")
    return [tables.table("Tardy jobs", columns, tardy), tables.table("Total tardiness, s", columns, tardiness),
            tables.table("Mean sojourn, s", columns, rows(lambda outcome, _: statistics.mean(outcome.sojourns_s))),
            tables.table("Containers suspended", columns, rows(lambda outcome, _: outcome.suspended)), claims]
