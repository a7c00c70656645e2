"""Control groups of the kernel: one of an experiment's own, and one that limits processor time."""

import os
import time
from pathlib import Path

#: In microseconds, as the kernel has it by default: so often a group gets its part of a processor.
_PERIOD_US = 100_000
#: The most that the kernel takes, by version: a group weighs as much as one process otherwise, however many are in it.
_WEIGHT = {1: {"cpu.shares": "262144"}, 2: {"cpu.weight": "10000"}}


class Unavailable(Exception):
    """This machine cannot limit what was to be limited; the text says why."""


class Cgroup:
    """A new group below a folder of the kernel's, with limits (text by file name). Processes that its members start belong to it, too."""

    def __init__(self, above, name, limits):
        self._folder = Path(above) / f"hiatus-{os.getpid()}-{name}"
        try:
            self._folder.mkdir()
            for file, text in limits.items():
                (self._folder / file).write_text(text)
        except OSError as error:
            self.remove()
            raise Unavailable(f"no cgroup can be made: {error}") from error

    def add(self, pid):
        """Puts a process into it, not what that has started before. OSError if it is gone."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    def remove(self, patience_s=10):
        """Waits for the last members, which leave a moment after their end."""
        deadline = time.monotonic() + patience_s
        while self._folder.exists() and time.monotonic() < deadline:
            try:
                self._folder.rmdir()
            except OSError:
                time.sleep(0.1)


def of_processors(name, part, mounts=Path("/proc/mounts")):
    """A group that gets ``part`` of one processor, no more, and no less if it wants that (cgroup version 1 or 2).

    Raises Unavailable where the machine has none for that.
    """
    quota_us = round(part * _PERIOD_US)
    for _, folder, kind, options, *_ in map(str.split, mounts.read_text().splitlines()):
        if kind == "cgroup" and "cpu" in options.split(","):
            return Cgroup(folder, name, {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(quota_us), **_WEIGHT[1]})
        if kind == "cgroup2" and "cpu" in (Path(folder) / "cgroup.controllers").read_text().split():
            try:
                (Path(folder) / "cgroup.subtree_control").write_text("+cpu")
            except OSError as error:
                raise Unavailable(f"cgroups of {folder} get no processor time of their own: {error}") from error
            return Cgroup(folder, name, {"cpu.max": f"{quota_us} {_PERIOD_US}", **_WEIGHT[2]})
    raise Unavailable("this machine has no cgroup controller `cpu`, of version 1 or 2")
