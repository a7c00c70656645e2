"""Small Spark queries beside a big Spark job, with and without the plugin that tells sizes, and what those were off by."""

import json
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass

from .. import spark
from ..errors import ClusterError
from ..patience import until
from ..scaled import KNOB
from . import kept, tables, together

_REPORT_PORT = 32147
_NODES, _NODE_MEMORY_MB = 2, 4480
_PATIENCE_S = 900
#: A task that takes more than so many times its stage's median counts as that.
_STOOD = 3
#: Of the work of an application.
_PARTS = (0.25, 0.5, 0.75)
_SMALL_AFTER_S = (15, 75)
#: The plugin, and one of together.SCHEDULERS.
_WITH, _WITHOUT, _FAIR = "Hiatus, told", "Hiatus, not told", "Fair"
_SCHEDULERS = {_WITH: "HFSP/suspend", _WITHOUT: "HFSP/suspend", _FAIR: "Fair"}


@dataclass
class Job:
    """A Spark application: two stages, of so many tasks of so many seconds each."""

    name: str
    executors: int
    cores: int
    executor_mb: int  #: without Spark's overhead of 384 MB
    stages: tuple

    @property
    def container_mb(self):
        """Memory of an executor's container."""
        return self.executor_mb + 384


_BIG = Job("big", 4, 2, 1408, ((180, 5), (80, 3)))
_SMALL = Job("small", 4, 1, 512, ((200, 0.2), (20, 0.5)))
_METHOD = (
    f"Real daemons, {_NODES} nodes of {_NODE_MEMORY_MB} MB. PySpark in cluster mode, static executors, all else at Spark's defaults. *Big*: {_BIG.executors} "
    f"executors of {_BIG.cores} cores and {_BIG.container_mb} MB, {_BIG.stages[0][0]} tasks of {_BIG.stages[0][1]} s and then {_BIG.stages[1][0]} of "
    f"{_BIG.stages[1][1]} s. *Small*: {_SMALL.executors} executors of one core and {_SMALL.container_mb} MB, {_SMALL.stages[0][0]} tasks of "
    f"{_SMALL.stages[0][1]} s and {_SMALL.stages[1][0]} of {_SMALL.stages[1][1]} s; two of them are submitted {' and '.join(map(str, _SMALL_AFTER_S))} s after the "
    "big one's executors have begun to work. Hiatus has no knob set but `rm.report-port`; *told* is with the plugin, *not told* without. Fair is CapacityScheduler "
    "with the ordering policy `fair`. Sojourn is from the ResourceManager's word that an application was submitted to its end. *Size* and *left* are "
    "what `/ws/v1/hiatus` says (`sizing.estimate_s`, `remaining_s`), looked at every second, over what Spark's event log says that tasks took: in seconds of a "
    f"container, where a task of over {_STOOD} times its stage's median stood still and counts as that. *Right*: every task's result counts once, or the application fails.")


@dataclass
class Outcome:
    """What became of the applications of one run."""

    small_s: list
    big_s: float
    suspended: int
    lost: int  #: executors that Spark removed before the end
    failed_tasks: int
    right: int  #: applications that succeeded
    errors: list  #: [application, part of its work done, by which rule it was sized, its size and what was left of it over what they were]


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of each scheduler (default: 1)")
    kept.option(parser)


def run(options, say):
    """All runs; prints and writes the tables."""
    python = spark.prepare(say)
    outcomes = kept.Outcomes("spark-sizes", Outcome, options.resume)
    keys = [(name, number) for number in range(options.runs) for name in _SCHEDULERS]
    options.at_once, options.apart_s = 1, 0

    def spec(key):
        told = {KNOB + "rm.report-port": _REPORT_PORT} if key[0] == _WITH else {}
        return together.spec(_SCHEDULERS[key[0]], nodes=_NODES, node_memory=[_NODE_MEMORY_MB], properties=told)

    def scene(cluster, key):
        return _play(cluster, python, key[0] == _WITH, say)

    for key, outcome in together.play("spark-sizes", [key for key in keys if key not in outcomes], options, spec, scene, say):
        outcomes[key] = outcome
    tables.write("spark-sizes", "Sizes of Spark applications, told by a plugin or guessed", _METHOD, report(outcomes))


def _play(cluster, python, told, say):
    """The Outcome of a big application and the small ones on a cluster that runs nothing else."""
    (cluster.dir / "events").mkdir(exist_ok=True)
    looks, over = [], threading.Event()
    watcher = threading.Thread(target=_watch, args=(cluster, looks, over))
    watcher.start()
    try:
        _submit(cluster, python, told, _BIG, say)
        until(lambda: _begun(cluster), "the big application works", _PATIENCE_S)
        begin = time.monotonic()
        for after_s in _SMALL_AFTER_S:
            time.sleep(max(0, begin + after_s - time.monotonic()))
            _submit(cluster, python, told, _SMALL, say)
        apps = until(lambda: _ended(cluster, 1 + len(_SMALL_AFTER_S)), "all applications end", _PATIENCE_S)
    finally:
        over.set()
        watcher.join()
    logs = {app["id"]: [json.loads(line) for line in next((cluster.dir / "events").glob(f"{app['id']}*")).open()] for app in apps}
    ends = [event for log in logs.values() for event in log if event["Event"] == "SparkListenerTaskEnd"]
    removed = [event for log in logs.values() for event in log if event["Event"] == "SparkListenerExecutorRemoved"]
    errors = [error for app in apps for error in _errors(app, _BIG if app["name"] == "big" else _SMALL, logs[app["id"]], looks)]
    return Outcome([app["elapsedTime"] / 1000 for app in apps if app["name"] == "small"], apps[0]["elapsedTime"] / 1000, together.suspensions(cluster), len(removed),
                   sum(event["Task End Reason"]["Reason"] != "Success" for event in ends), sum(app["finalStatus"] == "SUCCEEDED" for app in apps), errors)


def _submit(cluster, python, told, job, say):
    line, env = spark.command(cluster, python, "cluster", spark.STAGES, *(number for stage in job.stages for number in stage), told=told, conf={
        "spark.app.name": job.name, "spark.executor.instances": job.executors, "spark.executor.cores": job.cores,
        "spark.executor.memory": f"{job.executor_mb}m", "spark.yarn.submit.waitAppCompletion": "false",
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": (cluster.dir / "events").as_uri()})
    done = subprocess.run(line, env=env, capture_output=True, text=True)
    if done.returncode:
        raise ClusterError(f"spark-submit ended with {done.returncode}:\n{done.stderr[-3000:]}")
    say(f"{job.name} is submitted")


def _begun(cluster):
    """Whether all executors of the big application run."""
    apps = cluster.rm.apps("states=RUNNING")
    return apps and apps[0]["runningContainers"] == 1 + _BIG.executors


def _ended(cluster, count):
    apps = cluster.rm.apps("states=FINISHED,FAILED,KILLED")
    return apps if len(apps) == count else None


def _watch(cluster, looks, over):
    """Looks every second at what Hiatus knows of the applications; stock knows nothing."""
    while cluster.spec.scheduler == "hiatus" and not over.wait(1):
        try:
            looks.append((time.time(), {job["application"]: job for job in cluster.rm.get("/ws/v1/hiatus")["jobs"]}))
        except ClusterError:  # this time it was too busy
            continue


def _errors(app, job, log, looks):
    """What Hiatus took for the application's size, and for what was left of it, over what they were, when so much of its work was done."""
    tasks = [(event["Stage ID"], event["Task Info"]["Launch Time"] / 1000, event["Task Info"]["Finish Time"] / 1000)
             for event in log if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success"]
    typical = {of: statistics.median(finished - launched for stage, launched, finished in tasks if stage == of) for of, _, _ in tasks}
    # What took much longer than its like stood still meanwhile.
    times = [(launched, finished, typical[stage] if finished - launched > _STOOD * typical[stage] else finished - launched)
             for stage, launched, finished in tasks]

    def done_s(at):
        return sum(took if finished <= at else min(took, max(0, at - launched)) for launched, finished, took in times) / job.cores

    size_s = done_s(max((finished for _, _, finished in tasks), default=0))
    mb = _NODES * _NODE_MEMORY_MB / job.container_mb
    seen = [(done_s(at) / size_s, jobs[app["id"]]) for at, jobs in looks if size_s and app["id"] in jobs and jobs[app["id"]].get("sizing")]
    found = []
    for part in _PARTS:
        done, look = min(seen, key=lambda one: abs(one[0] - part), default=(0, None))
        if look:
            found.append([app["name"], part, look["sizing"]["source"], look["sizing"]["estimate_s"] * mb / size_s,
                          look["remaining_s"] * mb / (size_s * (1 - done)) if done < 1 else None])
    return found


def report(outcomes):
    """The tables and claims as parts of a page."""
    names = [name for name in _SCHEDULERS if any(key[0] == name for key in outcomes)]
    runs = {name: [one for key, one in outcomes.items() if key[0] == name] for name in names}
    small = {name: [took_s for one in runs[name] for took_s in one.small_s] for name in names}
    rows = [[name, statistics.mean(small[name]), max(small[name]), statistics.mean(one.big_s for one in runs[name]),
             f"{sum(one.suspended for one in runs[name])}, {sum(one.lost for one in runs[name])}, {sum(one.failed_tasks for one in runs[name])}"] for name in names]
    parts = [tables.table("Sojourn times", ["scheduler", "small, mean, s", "small, most, s", "big, mean, s", "suspensions, lost executors, failed tasks"], rows)]
    rows = []
    for name in (_WITH, _WITHOUT):
        for kind in ("big", "small"):
            for part in _PARTS:
                found = [error for one in runs.get(name, []) for error in one.errors if error[0] == kind and error[1] == part]
                if found:
                    rows.append([name, f"{kind}, {part:.0%}", ", ".join(sorted({error[2] for error in found})),
                                 statistics.median(error[3] for error in found), statistics.median(error[4] for error in found if error[4] is not None)])
    parts.append(tables.table("Sizes over what they were, medians", ["scheduler", "application, done", "sized by", "size, ratio", "left, ratio"], rows))
    return [*parts, "## Claims\n\n" + _claims(runs, small)]


def _claims(runs, small):
    right = sum(one.right for ones in runs.values() for one in ones)
    all_of = sum(1 + len(_SMALL_AFTER_S) for ones in runs.values() for _ in ones)
    text = tables.claim("All work is right", right == all_of, f"{right} of {all_of} applications")
    for what, place in (("A size", 3), ("What is left", 4)):
        off = [abs(error[place] - 1) for one in runs.get(_WITH, []) for error in one.errors if error[place] is not None]
        if off:
            text += tables.claim(f"{what} that is told is off by 25 % at most, as a median", statistics.median(off) <= 0.25,
                                 f"{statistics.median(off):.0%}, {max(off):.0%} at most")
    if _WITH in small and _FAIR in small:
        ratio = statistics.mean(small[_WITH]) / statistics.mean(small[_FAIR])
        text += tables.claim("Small queries take at most 0.7 of their time under Fair", ratio <= 0.7, f"{ratio:.2f}")
    return text
