"""From which length of suspension on MapReduce's speculation loses attempts, under stock's estimator and under ours.

A job of ten equal maps on six places. When the first six are done and the last four are at work, an application that says that it is
small takes all places for a time and so suspends those four. Speculation is on, as MapReduce has it by default.
"""

import time
from dataclasses import dataclass

from .. import containers, layout
from ..applications import Applications, work
from ..cluster import Cluster
from ..configuration import Spec
from ..errors import ClusterError
from ..jobs import Workload, job
from . import tables

_SLOTS, _TASK_MB, _MASTER_MB = 6, 256, 128
_MAPS, _MAP_S = 10, 15
_HELD = _MAPS - _SLOTS  #: maps of the second wave
_QUICK, _QUICK_S, _SLOW_S = 4, 8, 45  #: maps that one slow one is compared with
_HEAD_START_S = 7
#: With the default, 6 s, stock takes every map for stuck whose JVM needs more than 3 s to start: it looks 9 s after the launch.
_REPORT_MS = 3_000
_PATIENCE_S = 600
ESTIMATORS = {
    "stock": "org.apache.hadoop.mapreduce.v2.app.speculate.LegacyTaskRuntimeEstimator",
    "BatchMR": "io.hiatus.mapreduce.BatchMRTaskRuntimeEstimator",
    "LATE": "io.hiatus.mapreduce.LateTaskRuntimeEstimator",
}
_METHOD = (
    f"Real MapReduce jobs under HiatusScheduler on one NodeManager with room for {_SLOTS} tasks. A job has {_MAPS} maps of {_MAP_S} s; "
    f"{_HEAD_START_S} s after the last {_HELD} have been launched, when the first {_SLOTS} are done, an application of {_SLOTS} containers that "
    f"says that it is small takes all places for the given time (0: there is none) and so suspends the {_HELD}. Speculation is MapReduce's default; "
    f"tasks report every {_REPORT_MS // 1000} s instead of 6 (else stock backs up maps whose JVM is slow to start, suspended or not), and our "
    "estimators judge maps that have worked for 15 s, instead of a minute, for these maps are short. Each backup costs an attempt: one of the two "
    "is killed. One run of each: attempts are counted, not timed.")


@dataclass
class Run:
    """What became of the first job."""

    suspended_s: float  #: for how long the maps of its second wave were suspended, in the mean
    attempts: int
    killed: int
    wasted_s: float  #: what killed attempts had run
    sojourn_s: float


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seconds", type=int, nargs="+", default=[0, 10, 30, 70], metavar="S",
                        help="how long the other application works (default: 0 10 30 70)")
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS), metavar="NAME",
                        help=f"of {', '.join(ESTIMATORS)} (default: all)")


def run(options, say):
    """All lengths under all estimators, then a slow map; prints and writes the tables."""
    cluster = Cluster(layout.BUILD / "experiments" / "speculation")
    cluster.down()
    say("starting a cluster of one node")
    cluster.up(Spec(
        nodes=1, node_memory=[_SLOTS * _TASK_MB + 2 * _MASTER_MB], node_vcores=[32], node_heartbeat_ms=200, scheduler="hiatus", fs="local",
        properties={
            "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
            "yarn.scheduler.hiatus.min-run-ms": 0,
            "yarn.scheduler.hiatus.max-suspended-memory": 4,
            "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
            "mapreduce.task.progress-report.interval": _REPORT_MS,
            "mapreduce.job.hiatus.speculation.min-run-ms": 15_000,
        }))
    try:
        runs, slow = {}, {}
        for estimator in options.estimators:
            for seconds in options.seconds:
                runs[estimator, seconds] = _suspended(cluster, estimator, seconds)
                say(f"{estimator}, {seconds} s: {runs[estimator, seconds]}")
            slow[estimator] = _slow(cluster, estimator)
            say(f"{estimator}, a slow map: {slow[estimator]}")
    finally:
        cluster.down()
    tables.write("speculation", "Speculation and suspension, measured", _METHOD, report(options, runs, slow))


def _job(name, estimator, maps_s):
    return job(name.lower(), 0, "timed-tasks", ",".join(str(seconds * 1000) for seconds in maps_s),
               conf={"yarn.app.mapreduce.am.job.task.estimator.class": ESTIMATORS[estimator]})


def _suspended(cluster, estimator, seconds):
    begun = len(containers.lives(cluster))
    workload = Workload(cluster, [_job(f"first-{estimator}-{seconds}", estimator, [_MAP_S] * _MAPS)])
    other = Applications(cluster)
    try:
        if seconds:
            _await_launched(cluster, begun + 1 + _MAPS)
            time.sleep(_HEAD_START_S)
            other.start("other", _SLOTS, memory_mb=_TASK_MB, command=work(seconds), tags=["hiatus.size=1"])
            other.wait("other", timeout_s=_PATIENCE_S)
        workload.wait(_PATIENCE_S)
    finally:
        other.close()
        workload.stop()
    return _run(cluster, workload)


def _slow(cluster, estimator):
    workload = Workload(cluster, [_job(f"slow-{estimator}", estimator, [_QUICK_S] * _QUICK + [_SLOW_S])])
    try:
        workload.wait(_PATIENCE_S)
    finally:
        workload.stop()
    return _run(cluster, workload)


def _await_launched(cluster, count):
    deadline = time.monotonic() + _PATIENCE_S
    while len(containers.lives(cluster)) < count:
        if time.monotonic() > deadline:
            raise ClusterError(f"the last maps have not been launched after {_PATIENCE_S} s; logs: {cluster.dir}/logs")
        time.sleep(0.5)


def _run(cluster, workload):
    (result,) = workload.results()
    if result.status != "SUCCEEDED":
        raise ClusterError(f"{result.name} ended as {result.status}; logs: {cluster.dir}/logs")
    spans = [end - begin for life in containers.lives(cluster) if life.application == result.app_id
             for begin, end, kind in life.spans if kind == "suspended"]
    return Run(sum(spans) / _HELD, len(result.attempts), result.attempts_in("KILLED"), result.wasted_s, result.sojourn_s)


# The tables -----------------------------------------------------------------------------------------------------------


def report(options, runs, slow):
    """The tables and claims as parts of a page."""
    rows = [[estimator, seconds, run.suspended_s, run.attempts - _MAPS, run.killed, run.wasted_s, run.sojourn_s]
            for (estimator, seconds), run in runs.items()]
    parts = [tables.table(f"{_HELD} of {_MAPS} maps suspended",
                          ["estimator", "the other works, s", "suspended, s", "backups", "attempts killed", "their time, s", "sojourn, s"], rows)]
    rows = [[estimator, run.attempts - _QUICK - 1, run.killed] for estimator, run in slow.items()]
    parts.append(tables.table(f"One map of {_SLOW_S} s beside {_QUICK} of {_QUICK_S} s", ["estimator", "backups", "attempts killed"], rows))
    for estimator in (name for name in options.estimators if name != "stock"):
        killed = sum(runs[estimator, seconds].killed for seconds in options.seconds)
        backed_up = slow[estimator].attempts > _QUICK + 1
        parts.append(tables.claim(estimator, killed == 0 and backed_up, f"{killed} attempts killed, suspended or not (0); the slow map is "
                                  f"{'backed up' if backed_up else 'not backed up'}"))
    return parts
