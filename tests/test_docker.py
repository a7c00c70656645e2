"""A cluster of Docker containers, each node a host of its own: what happens to hosts, and what Hiatus makes of it.

One cluster for all; after each test its jobs have ended well, nothing stands still, and the books agree (fixture ``hiatus``).
"""

import pytest

import live
from hiatus_cluster import jobs
from hiatus_cluster.docker.check import check
from hiatus_cluster.docker.cluster import DockerCluster
from support import read_counts, wait_for

pytestmark = pytest.mark.docker

_SLOTS_A_NODE, _STROKES_A_S = 4, 10
_EXPIRY_MS = 10_000


@pytest.fixture(scope="module")
def cluster(clusters, pytestconfig):
    """Nodes that are given up, with what they run, when they have been silent for some seconds, and not for minutes."""
    return clusters(kind=DockerCluster, **live.spec(fs="hdfs", nodes=pytestconfig.getoption("--nodes"), recovery=True, properties={
        "yarn.nm.liveness-monitor.expiry-interval-ms": _EXPIRY_MS,
        "yarn.am.liveness-monitor.expiry-interval-ms": _EXPIRY_MS,
        "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms": _EXPIRY_MS,
    }))


def _timed(name, maps, seconds):
    return jobs.job(name, 0, "timed-tasks", ",".join([str(seconds * 1000)] * maps))


class _BigAndSmall:
    """A big job that fills the cluster, and a small one for which some of its containers stand still."""

    def __init__(self, cluster):
        slots = _SLOTS_A_NODE * cluster.spec.nodes
        self._cluster, self._maps = cluster, {"big": (slots + 2, 10), "small": (2, 10)}
        self._workloads = [self._submit("big")]
        wait_for(lambda: cluster.rm.metrics()["containersAllocated"] >= slots, "the big job fills the cluster", 120)
        self._workloads.append(self._submit("small"))
        self.standing = live.await_paused(cluster)

    def _submit(self, name):
        return jobs.Workload(self._cluster, [_timed(name, *self._maps[name])])

    def await_right_ends(self):
        """Every map worked as long as it should, once or, where its node was lost, once more; nothing stands still any more."""
        results = []
        for workload, (maps, seconds) in zip(self._workloads, self._maps.values()):
            workload.wait(timeout_s=300)
            (result,) = workload.results()
            assert result.status == "SUCCEEDED"
            assert jobs.worked(self._cluster, result.app_id, maps * seconds * _STROKES_A_S)
            results.append((result, maps))
        wait_for(lambda: live.stopped(self._cluster) == [], "nothing stands still")
        return results


def _state(cluster, node):
    """What the ResourceManager calls a node; it has it once, however often it registered."""
    return next(one["state"] for one in cluster.rm.nodes() if one["id"] == cluster.node_id(node))


def test_small_jobs_overtake_a_big_one_which_loses_nothing(hiatus):
    check(hiatus, print)


def test_a_parked_job_stands_still_until_it_is_woken_and_its_output_is_right(hiatus):
    files = _SLOTS_A_NODE
    expected = live.write_text(hiatus.dir / "text", files)
    hiatus.run("hdfs", "dfs", "-put", hiatus.dir / "text", "/text")
    workload = jobs.Workload(hiatus, [jobs.job("night", 0, "wordcount", "/text", "/counts")])
    app, (master, *maps) = live.await_job(hiatus, 1 + files)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
    for container in maps:
        wait_for(lambda: live.stands_still(hiatus, container), f"{container} stands still")
    assert live.works(hiatus, master)

    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", False)
    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, files + 1)
    assert read_counts(hiatus, "/counts") == expected


def test_the_resource_manager_is_killed_while_containers_are_suspended(hiatus):
    both = _BigAndSmall(hiatus)
    hiatus.restart("resourcemanager")
    hiatus.await_ready()
    assert set(live.paused(hiatus)) <= set(both.standing)
    for result, maps in both.await_right_ends():
        live.assert_each_task_ran_once(result, maps)


def test_a_node_is_killed_while_it_holds_suspended_containers(hiatus):
    both = _BigAndSmall(hiatus)
    node = next(iter(both.standing.values()))
    hiatus.restart(f"nodemanager{node}")
    both.await_right_ends()


@pytest.mark.parametrize("silence, end", [("freeze", "thaw"), ("cut", "join")], ids=["paused", "cut off"])
def test_a_node_is_given_up_for_silence_and_comes_back(hiatus, silence, end):
    """By `docker pause` everything on it stood still meanwhile; cut off the network it worked on."""
    both = _BigAndSmall(hiatus)
    node = next(iter(both.standing.values()))
    daemon = hiatus.daemon(f"nodemanager{node}")
    getattr(daemon, silence)()
    try:
        wait_for(lambda: _state(hiatus, node) == "LOST", "the node is given up")
    finally:
        getattr(daemon, end)()
    wait_for(lambda: _state(hiatus, node) == "RUNNING", "the node is back", 120)
    both.await_right_ends()
