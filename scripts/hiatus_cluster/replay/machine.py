"""What else the machine did during a run: a replay on a busy machine must not pass for a quiet one."""

import os
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import daemons

_EVERY_S = 2
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
#: Quiet: others take no more of all CPUs than this before and during a run, nothing is read back from swap, and memory is left.
_QUIET_SHARE, _QUIET_AVAILABLE_MB = 0.05, 4096


@dataclass(frozen=True)
class Readings:
    """Shares are of all CPUs' time, from 0 to 1."""

    load_average_before: float  #: of the last minute; an earlier run counts, too
    others_before: float  #: share taken by all processes before the cluster started
    others_during: float  #: share taken by processes that are not the cluster's; those that live shorter than 2 s may be missed
    idle_during: float
    least_available_mb: int
    swapped_in_pages: int

    @property
    def quiet(self):
        """Whether nothing else took part."""
        return (max(self.others_before, self.others_during) <= _QUIET_SHARE and self.least_available_mb >= _QUIET_AVAILABLE_MB
                and self.swapped_in_pages == 0)

    def document(self):
        """As JSON."""
        return {**asdict(self), "quiet": self.quiet}


class Watch:
    """Looks at the machine before a run (``Watch()``) and during it (``with``)."""

    def __init__(self, state_dir):
        self._state_dir = str(state_dir)
        self._load_before = os.getloadavg()[0]
        before = _cpu()
        time.sleep(_EVERY_S)
        self._others_before = 1 - _idle_share(before, _cpu())
        self._foreign_ticks, self._available_mb = 0, _available_mb()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._cpu, self._swapped, self._begin = _cpu(), _swapped_in(), time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()
        self._seconds = time.monotonic() - self._begin
        self._idle, self._swapped = _idle_share(self._cpu, _cpu()), _swapped_in() - self._swapped

    def readings(self):
        """What was seen; after the run."""
        others = self._foreign_ticks / _TICKS_PER_S / (self._seconds * os.cpu_count())
        return Readings(self._load_before, self._others_before, others, self._idle, self._available_mb, self._swapped)

    def _look(self):
        before = self._foreign()
        while not self._done.wait(_EVERY_S):
            now = self._foreign()
            self._foreign_ticks += sum(max(0, ticks - before.get(pid, 0)) for pid, ticks in now.items())
            self._available_mb = min(self._available_mb, _available_mb())
            before = now

    def _foreign(self):
        """CPU ticks of every process that is neither the cluster's nor this one."""
        ours = {os.getpid(), *daemons.processes(self._state_dir)}
        return {pid: _ticks(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in ours}


def _ticks(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, IndexError):
        return 0


def _cpu():
    """Ticks of all CPUs: (idle, all)."""
    user, nice, system, idle, wait, *rest = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return idle + wait, user + nice + system + idle + wait + sum(rest)


def _idle_share(before, after):
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def _available_mb():
    return int(_field("/proc/meminfo", "MemAvailable:")) // 1024


def _swapped_in():
    return int(_field("/proc/vmstat", "pswpin"))


def _field(path, name):
    return next((line.split()[1] for line in Path(path).read_text().splitlines() if line.startswith(name)), 0)
