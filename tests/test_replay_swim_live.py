"""Jobs that move bytes, on real daemons: as many as planned, every record once, whether or not they were suspended in between."""

import dataclasses
import time

import live
from hiatus_cluster import containers, jobs, layout
from hiatus_cluster.replay.swim import command, model, trace
from support import wait_for

SPEC = live.spec(nodes=2, node_memory=[1024], fs="hdfs")


def _planned():
    """One that reads, shuffles and writes; one that reads nothing, and writes without reduces; one of a record each."""
    megabytes = model.BYTES_DIVISOR * model.MB
    rows = [trace.Row(1, 0, 8 * megabytes, 160 * megabytes, 20 * megabytes + 17),
            trace.Row(2, 1, 0, 0, 2 * megabytes), trace.Row(3, 2, 1, 1, 1)]
    big, *small = model.plan(rows, 1, 8, 0.8)
    assert (big.maps, big.reduces) == (4, 4)
    return [dataclasses.replace(big, reduces=2), *(dataclasses.replace(job, at_s=job.at_s / 100) for job in small)]


def _maps(cluster, application):
    """Tasks that have worked for a second at least."""
    return [life.container for life in containers.lives(cluster) if life.application == application and not life.is_master
            and life.spans[-1][1:] == (None, "running") and life.begin < time.time() - 1]


def test_every_byte_is_moved_once_although_the_job_was_suspended(hiatus):
    planned = _planned()
    replay = command.replay("test", planned, "bytes")
    replay.prepare(hiatus, 1)
    submitted = replay.jobs(1)
    workload = jobs.Workload(hiatus, [job.submission for job in submitted])
    big = wait_for(lambda: next((app for app in hiatus.rm.apps("states=RUNNING") if app["name"] == planned[0].name), None), "the big job is there")
    maps = wait_for(lambda: len(found := _maps(hiatus, big["id"])) >= 3 and found, "maps of the big job work", 120)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{big['id']}/parked", True)
    wait_for(lambda: all(live.stands_still(hiatus, one) or not live.states(hiatus, one) for one in maps), "maps stand still, or have ended")
    assert any(live.stands_still(hiatus, one) for one in maps)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{big['id']}/parked", False)
    workload.wait(timeout_s=300)
    results = workload.results()
    assert [result.status for result in results] == ["SUCCEEDED"] * 3
    live.assert_each_task_ran_once(results[0], 4 + 2)
    (fact,) = replay.check(hiatus, 1, results, layout.BUILD)
    assert "counters as planned to the byte: 9 MB read, 161 MB shuffled, 23 MB written" in fact
