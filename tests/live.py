"""A running Hiatus, as tests look at it."""

import contextlib
import random
import time
from collections import Counter

from hiatus_cluster import containers
from hiatus_cluster.applications import Applications
from hiatus_cluster.standing import paused, stands_still, states, stopped, works  # noqa: F401
from hiatus_cluster.text import read_counts  # noqa: F401
from support import wait_for

#: How old Hadoop's metrics may be in JMX, and a bit: the cluster's hadoop-metrics2.properties says 1 s.
_METRICS_AGE_S = 1.2
_METRICS = "/jmx?qry=Hadoop:service=ResourceManager,name=HiatusMetrics"


def spec(**wanted):
    """Fields of a cluster's Spec: small, quick, without HDFS, and with guards that never make a test wait."""
    properties = {
        "yarn.scheduler.hiatus.min-run-ms": 500,
        "yarn.scheduler.hiatus.min-resumed-ms": 500,
        "yarn.scheduler.hiatus.max-suspended-memory": 4,
        "yarn.scheduler.hiatus.rm.books-interval-ms": 500,
        "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
        # A suspended task seems slow, and a second attempt of it would hide whether anything was killed.
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
        **wanted.pop("properties", {}),
    }
    return {"nodes": 2, "node_memory": [1024], "node_vcores": [32], "node_heartbeat_ms": 300, "scheduler": "hiatus", "fs": "local",
            **wanted, "properties": properties}


@contextlib.contextmanager
def applications(cluster):
    """Applications that cost nothing on a cluster of the test's own; see the fixture of this name for a module's."""
    started = Applications(cluster)
    try:
        yield started
    finally:
        started.close()


def await_running(applications, name, count, timeout_s=120):
    """Waits until so many containers of the application run, by the nodes' logs."""
    wait_for(lambda: sum(life.spans[-1][1:] == (None, "running") for life in applications.lives(name)) == count,
             f"{count} containers of {name} run", timeout_s)


def metrics(cluster):
    """HiatusMetrics by name, as they are now; counters begin anew when the ResourceManager does."""
    time.sleep(_METRICS_AGE_S)
    (bean,) = cluster.rm.get(_METRICS)["beans"]
    return bean


def await_paused(cluster, count=1, nodes=None, timeout_s=120):
    """Waits until at least so many containers stand still, and gives them back."""
    return wait_for(lambda: (found := paused(cluster, nodes)) and len(found) >= count and found, f"{count} containers paused", timeout_s)


def await_job(cluster, count, timeout_s=120):
    """Waits until the one job that runs has had so many containers; gives back the application, and their ids in order."""
    def found():
        for app in cluster.rm.apps("states=RUNNING"):
            ids = sorted(life.container for life in containers.lives(cluster) if life.application == app["id"])
            if len(ids) >= count:
                return app, ids
        return None
    return wait_for(found, f"the job has had {count} containers", timeout_s)


def write_text(folder, files):
    """Text in so many files of the local file system, each a map of some seconds; gives back the right word counts."""
    chooser = random.Random(3)
    words = chooser.choices([f"word{rank}" for rank in range(3000)], [1 / (rank + 1) for rank in range(3000)], k=400_000)
    block = "".join(" ".join(words[at:at + 10]) + "\n" for at in range(0, len(words), 10))
    folder.mkdir()
    for number in range(files):
        (folder / f"{number}.txt").write_text(block * 6)
    return Counter({word: count * 6 * files for word, count in Counter(words).items()})


def log(cluster, *daemons):
    """What daemons (the ResourceManagers, unless they are named) have written since the cluster was made."""
    return "".join(cluster.daemon(name).log.read_text(errors="replace") for name in daemons or cluster.managers())


def restart_node(cluster, node):
    """Kills a NodeManager and starts it; once it has registered, gives back a function that tells what it has written since.

    How often it registered before is nobody's business: a ResourceManager that restarts makes it register, too.
    """
    name = f"nodemanager{node}"
    before = len(log(cluster, name))
    cluster.restart(name)
    wait_for(lambda: "Registered with ResourceManager" in log(cluster, name)[before:], f"{name} has registered again")
    return lambda: log(cluster, name)[before:]


def assert_each_task_ran_once(result, tasks):
    """No task attempt was lost, killed or run twice."""
    assert result.status == "SUCCEEDED"
    assert Counter(attempt["state"] for attempt in result.attempts) == {"SUCCEEDED": tasks}
    assert len({attempt["id"].rsplit("_", 1)[0] for attempt in result.attempts}) == tasks


def end_all(cluster):
    """Ends what a test left running, which is nothing unless it failed."""
    for app in cluster.rm.apps("states=NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"):
        cluster.rm.kill_app(app["id"])
    wait_for(lambda: cluster.rm.metrics()["containersAllocated"] == 0, "all containers ended")


def assert_books_agree(cluster):
    """What must hold after whatever happened: nothing is suspended, and core and ResourceManager never disagreed."""
    assert log(cluster).count("books differ") == 0
    if any(cluster.daemon(name).pid for name in cluster.managers()):
        wait_for(lambda: metrics(cluster)["SuspendedNow"] == 0, "no container suspended")
        assert metrics(cluster)["BooksDiffer"] == 0
        assert paused(cluster, [node for node in range(1, cluster.spec.nodes + 1) if cluster.daemon(f"nodemanager{node}").pid]) == {}
