"""From which length of suspension on MapReduce's speculation loses attempts, under stock's estimator and under ours.

A job of ten equal maps on six places. When the first six are done and the last four are at work, an application of a queue to which
nearly all is guaranteed takes all places for a time and so suspends those four. Speculation is on, as MapReduce has it by default. The
demonstration's jobs and those of hfsp-live speculate at all defaults.
"""

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .. import containers, demo, layout
from ..applications import Applications, work
from ..cluster import Cluster
from ..configuration import Spec
from ..errors import ClusterError
from ..jobs import Workload, job
from ..scaled import KNOB
from . import hfsp_live, kept, tables

_SLOTS, _TASK_MB, _MASTER_MB = 6, 256, 128
_MAPS, _MAP_S = 10, 15
_HELD = _MAPS - _SLOTS  #: maps of the second wave
_QUICK, _QUICK_S, _SLOW_S = 4, 8, 45  #: maps that one slow one is compared with
_HEAD_START_S = 7
#: With the default, 6 s, stock takes every map for stuck whose JVM needs more than 3 s to start: it looks 9 s after the launch.
_REPORT_MS = 3_000
_PATIENCE_S = 600
_CAPACITY = "yarn.scheduler.capacity."
_QUEUES = {
    _CAPACITY + "root.queues": "first,other",
    _CAPACITY + "root.first.capacity": 1,
    _CAPACITY + "root.other.capacity": 99,
    **{f"{_CAPACITY}root.{queue}.{key}": 100 for queue in ("first", "other") for key in ("maximum-capacity", "user-limit-factor")},
    _CAPACITY + "maximum-am-resource-percent": 1,
}
_SECONDS = [0, 2, 5, 10, 30, 70, 130]
_SLOW = "a slow map"
_OURS = "BatchMR"
ESTIMATORS = {
    "stock": "org.apache.hadoop.mapreduce.v2.app.speculate.LegacyTaskRuntimeEstimator",
    "BatchMR": "io.hiatus.mapreduce.BatchMRTaskRuntimeEstimator",
    "LATE": "io.hiatus.mapreduce.LateTaskRuntimeEstimator",
}
_ESTIMATOR = "yarn.app.mapreduce.am.job.task.estimator.class"
_SPECULATING = {"mapreduce.map.speculative": "true", "mapreduce.reduce.speculative": "true", _ESTIMATOR: ESTIMATORS[_OURS]}
_METHOD = (
    f"Real MapReduce jobs under HiatusScheduler on one NodeManager with room for {_SLOTS} tasks. A job has {_MAPS} maps of {_MAP_S} s; "
    f"{_HEAD_START_S} s after the last {_HELD} have been launched, when the first {_SLOTS} are done, an application of {_SLOTS} containers of "
    f"another queue, to which 99 % are guaranteed, takes all places for the given time (0: there is none) and so suspends the {_HELD}. Speculation is MapReduce's default; "
    f"tasks report every {_REPORT_MS // 1000} s instead of 6 (else stock backs up maps whose JVM is slow to start, suspended or not), and our "
    "estimators judge maps that have worked for 15 s, instead of a minute, for these maps are short. Each backup costs an attempt: one of the two "
    "is killed. One run of each: attempts are counted, not timed. *Workloads*: the jobs of `scripts/demo`, and of `hfsp-live`'s first seed under "
    f"HFSP that suspends; all of speculation is at its defaults there, but for {_OURS}'s estimator.")


@dataclass
class Run:
    """What became of some jobs."""

    suspensions: int
    suspended_s: float  #: of all their containers
    longest_s: float  #: suspension
    tasks: int
    attempts: int
    killed: int
    wasted_s: float  #: what killed attempts had run
    sojourn_s: float  #: in the mean

    @property
    def backups(self):
        """Attempts beyond one for each task."""
        return self.attempts - self.tasks


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seconds", type=int, nargs="*", default=_SECONDS, metavar="S",
                        help=f"how long the other application works (default: {' '.join(map(str, _SECONDS))})")
    parser.add_argument("--estimators", nargs="*", choices=ESTIMATORS, default=list(ESTIMATORS), metavar="NAME",
                        help=f"of {', '.join(ESTIMATORS)} (default: all)")
    parser.add_argument("--workloads", nargs="*", choices=_WORKLOADS, default=list(_WORKLOADS), metavar="NAME",
                        help=f"of {', '.join(_WORKLOADS)} (default: all)")
    kept.option(parser)


def run(options, say):
    """All lengths and a slow map under all estimators, then the workloads; prints and writes the tables, with what was kept."""
    runs = kept.Outcomes("speculation", Run, options.resume)
    wanted = [(estimator, what) for estimator in options.estimators for what in [*options.seconds, _SLOW]]
    wanted += [(_OURS, workload) for workload in options.workloads]
    cluster = Cluster(layout.BUILD / "experiments" / "speculation")
    cluster.down()
    try:
        for estimator, what in (key for key in wanted if key not in runs):
            if what in _WORKLOADS:
                cluster.down()
                runs[estimator, what] = _WORKLOADS[what](say)
            else:
                if not cluster.running():
                    _up(cluster, say)
                runs[estimator, what] = _slow(cluster, estimator) if what == _SLOW else _suspended(cluster, estimator, what)
            say(f"{estimator}, {what}: {runs[estimator, what]}")
    finally:
        cluster.down()
    tables.write("speculation", "Speculation and suspension, measured", _METHOD, report(runs))


def _up(cluster, say):
    say("starting a cluster of one node")
    cluster.up(Spec(
        nodes=1, node_memory=[_SLOTS * _TASK_MB + 2 * _MASTER_MB], node_vcores=[32], node_heartbeat_ms=200, scheduler="hiatus", fs="local",
        properties={
            **_QUEUES,
            KNOB + "min-run-ms": 0,
            KNOB + "max-suspended-memory": 4,
            "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
            "mapreduce.task.progress-report.interval": _REPORT_MS,
            "mapreduce.job.hiatus.speculation.min-run-ms": 15_000,
        }))


def _job(name, estimator, maps_s):
    return job(name.lower(), 0, "timed-tasks", ",".join(str(seconds * 1000) for seconds in maps_s),
               conf={_ESTIMATOR: ESTIMATORS[estimator], "mapreduce.job.queuename": "first"})


def _suspended(cluster, estimator, seconds):
    begun = len(containers.lives(cluster))
    workload = Workload(cluster, [_job(f"first-{estimator}-{seconds}", estimator, [_MAP_S] * _MAPS)])
    other = Applications(cluster)
    try:
        if seconds:
            _await_launched(cluster, begun + 1 + _MAPS)
            time.sleep(_HEAD_START_S)
            other.start("other", _SLOTS, memory_mb=_TASK_MB, command=work(seconds), queue="other")
            other.wait("other", timeout_s=_PATIENCE_S)
        workload.wait(_PATIENCE_S)
    finally:
        other.close()
        workload.stop()
    return _run(containers.lives(cluster), workload.results(), _MAPS)


def _slow(cluster, estimator):
    workload = Workload(cluster, [_job(f"slow-{estimator}", estimator, [_QUICK_S] * _QUICK + [_SLOW_S])])
    try:
        workload.wait(_PATIENCE_S)
    finally:
        workload.stop()
    return _run(containers.lives(cluster), workload.results(), _QUICK + 1)


def _await_launched(cluster, count):
    deadline = time.monotonic() + _PATIENCE_S
    while len(containers.lives(cluster)) < count:
        if time.monotonic() > deadline:
            raise ClusterError(f"the last maps have not been launched after {_PATIENCE_S} s; logs: {cluster.dir}/logs")
        time.sleep(0.5)


def _demo(say):
    with tempfile.TemporaryDirectory() as folder:
        text = demo.Text(Path(folder))
        done = demo.run("hiatus", text, say, _SPECULATING)
        demo.check_outputs([done], text)
    return _run(done.lives, done.results)


def _hfsp_live(say):
    lives = []
    outcome = hfsp_live.play("HFSP/suspend", hfsp_live.draw(1), "seed 1", say,
                             afterwards=lambda cluster, _: lives.extend(containers.lives(cluster)), properties=_SPECULATING)
    return _run(lives, outcome.results)


#: Many jobs, at MapReduce's defaults.
_WORKLOADS = {"demo": _demo, "hfsp-live": _hfsp_live}


def _run(lives, results, tasks=None):
    """``tasks``: how many there are; by default all that had attempts."""
    if lost := [f"{one.name} ended as {one.status}" for one in results if one.status != "SUCCEEDED"]:
        raise ClusterError(f"{', '.join(lost)}; logs: {layout.BUILD}/experiments")
    apps = {app for one in results for app in (one.app_id, *one.earlier_apps)}
    spans = [end - begin for life in lives if life.application in apps for begin, end, kind in life.spans if kind == "suspended"]
    attempts = [attempt for one in results for attempt in one.attempts]
    return Run(len(spans), sum(spans), max(spans, default=0.0), tasks or len({one["id"].rsplit("_", 1)[0] for one in attempts}), len(attempts),
               sum(one.attempts_in("KILLED") for one in results), sum(one.wasted_s for one in results),
               statistics.mean(one.sojourn_s for one in results))


# The tables -----------------------------------------------------------------------------------------------------------


def report(runs):
    """The tables and claims as parts of a page."""
    lengths = {key: one for key, one in runs.items() if isinstance(key[1], int)}
    rows = [[*key, one.suspended_s / _HELD, one.backups, one.killed, one.wasted_s, one.sojourn_s] for key, one in sorted(lengths.items())]
    parts = [tables.table(f"{_HELD} of {_MAPS} maps suspended",
                          ["estimator", "the other works, s", "suspended, s", "backups", "attempts killed", "their time, s", "sojourn, s"], rows)]
    slow = {estimator: one for (estimator, what), one in runs.items() if what == _SLOW}
    parts.append(tables.table(f"One map of {_SLOW_S} s beside {_QUICK} of {_QUICK_S} s", ["estimator", "backups", "attempts killed"],
                              [[estimator, one.backups, one.killed] for estimator, one in slow.items()]))
    many = {what: one for (_, what), one in runs.items() if what in _WORKLOADS}
    parts.append(tables.table(f"Whole workloads at MapReduce's defaults, {_OURS}",
                              ["jobs of", "suspensions", "suspended in all, s", "longest, s", "tasks", "backups", "attempts killed", "their time, s"],
                              [[what, one.suspensions, one.suspended_s, one.longest_s, one.tasks, one.backups, one.killed, one.wasted_s]
                               for what, one in many.items()]))
    claims = ""
    for estimator in (name for name in slow if name != "stock"):
        killed = sum(one.killed for (name, _), one in lengths.items() if name == estimator)
        longest = max((one.longest_s for (name, _), one in lengths.items() if name == estimator), default=0.0)
        backed_up = slow[estimator].backups > 0
        claims += tables.claim(estimator, killed == 0 and backed_up,
                               f"{killed} attempts killed, suspended for up to {longest:.0f} s or not (0); the slow map is "
                               f"{'backed up' if backed_up else 'not backed up'}")
    for what, one in many.items():
        claims += tables.claim(f"{_OURS}, {what}", one.killed == 0, f"{one.killed} attempts killed (0)")
    return [*parts, "## Claims\n\n" + claims]
