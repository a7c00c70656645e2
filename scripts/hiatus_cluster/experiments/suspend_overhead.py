"""What suspending costs beside waiting and killing, as chapter 6 of the HFSP thesis measures it, on real containers.

Two jobs of one map each, a node with room for one map. The low one starts; when it has done r % of its work, the high one arrives.
Scaled as the specification says: 512 MB of memory for 4 GB, shorter tasks; memory is limited by a cgroup, swap is a file.
"""

import statistics
from dataclasses import dataclass

from .. import layout
from ..cluster import Cluster
from ..configuration import Spec
from ..errors import ClusterError
from ..jobs import TIMED_TALLY, job, run as run_jobs
from ..patience import until
from ..scaled import KNOB
from . import tables
from .cgroups import Unavailable
from .swapping import TaskMemory, swap_file

_TASK_MB, _MASTER_MB = 512, 128
_LIMIT_MB, _SWAP_MB = 512, 2048
_BOTH_MB = 256  #: the worst case: both jobs hold as much
_LOW_MB = 320  #: the footprint sweep: what the low job holds …
_HIGH_MB = (0, 80, 160, 240, 320)  #: … and the high one
_PRIMITIVES = {
    "WAIT": {"preemption": "wait"},
    "KILL": {"mode": "kill", "preemption": "kill"},
    "SUSPEND": {"preemption": "suspend"},
}
_METHOD = (
    "Real MapReduce jobs under HiatusScheduler on one NodeManager with room for one map; a fixed order (policy `fifo`, the high job has the "
    "higher priority), so that only the primitive differs. The map works in strokes of 100 ms. Sojourn is the high job's, from submission to "
    "end; makespan from the low job's submission to the later end; both contain the start of a MapReduce job. r is the share of its work "
    "that the low job has done when the high job could first start a task. Memory is random data, written at the start and checked at the end.")


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--work-s", type=float, default=20.0, metavar="S", help="work of each map (default: 20)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N",
                        help="runs of each point of the light test, 2 or more, for means and their spread (default: 3; the thesis: 20)")
    parser.add_argument("--progress", type=int, nargs="+", default=list(range(10, 100, 10)), metavar="R",
                        help="r in per cent (default: 10 20 … 90)")
    parser.add_argument("--light-only", action="store_true", help="without memory pressure")


@dataclass
class Run:
    """What became of the two jobs. Seconds, megabytes."""

    progress: float  #: share of its work that the low job had really done
    sojourn_s: float
    makespan_s: float
    low_swapped_mb: float = 0.0  #: most of the low job's memory that was in swap
    low_resident_mb: float = 0.0  #: most that it had in memory
    out_mb: float = 0.0  #: written to swap by the whole machine
    in_mb: float = 0.0  #: read from it


class Bench:
    """The cluster, the primitive in force, and runs of the two jobs."""

    def __init__(self, work_s, say):
        self._work_ms, self._say = round(work_s * 1000), say
        self.cluster = Cluster(layout.BUILD / "experiments" / "suspend-overhead")
        self._number = 0

    def __enter__(self):
        self.cluster.down()
        self._say("starting a cluster of one node")
        self.cluster.up(Spec(
            nodes=1, node_memory=[_TASK_MB + 2 * _MASTER_MB], node_vcores=[8], node_heartbeat_ms=200, scheduler="hiatus", fs="local",
            properties={
                "yarn.cluster.max-application-priority": 10,
                "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
                KNOB + "policy": "fifo",
                KNOB + "min-run-ms": 0,
                KNOB + "max-suspended-memory": 4,
                "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
                "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
                "mapreduce.map.memory.mb": _TASK_MB,
                "mapreduce.map.java.opts": f"-Xmx{_TASK_MB - 96}m -XX:+UseSerialGC",
                "mapreduce.map.speculative": "false",
            }))
        return self

    def __exit__(self, *_):
        self.cluster.down()

    def use(self, primitive):
        """Puts a primitive in force on the running cluster."""
        knobs = {"mode": "suspend", **_PRIMITIVES[primitive]}
        self.cluster.configure({KNOB + name: value for name, value in knobs.items()})
        self.cluster.run("yarn", "rmadmin", "-refreshQueues")

    def warm_up(self):
        """Runs a job alone, for the daemons' classes to be loaded; gives back its sojourn time in seconds."""
        (result,) = self._jobs([self._job("alone", 0, 0)])
        return result.sojourn_s

    def pair(self, progress, low_mb=0, high_mb=0, memory=None):
        """The low job, and the high one when it has done that share of its work."""
        # Both take as long from their submission to the start of their map: the distance of the submissions is the work done.
        at_s = progress * self._work_ms / 1000
        low, high = self._jobs([self._job("low", 0, low_mb), self._job("high", at_s, high_mb, "VERY_HIGH")])
        run = Run((high.submitted_ms - low.submitted_ms) / self._work_ms, high.sojourn_s, (max(low.finished_ms, high.finished_ms) - low.submitted_ms) / 1000)
        if memory:
            name = low.app_id.replace("application", "job")
            run.low_swapped_mb, run.low_resident_mb = memory.swapped_mb.get(name, 0.0), memory.resident_mb.get(name, 0.0)
            run.out_mb, run.in_mb = memory.traffic_mb()
        return run

    def _job(self, name, at_s, memory_mb, priority="NORMAL"):
        self._number += 1
        return job(f"{name}-{self._number}", at_s, "timed-tasks", self._work_ms,
                   conf={"mapreduce.job.priority": priority, "hiatus.workload.map.memory-mb": memory_mb})

    def _jobs(self, jobs):
        # A master that still says goodbye would have the next high job's take the room of the low one's map.
        until(lambda: self.cluster.rm.metrics()["containersAllocated"] == 0, "the jobs before have left")
        results = run_jobs(self.cluster, jobs)
        for result in results:
            self._check(result)
        return results

    def _check(self, result):
        """P-C8: a task that was stopped and went on has counted every stroke and kept its memory."""
        if result.status != "SUCCEEDED":
            raise ClusterError(f"{result.name} ended as {result.status}; logs: {self.cluster.dir}/logs")
        tally = self.cluster.history.counters(result.app_id.replace("application", "job"))[TIMED_TALLY]
        if tally.get("WRONG_CHUNKS", 0) or tally["STROKES"] != self._work_ms // 100:
            raise ClusterError(f"{result.name} lost its state: {tally}")


def run(options, say):
    """Light, worst case and footprint; prints and writes tables and claims."""
    if options.repeats < 2:
        raise ClusterError(f"--repeats {options.repeats}: the spread of runs takes 2 of them or more")
    parts = []
    with Bench(options.work_s, say) as bench:
        say(f"a job alone: {min(bench.warm_up() for _ in range(2)):.1f} s")
        light = {primitive: {percent: [] for percent in options.progress} for primitive in _PRIMITIVES}
        # In turns, so that a slow minute of the machine does not meet one primitive alone.
        for turn in range(options.repeats):
            for primitive in _PRIMITIVES:
                bench.use(primitive)
                for percent, runs in light[primitive].items():
                    runs.append(bench.pair(percent / 100))
                    say(f"light, {turn + 1} of {options.repeats}, {primitive}, r = {percent} %: {_summary(runs[-1])}")
        points = {primitive: {percent: _mean(runs) for percent, runs in of.items()} for primitive, of in light.items()}
        title = f"Light (thesis, Fig. 6.2), means of {options.repeats} runs"
        parts += [_curves(title, points, options.progress), _light_claims(points, options.progress), _spread_claim(light)]
        try:
            if options.light_only:
                raise Unavailable("only the light test was asked for")
            with swap_file(bench.cluster.dir / "swap", _SWAP_MB):
                parts += _under_pressure(bench, options, say)
        except Unavailable as error:
            say(f"no memory pressure: {error}")
            parts.append(f"## Worst case and footprint\n\nNot run: {error}\n")
    parts.append(_elsewhere())
    tables.write("suspend-overhead", "Suspending against waiting and killing, measured", _METHOD, parts)


def _under_pressure(bench, options, say):
    worst = {primitive: {} for primitive in _PRIMITIVES}
    sweep = {primitive: {} for primitive in _PRIMITIVES}
    reached = [percent for percent in options.progress if percent in (10, 50, 90)] or options.progress[:1]
    for primitive in _PRIMITIVES:
        bench.use(primitive)
        for percent in reached:
            worst[primitive][percent] = _pressed(bench, percent, _BOTH_MB, _BOTH_MB)
            say(f"worst case, {primitive}, r = {percent} %: {_summary(worst[primitive][percent])}")
        for high_mb in _HIGH_MB:
            sweep[primitive][high_mb] = _pressed(bench, 50, _LOW_MB, high_mb)
            say(f"footprint, {primitive}, {high_mb} MB: {_summary(sweep[primitive][high_mb])}")
    return [_curves(f"Worst case: {_BOTH_MB} MB each in {_LIMIT_MB} MB (thesis, Fig. 6.3)", worst, reached),
            _worst_claims(worst, reached), _footprint(sweep), _footprint_claims(sweep)]


def _pressed(bench, percent, low_mb, high_mb):
    with TaskMemory(bench.cluster, _LIMIT_MB) as memory:
        return bench.pair(percent / 100, low_mb, high_mb, memory)


# The tables -----------------------------------------------------------------------------------------------------------


def _mean(runs):
    """One run in their stead."""
    progress, sojourn_s, makespan_s = (statistics.mean(getattr(run, what) for run in runs) for what in ("progress", "sojourn_s", "makespan_s"))
    return Run(progress, sojourn_s, makespan_s)


def _summary(run):
    return f"sojourn {run.sojourn_s:.1f} s, makespan {run.makespan_s:.1f} s"


def _curves(title, points, progress):
    rows = [[f"{name} {primitive}", *(getattr(points[primitive][percent], what) for percent in progress)]
            for name, what in (("sojourn", "sojourn_s"), ("makespan", "makespan_s"), ("real r", "progress")) for primitive in points]
    return tables.table(f"{title}: seconds, by r", ["", *(f"{percent} %" for percent in progress)], rows)


def _over(points, one, other, what, at):
    return getattr(points[one][at], what) / getattr(points[other][at], what)


def _light_claims(points, progress):
    kill = {percent: _over(points, "SUSPEND", "KILL", "sojourn_s", percent) for percent in progress}
    wait = {percent: _over(points, "SUSPEND", "WAIT", "sojourn_s", percent) for percent in progress}
    makespan = {percent: _over(points, "SUSPEND", "WAIT", "makespan_s", percent) for percent in progress}
    ends = [points["KILL"][percent].makespan_s for percent in progress]
    text = tables.claim("P-C1", all(ratio <= 1.03 for ratio in kill.values())
                        and all(ratio < (1.02 if percent >= 90 else 1) for percent, ratio in wait.items()),
                        f"SUSPEND's sojourn at most {max(kill.values()):.3f} of KILL's (1.03) and {max(wait.values()):.3f} of WAIT's (1; 1.02 at 90 %)")
    worst = max(makespan.values(), key=lambda ratio: abs(ratio - 1))
    text += tables.claim("P-C2", abs(worst - 1) <= 0.03, f"SUSPEND's makespan is {worst:.3f} of WAIT's where they differ most (0.97 to 1.03)")
    if len(progress) > 2:
        shares = [percent / 100 for percent in progress]
        slope = statistics.linear_regression(shares, ends).slope
        processing = -statistics.linear_regression(shares, [points["WAIT"][percent].sojourn_s for percent in progress]).slope
        text += tables.claim("P-C3", ends == sorted(ends) and abs(slope / processing - 1) <= 0.25,
                             f"KILL's makespan {'rises at every step' if ends == sorted(ends) else 'does not rise at every step'}; "
                             f"its slope is {slope / processing:.2f} of the low job's processing time ({processing:.1f} s; 0.75 to 1.25)")
    return text + tables.claim("P-C8", True, "every task has counted all its strokes (a run in which one had not would have ended here)")


def _spread(runs):
    """How far a sojourn is from the mean of theirs, at most, as a part of that."""
    mean_s = _mean(runs).sojourn_s
    return max(abs(run.sojourn_s / mean_s - 1) for run in runs)


def _spread_claim(light):
    """Runs of the same point."""
    spread = {primitive: max(map(_spread, of.values())) for primitive, of in light.items()}
    return tables.claim("P-C10", max(spread.values()) <= 0.05, "sojourns at most "
                        + ", ".join(f"{part:.1%} ({primitive})" for primitive, part in spread.items()) + " from the mean of their point (5 %)")


def _worst_claims(points, progress):
    sojourn = max(_over(points, "SUSPEND", "KILL", "sojourn_s", percent) for percent in progress)
    makespan = max(_over(points, "SUSPEND", "WAIT", "makespan_s", percent) for percent in progress)
    return tables.claim("P-C4", sojourn <= 1.10 and makespan <= 1.10,
                        f"sojourn at most {sojourn:.3f} of KILL's, makespan at most {makespan:.3f} of WAIT's (1.10 each; the thesis: 1.03 to 1.05)")


def _footprint(points):
    rows = []
    for high_mb, run in points["SUSPEND"].items():
        rows.append([high_mb, run.low_swapped_mb, run.out_mb, run.in_mb,
                     _over(points, "SUSPEND", "KILL", "sojourn_s", high_mb), _over(points, "SUSPEND", "WAIT", "makespan_s", high_mb)])
    columns = ["high job holds, MB", "low job swapped, MB", "swap written, MB", "swap read, MB", "sojourn / KILL's", "makespan / WAIT's"]
    return tables.table(f"Footprint: the low job holds {_LOW_MB} MB, r = 50 % (thesis, Fig. 6.4)", columns, rows)


def _footprint_claims(points):
    """Knees where the thesis has them, as shares of memory: 1.5 GB and 1.3 GB of 4 GB."""
    sojourn = {high_mb: _over(points, "SUSPEND", "KILL", "sojourn_s", high_mb) - 1 for high_mb in _HIGH_MB}
    makespan = {high_mb: _over(points, "SUSPEND", "WAIT", "makespan_s", high_mb) - 1 for high_mb in _HIGH_MB}
    small = max([over for high_mb, over in sojourn.items() if high_mb < 0.375 * _LIMIT_MB]
                + [over for high_mb, over in makespan.items() if high_mb < 0.325 * _LIMIT_MB])
    largest = max(_HIGH_MB)
    text = tables.claim("P-C5", sojourn[largest] <= 0.20 and makespan[largest] <= 0.12 and small < 0.03,
                        f"at {largest} MB sojourn {sojourn[largest]:+.1%} (20 %), makespan {makespan[largest]:+.1%} (12 %); below the knees {small:+.1%} (3 %)")
    swapped = [points["SUSPEND"][high_mb].low_swapped_mb for high_mb in _HIGH_MB]
    overhead = [points["SUSPEND"][high_mb].sojourn_s for high_mb in _HIGH_MB]
    if max(swapped) > 0:
        fit = statistics.correlation(swapped, overhead) ** 2
        text += tables.claim("P-C6", fit >= 0.8, f"sojourn over megabytes swapped: R² = {fit:.2f} (0.8)")
    else:
        text += tables.claim("P-C6", False, "nothing was swapped: the limit was not felt")
    runs = points["SUSPEND"].values()
    out = max(run.low_swapped_mb / run.low_resident_mb for run in runs)
    back = max(run.in_mb - run.out_mb for run in runs)
    return text + tables.claim("P-C7", out <= 1 and back <= 1, f"of the low job at most {out:.2f} of its memory was in swap at once; "
                               f"read from swap minus written at most {back:.1f} MB")


def _elsewhere():
    return ("## Elsewhere\n\n- P-C9, the race of a suspension with the task's end, is a test of the core: "
            "`cargo test -p hiatus-core --test laws suspension`\n")
