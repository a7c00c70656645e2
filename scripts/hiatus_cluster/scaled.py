"""The thesis' cluster, scaled to what two cores can start: for experiments and replays with real MapReduce jobs."""

KNOB = "yarn.scheduler.hiatus."
#: The thesis' settings: its five training tasks, as the numbers of tasks are scaled; shorter tasks to wait for.
HFSP = {
    KNOB + "policy": "hfsp",
    KNOB + "training-tasks": 2,
    KNOB + "training-timeout-ms": 30_000,
    KNOB + "default-task-ms": 10_000,
    KNOB + "min-run-ms": 1_000,
    KNOB + "min-resumed-ms": 2_000,
    KNOB + "max-suspended-memory": 2,
}


def properties(master_mb):
    """Of a cluster whose ApplicationMasters take ``master_mb`` each: room beside the tasks, as the thesis' Hadoop had none of them."""
    return {
        "yarn.scheduler.capacity.maximum-am-resource-percent": 1,  # a scheduler's order, not a limit, decides who waits
        "yarn.scheduler.minimum-allocation-mb": master_mb,
        "yarn.app.mapreduce.am.resource.mb": master_mb,
        "mapreduce.job.reduce.slowstart.completedmaps": 0.8,
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
    }
