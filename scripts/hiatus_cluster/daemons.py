"""Starting, watching and ending the processes of a cluster.

Every daemon gets the cluster's state directory in the environment variable HIATUS_CLUSTER, and NodeManagers hand it on to their
containers: so whatever a cluster started can be told from everything else on the machine, even if its parent is gone.
"""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from .errors import ClusterError

#: Environment variable that marks every process of a cluster; its value is the state directory.
MARK = "HIATUS_CLUSTER"
_NAME = "HIATUS_DAEMON"
#: How a NodeManager starts a container: these programs run these scripts of its local folder.
_LAUNCHERS = {"bash", "setsid"}
_LAUNCH_SCRIPTS = {"default_container_executor.sh", "default_container_executor_session.sh", "launch_container.sh"}


def processes(state_dir):
    """Process ids of everything that belongs to the cluster of this state directory: daemons, containers, orphans."""
    return sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _belongs(int(entry), str(state_dir)))


def _belongs(pid, state_dir):
    return f"{MARK}={state_dir}".encode() in environment(pid) or _launches_container(pid, state_dir)


def _launches_container(pid, state_dir):
    """The shells that lead to a container run without the mark, which the second script sets: missed, they would start it after all."""
    program, *arguments = [os.fsdecode(word) for word in _proc(pid, "cmdline")] or [""]
    return os.path.basename(program) in _LAUNCHERS and any(
        word.startswith(f"{state_dir}/node") and os.path.basename(word) in _LAUNCH_SCRIPTS for word in arguments)


def environment(pid):
    """The environment a process was started with, as ``KEY=value`` byte strings; empty if it is gone."""
    return _proc(pid, "environ")


def _proc(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0")
    except OSError:
        return []


def state(pid):
    """State letter of a process as in ps(1) (R, S, T for stopped, Z …); None if it is gone."""
    fields = stat(pid)
    return fields[0] if fields else None


def stat(pid):
    """What the kernel tells of a process (proc(5), ``/proc/PID/stat``) from its state on; None if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def cpu_s(pids):
    """User and system time of processes and of their children that have ended, s."""
    fields = [(stat(pid) or [])[11:15] for pid in pids]
    return sum(int(ticks) for one in fields for ticks in one) / os.sysconf("SC_CLK_TCK")


def frozen(pid):
    """Whether a cgroup freezer (v1 or v2) holds a process, of which its state letter says nothing."""
    for line in b"".join(_proc(pid, "cgroup")).decode().splitlines():
        _, controllers, path = line.split(":", 2)
        reports = {"freezer": [("freezer", "freezer.state", "FROZEN")],
                   "": [("", "cgroup.events", "frozen 1"), ("unified", "cgroup.events", "frozen 1")]}
        for mount, file, word in reports.get(controllers, []):
            with contextlib.suppress(OSError):
                if word in Path("/sys/fs/cgroup", mount, path.lstrip("/"), file).read_text():
                    return True
    return False


def kill_all(state_dir, patience_s=20):
    """SIGKILLs every process of the cluster until none is left; says how many there were."""
    killed, deadline = set(), time.monotonic() + patience_s
    while True:
        left = [pid for pid in processes(state_dir) if pid != os.getpid() and state(pid) != "Z"]
        if not left:
            return len(killed)
        if time.monotonic() > deadline:
            raise ClusterError(f"processes {left} of {state_dir} survive SIGKILL for {patience_s} s: they hang in the kernel")
        for pid in left:
            send(pid, signal.SIGKILL)
        killed.update(left)
        time.sleep(0.05)


def send(pid, number):
    """Sends a signal; False if the process is gone."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class Daemon:
    """One long-running process of a cluster: ``name`` names its pid file and its log."""

    def __init__(self, state_dir, name):
        self.state_dir = Path(state_dir)
        self.name = name
        self.log = self.state_dir / "logs" / f"{name}.log"
        self._pid_file = self.state_dir / "pids" / name

    @property
    def pid(self):
        """Process id if the daemon is alive, else None. A pid that meanwhile belongs to something else counts as dead."""
        try:
            pid = int(self._pid_file.read_text())
        except (OSError, ValueError):
            return None
        mine = f"{_NAME}={self.name}".encode() in (env := environment(pid)) and f"{MARK}={self.state_dir}".encode() in env
        return pid if mine and state(pid) not in (None, "Z") else None

    def start(self, command, env):
        """Starts the daemon in a session of its own; it outlives the caller. Output is appended to ``log``."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._pid_file.parent.mkdir(parents=True, exist_ok=True)
        env = {**os.environ, **env, MARK: str(self.state_dir), _NAME: self.name}
        with open(self.log, "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self.state_dir,
                                       start_new_session=True)
        _children.append(process)
        self._pid_file.write_text(str(process.pid))
        while self.pid is None and process.poll() is None:  # for an instant of its birth a process shows no environment
            time.sleep(0.01)

    def signal(self, number):
        """Sends a signal to the daemon. Raises ClusterError if it is not alive."""
        pid = self.pid
        if pid is None or not send(pid, number):
            raise ClusterError(f"{self.name} is not running")

    def kill(self):
        """``kill -9``, then waits until the process is gone. Containers of a NodeManager stay."""
        self._end(signal.SIGKILL)

    def stop(self):
        """An orderly end: SIGTERM, then waits until the process is gone."""
        self._end(signal.SIGTERM)

    def freeze(self):
        """SIGSTOP: the daemon is there and silent, as behind a broken network."""
        self.signal(signal.SIGSTOP)

    def thaw(self):
        """SIGCONT after ``freeze``."""
        self.signal(signal.SIGCONT)

    def _end(self, number, patience_s=30):
        self.signal(number)
        deadline = time.monotonic() + patience_s
        while self.pid is not None:
            _reap()
            if time.monotonic() > deadline:
                raise ClusterError(f"{self.name} (pid {self.pid}) is still there {patience_s} s after {signal.Signals(number).name}")
            time.sleep(0.05)

    def tail(self, lines=25):
        """The last lines of the log."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"


#: Daemons started by this process: reaped when they end, so that they do not stay as zombies.
_children = []


def _reap():
    _children[:] = [process for process in _children if process.poll() is None]
