"""How long a job would take alone on a cluster: what its sojourn is compared with."""

import heapq
from dataclasses import dataclass

from .jobs import job, run

_WORK_MS = 1000


@dataclass
class Costs:
    """What a job and a task cost beyond their work, in seconds."""

    job_s: float  #: with reduces
    maps_only_s: float  #: a job without
    task_s: float

    def alone_s(self, stages_ms, slots):
        """Seconds that a job of these task times takes alone: its tasks in order on all containers, stage after stage."""
        stages = [stage for stage in stages_ms if stage]
        own_s = self.job_s if len(stages) > 1 else self.maps_only_s
        return own_s + sum(_makespan([ms / 1000 + self.task_s for ms in stage], slots) for stage in stages)


def measure(cluster):
    """Runs small jobs, each alone: what they take beyond their work is the cost of a job and of a task."""
    def small(name, *stages):
        (result,) = run(cluster, [job(name, 0, "timed-tasks", *stages)])
        tasks_s = sum(attempt["finishTime"] - attempt["startTime"] for attempt in result.attempts) / 1000
        return max(0.0, result.sojourn_s - tasks_s), max(0.0, tasks_s / len(result.attempts) - _WORK_MS / 1000)
    small("warm-up", _WORK_MS, _WORK_MS)  # of the daemons
    maps_only_s, _ = small("maps-alone", _WORK_MS, "")
    job_s, task_s = small("alone", _WORK_MS, _WORK_MS)
    return Costs(job_s, maps_only_s, task_s)


def _makespan(times_s, slots):
    ends = [0.0] * slots
    for time_s in times_s:
        heapq.heapreplace(ends, ends[0] + time_s)
    return max(ends)
