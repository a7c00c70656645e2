"""Spark and Tez, as users run them, tell what is left of them. What is marked is left out unless `scripts/test --frameworks` asks for all."""

import statistics
import subprocess
import time

import pytest

import live
from hiatus_cluster import spark, tez
from support import wait_for

_NODES, _NODE_MB = 2, 2048
_EXECUTOR_MB, _TASK_MB = 512 + 384, 256

SPEC = live.spec(nodes=_NODES, node_memory=[_NODE_MB], properties={"yarn.scheduler.hiatus.rm.report-port": 32151})


class Client:
    """A client that runs with its application, and what was told of that meanwhile."""

    def __init__(self, cluster, line, env):
        self._cluster = cluster
        self.log = cluster.dir / "client.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(line, env=env, stdout=log, stderr=log)

    def told(self, container_mb):
        """Seconds of a container that are left, as told; nothing while nothing is."""
        jobs = [job for job in self._cluster.rm.get("/ws/v1/hiatus")["jobs"] if (job.get("sizing") or {}).get("source") == "told"]
        return jobs and jobs[0]["remaining_s"] * _NODES * _NODE_MB / container_mb

    def looks(self, container_mb):
        """All that is told of what is left, until the client ends."""
        looks = []
        while self._process.poll() is None:
            left_s = wait_for(lambda: self.told(container_mb) or self._process.poll() is not None, "it tells what is left", 120)
            if left_s is not True:
                looks.append(left_s)
            time.sleep(0.5)
        return looks

    def ends(self):
        """Waits for it; it succeeds."""
        assert self._process.wait(timeout=180) == 0, self.log.read_text()[-3000:]


def _spark(cluster, mode, *tasks):
    python = spark.prepare(print)
    return Client(cluster, *spark.command(cluster, python, mode, spark.STAGES, *tasks, told=True, conf={
        "spark.executor.instances": 2, "spark.executor.memory": f"{_EXECUTOR_MB - 384}m"}))


def _falls(looks, work_s):
    """Whether what is left was told, was mostly no more than that work, and fell to nearly nothing. The first tasks begin processes: by them it is more."""
    return statistics.median(looks) < 1.5 * work_s and min(looks) < 0.2 * work_s


@pytest.mark.parametrize("mode", ("cluster", pytest.param("client", marks=pytest.mark.frameworks)))
def test_a_spark_application_tells_what_is_left_of_its_stages(hiatus, mode):
    client = _spark(hiatus, mode, 40, 0.5, 10, 0.5)
    looks = client.looks(_EXECUTOR_MB)
    client.ends()
    assert _falls(looks, 40 * 0.5 + 10 * 0.5), looks


def test_a_tez_application_tells_what_is_left_of_its_vertices(hiatus):
    client = Client(hiatus, *tez.command(hiatus, tez.SLEEP, "-m", 40, "-mt", 2000, "-ir", 6, "-irs", 1, "-irt", 1000, "-r", 3, "-rt", 1000, told=True))
    looks = client.looks(_TASK_MB)
    client.ends()
    assert _falls(looks, 40 * 2 + 6 + 3), looks
