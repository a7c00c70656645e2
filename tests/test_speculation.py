"""MapReduce's speculation is on, as it is by default, and maps are suspended: with our estimator none is backed up for that."""

import time

import pytest

import live
from hiatus_cluster import jobs
from hiatus_cluster.applications import work
from support import wait_for

_SLOTS, _MAPS, _MAP_MS = 5, 8, 15_000
#: Stock looks after 9 s without news. With the maps' own time it comes to more than what is judged, without to less, JVMs that
#: start slowly on a busy machine included.
_SUSPENDED_S, _JUDGED_AFTER_MS = 20, 40_000

SPEC = live.spec(nodes=1, node_memory=[256 * (1 + _SLOTS)], properties={
    "mapreduce.map.speculative": "true",
    "yarn.app.mapreduce.am.job.task.estimator.class": "io.hiatus.mapreduce.BatchMRTaskRuntimeEstimator",
    "mapreduce.job.hiatus.speculation.min-run-ms": _JUDGED_AFTER_MS,
    "mapreduce.task.progress-report.interval": 1000,
    # Whatever sizes it estimates, the application that comes later goes first, and takes.
    "yarn.scheduler.hiatus.policy": "las",
    "yarn.scheduler.hiatus.preemption-threshold": 1,
})


@pytest.mark.slow
def test_suspended_and_parked_maps_are_not_backed_up(hiatus, applications):
    # When some maps are done others are judged; the last ones leave room for backups beside them.
    workload = jobs.Workload(hiatus, [jobs.job("big", 0, "timed-tasks", ",".join([str(_MAP_MS)] * _MAPS))])
    app, _ = live.await_job(hiatus, 1 + _MAPS)
    time.sleep(3)  # of their work
    applications.start("small", _SLOTS, command=work(_SUSPENDED_S))
    standing = live.await_paused(hiatus, _MAPS - _SLOTS)
    applications.wait("small")
    for container in standing:
        wait_for(lambda: live.works(hiatus, container), f"{container} runs again")

    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
    for container in standing:
        wait_for(lambda: live.stands_still(hiatus, container), f"{container} stands still")
    time.sleep(_SUSPENDED_S)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", False)

    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, _MAPS)
