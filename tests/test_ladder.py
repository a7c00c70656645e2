"""The ladder of trust: what each mode may do, and what happens without the library."""

import re

import pytest

import live
from hiatus_cluster import jobs
from hiatus_cluster.applications import work
from support import wait_for

_BIG, _SMALL = 16, 2  # containers of 256 MB; the cluster holds 8


def _big_and_small(applications):
    """A job that fills the cluster, and a small one that arrives then."""
    applications.start("big", _BIG, command=work(4))
    live.await_running(applications, "big", 8)
    applications.start("small", _SMALL, command=work(2))


def _explained(cluster):
    return cluster.rm.get("/ws/v1/hiatus")


def test_observe_changes_nothing_and_reports_what_it_would_have_done(clusters):
    cluster = clusters(**live.spec(properties={"yarn.scheduler.hiatus.mode": "observe"}))
    with live.applications(cluster) as applications:
        applications.start("big", _BIG)
        live.await_running(applications, "big", 8)
        applications.start("small", _SMALL, command=work(2))
        wait_for(lambda: live.metrics(cluster)["Observed"] > 0, "proposals observed")
        seen = live.metrics(cluster)
        assert (seen["Assigned"], seen["Suspended"], seen["Killed"], seen["Fallback"]) == (0, 0, 0, 0)
        small = applications.app_id("small")
        wait_for(lambda: _explained(cluster)["jobs"][0]["application"] == small, "the small job first")
        applications.finish("big")
        applications.wait("small")
    assert live.metrics(cluster)["BooksDiffer"] == 0


def test_modes_are_climbed_and_left_while_jobs_run(clusters):
    cluster = clusters(**live.spec(properties={"yarn.scheduler.hiatus.mode": "order"}))
    with live.applications(cluster) as applications:
        applications.start("big", _BIG)
        live.await_running(applications, "big", 8)
        applications.start("small", _SMALL, command=work(2))
        wait_for(lambda: _explained(cluster)["jobs"], "jobs explained")
        assert live.metrics(cluster)["Suspended"] == 0
        cluster.configure({"yarn.scheduler.hiatus.mode": "suspend"})
        cluster.run("yarn", "rmadmin", "-refreshQueues")
        applications.wait("small")
        assert live.metrics(cluster)["Suspended"] > 0
        cluster.configure({"yarn.scheduler.hiatus.mode": "off"})
        cluster.run("yarn", "rmadmin", "-refreshQueues")
        wait_for(lambda: live.paused(cluster) == {}, "everything runs again")
        applications.finish("big")


def test_without_the_library_the_resource_manager_is_stock_and_says_so(clusters):
    missing = ["-Dhiatus.native.path=/nowhere/libhiatus.so"]
    cluster = clusters(**live.spec(nodes=1, jvm_options={"resourcemanager": missing}))
    assert "HIATUS IS OFF" in live.log(cluster)
    assert live.metrics(cluster)["Fallback"] == 1
    with live.applications(cluster) as applications:
        applications.start("job", 3, command=work(1))
        applications.wait("job")
    assert live.metrics(cluster)["Assigned"] == 0


def test_in_a_mixed_cluster_only_nodes_that_announce_themselves_suspend(clusters):
    stock = "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"
    cluster = clusters(**live.spec(properties={"node2:yarn.nodemanager.container-executor.class": stock}))
    with live.applications(cluster) as applications:
        applications.start("big", _BIG)
        live.await_running(applications, "big", 8)
        for name in ("small-1", "small-2", "small-3"):
            applications.start(name, 1, command=work(3))
        standing = live.await_paused(cluster)
        assert set(standing.values()) == {1}
        for name in ("small-1", "small-2", "small-3"):
            applications.wait(name)
        assert live.metrics(cluster)["Killed"] == 0
        applications.finish("big")


@pytest.mark.slow
def test_masters_are_never_suspended_nor_killed(clusters):
    """Real ApplicationMasters, of more jobs than fit, on a node that is full all the time."""
    policy = {"yarn.scheduler.hiatus.policy": "srpt"}  # all these jobs are tiny to HFSP
    cluster = clusters(**live.spec(nodes=1, node_memory=[1280], properties=policy))
    names = [f"job-{number}" for number in range(3)]
    results = jobs.run(cluster, [jobs.job(name, 10 * at, "sleep", "-m", 4 - at, "-r", 0, "-mt", 15_000) for at, name in enumerate(names)])
    assert [result.status for result in results] == ["SUCCEEDED"] * len(names)
    assert live.metrics(cluster)["Suspended"] > 0  # else the test shows nothing
    assert live.metrics(cluster)["Killed"] == 0
    paused = re.findall(r"Container (container_\d+_\d+_\d+_\d+) transitioned from \w+ to PAUSING", live.log(cluster, "nodemanager1"))
    assert paused and not [container for container in paused if container.endswith("_000001")]
    for result in results:
        assert len(cluster.rm.get(f"/ws/v1/cluster/apps/{result.app_id}/appattempts")["appAttempts"]["appAttempt"]) == 1


def test_two_queues_keep_their_guarantees(clusters):
    cluster = clusters(**live.spec(node_memory=[2048], properties={
        "yarn.scheduler.capacity.root.queues": "a,b",
        "yarn.scheduler.capacity.root.a.capacity": 50,
        "yarn.scheduler.capacity.root.b.capacity": 50,
        "yarn.scheduler.capacity.root.a.maximum-capacity": 100,
        "yarn.scheduler.capacity.root.b.maximum-capacity": 100,
        "yarn.scheduler.capacity.root.a.user-limit-factor": 4,
        "yarn.scheduler.capacity.root.b.user-limit-factor": 4,
    }))
    with live.applications(cluster) as applications:
        applications.start("greedy", 32, queue="a")
        live.await_running(applications, "greedy", 16)  # idle guarantees are lent
        applications.start("owner", 32, queue="b")
        half = 4096 // 2 - 256
        wait_for(lambda: _used(cluster, "b") >= half, "queue b has its half")
        assert _used(cluster, "a") >= half
        assert live.metrics(cluster)["Killed"] == 0
        applications.finish("owner")
        wait_for(lambda: live.paused(cluster) == {}, "a is lent the whole again")
        applications.finish("greedy")


def _used(cluster, queue):
    queues = cluster.rm.scheduler()["queues"]["queue"]
    return next(one["resourcesUsed"]["memory"] for one in queues if one["queueName"] == queue)
