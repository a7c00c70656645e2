"""What suspension means to processes and to the work they do."""

import subprocess

import live
from hiatus_cluster import containers, jobs, layout
from hiatus_cluster.applications import work
from support import wait_for

_MAPS = 6
#: Within the state directory of the module's cluster.
_RECORDS = layout.BUILD / "tests" / __name__ / "1" / "records"
_RECORD_DIR = "yarn.scheduler.hiatus.rm.record-dir"

SPEC = live.spec(nodes=2, node_memory=[1024], properties={_RECORD_DIR: str(_RECORDS)})


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


def test_what_the_core_decided_here_it_decides_once_more(hiatus, applications):
    """All that was done above, if it was, and one more suspension."""
    applications.start("big", 8)
    live.await_running(applications, "big", 8)
    applications.start("small", 1, command=work(1))
    live.await_paused(hiatus)
    applications.wait("small")
    applications.finish("big")
    wait_for(lambda: not live.paused(hiatus), "nothing is paused")
    hiatus.configure({_RECORD_DIR: None})
    hiatus.run("yarn", "rmadmin", "-refreshQueues")  # ends the log

    (log,) = _RECORDS.iterdir()
    replayed = wait_for(lambda: "cut off" not in (done := _hiatus("replay", log)).stderr and done, "the log is whole")
    assert replayed.returncode == 0, replayed.stderr
    steps, facts, decisions = map(int, replayed.stdout.splitlines()[1].split(",")[:3])
    assert steps > 10 and facts > 10 and decisions > 1, replayed.stdout
    # These applications bring their own masters, so no job is whole in the log; what else is in it is read.
    told = _hiatus("what-if", log, "--policy", "fifo", "--preemption", "wait").stdout
    read = dict(line.rsplit(",", 1) for line in told.splitlines() if line.count(",") == 1)
    assert int(read["nodes"]) == 2 and int(read["suspensions recorded"]) >= 1, told


def _hiatus(*words):
    return subprocess.run([layout.cargo_target() / "release" / "hiatus", *words, "--format", "csv"], capture_output=True, text=True)
