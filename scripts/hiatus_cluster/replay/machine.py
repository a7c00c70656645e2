"""What else the machine did during a run, and how fast it was: a replay on a busy machine must not pass for a quiet one, and what
was measured on a slow one is not compared with what a fast one did: what neighbours of a virtual machine slow down is no process of it."""

import json
import os
import statistics
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import daemons

_EVERY_S = 2
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
#: Quiet: others take no more of all CPUs than this before and during a run, nothing is read back from swap, and memory is left.
_QUIET_SHARE, _QUIET_AVAILABLE_MB = 0.05, 4096
_ALIKE = 1.1  #: times as fast, at most
#: A piece of work of which the speed is told; it takes less than 1 ms.
_PIECE = json.dumps([{"name": f"job-{number}", "at_s": number / 7, "tasks": list(range(number % 17))} for number in range(1000)]).encode()


@dataclass(frozen=True)
class Readings:
    """Shares are of all CPUs' time, from 0 to 1."""

    load_average_before: float  #: of the last minute; an earlier run counts, too
    others_before: float  #: share taken by all processes before the cluster started
    others_during: float  #: share taken by processes that are not the cluster's; those that live shorter than 2 s may be missed
    idle_during: float
    stolen_during: float  #: share that the host gave to other machines
    speed_during: float  #: a fixed piece of work, times done in a second of a CPU
    least_available_mb: int
    swapped_in_pages: int

    @property
    def quiet(self):
        """Whether nothing else took part."""
        return (max(self.others_before, self.others_during, self.stolen_during) <= _QUIET_SHARE
                and self.least_available_mb >= _QUIET_AVAILABLE_MB and self.swapped_in_pages == 0)

    def document(self):
        """As JSON."""
        return {**asdict(self), "quiet": self.quiet}


def alike(documents):
    """Whether runs of which these are the readings were made at the same speed, so that their times may be compared."""
    speeds = [document["speed_during"] for document in documents]
    return max(speeds) <= _ALIKE * min(speeds)


class Watch:
    """Looks at the machine before a run (``Watch()``) and during it (``with``)."""

    def __init__(self, state_dir):
        self._state_dir = str(state_dir)
        self._load_before = os.getloadavg()[0]
        before = _cpu()
        time.sleep(_EVERY_S)
        self._others_before = 1 - _shares(before, _cpu())[0]
        self._foreign_ticks, self._available_mb, self._speeds = 0, _available_mb(), [_speed()]
        self._done = threading.Event()
        self._thread = ThreadPoolExecutor(1)

    def __enter__(self):
        self._cpu, self._swapped, self._begin = _cpu(), _swapped_in(), time.monotonic()
        self._looking = self._thread.submit(self._look)
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.shutdown()
        self._looking.result()  # who could not look has seen nothing
        self._seconds = time.monotonic() - self._begin
        (self._idle, self._stolen), self._swapped = _shares(self._cpu, _cpu()), _swapped_in() - self._swapped

    def readings(self):
        """What was seen; after the run."""
        others = self._foreign_ticks / _TICKS_PER_S / (self._seconds * os.cpu_count())
        return Readings(self._load_before, self._others_before, others, self._idle, self._stolen, statistics.median(self._speeds),
                        self._available_mb, self._swapped)

    def _look(self):
        before = self._foreign()
        while not self._done.wait(_EVERY_S):
            now = self._foreign()
            self._foreign_ticks += sum(max(0, ticks - before.get(pid, 0)) for pid, ticks in now.items())
            self._available_mb = min(self._available_mb, _available_mb())
            self._speeds.append(_speed())
            before = now

    def _foreign(self):
        """CPU ticks of every process that is neither the cluster's nor this one."""
        ours = {os.getpid(), *daemons.processes(self._state_dir)}
        return {pid: _ticks(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in ours}


def _ticks(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, IndexError):
        return 0


def _speed():
    """Pieces of work done in a second of a CPU: what this thread waits for others does not count, nor what others drove out of
    the caches: the best of three, none of which makes objects that Python would look after."""
    best = 1.0
    for _ in range(3):
        begin = time.thread_time()
        zlib.compress(_PIECE)
        best = min(best, time.thread_time() - begin)
    return 1 / max(1e-6, best)


def _cpu():
    """Ticks of all CPUs: (idle, stolen, all)."""
    user, nice, system, idle, wait, *rest = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return idle + wait, rest[-1], user + nice + system + idle + wait + sum(rest)


def _shares(before, after):
    """Of the time between: (idle, stolen)."""
    idle, stolen, ticks = (late - early for early, late in zip(before, after))
    return idle / max(1, ticks), stolen / max(1, ticks)


def _available_mb():
    return int(_field("/proc/meminfo", "MemAvailable:")) // 1024


def _swapped_in():
    return int(_field("/proc/vmstat", "pswpin"))


def _field(path, name):
    return next((line.split()[1] for line in Path(path).read_text().splitlines() if line.startswith(name)), 0)
