"""Small MapReduce jobs beside several big ones, several draws, under Hiatus as it is shipped and under stock."""

import random
import statistics

from .. import containers
from ..jobs import job, run as run_jobs
from . import kept, tables, together
from .small_live import Outcome

_NODES, _TASK_MB, _MASTER_MB, _NODE_MB = 4, 512, 256, 4 * 512 + 700
_BIG_APART_S, _SPREAD = 2, 0.3
_SMALL, _SMALL_TASKS, _SMALL_TASK_S = 8, 4, 6
_METHOD = (
    f"{_NODES} real NodeManagers of {_NODE_MB} MB, tasks of {_TASK_MB} MB, masters of {_MASTER_MB} MB, heartbeats of 1 s, a real ResourceManager. "
    f"Big MapReduce jobs arrive {_BIG_APART_S} s apart; their maps take times drawn within {_SPREAD:.0%} of the mean. {_SMALL} small ones of "
    f"{_SMALL_TASKS} maps of {_SMALL_TASK_S} s arrive at times drawn while the big ones run. A draw is the same for each scheduler. "
    "Tasks work in strokes: time in which they are suspended does not count. HFSP is Hiatus at its defaults, or with preemption `wait`; Fair is "
    "CapacityScheduler with the ordering policy `fair`. NodeManagers look at their containers' memory once a minute. Seconds are from submission "
    "to end, means of the jobs of a draw. *In vain* are suspensions whose room nobody used. *Lost* are task attempts that failed or were killed.")


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--draws", type=int, default=5, metavar="N", help="how many (default: 5)")
    parser.add_argument("--big", type=int, default=3, metavar="N", help="big jobs (default: 3)")
    parser.add_argument("--tasks", type=int, default=81, metavar="N", help="of all big jobs together (default: 81)")
    parser.add_argument("--task-s", type=float, default=60, metavar="S", help="mean run time of a big task (default: 60)")
    together.options(parser)
    kept.option(parser)


def run(options, say):
    """All combinations; prints and writes the table."""
    outcomes = kept.Outcomes("mapreduce-live", Outcome, options.resume)
    keys = [(draw, name) for draw in range(options.draws) for name in options.schedulers]

    def spec(key):
        return together.spec(key[1], nodes=_NODES, node_memory=[_NODE_MB], properties={
            "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
            "mapreduce.map.memory.mb": _TASK_MB,
            "mapreduce.map.speculative": "false"})

    def scene(cluster, key):
        return _play(cluster, *_drawn(options, random.Random(key[0])))

    for key, outcome in together.play("mapreduce-live", [key for key in keys if key not in outcomes], options, spec, scene, say):
        outcomes[key] = outcome
    tables.write("mapreduce-live", "Small MapReduce jobs beside big ones, measured", _METHOD, report(outcomes))


def _drawn(options, chooser):
    """The big jobs and the small ones."""
    def maps(count, mean_s, spread):
        return ",".join(str(round(1000 * mean_s * chooser.uniform(1 - spread, 1 + spread))) for _ in range(count))

    big = [job(f"big-{number}", _BIG_APART_S * number, "timed-tasks", maps((options.tasks + number) // options.big, options.task_s, _SPREAD))
           for number in range(options.big)]
    lasts_s = options.tasks * options.task_s / (_NODES * (_NODE_MB // _TASK_MB))
    small = [job(f"small-{number}", chooser.uniform(0.1, 0.8) * lasts_s, "timed-tasks", maps(_SMALL_TASKS, _SMALL_TASK_S, 0)) for number in range(_SMALL)]
    return big, small


def _play(cluster, big, small):
    results = run_jobs(cluster, big + small, timeout_s=1800)
    took_s = [result.sojourn_s for result in results]
    lost = sum(result.attempts_in(state) for result in results for state in ("FAILED", "KILLED"))
    return Outcome(took_s[len(big):], took_s[:len(big)], together.suspensions(cluster), len(containers.in_vain(containers.lives(cluster))), lost)


def report(outcomes):
    """The table of draws, and each scheduler's means over stock's, as parts of a page."""
    rows = [[draw, name, *one.cells()] for (draw, name), one in sorted(outcomes.items())]
    ratios = [[draw, name, *(statistics.mean(getattr(one, jobs)) / statistics.mean(getattr(outcomes[draw, "Fair"], jobs)) for jobs in ("small_s", "big_s"))]
              for (draw, name), one in sorted(outcomes.items()) if name != "Fair" and (draw, "Fair") in outcomes]
    return [tables.table("Sojourn times", ["draw", "scheduler", *Outcome.COLUMNS], rows), tables.table("Over Fair's", ["draw", "scheduler", "small", "big"], ratios)]
