"""A suspension longer than the task time-out: pulses keep the attempt, and without them it is lost."""

import pytest

import live
from hiatus_cluster import jobs

_TIMEOUT_MS = 12_000


def _suspended_for_longer_than_the_timeout(cluster):
    """One map of the big job stands still for about 40 s; a time-out is 12 s."""
    conf = {"mapreduce.task.timeout": _TIMEOUT_MS, "mapreduce.task.timeout.check-interval-ms": 1000, "mapreduce.map.maxattempts": 10}
    big, small = jobs.run(cluster, [
        jobs.job("big", 0, "sleep", "-m", 3, "-r", 0, "-mt", 40_000, conf=conf),
        jobs.job("small", 14, "sleep", "-m", 1, "-r", 0, "-mt", 35_000),
    ])
    assert (big.status, small.status) == ("SUCCEEDED", "SUCCEEDED")
    assert live.metrics(cluster)["Suspended"] > 0
    return big


@pytest.mark.parametrize("interval_ms, lost", [(4000, False), pytest.param(0, True, marks=pytest.mark.slow)])
def test_pulses_keep_a_suspended_attempt_alive(clusters, interval_ms, lost):
    cluster = clusters(**live.spec(nodes=1, properties={
        "yarn.nodemanager.hiatus.pulse-interval-ms": interval_ms,
        "yarn.scheduler.hiatus.policy": "srpt",  # both jobs are tiny to HFSP
    }))
    big = _suspended_for_longer_than_the_timeout(cluster)
    assert any(attempt["state"] != "SUCCEEDED" for attempt in big.attempts) == lost
