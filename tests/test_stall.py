"""Room freed by a demotion is not given away before its node knows: otherwise who gets it is queued there until some container ends."""

import random
import time

import pytest

import live
from hiatus_cluster.applications import work

HEARTBEAT_S = 6
ARRIVALS = 20

SPEC = live.spec(nodes=2, node_memory=[2048], node_heartbeat_ms=HEARTBEAT_S * 1000)


@pytest.mark.slow
def test_a_small_job_starts_within_two_heartbeats_of_its_node_20_times_of_20(hiatus, applications):
    applications.start("big", 32)
    live.await_running(applications, "big", 16)
    time.sleep(HEARTBEAT_S)  # Then the ResourceManager knows it, too: what has not been reported as running is not taken.

    chooser = random.Random(6)
    for number in range(ARRIVALS):  # at all phases of the nodes' heartbeats, and overlapping
        applications.start(f"small-{number}", 1, command=work(2), heartbeat_ms=50)
        time.sleep(chooser.uniform(0.3, 0.8) * HEARTBEAT_S)

    waits = []
    for number in range(ARRIVALS):
        applications.wait(f"small-{number}")
        (asked,) = applications.events(f"small-{number}", "asked")
        (life,) = applications.lives(f"small-{number}")
        waits.append(round((life.begin - asked["at_ms"] / 1000) / HEARTBEAT_S, 2))
    # Half a heartbeat is for deciding and launching, on a busy machine.
    assert max(waits) <= 2.5, f"heartbeats between ask and start: {waits}"
    assert live.metrics(hiatus)["Suspended"] >= ARRIVALS / 4, "the cluster was full: room came from the big job"
    assert live.metrics(hiatus)["Killed"] == 0
    applications.finish("big")
