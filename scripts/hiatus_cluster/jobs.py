"""Workloads of real MapReduce jobs: submit them at their times, wait, collect what became of each.

A workload is ``{"jobs": [{"name", "at_s", "program", "args", "conf", "user"}, …]}``, run by the one JVM of ``java/workload``.
"""

import json
import subprocess
import time
from dataclasses import dataclass, field

from . import layout
from .daemons import MARK
from .errors import ClusterError

_MAIN = "io.hiatus.workload.Workload"
#: The counters of ``timed-tasks``: strokes of work, of 100 ms each, and chunks of memory found other than they were left.
TIMED_TALLY = "io.hiatus.workload.TimedTasks$Tally"


@dataclass
class JobResult:
    """What became of one job. Times in ms since the epoch, by the ResourceManager's clock."""

    name: str
    app_id: str
    status: str  #: SUCCEEDED, FAILED, KILLED
    submitted_ms: int
    finished_ms: int
    attempts: list  #: task attempts as the job history server tells them
    earlier_apps: list = field(default_factory=list)  #: applications before ``app_id``, where a program is several

    @property
    def sojourn_s(self):
        """Seconds from submission to end."""
        return (self.finished_ms - self.submitted_ms) / 1000

    def attempts_in(self, state):
        """Number of task attempts that ended as KILLED, FAILED or SUCCEEDED."""
        return sum(attempt["state"] == state for attempt in self.attempts)

    def ran_each_once(self, tasks):
        """Whether it succeeded with so many tasks, each in one attempt."""
        return self.status == "SUCCEEDED" and self.attempts_in("SUCCEEDED") == tasks == len(self.attempts)

    @property
    def wasted_s(self):
        """Seconds worked by attempts that were killed or failed."""
        return sum(max(0, attempt["finishTime"] - attempt["startTime"]) / 1000 for attempt in self.attempts
                   if attempt["state"] in ("KILLED", "FAILED") and attempt["startTime"] > 0)


def job(name, at_s, program, *args, conf=None, user=None):
    """One job of a workload; ``conf`` values may be of any type."""
    return {"name": name, "at_s": at_s, "program": program, "args": [str(arg) for arg in args],
            "conf": {key: str(value) for key, value in (conf or {}).items()}, "user": user}


def worked(cluster, app_id, strokes):
    """Whether the ``timed-tasks`` of an application counted just so many strokes, and found their memory as they had left it."""
    tally = cluster.history.counters(app_id.replace("application", "job")).get(TIMED_TALLY, {})
    return tally.get("STROKES") == strokes and not tally.get("WRONG_CHUNKS")


class Workload:
    """A workload in progress, of a user who has that ticket (``Realm.ticket``), or of the one who started the cluster."""

    def __init__(self, cluster, jobs, ticket=None):
        self._cluster = cluster
        self.names = [one["name"] for one in jobs]
        folder = cluster.dir / "workloads"
        folder.mkdir(exist_ok=True)
        stem = folder / f"{time.time_ns()}"
        stem.with_suffix(".json").write_text(json.dumps({"jobs": jobs}, indent=1))
        self._events = stem.with_suffix(".events")
        self.log = stem.with_suffix(".log")
        line, env = cluster.command([_MAIN, str(stem.with_suffix(".json"))], extra_jars=[layout.product_jar("workload")], heap_mb=512)
        env.update(ticket or {})
        env[MARK] = str(cluster.dir)  # `down` ends it too, should whoever started it be gone
        self._began_ms = time.time() * 1000
        with open(self._events, "wb") as events, open(self.log, "wb") as log:
            self._process = subprocess.Popen(line, env=env, stdin=subprocess.DEVNULL, stdout=events, stderr=log, cwd=cluster.dir)

    def running(self):
        """Whether jobs are still to end."""
        return self._process.poll() is None

    def events(self):
        """What happened so far: ``{"job", "event": "submit" | "success" | "failure", "at_ms"[, "error"]}``."""
        text = self._events.read_text()
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def wait(self, timeout_s):
        """Waits for the end of all jobs. Raises ClusterError at the time-out; failed jobs are no error here (see ``results``)."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            self.stop()
            raise ClusterError(f"the workload did not end within {timeout_s} s; log: {self.log}") from error
        if code not in (0, 1):
            raise ClusterError(f"the workload's submitter ended with {code}:\n{self.log.read_text()[-2000:]}")

    def stop(self):
        """Ends the submitter; jobs already submitted go on."""
        if self.running():
            self._process.kill()
        self._process.wait()

    def apps(self):
        """{job name: [its applications, oldest first]} for the jobs submitted so far (a program may be several applications)."""
        found = {}
        mine = (app for app in self._cluster.rm.apps() if app["startedTime"] >= self._began_ms)  # not an earlier workload's of that name
        for app in mine:
            for tag in app.get("applicationTags", "").split(","):
                if tag.startswith("workload-") and tag[len("workload-"):] in self.names:
                    found.setdefault(tag[len("workload-"):], []).append(app)
        return found

    def results(self):
        """A JobResult for every job, in the workload's order. Raises ClusterError if one never reached the ResourceManager."""
        apps = self.apps()
        return [self._result(name, apps.get(name)) for name in self.names]

    def _result(self, name, apps):
        if not apps:
            errors = [event.get("error") for event in self.events() if event["job"] == name and event["event"] == "failure"]
            raise ClusterError(f"job {name} has no application ({errors[0] if errors else 'never submitted'}); log: {self.log}")
        attempts = [attempt for app in apps for attempt in self._attempts(app)]
        failed = [app for app in apps if app["finalStatus"] != "SUCCEEDED"]
        return JobResult(name, apps[-1]["id"], (failed or apps)[0]["finalStatus"], apps[0]["startedTime"],
                         max(app["finishedTime"] for app in apps), attempts, [app["id"] for app in apps[:-1]])

    def _attempts(self, app, patience_s=20):
        """The history server learns of a job a moment after its end."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                return self._cluster.history.attempts(app["id"].replace("application", "job"))
            except ClusterError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)


def run(cluster, jobs, timeout_s=600):
    """Runs a workload to its end and gives back a JobResult for each job."""
    workload = Workload(cluster, jobs)
    try:
        workload.wait(timeout_s)
    finally:
        workload.stop()
    return workload.results()
