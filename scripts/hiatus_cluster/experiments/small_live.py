"""Small jobs beside one big job or several, on nodes with or without a remainder, under Hiatus as it is shipped and under stock."""

import statistics
from dataclasses import dataclass

from .. import containers
from ..applications import Applications, Wanted
from . import kept, tables, together

_NODES, _CONTAINERS, _TASK_MB = 8, 4, 1024
_BIG_APART_S = 2
_SMALL, _SMALL_TASKS = 8, 4
_METHOD = (
    f"{_NODES} real NodeManagers for {_CONTAINERS} containers of {_TASK_MB} MB each, heartbeats of 1 s, a real ResourceManager. *Big* work arrives "
    f"as so many jobs, {_BIG_APART_S} s apart, which share its tasks. {_SMALL} *small* jobs of {_SMALL_TASKS} tasks follow; their tasks take a tenth "
    "of a big one's time. The first comes after a third of a big task's time, the others seven twelfths of it apart. "
    "Applications cost nothing and report nothing of their progress (unmanaged masters; containers sleep in strokes, so that time in which they are "
    "suspended does not count). HFSP is Hiatus at its defaults, or with preemption `wait`; Fair is CapacityScheduler with the ordering policy `fair`. "
    "NodeManagers look at their containers' memory once a minute. "
    "Seconds are from submission to end. *In vain* are suspensions whose room nobody used. *Lost* are containers that ended without success.")


@dataclass
class Scene:
    """What arrives: ``big`` jobs that share ``tasks`` of ``task_s`` each, and small ones."""

    big: int
    tasks: int
    task_s: float
    small: int = _SMALL
    task_mb: int = _TASK_MB

    def big_jobs(self):
        """The big jobs: their tasks differ by one at most."""
        return [Wanted(f"big-{number}", _BIG_APART_S * number, (self.tasks + number) // self.big, self.task_s, self.task_mb)
                for number in range(self.big)]

    def small_jobs(self):
        """The small jobs: one that waits for a big task to end waits for another part of it each time."""
        return [Wanted(f"small-{number}", self.task_s * (1 / 3 + 7 / 12 * number), _SMALL_TASKS, self.task_s / 10, self.task_mb)
                for number in range(self.small)]


@dataclass
class Outcome:
    """What became of the jobs."""

    small_s: list
    big_s: list
    suspended: int
    in_vain: int  #: suspensions whose room nobody used
    lost: int

    #: What ``cells`` are.
    COLUMNS = ("small, mean, s", "small, most, s", "big, mean, s", "big, last, s", "suspensions", "in vain", "lost")

    def cells(self):
        """Its part of a table's row."""
        return [statistics.mean(self.small_s), max(self.small_s), statistics.mean(self.big_s), max(self.big_s), self.suspended, self.in_vain, self.lost]


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--node-memory", type=int, nargs="+", default=[4096, 4796], metavar="MB", help="of each node (default: 4096 4796)")
    parser.add_argument("--big", type=int, nargs="+", default=[1, 3], metavar="N", help="big jobs (default: 1 3)")
    parser.add_argument("--tasks", type=int, default=160, metavar="N", help="of all big jobs together (default: 160)")
    parser.add_argument("--task-s", type=float, default=60, metavar="S", help="run time of a big task (default: 60)")
    together.options(parser)
    kept.option(parser)


def run(options, say):
    """All combinations; prints and writes the table."""
    outcomes = kept.Outcomes("small-live", Outcome, options.resume)
    keys = [(memory_mb, big, name) for big in options.big for memory_mb in options.node_memory for name in options.schedulers]

    def spec(key):
        return together.spec(key[2], nodes=_NODES, node_memory=[key[0]])

    def scene(cluster, key):
        return play(cluster, Scene(key[1], options.tasks, options.task_s))

    for key, outcome in together.play("small-live", [key for key in keys if key not in outcomes], options, spec, scene, say):
        outcomes[key] = outcome
    tables.write("small-live", "Small jobs beside big ones on real daemons, measured", _METHOD, report(outcomes))


def play(cluster, scene):
    """The Outcome of a scene on a cluster that runs nothing else."""
    before, big, small = together.suspensions(cluster), scene.big_jobs(), scene.small_jobs()
    applications = Applications(cluster)
    try:
        took_s = applications.play(big + small, timeout_s=1800)
        lost = sum(event["exit"] != 0 for one in big + small for event in applications.events(one.name, "completed"))
    finally:
        applications.close()
    return Outcome(took_s[len(big):], took_s[:len(big)], together.suspensions(cluster) - before, len(containers.in_vain(containers.lives(cluster))), lost)


def report(outcomes):
    """The table as parts of a page."""
    rows = [[big, memory_mb, name, *one.cells()]
            for (memory_mb, big, name), one in sorted(outcomes.items(), key=lambda item: (item[0][1], item[0][0]))]
    columns = ["big jobs", "MB a node", "scheduler", *Outcome.COLUMNS]
    return [tables.table("Sojourn times", columns, rows)]
