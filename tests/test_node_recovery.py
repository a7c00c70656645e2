"""A NodeManager that recovers takes its suspended containers over as they are."""

import time

import live
from hiatus_cluster.applications import work
from support import wait_for

_BIG = 8  # containers of 256 MB: all that the two nodes hold

_STALL_S = 2

SPEC = live.spec(nodes=2, node_memory=[1024], recovery=True,
                 properties={"yarn.scheduler.hiatus.stall-timeout-ms": _STALL_S * 1000})


def test_suspended_containers_outlive_their_node_manager(hiatus, applications):
    applications.start("big", _BIG, command=work(20))
    live.await_running(applications, "big", _BIG)
    applications.start("small", 2)
    standing = live.await_paused(hiatus, 2)
    small = [one["container"] for one in applications.wait("small", "allocated", 2)]
    # A NodeManager loses what it is just about to start, and then there would be room for the big job's containers again.
    wait_for(lambda: all(live.works(hiatus, container) for container in small), "the small job's processes run")
    node = next(iter(standing.values()))
    here = {container for container, its_node in standing.items() if its_node == node}

    live.restart_node(hiatus, node)
    wait_for(lambda: set(live.paused(hiatus, [node])) == here, "the same containers are paused again")
    for container in here:  # the new NodeManager begins with a pulse: nobody knows how long they have stood still
        wait_for(lambda: set(live.states(hiatus, container).values()) == {"T"}, f"{container} stands still again")

    # What runs there, and waits for no room, is nobody's reason to kill what is suspended.
    time.sleep(3 * _STALL_S)
    assert live.metrics(hiatus)["Killed"] == 0

    applications.finish("small")
    applications.wait("big")
    assert len(applications.events("big", "allocated")) == _BIG, "no container was lost or run twice"
    assert [one["exit"] for one in applications.events("big", "completed")] == [0] * _BIG
    wait_for(lambda: live.stopped(hiatus) == [], "no process stands still")
