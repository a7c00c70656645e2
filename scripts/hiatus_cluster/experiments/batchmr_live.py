"""BatchMR on real daemons: four NodeManagers, two of them slow; placement and speculation, each alone and together, against stock.

The slow nodes are the virtual side of the mixed cluster: each gets a part of one processor, by a cgroup in which its NodeManager and all
containers are. The jobs of a round come together; the placer remembers from round to round.
"""

import shutil
import statistics
import time
from collections import Counter
from dataclasses import dataclass

from .. import configuration, distribution, jobs, layout, text
from ..cluster import Cluster
from ..configuration import Spec
from ..errors import ClusterError
from ..scaled import KNOB
from . import cgroups, kept, tables

_NODES, _TASK_MB, _MASTER_MB = 4, 256, 128
_PLACES = 2  #: tasks on a node, beside one ApplicationMaster
_SLOW = {3, 4}  #: nodes of the virtual side
_PROCESSOR = 0.3  #: of one processor, for each of them
_MAPS, _LINES, _POINTS = 6, 250_000, 40_000_000
_BETWEEN_S = 2
_SAMPLES = 2  #: first tasks of a job on each side
_DIFFERENCE = 0.4  #: θ_r, as the paper has it
_REPORT_MS, _JUDGED_AFTER_MS = 3_000, 15_000
_PATIENCE_S = 600
_POLL_S = 0.3
_KINDS = ("sort", "grep", "wordcount", "pi")

_TEXT = "org.apache.hadoop.io.Text"
#: Nobody preempts, so that where jobs run is all that differs from stock's order.
_PLACER = {
    KNOB + "policy": "fifo",
    KNOB + "preemption": "wait",
    KNOB + "batchmr-placer": "on",
    KNOB + "batchmr-samples": _SAMPLES,
    KNOB + "batchmr-difference": _DIFFERENCE,
    KNOB + "rm.physical-nodes": "attribute:machine=physical",
    KNOB + "rm.virtual-nodes": "attribute:machine=virtual",
    "yarn.nodemanager.node-attributes.provider": "config",
    **{f"node{node}:yarn.nodemanager.node-attributes.provider.configured-node-attributes":
       f"machine,STRING,{'virtual' if node in _SLOW else 'physical'}" for node in range(1, _NODES + 1)},
}
#: Scheduler, whether there is a placer, and whether BatchMR's estimator speculates; otherwise Hadoop's own does.
VARIANTS = {
    "stock": ("capacity", False, False),
    "placement": ("hiatus", True, False),
    "speculation": ("capacity", False, True),
    "both": ("hiatus", True, True),
}
_METHOD = (
    f"{len(_KINDS)} real MapReduce jobs a round, one every {_BETWEEN_S} s: Hadoop's Sort, Grep and Pi, and a WordCount, of {_MAPS} maps and one reduce "
    f"(Grep is two jobs). {_NODES} NodeManagers of {_PLACES} tasks and an ApplicationMaster each; two of them, with all that they start, get {_PROCESSOR} of a "
    "processor each, by cgroup: the virtual side. What those leave of the two processors is the other two nodes' and the daemons', so that the physical side is "
    "faster while the virtual one idles. *Stock* is CapacityScheduler with Hadoop's own speculation, the baseline of all. *Placement* is Hiatus with "
    f"the placer (θ_r {_DIFFERENCE:.0%}, {_SAMPLES} samples a side) and an empty history, policy FIFO, nobody preempted. *Speculation* is CapacityScheduler with the jar's "
    f"BatchMR estimator, which judges attempts from {_JUDGED_AFTER_MS // 1000} s of work on. Tasks report every {_REPORT_MS // 1000} s. The paper's baseline for placement is "
    "the physical machines alone; here it is stock on all four. A kind *belongs* on the physical side if its maps took longer on the virtual one by more than θ_r under "
    "stock; what kinds take is not told to anybody.")


@dataclass
class Outcome:
    """What became of one job in one round under one variant."""

    sojourn_s: float
    maps_s: list  #: [whether on a slow node, seconds] of each attempt of a map that succeeded
    backups: int
    killed: int
    wasted_s: float
    verdicts: list  #: the placer's reasons for its applications


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of each variant; the placer tries in the first (default: 3)")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="NAME",
                        help=f"of {', '.join(VARIANTS)} (default: all)")
    kept.option(parser)


def run(options, say):
    """All rounds of the variants; prints and writes the tables, with what was kept."""
    outcomes = kept.Outcomes("batchmr-live", Outcome, options.resume)
    for variant in options.variants:
        if (variant, options.rounds, _KINDS[-1]) not in outcomes:
            _play(variant, options.rounds, outcomes, say)
    tables.write("batchmr-live", "BatchMR on real daemons, measured", _METHOD, report(outcomes))


def _play(variant, rounds, outcomes, say):
    """A history begins empty and grows with the rounds: they are played together or not at all."""
    cluster = Cluster(layout.BUILD / "experiments" / "batchmr-live")
    cluster.down()
    shutil.rmtree(cluster.dir, ignore_errors=True)
    groups = []
    try:
        groups += [cgroups.of_processors(f"node{node}", _PROCESSOR) for node in _SLOW]
        cluster.up(_spec(cluster, variant))
        for node, group in zip(_SLOW, groups):
            group.add(cluster.daemon(f"nodemanager{node}").pid)
        source = cluster.dir / "text"
        text.write(source, _MAPS, _LINES)
        for number in range(1, rounds + 1):
            for kind, outcome in _round(cluster, number).items():
                outcomes[variant, number, kind] = outcome
                say(f"{variant}, round {number}, {kind}: {outcome.sojourn_s:.1f} s, {outcome.backups} backups, {' '.join(outcome.verdicts)}")
    except cgroups.Unavailable as error:
        raise ClusterError(f"no node can be made slow on this machine, and without that there is nothing to measure: {error}") from error
    finally:
        cluster.down()
        for group in groups:
            group.remove()


def _spec(cluster, variant):
    scheduler, placed, speculates = VARIANTS[variant]
    properties = {
        "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
        "yarn.app.mapreduce.am.resource.mb": _MASTER_MB,
        "mapreduce.task.progress-report.interval": _REPORT_MS,
        # The same for all: what is not loaded changes nothing.
        "mapreduce.application.classpath": f"{distribution.container_class_path(cluster.dir / 'conf')},{layout.product_jar('mapreduce')}",
    }
    if placed:
        properties |= {**_PLACER, KNOB + "rm.history-dir": cluster.dir / "history"}
    if speculates:
        properties |= {"yarn.app.mapreduce.am.job.task.estimator.class": "io.hiatus.mapreduce.BatchMRTaskRuntimeEstimator",
                       "mapreduce.job.hiatus.speculation.min-run-ms": _JUDGED_AFTER_MS}
    return Spec(nodes=_NODES, node_memory=[_PLACES * _TASK_MB + _MASTER_MB], node_vcores=[32], node_heartbeat_ms=300, scheduler=scheduler,
                fs="local", properties={key: str(value) for key, value in properties.items()})


def _submissions(cluster, number):
    """The jobs of a round."""
    source, out = cluster.dir / "text", cluster.dir / f"out-{number}"
    one_reduce = {"mapreduce.job.reduces": 1}
    programs = {
        "sort": ("sort", "-r", 1, "-inFormat", "org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat",
                 "-outFormat", "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat", "-outKey", _TEXT, "-outValue", _TEXT, source, out / "sort"),
        "grep": ("grep", source, out / "grep", "t[a-z]+"),
        "wordcount": ("wordcount", source, out / "wordcount"),
        "pi": ("pi", _MAPS, _POINTS),
    }
    return [jobs.job(f"{kind}-{number}", at * _BETWEEN_S, *programs[kind], conf=one_reduce) for at, kind in enumerate(_KINDS)]


def _round(cluster, number):
    workload = jobs.Workload(cluster, _submissions(cluster, number))
    verdicts, deadline = {}, time.monotonic() + _PATIENCE_S
    try:
        while workload.running() and time.monotonic() < deadline:
            verdicts |= _verdicts(cluster)
            time.sleep(_POLL_S)
        workload.wait(_POLL_S)
    finally:
        workload.stop()
    results = workload.results()
    if lost := [one.name for one in results if one.status != "SUCCEEDED"]:
        raise ClusterError(f"{', '.join(lost)} did not succeed; logs: {cluster.dir}/logs")
    if not text.is_counted(cluster.dir / f"out-{number}" / "wordcount", _MAPS, _LINES):
        raise ClusterError(f"the word count of round {number} is wrong: {cluster.dir}/out-{number}/wordcount")
    return {kind: _outcome(one, verdicts) for kind, one in zip(_KINDS, results)}


def _verdicts(cluster):
    """What the placer says of the applications that are there, by id; they are told of as long as they run."""
    if cluster.spec.scheduler != "hiatus":
        return {}
    told = cluster.rm.get("/ws/v1/hiatus")["jobs"]
    return {job["application"]: job["site"]["reason"] for job in told if job["site"]["reason"]}


def _outcome(result, verdicts):
    slow_hosts = {configuration.node_host(node) for node in _SLOW}
    tasks = {attempt["id"].rsplit("_", 1)[0] for attempt in result.attempts}
    maps = [[attempt["nodeHttpAddress"].split(":")[0] in slow_hosts, attempt["elapsedTime"] / 1000] for attempt in result.attempts
            if attempt["type"] == "MAP" and attempt["state"] == "SUCCEEDED"]
    reasons = [verdicts[app] for app in (*result.earlier_apps, result.app_id) if app in verdicts]
    return Outcome(result.sojourn_s, maps, len(result.attempts) - len(tasks), result.attempts_in("KILLED"), result.wasted_s, reasons)


# The tables -----------------------------------------------------------------------------------------------------------


def report(outcomes):
    """The tables and claims as parts of a page."""
    variants = [name for name in VARIANTS if any(key[0] == name for key in outcomes)]

    def of(variant, kind=None, learnt=False):
        return [one for (name, number, of_kind), one in outcomes.items()
                if name == variant and kind in (None, of_kind) and not (learnt and number == 1)]

    def mean_s(variant, kind=None, learnt=False):
        return _mean([one.sojourn_s for one in of(variant, kind, learnt)])

    columns = [*_KINDS, "all", "all after the first round"]
    seconds = {name: [*(mean_s(name, kind) for kind in _KINDS), mean_s(name), mean_s(name, learnt=True)] for name in variants}
    rounds = {name: len({key[1] for key in outcomes if key[0] == name}) for name in variants}
    parts = [tables.table("Mean time of a job, s", ["", "rounds", *columns], [[name, rounds[name], *of_kind] for name, of_kind in seconds.items()])]
    ratio = {}
    if "stock" in seconds:
        *of_stock, _ = seconds["stock"]  # which does not learn
        ratio = {name: [_over(mine, stock) for mine, stock in zip(of_kind, [*of_stock, of_stock[-1]])] for name, of_kind in seconds.items()}
        parts.append(tables.table("The same over stock's", ["", *columns], [[name, *of_kind] for name, of_kind in ratio.items()]))
    sides = {(name, kind): _sides(of(name, kind)) for name in variants for kind in _KINDS}
    parts.append(tables.table("A map's time by side", ["", "jobs", "maps on physical", "mean, s", "maps on virtual", "mean, s", "virtual over physical"],
                              [[*key, *_side_row(times)] for key, times in sides.items()]))
    cost = [[name, sum(one.backups for one in of(name)), sum(one.killed for one in of(name)), float(sum(one.wasted_s for one in of(name)))]
            for name in variants]
    parts.append(tables.table("What it cost", ["", "backups", "attempts killed", "wasted, container-s"], cost))
    parts.append(_verdict_table(outcomes, variants))
    return [*parts, "## Claims\n\n" + _claims(outcomes, ratio, sides)]


def _mean(values):
    """None if there are none."""
    return statistics.mean(values) if values else None


def _over(one, other):
    """The ratio, if both are there."""
    return one / other if one and other else None


def _sides(outcomes):
    """Times of maps on the physical and on the virtual side."""
    return [[seconds for one in outcomes for slow, seconds in one.maps_s if slow == side] for side in (False, True)]


def _side_row(times):
    physical, virtual = map(_mean, times)
    return [len(times[0]), physical, len(times[1]), virtual, _over(virtual, physical)]


def _verdict_table(outcomes, variants):
    rows, reasons = [], ("RULE_P", "RULE_V", "SAMPLE_P", "SAMPLE_V")
    for name in (name for name in variants if VARIANTS[name][1]):
        for number in sorted({key[1] for key in outcomes if key[0] == name}):
            counts = Counter(reason for key, one in outcomes.items() if key[:2] == (name, number) for reason in one.verdicts)
            rows.append([name, number, *(counts[reason] for reason in reasons), sum(counts.values()) - sum(counts[reason] for reason in reasons)])
    return tables.table("Verdicts of the placer", ["", "round", *reasons, "others"], rows)


def _claims(outcomes, ratio, sides):
    def told(name, inverse=False):
        values = [one and (1 / one if inverse else one) for one in ratio[name][-2:]]
        return f"{values[0]:.2f} of stock's" + (f", {values[1]:.2f} after the first round" if values[1] else "")

    claims = ""
    for name, claim in (("placement", "B5, of stock on all nodes: with the placer jobs take no longer"),
                        ("speculation", "B6, of Hadoop's alone: with BatchMR's speculation jobs take no longer")):
        if name in ratio:
            claims += tables.claim(claim, ratio[name][-2] <= 1, f"mean time of a job {told(name)}")
    if "both" in ratio:
        claims += tables.claim("B7, of stock on all nodes: with both 1.6 times as fast", 1 / ratio["both"][-2] >= 1.6, f"jobs in a time {told('both', True)}")
    slower = {kind: _side_row(sides["stock", kind])[-1] for kind in _KINDS if ("stock", kind) in sides}
    belongs = {kind: ratio > 1 + _DIFFERENCE for kind, ratio in slower.items() if ratio}
    ruled = [(reason == "RULE_P") == belongs[key[2]] for key, one in outcomes.items() if key[2] in belongs
             for reason in one.verdicts if reason.startswith("RULE")]
    if ruled:
        claims += tables.claim("B8: known jobs are placed where they belong", sum(ruled) >= 0.9 * len(ruled), f"{sum(ruled)} of {len(ruled)} (90 %)")
    return claims
