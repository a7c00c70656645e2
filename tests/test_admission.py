"""Who is let into a queue whose limit on ApplicationMasters is full."""

import live
from hiatus_cluster import jobs

#: Room for twelve containers. A tenth of it, CapacityScheduler's default for ApplicationMasters, is one of them.
SPEC = live.spec(nodes=2, node_memory=[1536], properties={"yarn.scheduler.capacity.maximum-am-resource-percent": 0.1})


def test_a_small_job_behind_big_ones_is_let_in_beyond_the_limit_of_masters(hiatus):
    """Stock lets in the second job when the first has ended, and the third after that."""
    maps, small = 16, 2
    big = [jobs.job(f"big-{number}", number, "sleep", "-m", maps, "-r", 0, "-mt", 10_000) for number in (1, 2)]
    workload = jobs.Workload(hiatus, [*big, jobs.job("small", 10, "sleep", "-m", small, "-r", 0, "-mt", 1000)])
    workload.wait(timeout_s=300)
    *big, last = workload.results()
    assert last.finished_ms < min(one.finished_ms for one in big)
    for one in big:
        live.assert_each_task_ran_once(one, maps)
    live.assert_each_task_ran_once(last, small)
