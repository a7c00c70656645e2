"""Containers of Docker's that run as another user, as YARN runs them: they stand still and go on by Hiatus's own means, with a real engine.

YARN's part, that it starts them by container-executor, is done by hand here: the engine is told what YARN tells it of user and cgroup.
"""

import pwd
import subprocess
import tempfile
from pathlib import Path

import pytest

from hiatus_cluster import daemons, distribution, layout, toolchain
from hiatus_cluster.docker import engine
from support import wait_for

pytestmark = pytest.mark.docker

_USERS = Path(__file__).parent / "users"
_IMAGE, _USER, _CONTAINER = "hiatus/shell", "games", "container_1_0001_01_000002"


@pytest.fixture(scope="module")
def image():
    """A shell and nothing else."""
    shell = toolchain.program("busybox", "busybox-static", print)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bin").mkdir()
        for name in ("sh", "sleep"):
            (Path(folder) / "bin" / name).symlink_to("busybox")
        subprocess.run(["cp", shell, f"{folder}/bin/busybox"], check=True)
        archive = subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE)
        engine.docker("import", "-", _IMAGE, stdin=archive.stdout, stdout=subprocess.DEVNULL)
    yield _IMAGE
    engine.docker("rmi", _IMAGE, stdout=subprocess.DEVNULL)


@pytest.fixture
def container(image):
    """Three processes; the number of the first one, as container-executor writes it into the pid file."""
    user = pwd.getpwnam(_USER)
    engine.docker("run", "--detach", "--name", _CONTAINER, "--user", f"{user.pw_uid}:{user.pw_gid}", "--network", "none",
                  "--cgroup-parent", f"/hadoop-yarn/{_CONTAINER}", image, "sh", "-c", "sleep 600 & sleep 600 & wait", stdout=subprocess.DEVNULL)
    yield int(engine.told("inspect", "--format", "{{.State.Pid}}", _CONTAINER))
    engine.docker("rm", "--force", _CONTAINER, stdout=subprocess.DEVNULL)


def _processes(leader):
    """{process: state} of the container's, by the engine."""
    _, *rows = engine.told("top", _CONTAINER, "-o", "pid,user").splitlines()
    found = {int(row.split()[0]): row.split()[1] for row in rows}
    assert leader in found and set(found.values()) == {_USER}
    return {pid: daemons.state(pid) for pid in found}


def test_it_stands_still_and_goes_on(container, tmp_path):
    jars = f"{layout.product_jar('nodemanager')}:{layout.HADOOP_LIB}/*"
    java = distribution.java_home() / "bin"
    subprocess.run([java / "javac", "-Xlint:all,-path", "-Werror", "-cp", jars, "-d", tmp_path, _USERS / "Pause.java"], check=True)
    wait_for(lambda: len(_processes(container)) == 3, "all of it runs")
    command = [java / "java", "-cp", f"{tmp_path}:{jars}", "io.hiatus.nodemanager.Pause", _USERS / "bin" / "container-executor", _USER, str(container),
               _CONTAINER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hiatus:
        for order, state in (("suspend", "T"), ("resume", "S"), ("suspend", "T"), ("resume", "S")):
            hiatus.stdin.write(f"{order}\n")
            hiatus.stdin.flush()
            assert hiatus.stdout.readline() == f"{order} by signals\n"
            assert set(_processes(container).values()) == {state}
        hiatus.stdin.close()


def test_what_stands_still_can_be_killed_by_the_engine(container):
    """As YARN kills it."""
    subprocess.run([_USERS / "bin" / "container-executor", _USER, _USER, "2", str(container), "19"], check=True)
    wait_for(lambda: set(_processes(container).values()) == {"T"}, "all of it stands still")
    engine.docker("kill", _CONTAINER, stdout=subprocess.DEVNULL)
    wait_for(lambda: daemons.state(container) in (None, "Z"), "it is gone")
