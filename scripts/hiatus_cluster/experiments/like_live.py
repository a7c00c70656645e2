"""Jobs that are alike and arrive together, of MapReduce and of applications that report nothing, under Hiatus as it is shipped and under stock."""

import statistics
from dataclasses import dataclass

from ..applications import Applications, Wanted
from ..jobs import job, run as run_jobs
from . import kept, tables, together

_NODES, _CONTAINERS, _TASK_MB, _MASTER_MB = 4, 4, 512, 128
_JOBS, _APART_S = 3, 2
_KINDS = ("mapreduce", "applications")
_METHOD = (
    f"{_NODES} real NodeManagers for {_CONTAINERS} containers of {_TASK_MB} MB each and a master of {_MASTER_MB} MB, heartbeats of 1 s, a real "
    f"ResourceManager. {_JOBS} equal jobs arrive {_APART_S} s apart; nothing else runs. *mapreduce*: Hadoop's example `sleep` with so many maps and its "
    "one reduce. *applications* cost nothing and report nothing of their progress (unmanaged masters, containers that sleep). HFSP is Hiatus at its "
    "defaults, or with preemption `wait`; Fair and FIFO are CapacityScheduler with that ordering policy. NodeManagers look at their "
    "containers' memory once a minute. Seconds are from submission to end.")


@dataclass
class Outcome:
    """What became of the jobs, in the order of their arrival."""

    took_s: list
    suspended: int


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--kinds", nargs="+", choices=_KINDS, default=list(_KINDS), metavar="KIND", help="mapreduce, applications (default: both)")
    parser.add_argument("--tasks", type=int, default=21, metavar="N", help="of each job (default: 21)")
    parser.add_argument("--task-s", type=float, default=60, metavar="S", help="run time of a task (default: 60)")
    together.options(parser)
    kept.option(parser)


def run(options, say):
    """All combinations; prints and writes the table."""
    outcomes = kept.Outcomes("like-live", Outcome, options.resume)
    keys = [(kind, name) for kind in options.kinds for name in options.schedulers]

    def spec(key):
        return together.spec(key[1], nodes=_NODES, node_memory=[_CONTAINERS * _TASK_MB + _MASTER_MB], properties={
            "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
            "mapreduce.map.memory.mb": _TASK_MB,
            "mapreduce.reduce.memory.mb": _TASK_MB,
            "mapreduce.map.speculative": "false",
            "mapreduce.reduce.speculative": "false"})

    def scene(cluster, key):
        took_s = (_mapreduce if key[0] == "mapreduce" else _applications)(cluster, options.tasks, options.task_s)
        return Outcome(took_s, together.suspensions(cluster))

    for key, outcome in together.play("like-live", [key for key in keys if key not in outcomes], options, spec, scene, say):
        outcomes[key] = outcome
    tables.write("like-live", "Like jobs on real daemons, measured", _METHOD, report(outcomes))


def _mapreduce(cluster, tasks, task_s):
    wanted = [job(f"like-{number}", _APART_S * number, "sleep", "-m", tasks, "-mt", round(task_s * 1000)) for number in range(_JOBS)]
    return [result.sojourn_s for result in run_jobs(cluster, wanted, timeout_s=1800)]


def _applications(cluster, tasks, task_s):
    applications = Applications(cluster)
    try:
        return applications.play([Wanted(f"like-{number}", _APART_S * number, tasks, task_s, _TASK_MB) for number in range(_JOBS)], timeout_s=1800)
    finally:
        applications.close()


def report(outcomes):
    """The table as parts of a page."""
    rows = [[kind, name, *one.took_s, statistics.mean(one.took_s), one.suspended] for (kind, name), one in outcomes.items()]
    return [tables.table("Sojourn times, s", ["jobs", "scheduler", "first", "second", "third", "mean", "suspensions"], rows)]
