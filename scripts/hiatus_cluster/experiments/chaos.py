"""Daemons and ApplicationMasters killed or frozen at random while MapReduce jobs run, are suspended and parked.

The same seed draws the same jobs, and the same faults in the same order; what they meet depends on the machine.
"""

import random
import shutil
import signal
import statistics
import subprocess
import time
from collections import Counter
from dataclasses import dataclass

from .. import daemons, distribution, jobs, layout, text
from ..cluster import Cluster
from ..configuration import Spec
from ..containers import Life
from ..errors import ClusterError
from ..patience import until
from ..scaled import KNOB
from ..standing import stopped
from . import tables

_NODES, _NODE_MEMORY_MB, _TASK_MB = 3, 1536, 256
_BETWEEN_JOBS_S, _BETWEEN_FAULTS_S = 30, 20  #: on average
_EXPIRY_S = 20  #: a node is lost when it has been silent for so long
_PATIENCE_S = 1800
_SAMPLE_S = 60
_FLAT = 0.1  #: memory is flat if it has grown by no more than this part between the first and the last third of the samples
_TEXTS, _LINES = 3, 100_000
_OVER = ("FINISHED", "FAILED", "KILLED")
#: How often each kind of job comes, and each kind of fault.
_JOBS = {"small": 4, "big": 3, "reduces": 2, "opportunistic": 2, "words": 2}
_FAULTS = {"ResourceManager killed": 2, "ResourceManager frozen": 2, "NodeManager killed": 3, "NodeManager frozen": 3,
           "ApplicationMaster killed": 3, "ApplicationMaster frozen": 2, "job parked": 5}
_METHOD = (
    f"A real ResourceManager and {_NODES} NodeManagers of {_NODE_MEMORY_MB} MB, both with recovery, containers of {_TASK_MB} MB, Hiatus at all "
    f"defaults, but that it may suspend more memory and compares its books more often. A MapReduce job every {_BETWEEN_JOBS_S} s on average: *small* 2 to 4 maps of 5 to 10 s, *big* "
    "10 to 16 of 10 to 20 s, *reduces* 4 to 8 maps and 2 reduces, *opportunistic* 6 to 10 maps half of which MapReduce asks for as opportunistic "
    f"containers, *words* a word count. A fault every {_BETWEEN_FAULTS_S} s on average, one at a time: killed is `kill -9`, a daemon is started again "
    f"at once; frozen is SIGSTOP for 3 to 15 s, of NodeManagers for 3 to 30 s, where {_EXPIRY_S} s make a node lost. A parked job is woken after 20 to "
    "60 s. Jobs may lose their ApplicationMaster as often as it takes. *Right*: every task has counted as many strokes of work as it was "
    "given and found its memory as it left it, or all words are counted. In the second half of the time the ResourceManager is frozen, but not "
    "killed, so that its memory can be watched: every minute, behind a full garbage collection.")


@dataclass
class Sample:
    """Memory of the ResourceManager, in MB."""

    at_s: float
    heap: float
    rss: float


@dataclass
class Outcome:
    """What became of a job."""

    kind: str
    status: str
    right: bool
    attempts: Counter  #: its task attempts by state


@dataclass
class Ending:
    """What was seen when all was over."""

    standing: int  #: processes that stand still
    suspended: int  #: containers
    books_differ: int  #: lines of the ResourceManager's log
    off: int  #: times that stock took over
    died: list  #: daemons that ended by themselves


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="how long jobs and faults come (default: 60)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000), metavar="N",
                        help="draws jobs and faults (default: another one every time; it is printed)")


def run(options, say):
    """One run; prints and writes the tables."""
    say(f"seed {options.seed}")
    cluster = Cluster(layout.BUILD / "experiments" / "chaos")
    cluster.down()
    shutil.rmtree(cluster.dir, ignore_errors=True)
    cluster.up(Spec(nodes=_NODES, node_memory=[_NODE_MEMORY_MB], node_vcores=[32], scheduler="hiatus", fs="local", recovery=True, properties={
        "yarn.resourcemanager.opportunistic-container-allocation.enabled": "true",
        "yarn.nm.liveness-monitor.expiry-interval-ms": _EXPIRY_S * 1000,
        "yarn.resourcemanager.am.max-attempts": 100,
        "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
        KNOB + "max-suspended-memory": 2,
        KNOB + "rm.books-interval-ms": 2000,
    }))
    try:
        seconds = options.minutes * 60
        drawn = draw(options.seed, seconds, cluster.dir)
        text.write(cluster.dir / "text", _TEXTS, _LINES)
        workload = jobs.Workload(cluster, [job for job, _ in drawn])
        try:
            chaos = _Chaos(cluster, options.seed, say)
            chaos.rage(seconds)
            say("no more faults: the jobs may end")
            workload.wait(_PATIENCE_S)
        finally:
            workload.stop()
        outcomes = _outcomes(cluster, workload.apps(), drawn)
        ending = _ending(cluster, chaos.died)
    finally:
        cluster.down()
    tables.write("chaos", f"Chaos, {options.minutes:g} minutes, seed {options.seed}", _METHOD, report(chaos, outcomes, ending))


# Jobs -----------------------------------------------------------------------------------------------------------------


def draw(seed, seconds, folder):
    """The jobs that come in so many seconds, each with its kind; those of a word count read and write below the folder."""
    chooser = random.Random(seed)
    drawn, at_s = [], 0.0
    while at_s < seconds:
        kind = chooser.choices(list(_JOBS), list(_JOBS.values()))[0]
        name = f"{kind}-{len(drawn):03}"
        drawn.append((_job(chooser, kind, name, at_s, folder), kind))
        at_s += chooser.expovariate(1 / _BETWEEN_JOBS_S)
    return drawn


def _job(chooser, kind, name, at_s, folder):
    conf = {"mapreduce.am.max-attempts": 100, "mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false"}
    if kind == "words":
        return jobs.job(name, at_s, "wordcount", folder / "text", folder / name, conf=conf)

    def times(least, most, shortest_s, longest_s):
        return ",".join(str(chooser.randint(shortest_s, longest_s) * 1000) for _ in range(chooser.randint(least, most)))

    if kind == "opportunistic":
        conf["mapreduce.job.num-opportunistic-maps-percent"] = 50
    maps = {"small": (2, 4, 5, 10), "big": (10, 16, 10, 20), "reduces": (4, 8, 5, 15), "opportunistic": (6, 10, 5, 15)}[kind]
    reduces = [times(2, 2, 5, 10)] if kind == "reduces" else []
    return jobs.job(name, at_s, "timed-tasks", times(*maps), *reduces, conf=conf)


def _outcomes(cluster, apps, drawn):
    found = []
    for job, kind in drawn:
        mine = apps.get(job["name"], [])
        if not mine:
            found.append(Outcome(kind, "never submitted", False, Counter()))
            continue
        app_id = mine[-1]["id"]
        try:
            attempts = Counter(attempt["state"] for attempt in cluster.history.attempts(app_id.replace("application", "job")))
            right = _is_right(cluster, job, app_id)
        except ClusterError:  # no history is left of a job that failed early
            attempts, right = Counter(), False
        found.append(Outcome(kind, mine[-1]["finalStatus"], right, attempts))
    return found


def _is_right(cluster, job, app_id):
    if job["program"] == "wordcount":
        return text.is_counted(cluster.dir / job["name"], _TEXTS, _LINES)
    worked_ms = sum(int(ms) for phase in job["args"] for ms in phase.split(","))
    return jobs.worked(cluster, app_id, worked_ms // 100)


# Faults ---------------------------------------------------------------------------------------------------------------


class _Chaos:
    """What happens to the cluster."""

    def __init__(self, cluster, seed, say):
        self._cluster = cluster
        self._chooser = random.Random(seed + 1)
        self._say = say
        self._wake = {}  # when, by parked application
        self.struck = Counter()  #: faults by kind; those that found nobody are not counted
        self.died = []
        self.samples = []

    def rage(self, seconds):
        """Strikes for so long; afterwards all daemons run, and nobody is parked."""
        begin = time.monotonic()
        next_fault, next_sample = 10.0, seconds / 2
        while (now := time.monotonic() - begin) < seconds:
            self._wake_some(lambda when: when <= time.monotonic())
            self._look_for_deaths()
            if now >= next_fault:
                self._strike(manager_may_die=now < seconds / 2)
                next_fault = time.monotonic() - begin + self._chooser.expovariate(1 / _BETWEEN_FAULTS_S)
            elif now >= next_sample:
                self._sample(now)
                next_sample += _SAMPLE_S
            time.sleep(0.5)
        self._wake_some(lambda when: True)
        self._look_for_deaths()

    def _strike(self, manager_may_die):
        kind = self._chooser.choices(list(_FAULTS), list(_FAULTS.values()))[0]
        whom, long_s = self._chooser.random(), self._chooser.uniform(3, 15)
        if kind == "ResourceManager killed" and not manager_may_die:
            kind = "ResourceManager frozen"
        victim, _, how = kind.partition(" ")
        if kind == "job parked":
            victim = self._park(whom, 4 * long_s)
        elif victim == "ApplicationMaster":
            victim = self._hit_master(whom, how, long_s)
        else:
            node = 1 + int(whom * _NODES)
            victim = "resourcemanager" if victim == "ResourceManager" else f"nodemanager{node}"
            self._hit_daemon(victim, how, long_s if victim == "resourcemanager" else 2 * long_s)
        if victim:
            self.struck[kind] += 1
            self._say(f"{kind}: {victim}" + (f", {long_s:.0f} s" if how == "frozen" else ""))

    def _hit_daemon(self, name, how, long_s):
        if how == "killed":
            self._cluster.restart(name)
        else:
            daemon = self._cluster.daemon(name)
            daemon.freeze()
            time.sleep(long_s)
            daemon.thaw()
            self._cluster.await_ready()  # a node that was lost comes back

    def _hit_master(self, whom, how, long_s):
        masters = _masters(self._cluster)
        if not masters:
            return None
        container = sorted(masters)[int(whom * len(masters))]
        if how == "killed":
            daemons.send(masters[container], signal.SIGKILL)
        elif daemons.send(masters[container], signal.SIGSTOP):
            time.sleep(long_s)
            daemons.send(masters[container], signal.SIGCONT)
        return container

    def _park(self, whom, long_s):
        running = sorted(app["id"] for app in self._cluster.rm.apps("states=RUNNING") if app["id"] not in self._wake)
        if not running:
            return None
        app = running[int(whom * len(running))]
        if not self._put(app, True):
            return None
        self._wake[app] = time.monotonic() + max(20, long_s)
        return app

    def _wake_some(self, due):
        for app in [app for app, when in self._wake.items() if due(when)]:
            self._put(app, False)
            del self._wake[app]

    def _put(self, app, parked):
        """False if the application is over."""
        def put():
            if self._cluster.rm.app(app)["state"] in _OVER:
                return "over"
            self._cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", parked)
            return "done"

        return until(put, f"{app} can be {'parked' if parked else 'woken'}") == "done"

    def _look_for_deaths(self):
        for name in self._cluster.names():
            if self._cluster.daemon(name).pid is None:
                self.died.append(name)
                self._say(f"{name} ended by itself:\n{self._cluster.daemon(name).tail()}")
                self._cluster.start(name)

    def _sample(self, at_s):
        pid = self._cluster.daemon("resourcemanager").pid
        done = subprocess.run([distribution.java_home() / "bin" / "jcmd", str(pid), "GC.run"], capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"jcmd {pid} GC.run ended with {done.returncode}: {done.stdout}{done.stderr}")
        (bean,) = self._cluster.rm.get("/jmx?qry=java.lang:type=Memory")["beans"]
        with open(f"/proc/{pid}/status") as status:
            (rss_kb,) = [int(line.split()[1]) for line in status if line.startswith("VmRSS:")]
        self.samples.append(Sample(at_s, bean["HeapMemoryUsage"]["used"] / 2**20, rss_kb / 1024))


def _masters(cluster):
    """{container: process} of the ApplicationMasters that run."""
    found = {}
    for pid in daemons.processes(cluster.dir):
        for entry in daemons.environment(pid):
            if entry.startswith(b"CONTAINER_ID="):
                container = entry.split(b"=", 1)[1].decode()
                if Life(container, 0).is_master and _program(pid) == "java":
                    found[container] = pid
    return found


def _program(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except OSError:
        return None


def _ending(cluster, died):
    try:
        until(lambda: cluster.rm.get("/ws/v1/hiatus")["suspended_now"] == 0 and not stopped(cluster), "", 60)
    except ClusterError:
        pass  # what is left is told
    log = cluster.daemon("resourcemanager").log.read_text(errors="replace")
    return Ending(len(stopped(cluster)), cluster.rm.get("/ws/v1/hiatus")["suspended_now"], log.count("books differ"),
                  log.count("HIATUS IS OFF"), died)


# The tables -----------------------------------------------------------------------------------------------------------


def report(chaos, outcomes, ending):
    """The tables and claims as parts of a page."""
    parts = [tables.table("Faults", ["fault", "times"], [[kind, chaos.struck[kind]] for kind in _FAULTS])]
    rows = []
    for kind in _JOBS:
        these = [one for one in outcomes if one.kind == kind]
        attempts = sum((one.attempts for one in these), Counter())
        rows.append([kind, len(these), sum(one.status == "SUCCEEDED" for one in these), sum(one.right for one in these),
                     attempts["SUCCEEDED"], attempts["KILLED"], attempts["FAILED"]])
    parts.append(tables.table("Jobs", ["kind", "jobs", "succeeded", "right", "attempts succeeded", "killed", "failed"], rows))
    parts.append(tables.table("Memory of the ResourceManager", ["after, s", "heap, MB", "resident, MB"],
                              [[round(one.at_s), one.heap, one.rss] for one in chaos.samples]))
    succeeded, right = sum(one.status == "SUCCEEDED" for one in outcomes), sum(one.right for one in outcomes)
    claims = tables.claim("Every job ends well", succeeded == len(outcomes), f"{succeeded} of {len(outcomes)}")
    claims += tables.claim("All outputs are right", right == len(outcomes), f"{right} of {len(outcomes)}")
    claims += tables.claim("Nothing is left standing", not ending.standing and not ending.suspended,
                           f"{ending.standing} processes, {ending.suspended} containers")
    claims += tables.claim("The books agree", not ending.books_differ and not ending.off,
                           f"they differed {ending.books_differ} times; stock took over {ending.off} times")
    claims += tables.claim("No daemon ends by itself", not ending.died, ", ".join(ending.died) or "none did")
    for what, values in (("heap", [one.heap for one in chaos.samples]), ("resident memory", [one.rss for one in chaos.samples])):
        claims += _flat(what, values)
    return [*parts, "## Claims\n\n" + claims]


def _flat(what, values):
    third = len(values) // 3
    if third == 0:
        return f"- **The ResourceManager's {what} stays flat**: not judged, {len(values)} samples are too few\n"
    first, last = statistics.mean(values[:third]), statistics.mean(values[-third:])
    return tables.claim(f"The ResourceManager's {what} stays flat", last <= first * (1 + _FLAT), f"{first:.1f} MB, at the end {last:.1f} MB")
