"""Containers of other users: what is asked of YARN's container-executor, of one that really changes the user, and on a cluster that runs by it.

Where CONTAINER_EXECUTOR names a real one, what is asked of it is asked of that. Its configuration has to allow the users of these tests.
"""

import os
import pwd
import signal
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

import live
from hiatus_cluster import daemons
from hiatus_cluster.applications import work
from support import wait_for

_STAND_IN = Path(__file__).parent / "users" / "bin" / "container-executor"
_BINARY = Path(os.environ.get("CONTAINER_EXECUTOR", _STAND_IN))
#: Every Debian has them; nothing else runs as one of them.
_ALICE, _BOB = "games", "mail"
#: More tasks than a tiny job has, which comes first for a minute (`training-tasks`).
_SLOTS = 8
_EXECUTOR = "io.hiatus.nodemanager.HiatusLinuxContainerExecutor"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has processes of other users")


def _uid(user):
    return pwd.getpwnam(user).pw_uid


def _asked(*words):
    """The exit code of the binary with those arguments."""
    return subprocess.run(list(map(str, [_BINARY, *words])), capture_output=True, timeout=30).returncode


@pytest.fixture
def sleeper():
    """Starts a process group of a user's, and gives back its leader's number."""
    started = []

    def start(user):
        started.append(subprocess.Popen(["sleep", "600"], user=user, group=pwd.getpwnam(user).pw_gid, extra_groups=[], start_new_session=True))
        return started[-1].pid

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_its_setup_is_found_well():
    assert _asked("--checksetup") == 0


def test_a_group_of_the_users_is_stopped_and_continued(sleeper):
    group = sleeper(_ALICE)
    for number, state in ((signal.SIGSTOP, "T"), (signal.SIGCONT, "S")):
        assert _asked(_ALICE, _ALICE, 2, group, int(number)) == 0
        wait_for(lambda: daemons.state(group) == state, f"state {state}")


def test_whose_number_it_is_does_not_matter_but_as_whom_it_is_sent(sleeper):
    """The first name is whom the signal is sent as; the second, the one that YARN knows, changes nothing."""
    group = sleeper(_ALICE)
    assert _asked(_ALICE, "somebody", 2, group, int(signal.SIGSTOP)) == 0
    wait_for(lambda: daemons.state(group) == "T", "stopped")


def test_no_signal_reaches_a_group_of_another_user(sleeper):
    """As if it were not there; the oldest ones have the code of a refused user for it."""
    group = sleeper(_ALICE)
    codes = {9} if _BINARY == _STAND_IN else {9, 255}
    assert _asked(_BOB, _BOB, 2, group, int(signal.SIGSTOP)) in codes
    assert _asked(_BOB, _ALICE, 2, group, int(signal.SIGKILL)) in codes
    assert daemons.state(group) == "S"


@pytest.mark.parametrize("group", [0, -1, 2 ** 22 + 1])
def test_a_group_that_does_not_exist_has_a_code_of_its_own(group):
    """9: for Hiatus that is no failure, since processes end."""
    assert _asked(_ALICE, _ALICE, 2, group, int(signal.SIGSTOP)) == 9


@pytest.mark.parametrize("user, why", [("root", "root"), ("daemon", "banned"), ("uucp", "its id is below the least"), ("nobody-at-all", "unknown")])
def test_as_some_users_nothing_is_done(sleeper, user, why):
    group = sleeper(_ALICE)
    assert _asked(user, _ALICE, 2, group, int(signal.SIGSTOP)) == 255, why
    assert daemons.state(group) == "S"


@pytest.mark.parametrize("words, code", [([], 1), ([_ALICE, _ALICE], 1), ([_ALICE, _ALICE, 2, 4711], 1), ([_ALICE, _ALICE, 77, 4711, 19], 3)])
def test_what_is_no_operation_is_refused(words, code):
    assert _asked(*words) == code


@pytest.fixture
def node():
    """Folders of a NodeManager's into which all users may go, and what it prepares of a container."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o711)
        for name in ("local", "logs", "private"):
            (home / name).mkdir()
        (home / "private" / "tokens").write_text("secret")
        yield home


def _launch(node, user, script, container="container_1_0001_01_000002", local=None):
    (node / "private" / "script").write_text(f"#!/bin/bash\n{script}\n")
    work_dir = node / "local" / "usercache" / user / "appcache" / "application_1_0001" / container
    code = _asked(user, user, 1, "application_1_0001", container, work_dir, node / "private" / "script", node / "private" / "tokens", "--http",
                  node / "private" / "pid", local or node / "local", node / "logs", "cgroups=none")
    return code, work_dir


def test_a_container_runs_as_its_user_and_another_user_reads_none_of_its_files(node):
    code, work_dir = _launch(node, _ALICE, "id -un > who; cat container_tokens > copied; exit 7")
    assert code == 7
    assert (work_dir / "who").read_text() == f"{_ALICE}\n"
    assert (work_dir / "copied").read_text() == "secret"
    assert (node / "private" / "pid.exitcode").read_text() == "7"
    assert {path.stat().st_uid for path in work_dir.iterdir()} == {_uid(_ALICE)}
    for name in ("who", "copied", "container_tokens"):
        assert subprocess.run(["cat", work_dir / name], user=_BOB, group=pwd.getpwnam(_BOB).pw_gid, extra_groups=[], capture_output=True).returncode


def test_a_container_killed_by_a_signal_says_so(node):
    assert _launch(node, _ALICE, "kill -9 $$")[0] == 128 + 9


@pytest.mark.skipif(_BINARY != _STAND_IN, reason="older ones know no such ids")
def test_a_container_of_no_proper_id_is_not_launched(node):
    code, work_dir = _launch(node, _ALICE, "true", container="../../escape")
    assert code == 1 and not work_dir.exists()


def test_a_folder_that_is_not_the_node_managers_is_refused(node):
    (node / "other").mkdir()
    os.chown(node / "other", _uid(_BOB), 0)
    code, _ = _launch(node, _ALICE, "true", local=node / "other")
    assert code and not list((node / "other").iterdir())


def _owners(cluster, container):
    return {os.stat(f"/proc/{pid}").st_uid for pid in live.states(cluster, container)}


@pytest.fixture(scope="module")
def cluster(clusters):
    """A node that starts and signals containers by the stand-in, as the user of each."""
    folder = next((folder for folder in Path(__file__).resolve().parents if not folder.stat().st_mode & stat.S_IXOTH), None)
    if folder:
        pytest.skip(f"other users may not go into {folder}")
    settings = {"path": str(_STAND_IN), "group": "root", "nonsecure-mode.limit-users": "false"}
    return clusters(**live.spec(nodes=1, node_memory=[256 * _SLOTS], node_heartbeat_ms=200, recovery=True, properties={
        "node1:yarn.nodemanager.container-executor.class": _EXECUTOR,
        **{f"yarn.nodemanager.linux-container-executor.{name}": value for name, value in settings.items()}}))


def test_containers_of_one_user_stand_still_for_those_of_another_and_go_on(hiatus, applications):
    applications.start("big", _SLOTS, user=_ALICE, command="sleep 3600 & setsid sleep 3600 & sleep 3600; wait")
    live.await_running(applications, "big", _SLOTS)
    applications.start("small", 1, user=_BOB, command=work(3))
    (container, _), = live.await_paused(hiatus).items()
    stopped = live.states(hiatus, container)
    assert len(stopped) >= 4 and set(stopped.values()) == {"T"}
    assert _owners(hiatus, container) == {_uid(_ALICE)}
    applications.wait("small")
    wait_for(lambda: live.works(hiatus, container), "all run again")
    assert set(live.states(hiatus, container)) == set(stopped)
    applications.finish("big")


def test_what_is_suspended_outlives_its_node_manager_and_can_be_killed(hiatus, applications):
    applications.start("big", _SLOTS, user=_ALICE)
    live.await_running(applications, "big", _SLOTS)
    applications.start("small", 1, user=_BOB)
    standing = live.await_paused(hiatus)
    small = applications.wait("small", "allocated")[0]["container"]
    wait_for(lambda: live.works(hiatus, small), "the small job runs: a node loses what it is just about to start")
    live.restart_node(hiatus, 1)
    assert set(live.await_paused(hiatus)) == set(standing)
    for container in standing:
        wait_for(lambda: live.stands_still(hiatus, container), f"{container} stands still again, after a pulse")
    hiatus.rm.kill_app(applications.app_id("big"))
    wait_for(lambda: not any(live.states(hiatus, one) for one in standing), "what was killed while it stood still is gone")
    applications.finish("small")
