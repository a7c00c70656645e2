"""What suspension means to processes and to the work they do."""

import live
from documented import Shell
from hiatus_cluster import containers, jobs, layout, recordings
from hiatus_cluster.applications import work
from hiatus_cluster.experiments import small_live
from hiatus_cluster.scaled import KNOB
from support import wait_for

_MAPS = 6
#: Within the state directory of the module's cluster.
_RECORDS = layout.BUILD / "tests" / __name__ / "1" / "records"

SPEC = live.spec(nodes=2, node_memory=[1024], properties={recordings.RECORD_DIR: str(_RECORDS)})


def test_processes_stand_still_and_run_again_and_the_output_is_right(hiatus, applications, tmp_path):
    expected = live.write_text(tmp_path / "text", _MAPS)
    workload = jobs.Workload(hiatus, [jobs.job("big", 0, "wordcount", tmp_path / "text", tmp_path / "counts")])
    live.await_job(hiatus, 1 + _MAPS)
    applications.start("small", 3, command=work(5))

    standing = live.await_paused(hiatus, 2)
    for container in standing:
        processes = live.states(hiatus, container)
        assert processes and set(processes.values()) == {"T"}, f"{container}: {processes}"
    applications.wait("small")
    for container in standing:
        wait_for(lambda: live.works(hiatus, container) or not live.states(hiatus, container), f"{container} runs again, or has ended")

    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, _MAPS + 1)
    assert live.read_counts(tmp_path / "counts") == expected
    resumed = {life.container for life in containers.lives(hiatus) if life.resumptions}
    assert set(standing) <= resumed


def test_a_process_tree_stands_still_as_a_whole(hiatus, applications):
    """A shell with children in groups and sessions of their own."""
    applications.start("big", 8, command="setsid sleep 3600 & sleep 3600 & sleep 3600; wait")
    live.await_running(applications, "big", 8)
    applications.start("small", 1, command=work(3))
    (container,) = live.await_paused(hiatus)
    processes = live.states(hiatus, container)
    assert len(processes) >= 4 and set(processes.values()) == {"T"}, processes
    applications.wait("small")
    wait_for(lambda: live.works(hiatus, container), "all run again")
    assert set(live.states(hiatus, container)) == set(processes)
    applications.finish("big")


def test_nothing_is_suspended_of_an_application_of_which_nobody_says_that_it_may_be(hiatus, applications):
    """Neither its type, YARN's own, nor a tag; then the administrator lists that type."""
    applications.start("service", 8, suspend=False)
    live.await_running(applications, "service", 8)
    applications.start("small", 1, command=work(1))
    small = applications.app_id("small")
    wait_for(lambda: any(job["application"] == small and "(suspend-types)" in job["blocked_by"] for job in hiatus.rm.get("/ws/v1/hiatus")["jobs"]),
             "the small one is told why it waits")
    assert live.paused(hiatus) == {}
    hiatus.configure({KNOB + "suspend-types": "MAPREDUCE, YARN"})
    hiatus.run("yarn", "rmadmin", "-refreshQueues")
    (container,) = live.await_paused(hiatus)
    applications.wait("small")
    wait_for(lambda: live.works(hiatus, container), "it goes on")
    hiatus.configure({KNOB + "suspend-types": None})
    hiatus.run("yarn", "rmadmin", "-refreshQueues")
    told = hiatus.run("jar", layout.product_jar("scheduler"), "suspend", applications.app_id("service")).stderr
    assert "its type YARN is none of suspend-types" in told, "who parks it is warned, and obeyed"
    wait_for(lambda: all(live.stands_still(hiatus, life.container) for life in applications.lives("service")), "all of it stands still")
    applications.finish("service")


def test_small_jobs_pass_several_big_ones_on_nodes_with_a_remainder(hiatus):
    """The scene of `scripts/experiment small-live`, as small as it can be: on each node two containers, and two thirds of one left over."""
    outcome = small_live.play(hiatus, small_live.Scene(big=2, tasks=16, task_s=5, small=1, task_mb=384))
    assert outcome.suspended > 0 and outcome.lost == 0
    assert max(outcome.small_s) < min(outcome.big_s)


def test_of_an_application_killed_while_suspended_no_process_is_left(hiatus, applications):
    applications.start("big", 8)
    live.await_running(applications, "big", 8)
    applications.start("small", 2)
    standing = live.await_paused(hiatus, 2)
    assert live.stopped(hiatus)
    hiatus.rm.kill_app(applications.app_id("big"))
    wait_for(lambda: not any(live.states(hiatus, life.container) for life in applications.lives("big")), "all processes of the big job gone")
    assert live.stopped(hiatus) == []
    assert {life.spans[-1][2] for life in applications.lives("big") if life.container in standing} == {"suspended"}
    applications.finish("small")


def test_what_the_core_decided_here_it_decides_once_more(hiatus, applications, tmp_path):
    """All that was done above, if it was, one more suspension, and a job whose own tasks are known."""
    applications.start("big", 8)
    live.await_running(applications, "big", 8)
    applications.start("small", 1, command=work(1))
    live.await_paused(hiatus)
    applications.wait("small")
    applications.finish("big")
    wait_for(lambda: not live.paused(hiatus), "nothing is paused")
    (result,) = jobs.run(hiatus, [jobs.job("whole", 0, "sleep", "-m", 2, "-r", 0, "-mt", 1000)])
    assert result.status == "SUCCEEDED"
    wait_for(lambda: hiatus.rm.metrics()["containersAllocated"] == 0, "its ApplicationMaster has ended, too")
    log = recordings.finish(hiatus)
    shell = Shell(tmp_path, filled={"hiatus-20260102T030405.678Z-1.log.gz": log})
    told = shell.documented("hiatus replay hiatus-20260102T030405.678Z-1.log.gz", "--format csv")
    steps, facts, decisions = map(int, told.splitlines()[1].split(",")[:3])
    assert steps > 10 and facts > 10 and decisions > 1, told
    told = shell.documented("hiatus what-if hiatus-20260102T030405.678Z-1.log.gz --policy hfsp --preemption suspend --plot what-if.svg",
                            "--format csv")
    read = dict(line.rsplit(",", 1) for line in told.splitlines() if line.count(",") == 1)
    assert int(read["nodes"]) == 2 and int(read["jobs used"]) >= 1 and int(read["suspensions recorded"]) >= 1, told
    assert (tmp_path / "what-if.svg").read_text().startswith("<svg")
