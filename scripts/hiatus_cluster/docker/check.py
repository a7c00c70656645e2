"""What must be seen on any cluster with Hiatus: a big job steps aside for a small one, and loses nothing."""

from .. import containers, jobs
from ..errors import ClusterError
from ..patience import until

#: Strokes are 100 ms of work, see ``TimedTasks``.
_BIG_MS, _SMALL_MS, _STROKE_MS = 10_000, 2000, 100
_TASK_MB = 256


def check(cluster, say):
    """A big job, and small ones once it fills the cluster. Raises ClusterError unless these overtake it by suspension, and all work is done once."""
    slots = cluster.rm.metrics()["totalMB"] // _TASK_MB
    big, small = {"big": [_BIG_MS] * slots * 2}, {"small-1": [_SMALL_MS] * 2, "small-2": [_SMALL_MS]}
    say(f"a big job of {slots * 2} maps on {slots} containers; small ones once it fills them")
    begun = [_submitted(cluster, big)]
    try:
        until(lambda: cluster.rm.metrics()["containersAllocated"] >= slots, "the big job fills the cluster")
        begun.append(_submitted(cluster, small))
        for workload in begun:
            workload.wait(timeout_s=300)
    finally:
        for workload in begun:
            workload.stop()
    results = [result for workload in begun for result in workload.results()]
    told = [life for life in containers.lives(cluster) if life.application == results[0].app_id]
    suspended, resumed = sum(life.suspensions for life in told), sum(life.resumptions for life in told)
    say(", ".join(f"{result.name} {result.sojourn_s:.1f} s" for result in results)
        + f"; {suspended} containers of the big job suspended, {resumed} resumed")
    for result in results:
        tasks = {**big, **small}[result.name]
        if not result.ran_each_once(len(tasks)) or not jobs.worked(cluster, result.app_id, sum(tasks) // _STROKE_MS):
            raise ClusterError(f"{result.name}: {result.status}, and not each of its {len(tasks)} tasks worked once: see {cluster.rm.base}")
    if not 0 < suspended == resumed or max(result.finished_ms for result in results) != results[0].finished_ms:
        raise ClusterError("the big job should have stepped aside, and ended last")
    say("the big job stepped aside; nobody lost anything")


def _submitted(cluster, tasks):
    return jobs.Workload(cluster, [jobs.job(name, 0, "timed-tasks", ",".join(map(str, times))) for name, times in tasks.items()])
