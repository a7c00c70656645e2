"""The standby ResourceManager takes over, by an order and after a crash, while containers are suspended and parked, and with history."""

import re
import time
import urllib.request

import live
from hiatus_cluster import containers, failovers, jobs, layout
from support import wait_for

_NIGHT, _BIG, _SMALL = 2, 10, 3  # maps; with the masters of the first two jobs those of the big one are all that the nodes hold

_HISTORY = layout.BUILD / "tests" / __name__ / "history"  #: on a disk that both ResourceManagers see
SPEC = live.spec(nodes=2, node_memory=[1536], recovery=True, standby="manual", properties={
    "yarn.scheduler.hiatus.rm.history-dir": str(_HISTORY),
    # Applications may have opportunistic containers of their own here, so the standby must know which are Hiatus's.
    "yarn.resourcemanager.opportunistic-container-allocation.enabled": "true",
    # On a slow machine the parked maps would be done by their pulses.
    "yarn.nodemanager.hiatus.pulse-interval-ms": 600_000,
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
            assert answer.geturl().endswith(cluster.rm.base.rpartition(":")[2] + path), answer.geturl()


def test_nothing_is_lost_run_twice_or_woken_by_failovers(cluster):
    expected = live.write_text(cluster.dir / "text", _NIGHT)
    parked_job = jobs.Workload(cluster, [jobs.job("night", 0, "wordcount", cluster.dir / "text", cluster.dir / "counts")])
    night, (_, *parked) = live.await_job(cluster, 1 + _NIGHT)
    parked = set(parked)
    cluster.rm.put(f"/ws/v1/hiatus/apps/{night['id']}/parked", True)
    wait_for(lambda: all(live.stands_still(cluster, container) for container in parked), "the parked maps stand still")
    big = jobs.Workload(cluster, [_timed("big", _BIG, 15)])
    wait_for(lambda: len(containers.lives(cluster)) == 1 + _NIGHT + 1 + _BIG, "the big job runs", 120)
    small = jobs.Workload(cluster, [_timed("small", _SMALL, 20)])
    wait_for(lambda: set(live.paused(cluster)) - parked, "containers of the big job are suspended", 120)

    for failover in (failovers.ordered, failovers.killed):
        failover(cluster)
        _assert_stands_by(cluster, failovers.standby(cluster))
        wait_for(lambda: parked <= _known(cluster), "the new ResourceManager knows what is parked")
        wait_for(lambda: all(live.stands_still(cluster, container) for container in parked), "the parked maps stand still")
    told = live.log(cluster, "nodemanager1", "nodemanager2")
    assert not any(f"Resumed {container}" in told for container in parked), "nor did they run in between"

    cluster.rm.put(f"/ws/v1/hiatus/apps/{night['id']}/parked", False)
    for workload, tasks in ((small, _SMALL), (big, _BIG), (parked_job, _NIGHT + 1)):
        workload.wait(timeout_s=300)
        (result,) = workload.results()
        live.assert_each_task_ran_once(result, tasks)
    assert live.read_counts(cluster.dir / "counts") == expected
    live.assert_books_agree(cluster)
    wait_for(lambda: live.stopped(cluster) == [], "no process stands still")


def _known_after(cluster, failover):
    """How many earlier runs the ResourceManager finds that a failover makes the active one."""
    def found(name):
        return re.findall(r"history: (\d+) runs of earlier jobs are known", live.log(cluster, name))

    before = {name: len(found(name)) for name in cluster.managers()}
    failover(cluster)
    active = f"resourcemanager{cluster.active()}"
    return int(wait_for(lambda: found(active)[before[active]:], f"{active} has opened the history")[-1])


def _run(applications, *names):
    """Applications of one task each, one after the other to their ends."""
    for name in names:
        applications.start(name, 1, command="sleep 0.1")
        applications.wait(name)


def _await_written():
    """A slow disk needs seconds for one run, and what is not on it yet is lost with the process (``rust/history/tests`` kills one in between)."""
    wait_for(lambda: time.time() - (_HISTORY / "history.redb").stat().st_mtime > 10, "nothing more is written down")


def test_the_next_resource_manager_knows_what_jobs_took_whether_the_last_one_was_stopped_or_killed(cluster):
    with live.applications(cluster) as applications:
        _run(applications, "daily 1", "other 1")
    before = _known_after(cluster, failovers.ordered)
    assert before >= 2

    many = [f"many {number}" for number in range(1, 9)]
    with live.applications(cluster) as applications:
        _run(applications, *many)
        _await_written()
        assert _known_after(cluster, failovers.killed) == before + len(many)

    with live.applications(cluster) as applications:
        applications.start("daily 2", 1, command="sleep 30")
        app = applications.app_id("daily 2")

        def told():
            phases = [phase for job in cluster.rm.get("/ws/v1/hiatus")["jobs"] if job["application"] == app for phase in job["phases"]]
            return any(phase["earlier_task_s"] is not None for phase in phases)
        wait_for(told, "its earlier run is known, which another ResourceManager wrote down")
        applications.finish("daily 2")
