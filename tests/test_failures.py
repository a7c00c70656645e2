"""Daemons die while containers are suspended: nothing is lost, run twice or left standing."""

import live
from hiatus_cluster import jobs
from support import wait_for

_SLEEP = {"mapreduce.map.memory.mb": 256}


def _big_and_small(cluster):
    """A big job whose maps fill the cluster (2 nodes x 4 containers), and a small one that makes some stand still."""
    return jobs.Workload(cluster, [
        jobs.job("big", 0, "sleep", "-m", 10, "-r", 0, "-mt", 30_000, conf=_SLEEP),
        jobs.job("small", 12, "sleep", "-m", 2, "-r", 0, "-mt", 25_000, conf=_SLEEP),
    ])


def _finish(workload):
    workload.wait(timeout_s=300)
    big, small = workload.results()
    assert (big.status, small.status) == ("SUCCEEDED", "SUCCEEDED")
    return big, small


def test_the_resource_manager_is_killed_while_containers_are_suspended(clusters):
    cluster = clusters(**live.spec(recovery=True))
    workload = _big_and_small(cluster)
    standing = live.await_paused(cluster)
    cluster.restart("resourcemanager")
    cluster.await_ready()
    assert set(live.paused(cluster)) <= set(standing)
    big, small = _finish(workload)
    live.assert_each_task_ran_once(big, 10)
    live.assert_each_task_ran_once(small, 2)
    live.assert_books_agree(cluster)


def test_a_node_manager_is_killed_while_it_holds_suspended_containers(clusters):
    cluster = clusters(**live.spec(properties={"yarn.nodemanager.hiatus.orphan-grace-ms": 3000,
                                               "yarn.nm.liveness-monitor.expiry-interval-ms": 6000,
                                               "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms": 6000}))
    workload = _big_and_small(cluster)
    node = next(iter(live.await_paused(cluster).values()))
    cluster.restart(f"nodemanager{node}")
    _finish(workload)
    wait_for(lambda: live.stopped(cluster) == [], "nothing stands still")
