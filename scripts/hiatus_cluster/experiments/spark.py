"""A Spark application is parked for longer than Spark waits for a silent executor, everything at its defaults.

Spark takes an executor that has said nothing for 120 s (`spark.network.timeout`) for lost. A stopped one says nothing, but in its pulses.
"""

import json
import shutil
import subprocess
import time
from dataclasses import dataclass

from .. import layout, spark
from ..cluster import Cluster
from ..configuration import Spec
from ..containers import Life
from ..errors import ClusterError
from ..patience import until
from ..standing import stands_still
from . import tables

_APPLICATION = layout.ROOT / "scripts" / "hiatus_cluster" / "experiments" / "spark_application.py"
_NODES, _NODE_MEMORY_MB, _EXECUTORS = 2, 9216, 4
_TASKS, _TASK_S = 240, 2
_PATIENCE_S = 900
#: Spark looks for silent executors at its own pace, and so often that it misses none that is silent for long.
_CHECKS = {"every 60 s, as by default": {}, "every 5 s": {"spark.network.timeoutInterval": "5s"}}
_METHOD = (
    f"Real daemons, {_NODES} nodes of {_NODE_MEMORY_MB} MB, Hiatus and its NodeManagers with no knob set: pulses as by default. PySpark in client mode, "
    f"{_EXECUTORS} executors with one core and 512 MB, {_TASKS} tasks that work for {_TASK_S} s, all else at Spark's defaults but how often it "
    "looks for executors that are silent. The application is parked once all executors work, and woken later. *Stood still*: "
    "executors whose processes were all seen stopped. *Lost*: executors that Spark removed. *Right*: the sum of what all tasks gave "
    "back, each counted once, as Spark counts them.")


@dataclass
class Outcome:
    """What became of one application."""

    check: str
    parked_s: float
    stood: int
    lost: list  #: Spark's reasons
    failed_tasks: int
    right: bool


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--parked", type=float, default=180, metavar="S", help="how long the application is parked (default: 180)")


def run(options, say):
    """All applications; prints and writes the table."""
    python = spark.prepare(say)
    cluster = Cluster(layout.BUILD / "experiments" / "spark")
    cluster.down()
    shutil.rmtree(cluster.dir, ignore_errors=True)
    cluster.up(Spec(nodes=_NODES, node_memory=[_NODE_MEMORY_MB], node_vcores=[8], scheduler="hiatus", fs="local"))
    try:
        outcomes = [_outcome(cluster, python, check, conf, options.parked, say) for check, conf in _CHECKS.items()]
    finally:
        cluster.down()
    tables.write("spark", f"A Spark application, parked for {options.parked:g} s", _METHOD, report(outcomes))


def _outcome(cluster, python, check, conf, parked_s, say):
    log = cluster.dir / "spark.log"
    line, env = spark.command(cluster, python, "client", _APPLICATION, _TASKS, _TASK_S, conf={
        "spark.executor.instances": _EXECUTORS, "spark.executor.cores": 1, "spark.executor.memory": "512m", **conf})
    with log.open("w") as output:
        driver = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=output, text=True)
    try:
        app, executors = until(lambda: _working(cluster, driver, log), "all executors work", _PATIENCE_S)
        say(f"silence looked for {check}: {app} has its executors; it is parked now")
        cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", True)
        begin = time.monotonic()
        stood = set()
        while time.monotonic() - begin < parked_s:
            stood |= {one for one in executors if stands_still(cluster, one)}
            time.sleep(1)
        cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", False)
        say(f"{len(stood)} executors stood still; it is woken")
        told, _ = driver.communicate(timeout=_PATIENCE_S)
    finally:
        driver.kill()
        driver.wait()
    if driver.returncode:
        raise ClusterError(f"the Spark application ended with {driver.returncode}: see {log}")
    found = json.loads(told.splitlines()[-1])
    return Outcome(check, parked_s, len(stood), [one["removeReason"] for one in found["removed"]], found["failed_tasks"],
                   found["sum"] == sum(range(_TASKS)))


def _working(cluster, driver, log):
    """The application and its executors' containers, if all of them work."""
    if driver.poll() is not None:
        raise ClusterError(f"the Spark application ended with {driver.returncode} before it was parked: see {log}")
    for app in cluster.rm.apps("states=RUNNING"):
        running = [one["id"] for node in range(1, _NODES + 1) for one in cluster.nm(node).containers() if one["state"] == "RUNNING"]
        executors = [one for one in running if not Life(one, 0).is_master]
        if len(executors) == _EXECUTORS and "Starting task 0.0 in stage 0.0" in log.read_text(errors="replace"):
            return app["id"], executors
    return None


def report(outcomes):
    """The table and claims as parts of a page."""
    rows = [[one.check, one.parked_s, one.stood, len(one.lost), one.failed_tasks, "yes" if one.right else "NO"] for one in outcomes]
    table = tables.table("Applications", ["Spark looks for silent executors", "parked, s", "stood still", "lost", "failed tasks", "right"], rows)
    lost = [reason for one in outcomes for reason in one.lost]
    claims = tables.claim("All executors are parked", all(one.stood == _EXECUTORS for one in outcomes),
                          ", ".join(f"{one.stood} of {_EXECUTORS}" for one in outcomes))
    claims += tables.claim("No executor is lost", not lost, "; ".join(lost) or "none was removed")
    claims += tables.claim("All work is right", all(one.right for one in outcomes), f"{sum(one.right for one in outcomes)} of {len(outcomes)}")
    return [table, "## Claims\n\n" + claims]
