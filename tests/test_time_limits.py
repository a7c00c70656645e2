"""What clocks do to a job that is parked: YARN's lifetime and bill go on, MapReduce's time-out of tasks is kept off by pulses."""

import re
import time

import pytest

import live
from hiatus_cluster import jobs, layout
from support import wait_for

_MAPS = 4
_TIMEOUT_MS = 12_000
_PARKED_S = 30
#: Of a map, and of the ApplicationMaster at least.
_CONTAINER_MB = 256

SPEC = live.spec(nodes=2, node_memory=[1024], properties={
    "yarn.nodemanager.hiatus.pulse-interval-ms": 4000,
    "yarn.resourcemanager.application-timeouts.monitor.interval-ms": 500,
})


def _suspend(cluster, app_id):
    """Parks it with the command, and gives back what that says."""
    return cluster.run("jar", layout.product_jar("scheduler"), "suspend", app_id).stderr


def _billed(cluster, app_id):
    """MiB and seconds, multiplied, that YARN has billed the application for."""
    return cluster.rm.get(f"/ws/v1/cluster/apps/{app_id}")["app"]["memorySeconds"]


@pytest.mark.slow
def test_a_parked_job_outlives_its_tasks_time_out_and_is_billed_and_warned_of_its_lifetime(hiatus):
    conf = {"mapreduce.task.timeout": _TIMEOUT_MS, "mapreduce.task.timeout.check-interval-ms": 1000}
    workload = jobs.Workload(hiatus, [jobs.job("night", 0, "sleep", "-m", _MAPS, "-r", 0, "-mt", 20_000, conf=conf)])
    app, (master, *maps) = live.await_job(hiatus, 1 + _MAPS)
    assert "lifetime" not in _suspend(hiatus, app["id"]), "it has none"
    hiatus.run("yarn", "app", "-appId", app["id"], "-updateLifetime", 3600)
    assert re.search(rf"YARN ends {app['id']} in 3[56]\d\d s.* yarn app -appId {app['id']} -updateLifetime", _suspend(hiatus, app["id"]))
    for container in maps:
        wait_for(lambda: live.stands_still(hiatus, container), f"{container} stands still")

    began, before = time.monotonic(), _billed(hiatus, app["id"])
    time.sleep(_PARKED_S)
    rate = (_billed(hiatus, app["id"]) - before) / (time.monotonic() - began)
    assert rate > 0.9 * (1 + _MAPS) * _CONTAINER_MB, "what stands still is billed as if it ran"
    hiatus.run("jar", layout.product_jar("scheduler"), "resume", app["id"])
    workload.wait(timeout_s=120)
    live.assert_each_task_ran_once(workload.results()[0], _MAPS)


def test_a_lifetime_ends_a_job_that_stands_still(hiatus, applications):
    applications.start("service", 4)
    live.await_running(applications, "service", 4)
    app_id = applications.app_id("service")
    _suspend(hiatus, app_id)
    for container in [life.container for life in applications.lives("service")]:
        wait_for(lambda: live.stands_still(hiatus, container), f"{container} stands still")
    hiatus.run("yarn", "app", "-appId", app_id, "-updateLifetime", 2)
    wait_for(lambda: hiatus.rm.get(f"/ws/v1/cluster/apps/{app_id}")["app"]["state"] == "KILLED", "its lifetime is over")
