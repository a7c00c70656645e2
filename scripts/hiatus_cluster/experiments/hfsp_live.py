"""HFSP that suspends, kills or waits, and CapacityScheduler, on one PigMix-like mix of real MapReduce jobs.

The thesis' TEST mix (HFSP thesis, Table 5.1 and section 5.2) scaled to eight containers for its sixty slots: its bins as 6 : 8 : 2 : 4
of twenty jobs, a sixteenth of the tasks, by a third longer, so that two cores can start them all. The tables join bins 3 and 4. Every
scheduler gets the same jobs at the same times.
"""

import math
import random
import statistics
from dataclasses import dataclass

from .. import alone, containers, layout, scaled
from ..cluster import Cluster
from ..configuration import Spec
from ..errors import ClusterError
from ..jobs import job, run as run_jobs
from . import tables

_NODES, _SLOTS, _MASTERS = 2, 4, 6  #: nodes; tasks on each, and ApplicationMasters beside them, which the thesis' Hadoop did not have
_TASK_MB, _MASTER_MB = 256, 32
_MEAN_BETWEEN_ARRIVALS_S = 12.0
_MEDIAN_MAP_MS = 12_000


@dataclass(frozen=True)
class Bin:
    """Jobs of like size: Table 5.1, and what chapter 5's simulation takes for the numbers that it does not give."""

    shown_as: int  #: bin of the tables
    jobs: int
    maps: tuple  #: least and most
    reduces: int
    reduce_ms: int


_BINS = [Bin(1, 6, (1, 1), 1, 4000), Bin(2, 8, (1, 3), 1, 6000), Bin(3, 2, (3, 9), 2, 12_000), Bin(3, 4, (9, 37), 2, 12_000)]
_SHOWN = sorted({one.shown_as for one in _BINS})
_SPREAD = {"map": 0.28, "reduce": 0.14}  #: σ of a task's time over its job's mean, log-normal (fitted to Fig. 5.8)
_JOB_SPREAD = 0.35  #: σ of a job's mean map time, log-normal
_QUANTILES = (0.25, 0.5, 0.75, 0.9, 1.0)

_TRAINING_TASKS = scaled.HFSP[scaled.KNOB + "training-tasks"]

_DEFAULT_QUEUE = "yarn.scheduler.capacity.root.default."
SCHEDULERS = {
    "HFSP/suspend": ("hiatus", {**scaled.HFSP, scaled.KNOB + "mode": "suspend"}),
    "HFSP/kill": ("hiatus", {**scaled.HFSP, scaled.KNOB + "mode": "kill", scaled.KNOB + "preemption": "kill"}),
    "HFSP/wait": ("hiatus", {**scaled.HFSP, scaled.KNOB + "preemption": "wait"}),
    "Hiatus as shipped": ("hiatus", {}),
    "Fair": ("capacity", {_DEFAULT_QUEUE + "ordering-policy": "fair"}),
    "FIFO": ("capacity", {_DEFAULT_QUEUE + "ordering-policy": "fifo"}),
}
_METHOD = (
    f"{sum(one.jobs for one in _BINS)} real MapReduce jobs a seed on {_NODES} NodeManagers of {_SLOTS} tasks; Poisson arrivals, "
    f"one in {_MEAN_BETWEEN_ARRIVALS_S:.0f} s; tasks work their times in strokes of 100 ms, so that time in which they are suspended does not "
    "count. CapacityScheduler is stock, with the ordering policy `fair` or `fifo`. *Slowdown* is sojourn over the time the job would take "
    "alone, computed from its task times and from the cost of a job and of a task that a small job run alone showed in the same run. Two "
    "cores start all those JVMs: compare within a seed, not seconds with another machine. Speculative execution is off.")


@dataclass
class Drawn:
    """A job of the mix."""

    name: str
    bin: int
    at_s: float
    maps_ms: list
    reduces_ms: list

    def submission(self):
        """As a job of a workload file."""
        times = [",".join(map(str, stage)) for stage in (self.maps_ms, self.reduces_ms)]
        return job(self.name, self.at_s, "timed-tasks", *times)

    def alone_s(self, costs):
        """Seconds it would take alone on the cluster."""
        return costs.alone_s([self.maps_ms, self.reduces_ms], _NODES * _SLOTS)


@dataclass
class Outcome:
    """What one scheduler made of one seed's jobs."""

    results: list  #: a JobResult for each job
    costs: alone.Costs
    counters: dict  #: Hiatus's counters; empty for stock
    in_vain: int  #: suspensions whose room nobody used
    errors: list  #: Hiatus's estimation errors: {"priority", "ratio"}


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], metavar="N", help="draws of the workload (default: 1 2)")
    parser.add_argument("--schedulers", nargs="+", choices=SCHEDULERS, default=list(SCHEDULERS), metavar="NAME",
                        help=f"of {', '.join(SCHEDULERS)} (default: all)")


def run(options, say):
    """All seeds under all schedulers; prints and writes the tables."""
    outcomes = {}
    for seed in options.seeds:
        drawn = draw(seed)
        for name in options.schedulers:
            outcomes[seed, name] = play(name, drawn, f"seed {seed}, {name}", say)
    tables.write("hfsp-live", "HFSP on real daemons, measured", _METHOD, report(options, outcomes))


def draw(seed):
    """The jobs of a seed, in the order of their arrival."""
    random_of = random.Random(seed)

    def times(count, mean_ms, kind):
        return [max(200, round(random_of.lognormvariate(math.log(mean_ms), _SPREAD[kind]))) for _ in range(count)]

    bins = [one for one in _BINS for _ in range(one.jobs)]
    random_of.shuffle(bins)
    jobs, at_s = [], 0.0
    for number, of in enumerate(bins):
        maps = random_of.randint(*of.maps)
        mean_ms = random_of.lognormvariate(math.log(_MEDIAN_MAP_MS), _JOB_SPREAD)
        jobs.append(Drawn(f"job-{number:02}-bin{of.shown_as}", of.shown_as, round(at_s, 2), times(maps, mean_ms, "map"),
                          times(of.reduces, of.reduce_ms, "reduce")))
        at_s += random_of.expovariate(1 / _MEAN_BETWEEN_ARRIVALS_S)
    return jobs


def play(name, drawn, label, say, afterwards=lambda cluster, results: None, properties=None):
    """The Outcome of the drawn jobs under one of SCHEDULERS, on a cluster of its own, which may have more properties; before that ends,
    ``afterwards`` may look at it."""
    scheduler, of_scheduler = SCHEDULERS[name]
    cluster = Cluster(layout.BUILD / "experiments" / "hfsp-live")
    cluster.down()
    say(f"{label}: starting")
    cluster.up(Spec(nodes=_NODES, node_memory=[_SLOTS * _TASK_MB + _MASTERS * _MASTER_MB], node_vcores=[32], node_heartbeat_ms=500,
                    scheduler=scheduler, fs="local", properties={**scaled.properties(_MASTER_MB), **of_scheduler, **(properties or {})}))
    try:
        costs = alone.measure(cluster)
        results = run_jobs(cluster, [one.submission() for one in drawn], timeout_s=1800)
        if lost := [result.name for result in results if result.status != "SUCCEEDED"]:
            raise ClusterError(f"{label}: {', '.join(lost)} did not succeed; logs: {cluster.dir}/logs")
        afterwards(cluster, results)
        told = cluster.rm.get("/ws/v1/hiatus") if scheduler == "hiatus" else {}
        say(f"{label}: mean sojourn {statistics.mean(result.sojourn_s for result in results):.1f} s")
        return Outcome(results, costs, told.get("counters", {}), len(containers.in_vain(containers.lives(cluster))), told.get("estimates", []))
    finally:
        cluster.down()


# The tables -----------------------------------------------------------------------------------------------------------


def report(options, outcomes):
    """The tables and claims as parts of a page."""
    drawn = {seed: draw(seed) for seed in options.seeds}
    parts = [_sojourns(options, outcomes, drawn), _slowdowns(options, outcomes, drawn), _prices(options, outcomes)]
    if {"Fair", "HFSP/suspend"} <= set(options.schedulers):
        parts += [_ratios(options, outcomes), _claims(options, outcomes)]
    return parts + [_errors(options, outcomes), _first_tasks(options, outcomes, drawn)]


def _of_bin(outcome, drawn, bin_number):
    return [result.sojourn_s for result, one in zip(outcome.results, drawn) if bin_number in (0, one.bin)]


def _sojourns(options, outcomes, drawn):
    rows = []
    for seed in options.seeds:
        for name in options.schedulers:
            row = [seed, name]
            for bin_number in (0, *_SHOWN):
                sample = _of_bin(outcomes[seed, name], drawn[seed], bin_number)
                row += [statistics.mean(sample), statistics.median(sample)]
            rows.append(row)
    columns = ["seed", "scheduler", "mean, all", "median, all"]
    columns += [f"{what}, bin {number}" for number in _SHOWN for what in ("mean", "median")]
    return tables.table("Sojourn times, s", columns, rows)


def _slowdowns(options, outcomes, drawn):
    rows = []
    for seed in options.seeds:
        for name in options.schedulers:
            outcome = outcomes[seed, name]
            sample = sorted(result.sojourn_s / one.alone_s(outcome.costs) for result, one in zip(outcome.results, drawn[seed]))
            rows.append([seed, name, *(sample[min(len(sample) - 1, int(q * len(sample)))] for q in _QUANTILES), statistics.mean(sample)])
    return tables.table("Slowdown", ["seed", "scheduler", *(f"q{q:g}" for q in _QUANTILES), "mean"], rows)


def _prices(options, outcomes):
    rows = []
    for seed in options.seeds:
        for name in options.schedulers:
            outcome = outcomes[seed, name]
            makespan = max(result.finished_ms for result in outcome.results) - min(result.submitted_ms for result in outcome.results)
            killed, failed = (sum(result.attempts_in(state) for result in outcome.results) for state in ("KILLED", "FAILED"))
            rows.append([seed, name, outcome.counters.get("suspended", 0), outcome.in_vain, killed, failed,
                         sum(result.wasted_s for result in outcome.results), makespan / 1000])
    columns = ["seed", "scheduler", "suspensions", "in vain", "attempts killed", "attempts failed", "wasted container-s", "makespan, s"]
    return tables.table("What it cost", columns, rows)


def _mean(outcome):
    return statistics.mean(result.sojourn_s for result in outcome.results)


def _ratio(options, outcomes, name):
    return statistics.mean(_mean(outcomes[seed, name]) / _mean(outcomes[seed, "Fair"]) for seed in options.seeds)


def _ratios(options, outcomes):
    rows = [[name, _ratio(options, outcomes, name)] for name in options.schedulers]
    return tables.table("Mean sojourn over Fair's, mean of the seeds", ["scheduler", "ratio"], rows)


def _claims(options, outcomes):
    ratio = _ratio(options, outcomes, "HFSP/suspend")
    wasted = sum(result.wasted_s for seed in options.seeds for result in outcomes[seed, "HFSP/suspend"].results)
    return "## Claims\n\n" + (
        tables.claim("H-C1, HFSP/suspend", ratio <= 0.85, f"mean sojourn {ratio:.2f} of Fair's, wanted at most 0.85; the thesis: 0.76 (TEST)")
        + tables.claim("Suspension wastes nothing", wasted == 0, f"{wasted:.1f} container-seconds of killed or failed attempts"))


def _first_tasks(options, outcomes, drawn):
    """What the sizes of map phases were learnt from: what the first tasks took, and what the others did."""
    rows = []
    for seed, name in ((seed, name) for seed in options.seeds for name in options.schedulers if name.startswith("HFSP")):
        for one, result in zip(drawn[seed], outcomes[seed, name].results):
            maps = [attempt for attempt in result.attempts if attempt["type"] == "MAP" and attempt["state"] == "SUCCEEDED"]
            maps.sort(key=lambda attempt: attempt["startTime"])
            took = [(attempt["finishTime"] - attempt["startTime"]) / 1000 for attempt in maps]
            first, others = took[:_TRAINING_TASKS], took[_TRAINING_TASKS:]
            if others:
                rows.append([seed, name, one.name, len(maps), statistics.mean(one.maps_ms) / 1000, statistics.mean(first), statistics.median(others)])
    rows.sort(key=lambda row: row[-1] / row[-2])
    columns = ["seed", "scheduler", "job", "maps", "work of all, mean", "first, mean", "others, median"]
    return tables.table(f"What the first {_TRAINING_TASKS} maps took, from which sizes are learnt, s; standing still counts, too", columns, rows)


def _errors(options, outcomes):
    """Estimation errors S/R of all phases that were sized; a map's requests have the higher number, 20, a reduce's 10."""
    told = [error for (_, name), outcome in outcomes.items() if name.startswith("HFSP") for error in outcome.errors]
    parts, rows, claims = {"map (H-C8)": 20, "reduce (H-C9)": 10}, [], ""
    for title, priority in parts.items():
        sample = sorted(error["ratio"] for error in told if error["priority"] == priority)
        if sample:
            rows.append([title, len(sample), *(sample[min(len(sample) - 1, int(q * len(sample)))] for q in (0.0, *_QUANTILES))])

            def share(holds, sample=sample):
                return sum(map(holds, sample)) / len(sample)
            if priority == 20:
                low, high = share(lambda ratio: ratio < 0.5), share(lambda ratio: ratio > 2)
                claims += tables.claim("H-C8", low < 0.05 and high < 0.04 and sample[-1] <= 4,
                                       f"{low:.1%} below 0.5 (less than 5 %), {high:.1%} above 2 (less than 4 %), largest {sample[-1]:.2f} (at most 4)")
            else:
                near = share(lambda ratio: 0.8 <= ratio <= 1.2)
                claims += tables.claim("H-C9", near >= 0.9 and sample[-1] <= 2.1,
                                       f"{near:.1%} within 0.8 to 1.2 (at least 90 %), largest {sample[-1]:.2f} (at most 2.1)")
    title = "Estimation error S/R (thesis, section 5.4)"
    return tables.table(title, ["phase", "sized", "least", *(f"q{q:g}" for q in _QUANTILES)], rows) + "\n" + claims
