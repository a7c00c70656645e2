"""How long a job would take alone on a cluster: what its sojourn is compared with."""

import heapq
from dataclasses import dataclass

from .jobs import job, run

_WORK_MS = 1000


@dataclass
class Costs:
    """What a job and a task cost beyond their work, in seconds."""

    job_s: float
    task_s: float

    def alone_s(self, stages_ms, slots):
        """Seconds that a job of these task times takes alone: its tasks in order on all containers, stage after stage."""
        return self.job_s + sum(_makespan([ms / 1000 + self.task_s for ms in stage], slots) for stage in stages_ms)


def measure(cluster):
    """Runs a small job alone: what it takes beyond its work is the cost of a job and of two tasks."""
    def small(name):
        return run(cluster, [job(name, 0, "timed-tasks", _WORK_MS, _WORK_MS)])
    small("warm-up")  # of the daemons
    (result,) = small("alone")
    tasks_s = sum(attempt["finishTime"] - attempt["startTime"] for attempt in result.attempts) / 1000
    return Costs(max(0.0, result.sojourn_s - tasks_s), max(0.0, (tasks_s - 2 * _WORK_MS / 1000) / 2))


def _makespan(times_s, slots):
    ends = [0.0] * slots
    for time_s in times_s:
        heapq.heapreplace(ends, ends[0] + time_s)
    return max(ends)
