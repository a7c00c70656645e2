"""The standby ResourceManager takes over, by an order and after a crash, while containers are suspended and parked."""

import urllib.request

import live
from hiatus_cluster import containers, failovers, jobs
from support import wait_for

_NIGHT, _BIG, _SMALL = 2, 10, 3  # maps; with the masters of the first two jobs those of the big one are all that the nodes hold

SPEC = live.spec(nodes=2, node_memory=[1536], recovery=True, standby="manual", properties={
    # Applications may have opportunistic containers of their own here, so the standby must know which are Hiatus's.
    "yarn.resourcemanager.opportunistic-container-allocation.enabled": "true",
})


def _timed(name, maps, seconds):
    return jobs.job(name, 0, "timed-tasks", ",".join([str(seconds * 1000)] * maps))


def _known(cluster):
    return {one["container"] for one in cluster.rm.get("/ws/v1/hiatus")["suspended"]}


def _assert_stands_by(cluster, number):
    """It does nothing of its own, and leads people to the active one."""
    assert failovers.threads(cluster, number) == set()
    for path in ("/hiatus/", "/ws/v1/hiatus"):
        with urllib.request.urlopen(cluster.manager(number).base + path, timeout=10) as answer:
            assert answer.geturl() == cluster.rm.base + path


def test_nothing_is_lost_run_twice_or_woken_by_failovers(hiatus):
    expected = live.write_text(hiatus.dir / "text", _NIGHT)
    parked_job = jobs.Workload(hiatus, [jobs.job("night", 0, "wordcount", hiatus.dir / "text", hiatus.dir / "counts")])
    wait_for(lambda: len(containers.lives(hiatus)) == 1 + _NIGHT, "its master and maps run", 120)
    (night,) = hiatus.rm.apps("states=RUNNING")
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{night['id']}/parked", True)
    parked = {life.container for life in containers.lives(hiatus) if not life.is_master}
    wait_for(lambda: all(live.stands_still(hiatus, container) for container in parked), "the parked maps stand still")
    big = jobs.Workload(hiatus, [_timed("big", _BIG, 15)])
    wait_for(lambda: len(containers.lives(hiatus)) == 1 + _NIGHT + 1 + _BIG, "the big job runs", 120)
    small = jobs.Workload(hiatus, [_timed("small", _SMALL, 20)])
    live.await_paused(hiatus)

    for failover in (failovers.ordered, failovers.killed):
        failover(hiatus)
        _assert_stands_by(hiatus, failovers.standby(hiatus))
        wait_for(lambda: parked <= _known(hiatus), "the new ResourceManager knows what is parked")
        wait_for(lambda: all(live.stands_still(hiatus, container) for container in parked), "the parked maps stand still")
    told = live.log(hiatus, "nodemanager1", "nodemanager2")
    assert not any(f"Resumed {container}" in told for container in parked), "nor did they run in between"

    hiatus.rm.put(f"/ws/v1/hiatus/apps/{night['id']}/parked", False)
    for workload, tasks in ((small, _SMALL), (big, _BIG), (parked_job, _NIGHT + 1)):
        workload.wait(timeout_s=300)
        (result,) = workload.results()
        live.assert_each_task_ran_once(result, tasks)
    assert live.read_counts(hiatus.dir / "counts") == expected
    wait_for(lambda: live.stopped(hiatus) == [], "no process stands still")
