"""Containers of a cluster in Docker are held by cgroup freezers, of either version, where this machine lets nodes write them."""

import functools

import pytest

import live
from hiatus_cluster.applications import work
from hiatus_cluster.docker.cluster import DockerCluster, freezers
from support import wait_for

pytestmark = [pytest.mark.docker, pytest.mark.skipif(not freezers(), reason="this machine has no cgroup freezer")]

_CONTROLS = {"v1": "freezer.state", "v2": "cgroup.freeze"}


@pytest.fixture(scope="module", params=freezers())
def version(request):
    """The version of cgroups."""
    return request.param


@pytest.fixture(scope="module")
def cluster(clusters, pytestconfig, version):
    """A cluster whose nodes may write that version's cgroups."""
    cluster = clusters(kind=functools.partial(DockerCluster, cgroups=freezers()[version]),
                       **live.spec(fs="hdfs", nodes=pytestconfig.getoption("--nodes")))
    yield cluster
    cluster.down()


def test_what_is_suspended_is_frozen_and_goes_on_and_can_be_killed(hiatus, applications, version):
    slots = 4 * hiatus.spec.nodes
    applications.start("big", slots, command="sleep 3600 & sleep 3600 & sleep 3600; wait")
    live.await_running(applications, "big", slots)
    applications.start("small", 1, command=work(3))
    (container, node), = live.await_paused(hiatus).items()
    processes = live.states(hiatus, container)
    assert len(processes) >= 4 and set(processes.values()) == {"T"}, processes
    told = [line for line in live.log(hiatus, f"nodemanager{node}").splitlines() if f"Suspended {container}" in line]
    assert f"/{container}/{_CONTROLS[version]} in " in told[-1]
    applications.wait("small")
    wait_for(lambda: live.works(hiatus, container), "all run again")
    assert set(live.states(hiatus, container)) == set(processes)

    applications.start("next", 1)
    standing = live.await_paused(hiatus)
    hiatus.rm.kill_app(applications.app_id("big"))
    wait_for(lambda: not any(live.states(hiatus, one) for one in standing), "what was killed while it was frozen is gone")
    applications.finish("next")
