"""Ten failovers between two ResourceManagers while containers are suspended and parked.

A job is parked at the beginning and woken at the end. Before each failover a small job takes room of a big one, whose containers are
suspended. Half of the failovers are on a cluster that fails over by itself, half on one where an administrator does it.
"""

import math
import shutil
import time
from dataclasses import dataclass

from .. import containers, failovers, jobs, layout, text
from ..cluster import Cluster
from ..configuration import Spec
from ..errors import ClusterError
from ..patience import until
from ..scaled import KNOB
from ..standing import paused, stands_still, stopped
from . import tables

_NODES, _NODE_MEMORY_MB, _TASK_MB = 2, 1536, 256
_NIGHT, _SMALL = 2, 3  #: maps
_BIG = 24  #: maps of a big job: more than the nodes hold
_MAP_S = 15
_PULSE_INTERVAL_MS = 300_000
_LINES = 800_000  #: what each parked map counts
_PATIENCE_S = 600
#: What happens in turns, by how the standby takes over.
_IN_TURNS = {"automatic": (failovers.killed, failovers.frozen), "manual": (failovers.ordered, failovers.killed)}
_WORDS = {failovers.killed: "`kill -9`", failovers.frozen: "SIGSTOP, then SIGCONT", failovers.ordered: "`yarn rmadmin`"}
_METHOD = (
    f"Two real ResourceManagers, ZooKeeper (one server, sessions of 5 s) for their state and their election, {_NODES} NodeManagers of "
    f"{_NODE_MEMORY_MB} MB, containers of {_TASK_MB} MB; real MapReduce jobs. *Parked*: {_NIGHT} maps of a word count that was parked at the "
    f"beginning; their pulses come every {_PULSE_INTERVAL_MS // 1000} s. "
    "*Suspended*: maps of big jobs that a small one takes the room of. *Without*: from the fault or order until the other is active and all "
    "nodes have registered with it, with the start of the command's JVM. *Known*: from then until the new one tells of all parked containers. "
    "Under automatic failover the active one is killed, or frozen until the other has taken over and then let go on in the belief that "
    "it is active still; under manual failover it is `yarn rmadmin -transitionToStandby` and `-transitionToActive` (Hadoop 3.4 has no "
    "`-failover` for YARN any more), or `kill -9` and `-transitionToActive`.")


@dataclass
class Failover:
    """What was seen of one."""

    standby: str
    how: str
    suspended: int  #: containers, those parked not among them
    without_s: float
    known_s: float
    parked_still: bool  #: whether what is parked stands still afterwards
    idle_standby: bool  #: whether no thread of Hiatus runs in the standby


@dataclass
class Ending:
    """What was seen when all jobs of a cluster were over."""

    tasks: int
    ran_once: bool  #: all jobs succeeded, each of their tasks in one attempt
    right: bool  #: all worked as long as they should, and the parked job counted its words
    woken_early: int  #: parked containers that a node resumed before they were woken
    standing: int  #: processes that stand still
    books_differ: int  #: lines of the logs
    still_suspended: int


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--failovers", type=int, default=10, metavar="N", help="in all (default: 10)")
    parser.add_argument("--standby", nargs="+", choices=_IN_TURNS, default=list(_IN_TURNS), metavar="HOW",
                        help="automatic, manual (default: both)")


def run(options, say):
    """All failovers; prints and writes the table."""
    seen, endings = [], {}
    for standby in options.standby:
        cluster = Cluster(layout.BUILD / "experiments" / "ha")
        cluster.down()
        shutil.rmtree(cluster.dir, ignore_errors=True)
        cluster.up(Spec(nodes=_NODES, node_memory=[_NODE_MEMORY_MB], node_vcores=[32], node_heartbeat_ms=500, scheduler="hiatus", fs="local",
                        recovery=True, standby=standby, properties={
                            "yarn.resourcemanager.opportunistic-container-allocation.enabled": "true",
                            # Else the parked maps are done by their pulses before the last failover.
                            "yarn.nodemanager.hiatus.pulse-interval-ms": _PULSE_INTERVAL_MS,
                            KNOB + "max-suspended-memory": 4,
                            KNOB + "min-run-ms": 500,
                            KNOB + "rm.books-interval-ms": 500,
                            "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
                            "mapreduce.map.speculative": "false",
                            "mapreduce.reduce.speculative": "false",
                        }))
        try:
            turns = _IN_TURNS[standby]
            count = math.ceil(options.failovers / len(options.standby))
            endings[standby] = _run(cluster, [turns[number % len(turns)] for number in range(count)], seen, say)
            say(f"{standby}: {endings[standby]}")
        finally:
            cluster.down()
    tables.write("ha", "Failovers, seen", _METHOD, report(seen, endings))


class _Jobs:
    """The jobs of one cluster."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._big = None
        self.workloads = []
        self.tasks = {}

    def park_one(self):
        """Starts the job that is parked, and gives back its id and its parked containers."""
        folder = self._cluster.dir / "text"
        text.write(folder, _NIGHT, _LINES)
        night = self._start(jobs.job("night", 0, "wordcount", folder, self._cluster.dir / "counts"), _NIGHT + 1)
        until(lambda: len(containers.lives(self._cluster)) == 1 + _NIGHT, "its master and maps run")
        (app,) = night.apps()["night"]
        self._cluster.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
        parked = {life.container for life in containers.lives(self._cluster) if not life.is_master}
        until(lambda: _stand(self._cluster, parked), "the parked maps stand still")
        return app["id"], parked

    def fill(self):
        """Waits until the cluster is full of a big job's containers; where one has ended, another begins."""
        until(lambda: self._keep_big() and self._cluster.rm.metrics()["availableMB"] < _TASK_MB, "the big job fills the cluster")

    def _keep_big(self):
        if self._big is None or not self._big.running():
            self._big = self._timed(f"big-{len(self.workloads)}", _BIG)
        return True

    def small(self):
        """Starts a small job."""
        return self._timed(f"small-{len(self.workloads)}", _SMALL)

    def _timed(self, name, maps):
        return self._start(jobs.job(name, 0, "timed-tasks", ",".join([str(_MAP_S * 1000)] * maps)), maps)

    def _start(self, job, tasks):
        self.tasks[job["name"]] = tasks
        self.workloads.append(jobs.Workload(self._cluster, [job]))
        return self.workloads[-1]


def _run(cluster, turns, seen, say):
    work = _Jobs(cluster)
    try:
        night, parked = work.park_one()
        for number, turn in enumerate(turns):
            work.fill()
            small = work.small()
            until(lambda: set(paused(cluster)) - parked, "containers of the big job are suspended")
            seen.append(one := _failover(cluster, turn, parked))
            say(f"{cluster.spec.standby} failover {number + 1} of {len(turns)}, {one.how}: {one.suspended} suspended, {len(parked)} parked, "
                f"{one.without_s:.1f} s without an active ResourceManager")
            small.wait(_PATIENCE_S)
        logs = [cluster.daemon(f"nodemanager{node}").log.read_text(errors="replace") for node in range(1, _NODES + 1)]
        woken = sum(f"Resumed {container}" in log for container in parked for log in logs)
        cluster.rm.put(f"/ws/v1/hiatus/apps/{night}/parked", False)
        for workload in work.workloads:
            workload.wait(_PATIENCE_S)
    finally:
        for workload in work.workloads:
            workload.stop()
    return _ending(cluster, work.tasks, [result for workload in work.workloads for result in workload.results()], woken)


def _failover(cluster, turn, parked):
    suspended = len(set(paused(cluster)) - parked)
    without_s = turn(cluster)
    begin = time.monotonic()
    until(lambda: parked <= {one["container"] for one in cluster.rm.get("/ws/v1/hiatus")["suspended"]}, "the new one knows what is parked")
    known_s = time.monotonic() - begin
    try:
        still = until(lambda: _stand(cluster, parked), "", 30)  # a pulse may be on
    except ClusterError:
        still = False
    return Failover(cluster.spec.standby, _WORDS[turn], suspended, without_s, known_s, still,
                    not failovers.threads(cluster, failovers.standby(cluster)))


def _stand(cluster, parked):
    return all(stands_still(cluster, container) for container in parked)


def _ending(cluster, tasks, results, woken):
    once = all(result.ran_each_once(tasks[result.name]) for result in results)
    apps = {result.name: result.app_id for result in results}
    worked = all(jobs.worked(cluster, apps[name], maps * _MAP_S * 10) for name, maps in tasks.items() if name != "night")
    counted = text.is_counted(cluster.dir / "counts", _NIGHT, _LINES)
    try:
        until(lambda: cluster.rm.get("/ws/v1/hiatus")["suspended_now"] == 0 and not stopped(cluster), "", 30)
    except ClusterError:
        pass  # what is left is told
    logs = [cluster.daemon(name).log.read_text(errors="replace") for name in cluster.managers()]
    return Ending(sum(tasks.values()), once, worked and counted, woken, len(stopped(cluster)), sum(log.count("books differ") for log in logs),
                  cluster.rm.get("/ws/v1/hiatus")["suspended_now"])


# The tables -----------------------------------------------------------------------------------------------------------


def report(seen, endings):
    """The tables and claims as parts of a page."""
    rows = [[number, one.standby, one.how, one.suspended, one.without_s, one.known_s, "yes" if one.parked_still else "NO",
             "none" if one.idle_standby else "SOME"] for number, one in enumerate(seen, 1)]
    parts = [tables.table("Failovers", ["", "standby", "how", "suspended", "without, s", "known, s", "parked still stand still",
                                        "threads of Hiatus in the standby"], rows)]
    rows = [[standby, one.tasks, "yes" if one.ran_once else "NO", "yes" if one.right else "NO", one.woken_early, one.standing, one.books_differ,
             one.still_suspended] for standby, one in endings.items()]
    parts.append(tables.table("When all jobs were over", ["standby", "tasks", "each ran once", "outputs right", "woken early",
                                                          "processes that stand still", "books differed", "still suspended"], rows))
    claims = {
        "No container is lost or run twice": all(one.ran_once and one.right for one in endings.values()),
        "What is parked stays parked, and wakes": all(one.parked_still for one in seen) and not any(one.woken_early for one in endings.values()),
        "Nothing is left suspended": not any(one.standing or one.still_suspended for one in endings.values()),
        "The books agree": not any(one.books_differ for one in endings.values()),
        "The standby does nothing": all(one.idle_standby for one in seen),
    }
    evidence = f"{len(seen)} failovers, {sum(one.suspended for one in seen)} suspended containers under them"
    return [*parts, "## Claims\n\n" + "".join(tables.claim(name, holds, evidence) for name, holds in claims.items())]
