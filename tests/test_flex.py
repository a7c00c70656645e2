"""The policy `flex` on real daemons: jobs say in tags what they need, and get it."""

import time

import live
import pytest
from hiatus_cluster.applications import work
from support import wait_for

_TASKS, _TASK_S = 24, 2  # three waves on the cluster's eight containers

SPEC = live.spec(properties={
    "yarn.scheduler.hiatus.policy": "flex",
    "yarn.scheduler.hiatus.flex-metric": "total-tardiness",
    "yarn.scheduler.hiatus.default-task-ms": _TASK_S * 1000,
})


def _soon():
    """A deadline that a job meets only if it goes first, as a point in time."""
    return f"hiatus.deadline={round(time.time() * 1000) + 10_000}"


@pytest.mark.parametrize("tight", ["first", "second"])
def test_of_two_equal_jobs_the_one_with_the_earlier_deadline_goes_first_whichever_came_first(applications, tight):
    other = {"first": "second", "second": "first"}[tight]
    tags = {tight: _soon(), other: "hiatus.deadline=+3600"}
    applications.start("first", _TASKS, command=work(_TASK_S), tags=[tags["first"]])
    applications.wait("first", "allocated", 8)
    applications.start("second", _TASKS, command=work(_TASK_S), tags=[tags["second"]])
    ends = {name: applications.wait(name)[0]["at_ms"] for name in (tight, other)}
    assert ends[tight] < ends[other]


def test_a_tag_that_makes_no_sense_is_told_and_fails_nothing(hiatus, applications):
    applications.start("odd", 1, command=work(3), tags=["hiatus.deadline=soon"])
    (told,) = wait_for(lambda: hiatus.rm.get("/ws/v1/hiatus")["jobs"], "the job explained")
    assert [wrong.split(":")[0] for wrong in told["wrong_hints"]] == ["hiatus.deadline=soon"]
    applications.wait("odd")


def test_all_that_an_application_asks_for_is_work_though_its_master_runs_elsewhere(hiatus, applications):
    applications.start("unmanaged", _TASKS, command=work(_TASK_S))
    applications.wait("unmanaged", "allocated", 8)
    # Not only the first eight of 24; how long a task takes it knows from earlier tests' jobs, which a busy machine makes longer.
    expected_s = pytest.approx(_TASKS * _TASK_S / 8, rel=0.5)
    wait_for(lambda: [job["sizing"]["estimate_s"] == expected_s for job in hiatus.rm.get("/ws/v1/hiatus")["jobs"]] == [True], "its size known")
    applications.finish("unmanaged")
