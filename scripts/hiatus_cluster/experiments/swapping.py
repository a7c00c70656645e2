"""Memory of task processes under pressure: a swap file, a cgroup (version 1) with a limit, and what was swapped."""

import contextlib
import os
import re
import subprocess
import threading
from pathlib import Path

from .. import daemons
from .cgroups import Cgroup, Unavailable

_MEMORY = Path("/sys/fs/cgroup/memory")
_POLL_S = 0.1


@contextlib.contextmanager
def swap_file(path, megabytes):
    """Swap on a file while the context lasts. Raises Unavailable where the machine refuses."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    try:
        for command in (["fallocate", "-l", f"{megabytes}M", path], ["chmod", "600", path], ["mkswap", path], ["swapon", path]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise Unavailable(f"`{command[0]}` refuses: {done.stderr.strip()}")
        yield
    except FileNotFoundError as error:
        raise Unavailable(f"{error.filename} is missing") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            subprocess.run(["swapoff", path], capture_output=True)
        path.unlink(missing_ok=True)


class TaskMemory:
    """Puts a cluster's MapReduce tasks into a cgroup of limited memory as they appear, and watches what they swap."""

    def __init__(self, cluster, limit_mb):
        self._cluster = cluster
        self._group = Cgroup(_MEMORY, "tasks", {"memory.limit_in_bytes": f"{limit_mb}M"})
        self.swapped_mb = {}  #: most that a task's process had in swap, by job id
        self.resident_mb = {}  #: most that it had in memory, by job id
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._out, self._in = _swapped_pages()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        self._group.remove()

    def traffic_mb(self):
        """Megabytes that the machine wrote to swap and read from it since the begin."""
        out, back = _swapped_pages()
        page_mb = os.sysconf("SC_PAGE_SIZE") / (1 << 20)
        return (out - self._out) * page_mb, (back - self._in) * page_mb

    def _watch(self):
        tasks = {}
        while not self._ended.wait(_POLL_S):
            for pid in set(daemons.processes(self._cluster.dir)) - tasks.keys():
                with contextlib.suppress(OSError):
                    tasks[pid] = _job_of(pid)
                    if tasks[pid]:
                        self._group.add(pid)
            for pid, job in tasks.items():
                if job:
                    with contextlib.suppress(OSError):
                        self._note(pid, job)

    def _note(self, pid, job):
        status = Path(f"/proc/{pid}/status").read_text()
        for what, name in ((self.swapped_mb, "VmSwap"), (self.resident_mb, "VmRSS")):
            found = re.search(rf"{name}:\s+(\d+) kB", status)
            what[job] = max(what.get(job, 0.0), int(found.group(1)) / 1024 if found else 0.0)


def _job_of(pid):
    """The job id of a MapReduce task's process, or None."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    if b"org.apache.hadoop.mapred.YarnChild" not in words:
        return None
    attempt = next(word.decode() for word in words if word.startswith(b"attempt_"))
    return "job_" + "_".join(attempt.split("_")[1:3])


def _swapped_pages():
    numbers = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(numbers["pswpout"]), int(numbers["pswpin"])
