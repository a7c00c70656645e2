"""Idle reduces that lend their room to maps (Predoop), on real daemons: stock, Hiatus without lending, with it by both feeders, daemons killed.

Maps sleep, so that two cores do not decide; the shuffle between them and their reduces is MapReduce's own. Word counts among the
jobs have outputs to compare.
"""

import random
import re
import statistics
import time
from dataclasses import dataclass
from datetime import datetime

from .. import containers, jobs, layout, text
from ..cluster import Cluster
from ..configuration import Spec
from ..patience import until
from ..scaled import KNOB
from . import tables

_NODES, _NODE_MEMORY_MB, _TASK_MB, _MASTER_MB = 2, 1408, 256, 128
_MAPS, _MAP_S, _SIGMA = 20, 8, 0.28  #: of a timed job; log-normal, as the HFSP thesis measured
_REDUCES, _REDUCE_S = 2, 2
_WORD_MAPS, _LINES = 3, 20_000
_BETWEEN_S = 2
_PATIENCE_S = 1500
_REPORT_PORT = 28_046

_HIATUS = {KNOB + "policy": "fifo", KNOB + "preemption": "wait", KNOB + "max-suspended-memory": 1, KNOB + "min-run-ms": 500,
           KNOB + "min-resumed-ms": 500, KNOB + "rm.books-interval-ms": 500}
_LENDS = {**_HIATUS, KNOB + "lend": "maps", KNOB + "lend-threshold": 0, KNOB + "lend-resume-part": 1}
_TOLD = {**_LENDS, KNOB + "rm.report-port": _REPORT_PORT,
         "yarn.app.mapreduce.am.preemption.policy": "io.hiatus.mapreduce.ReportingPreemptionPolicy"}
WAYS = {
    "stock FIFO": ("capacity", {}),
    "Hiatus, no lending": ("hiatus", _HIATUS),
    "lending, jobs asked": ("hiatus", {**_LENDS, KNOB + "rm.progress-interval-ms": 1000, KNOB + "rm.progress-requests-per-second": 100}),
    "lending, jobs report": ("hiatus", _TOLD),
    "lending, daemons killed": ("hiatus", _TOLD),
}
_KILLED = "lending, daemons killed"
_METHOD = (
    f"Real MapReduce jobs, one every {_BETWEEN_S} s, on {_NODES} real NodeManagers of {_NODE_MEMORY_MB} MB, tasks of {_TASK_MB} MB, masters of "
    f"{_MASTER_MB} MB. In turns two jobs of {_MAPS} maps that sleep for {_MAP_S} s on average (log-normal, σ {_SIGMA}) and {_REDUCES} reduces of "
    f"{_REDUCE_S} s, and a word count of {_WORD_MAPS} maps and {_REDUCES} reduces. It is not the specification's bin 1: a twentieth of that is more "
    "than this machine runs in an hour. Slow start and ramp-up are MapReduce's defaults, speculation is off, its ApplicationMasters do not "
    "preempt reduces after a time by themselves. Policy FIFO, nobody preempts but lending; D_p 0, D_r 100 %. *Held* is what a reduce's attempt took without the time in "
    "which its node had it suspended; *idle* the part of that from the first output that it fetched (by its own log) to the end "
    "of the job's last map (by the job history): it waits then, but for fetching, which takes milliseconds here. What is before is the start of its JVM; "
    "what of the idle time is *while its room was lent* (by the ResourceManager's log) the node let it run on, because no map had come yet. *While maps wait*: until the last map of all jobs has begun; then nobody wants the room. *Daemons killed*: `kill -9` of the ResourceManager and then of a NodeManager "
    "while something is lent. One run each.")


@dataclass
class Outcome:
    """What was seen of one way."""

    sojourns_s: list
    held_s: float
    starting_s: float  #: before they fetched anything
    idle_s: float  #: after that, before the last map's end
    lent_s: float  #: of that, while their room was lent
    wanted_part: float  #: idle part of what was held before the last map of all jobs began: later nobody wants the room
    suspended: int  #: suspensions of reduces
    lost: int  #: attempts that were killed or failed
    right: bool  #: every job succeeded and worked what it should; word counts have the right outputs
    left: int  #: suspended when all was over
    differ: int  #: lines of the log about books that differ
    taken: int  #: reports of jobs that were believed; since the ResourceManager started last
    refused: int  #: reports that were not
    kills: int  #: daemons killed while something was lent


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="jobs of a run (default: 3)")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), metavar="NAME", help=f"of {', '.join(WAYS)} (default: all)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the maps' lengths (default: 1)")
    parser.add_argument("--stretch", type=int, default=1, metavar="N",
                        help="tasks take so many times as long, so that starting and telling weigh less (default: 1)")


def run(options, say):
    """All ways; prints and writes the tables."""
    outcomes = {}
    for name in options.ways:
        scheduler, properties = WAYS[name]
        cluster = Cluster(layout.BUILD / "experiments" / "predoop-live")
        cluster.down()
        cluster.up(Spec(nodes=_NODES, node_memory=[_NODE_MEMORY_MB], node_vcores=[32], node_heartbeat_ms=300, scheduler=scheduler, fs="local",
                        recovery=True, properties={
                            "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
                            "yarn.scheduler.capacity.root.default.user-limit-factor": 100,
                            "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
                            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 300,
                            "mapreduce.task.progress-report.interval": 1000,
                            "mapreduce.job.reducer.unconditional-preempt.delay.sec": -1,
                            "mapreduce.map.speculative": "false",
                            "mapreduce.reduce.speculative": "false",
                            **properties,
                        }))
        try:
            outcomes[name] = _run(cluster, options, name == _KILLED)
            say(f"{name}: {outcomes[name]}")
        finally:
            cluster.down()
    stretched = f" Tasks took {options.stretch} times that." if options.stretch > 1 else ""
    tables.write("predoop-live", "Lending on real daemons, measured", _METHOD + stretched, report(outcomes))


def _draw(options, cluster):
    chooser = random.Random(options.seed)
    source = cluster.dir / "text"
    if not source.exists():
        text.write(source, _WORD_MAPS, _LINES)
    drawn, strokes = [], {}
    for number in range(options.jobs):
        if number % 3 == 2:
            out = cluster.dir / f"counts-{time.time_ns()}-{number}"
            drawn.append(jobs.job(f"words-{number}", number * _BETWEEN_S, "wordcount", source, out, conf={"mapreduce.job.reduces": _REDUCES}))
        else:
            maps = [round(options.stretch * _MAP_S * chooser.lognormvariate(0, _SIGMA), 1) for _ in range(_MAPS)]
            reduces = [options.stretch * _REDUCE_S] * _REDUCES
            drawn.append(jobs.job(f"timed-{number}", number * _BETWEEN_S, "timed-tasks", *(",".join(f"{one * 1000:.0f}" for one in times)
                                                                                          for times in (maps, reduces))))
            strokes[f"timed-{number}"] = sum(round(one * 10) for one in maps + reduces)
    return drawn, strokes


def _run(cluster, options, kill):
    drawn, strokes = _draw(options, cluster)
    workload = jobs.Workload(cluster, drawn)
    kills = 0
    try:
        if kill:
            for daemon in ("resourcemanager", "nodemanager1"):
                until(lambda: _lent(cluster) or not workload.running(), "something is lent", _PATIENCE_S)
                kills += bool(_lent(cluster))
                cluster.restart(daemon)
        workload.wait(_PATIENCE_S)
    finally:
        workload.stop()
    results = workload.results()
    spans = {life.container: [(begin, end) for begin, end, kind in life.spans if kind == "suspended"] for life in containers.lives(cluster)}
    lent = _loans(cluster)
    held = starting = idle = while_lent = wanted_held = wanted_idle = 0.0
    wanted_until = max(attempt["startTime"] for result in results for attempt in result.attempts if attempt["type"] == "MAP") / 1000
    suspended = 0
    for result in results:
        last_map_s = max(attempt["finishTime"] for attempt in result.attempts if attempt["type"] == "MAP") / 1000
        for reduce in (attempt for attempt in result.attempts if attempt["type"] == "REDUCE" and attempt["startTime"] > 0):
            container = reduce["assignedContainerId"]
            stood = spans.get(container, [])
            suspended += len(stood)
            begin, end = reduce["startTime"] / 1000, reduce["finishTime"] / 1000
            waits_until = max(begin, min(end, last_map_s))
            works_from = min(max(begin, _first_fetch_s(cluster, container)), waits_until)
            held += _without(stood, begin, end)
            starting += _without(stood, begin, works_from)
            idle += _without(stood, works_from, waits_until)
            wanted_held += _without(stood, begin, min(end, wanted_until))
            wanted_idle += _without(stood, works_from, min(waits_until, wanted_until))
            while_lent += sum(_without(stood, max(works_from, at), min(waits_until, to)) for at, to in lent.get(container, []))
    apps = {one.name: one.app_id for one in results}
    right = all(one.status == "SUCCEEDED" for one in results)
    right &= all(jobs.worked(cluster, apps[name], count) for name, count in strokes.items())
    folders = [cluster.dir / job["args"][1] for job in drawn if job["program"] == "wordcount"]
    right &= all(text.is_counted(folder, _WORD_MAPS, _LINES) for folder in folders)
    hiatus = cluster.spec.scheduler == "hiatus"
    reports = _reports(cluster)
    log = cluster.daemon("resourcemanager").log.read_text(errors="replace")
    return Outcome([one.sojourn_s for one in results], held, starting, idle, while_lent, wanted_idle / wanted_held if wanted_held else 0.0, suspended,
                   sum(one.attempts_in("KILLED") + one.attempts_in("FAILED") for one in results), right,
                   cluster.rm.get("/ws/v1/hiatus")["suspended_now"] if hiatus else 0, log.count("books differ"),
                   reports.get("Taken", 0), sum(reports.get(why, 0) for why in ("Malformed", "Forged", "Old", "Excess")), kills)


def _reports(cluster):
    """The metrics of what jobs report, {} where nobody listens."""
    beans = cluster.rm.get("/jmx?qry=Hadoop:service=ResourceManager,name=HiatusReportMetrics")["beans"]
    return beans[0] if beans else {}


_FETCHED = re.compile(r"^(\S+ [\d:]+),(\d{3}) .* close(?:InMemory|OnDisk)File ", re.MULTILINE)
_DECIDED = re.compile(r"^(\S+ [\d:]+),(\d{3}) .*DecisionLog: (Suspended|Resumed) (container_\S+) .*: (.*)$", re.MULTILINE)


def _seconds(time, millis):
    return datetime.strptime(time, "%Y-%m-%d %H:%M:%S").timestamp() + int(millis) / 1000


def _first_fetch_s(cluster, container):
    """When the reduce had the first map's output, by its own log; without end if it never had."""
    for log in cluster.dir.glob(f"node*/logs/*/{container}/syslog*"):
        if match := _FETCHED.search(log.read_text(errors="replace")):
            return _seconds(*match.groups())
    return float("inf")


def _loans(cluster):
    """Spans (s since the epoch) in which each container's room was lent, by the ResourceManager's log."""
    loans = {}
    for time, millis, what, container, why in _DECIDED.findall(cluster.daemon("resourcemanager").log.read_text(errors="replace")):
        if what == "Suspended" and "lends its room" in why:
            loans.setdefault(container, []).append((_seconds(time, millis), float("inf")))
        elif what == "Resumed" and container in loans:
            loans[container][-1] = (loans[container][-1][0], _seconds(time, millis))
    return loans


def _without(stood, begin, end):
    """Seconds from begin to end outside the spans."""
    return max(0.0, end - begin) - sum(max(0.0, min(end, to or end) - max(begin, at)) for at, to in stood)


def _lent(cluster):
    return [one for one in cluster.rm.get("/ws/v1/hiatus")["suspended"] if one["reason"] == "lent"]


# The tables -----------------------------------------------------------------------------------------------------------


def report(outcomes):
    """The tables and claims as parts of a page."""
    rows = [[name, statistics.mean(one.sojourns_s), one.held_s, one.starting_s, one.idle_s, one.lent_s, one.idle_s / one.held_s, one.wanted_part,
             (one.starting_s + one.idle_s) / one.held_s, one.suspended, one.lost,
             "yes" if one.right else "NO", one.left, one.differ, one.taken, one.refused, one.kills] for name, one in outcomes.items()]
    parts = [tables.table("Seen", ["", "mean turnaround, s", "held by reduces, s", "starting, s", "idle, s", "of that while its room was lent, s", "idle part",
                                   "idle part while maps wait",
                                   "idle or starting", "suspensions of reduces",
                                   "attempts lost", "outputs right", "suspended at the end", "books differed", "reports believed", "reports refused",
                                   "daemons killed while lent"], rows)]
    claims = ""
    stock, plain = outcomes.get("stock FIFO"), outcomes.get("Hiatus, no lending")
    for name, one in outcomes.items():
        if not name.startswith("lending"):
            continue
        if plain and not one.kills:
            ratio = one.idle_s / one.held_s / (plain.idle_s / plain.held_s)
            claims += tables.claim(f"P2, {name}: the idle part of what reduces hold is at most half", ratio <= 0.5, f"{ratio:.2f} of that without")
            wanted = one.wanted_part / plain.wanted_part
            claims += tables.claim(f"P2, {name}: the same of what they hold until the last map of all has begun", wanted <= 0.5, f"{wanted:.2f} of that without")
            seconds = one.idle_s / plain.idle_s
            claims += tables.claim(f"{name}: reduces hold at most half as long idle", seconds <= 0.5, f"{seconds:.2f} of the seconds without")
        for other, what in ((stock, "stock FIFO"), (plain, "Hiatus without lending")):
            if other and not one.kills:
                ratio = statistics.mean(one.sojourns_s) / statistics.mean(other.sojourns_s)
                claims += tables.claim(f"{name}: mean turnaround no longer than under {what}", ratio <= 1, f"{ratio:.2f} of it")
        claims += tables.claim(f"P9, {name}: no attempt is lost, outputs are right, nothing stays suspended",
                               one.lost == 0 and one.right and one.left == 0, f"{one.lost} lost, {one.left} suspended, books differed {one.differ} times")
    return [*parts, "## Claims\n\n" + claims]
