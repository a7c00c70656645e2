"""The Docker engine and Compose: found, installed, started and ended."""

import contextlib
import os
import shutil
import signal
import subprocess
from functools import lru_cache
from pathlib import Path

from .. import daemons, layout, toolchain
from ..errors import ClusterError
from ..patience import until

_HOME = layout.BUILD / "docker-engine"
_LOG, _PID = _HOME / "dockerd.log", _HOME / "pid"


def ensure(say):
    """An engine that answers, and Compose. If root, what is missing is installed and an engine started; ClusterError says what is missing."""
    if not _answers():
        if where := os.environ.get("DOCKER_HOST"):
            raise ClusterError(f"no Docker: the engine that DOCKER_HOST names, {where}, does not answer; start it, or unset DOCKER_HOST")
        if os.geteuid() != 0:
            raise ClusterError("no Docker: no engine answers. Start it, or run this as root, which may install and start one")
        for name, package in (("dockerd", "docker.io"), ("docker", "docker.io"), ("iptables", "iptables")):
            toolchain.program(name, package, say)
        _start(say)
    if not _has_plugin():
        toolchain.program("docker-compose", "docker-compose", say)


@contextlib.contextmanager
def running(say):
    """An engine for as long as this lasts: the one that runs, or one that is started and ended."""
    try:
        ensure(say)
        yield
    finally:
        stop(say)


def docker(*words, **more):
    """Runs Docker. Raises ClusterError if it fails."""
    return run(["docker", *words], **more)


def compose(*words, **more):
    """Runs Compose, as a plugin of Docker or by itself. Raises ClusterError if it fails."""
    return run([*(["docker", "compose"] if _has_plugin() else ["docker-compose"]), *words], **more)


def told(*words):
    """What Docker says to these words."""
    return docker(*words, capture_output=True).stdout.strip()


def stop(say):
    """Ends the engine if ``ensure`` started it; what it keeps, such as images, stays."""
    pid = _started()
    if pid:
        say("ending the engine that was started here")
        daemons.send(pid, signal.SIGTERM)
        until(lambda: not _started(), f"dockerd (pid {pid}) has ended", 60)
    _PID.unlink(missing_ok=True)


def _answers():
    return bool(shutil.which("docker")) and subprocess.run(["docker", "version"], capture_output=True).returncode == 0


@lru_cache(maxsize=None)
def _has_plugin():
    return subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0


def _start(say):
    """dockerd by hand, as on a machine without an init system."""
    say("starting dockerd")
    _HOME.mkdir(parents=True, exist_ok=True)
    with open(_LOG, "wb") as log:
        process = subprocess.Popen(["dockerd", "--mtu", _mtu()], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    _PID.write_text(str(process.pid))
    until(lambda: _answers() or process.poll() is not None, "dockerd answers", 60)
    if process.poll() is not None:
        raise ClusterError(f"no Docker: dockerd ended with {process.returncode}; the end of {_LOG}:\n{_LOG.read_text(errors='replace')[-2000:]}")


def _mtu():
    """The longest packet of the interface of the default route, or Docker's own default: containers that send longer ones reach nobody."""
    routes = [line.split() for line in Path("/proc/net/route").read_text().splitlines()]
    name = next((route[0] for route in routes if route[1] == "00000000"), None)
    return Path(f"/sys/class/net/{name}/mtu").read_text().strip() if name else "1500"


def _started():
    """Process id of the engine that ``ensure`` started, if it is alive."""
    try:
        pid = int(_PID.read_text())
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return None
    return pid if name == "dockerd" and daemons.state(pid) != "Z" else None


def run(command, **more):
    """Runs a program to its end and gives back what subprocess.run does, with text. Raises ClusterError if it fails."""
    try:
        done = subprocess.run(list(map(str, command)), text=True, **more)
    except FileNotFoundError as error:
        raise ClusterError(f"{command[0]} is missing") from error
    if done.returncode:
        raise ClusterError(f"`{' '.join(map(str, command))}` ended with {done.returncode}: {done.stderr or ''}")
    return done
