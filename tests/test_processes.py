"""Which processes are a cluster's, and which are not, however much they have to do with it."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

from hiatus_cluster import daemons
from support import wait_for


@pytest.fixture
def spawn(tmp_path):
    """Starts processes in the state directory ``tmp_path``, and ends what is left of them."""
    started = []

    def start(*command, **env):
        process = subprocess.Popen(list(map(str, command)), env={"PATH": os.environ["PATH"], **env}, start_new_session=True)
        started.append(process)
        wait_for(lambda: command[0] in Path(f"/proc/{process.pid}/cmdline").read_text(), f"{command} running")
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):  # the shell's own child is a stranger to the cluster, and stays
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("script", ["default_container_executor.sh", "default_container_executor_session.sh", "launch_container.sh"])
def test_a_container_on_its_way_is_ended_before_it_carries_the_mark(tmp_path, spawn, script):
    path = tmp_path / "node1" / "local" / "usercache" / script
    path.parent.mkdir(parents=True)
    path.write_text("sleep 600; true\n")
    shell = spawn("bash", path)
    assert shell.pid in daemons.processes(tmp_path)
    daemons.kill_all(tmp_path)
    assert shell.wait(timeout=10) == -signal.SIGKILL


def test_who_only_looks_at_a_cluster_is_left_alone(tmp_path, spawn):
    script = tmp_path / "node1" / "local" / "launch_container.sh"
    script.parent.mkdir(parents=True)
    script.write_text("")
    reader = spawn("tail", "-f", script)
    other = spawn("sleep", "600", HIATUS_CLUSTER=f"{tmp_path}-2")
    assert daemons.kill_all(tmp_path) == 0
    assert (reader.poll(), other.poll()) == (None, None)


def test_a_marked_process_is_ended_even_if_stopped(tmp_path, spawn):
    process = spawn("sleep", "600", HIATUS_CLUSTER=str(tmp_path))
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: daemons.state(process.pid) == "T", "stopped")
    assert daemons.kill_all(tmp_path) == 1
    assert process.wait(timeout=10) == -signal.SIGKILL
