"""Real MapReduce jobs tell how many tasks they have and how far those are."""

import subprocess

import pytest

import live
from hiatus_cluster import jobs
from support import wait_for

_MAPS, _REDUCES = 12, 8
_MAP_PRIORITY, _REDUCE_PRIORITY = 20, 10

SPEC = live.spec(nodes=2, node_memory=[1024], properties={"yarn.scheduler.hiatus.rm.progress-interval-ms": 1000})


def _phase(cluster, priority):
    """The core's view of the one job's tasks of that priority, or nothing."""
    explained = cluster.rm.get("/ws/v1/hiatus")["jobs"]
    return next((phase for job in explained for phase in job["phases"] if phase["priority"] == priority), {})


def test_the_core_knows_progress_of_maps_and_reduces_nobody_has_asked_for(hiatus):
    workload = jobs.Workload(hiatus, [jobs.job("sleep", 0, "sleep", "-m", _MAPS, "-r", _REDUCES, "-mt", 15_000, "-rt", 1000)])
    wait_for(lambda: any(0 < done < 1 for done in _phase(hiatus, _MAP_PRIORITY).get("progress", ())), "maps tell how far they are", 120)
    reduces = wait_for(lambda: (phase := _phase(hiatus, _REDUCE_PRIORITY)).get("unasked") and phase, "reduces are asked for by and by", 120)
    assert reduces["tasks"] == _REDUCES
    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, _MAPS + _REDUCES)


_WAYS = {
    "masters serve HTTPS": {"yarn.resourcemanager.application-https.policy": "STRICT", "yarn.app.mapreduce.am.webapp.https.enabled": "true"},
    # Masters let in nobody else then; the ResourceManager calls from 127.0.0.1.
    "the proxy is elsewhere": {"yarn.web-proxy.address": "127.0.0.77:18077"},
}


@pytest.mark.slow
@pytest.mark.parametrize("way", _WAYS)
def test_it_is_asked_for_in_the_way_that_the_web_proxy_has(clusters, way):
    cluster = clusters(**{**SPEC, "properties": {**SPEC["properties"], **_WAYS[way]}})
    line, env = cluster.command(["org.apache.hadoop.yarn.server.webproxy.WebAppProxyServer"])
    with open(cluster.dir / "proxy.log", "wb") as log:
        proxy = subprocess.Popen(line, env=env, stdout=log, stderr=log) if "yarn.web-proxy.address" in _WAYS[way] else None
    try:
        workload = jobs.Workload(cluster, [jobs.job("sleep", 0, "sleep", "-m", _MAPS, "-r", 0, "-mt", 15_000)])
        wait_for(lambda: any(0 < done < 1 for done in _phase(cluster, _MAP_PRIORITY).get("progress", ())), "maps tell how far they are", 120)
        workload.wait(timeout_s=300)
        secure = [log for log in cluster.dir.rglob("syslog") if "SslContextFactory" in log.read_text(errors="replace")]
        assert bool(secure) == (way == "masters serve HTTPS")
    finally:
        if proxy:
            proxy.kill()
            proxy.wait()
