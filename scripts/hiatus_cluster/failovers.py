"""Failovers of a cluster that has two ResourceManagers: what makes the other one active."""

import time
from pathlib import Path

from .configuration import manager_id
from .errors import ClusterError
from .patience import until


def killed(cluster):
    """The active one dies (``kill -9``), another takes over, and the dead one comes back as its standby. Gives back seconds without one."""
    before, after = _roles(cluster)
    begin = time.monotonic()
    cluster.daemon(f"resourcemanager{before}").kill()
    if cluster.spec.standby == "manual":  # by force: the dead one cannot be asked
        cluster.administer("rmadmin", "-transitionToActive", "--forceactive", manager_id(after))
    _await_active(cluster, after)
    without_s = time.monotonic() - begin
    cluster.start(f"resourcemanager{before}")
    return without_s


def frozen(cluster):
    """The active one stops in its tracks (SIGSTOP) until the other has taken over by itself, goes on in the belief that it is active, and
    learns that it is not. Gives back seconds without one."""
    before, after = _roles(cluster)
    begin = time.monotonic()
    cluster.daemon(f"resourcemanager{before}").freeze()
    try:
        until(lambda: cluster.manager(after).is_active(), f"resourcemanager{after} is active")
    finally:
        # Nodes and masters that wait for an answer of the frozen one would do so for minutes yet.
        cluster.daemon(f"resourcemanager{before}").thaw()
    _await_active(cluster, after)
    without_s = time.monotonic() - begin
    until(lambda: cluster.manager(before).info()["haState"] == "STANDBY", f"resourcemanager{before} stands by")
    return without_s


def ordered(cluster):
    """An administrator orders it: ``yarn rmadmin -transitionToStandby`` and ``-transitionToActive``; Hadoop 3.4 has no ``-failover`` for
    YARN. Gives back seconds without an active one."""
    before, after = _roles(cluster)
    begin = time.monotonic()
    cluster.administer("rmadmin", "-transitionToStandby", manager_id(before))
    cluster.administer("rmadmin", "-transitionToActive", manager_id(after))
    _await_active(cluster, after)
    return time.monotonic() - begin


def threads(cluster, number):
    """Names of Hiatus' threads in ResourceManager 1 or 2, as the kernel cuts them off."""
    pid = cluster.daemon(f"resourcemanager{number}").pid
    if pid is None:
        raise ClusterError(f"resourcemanager{number} is not running")
    names = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            names.add((thread / "comm").read_text().strip())
        except OSError:  # it has ended meanwhile
            pass
    return {name for name in names if name.startswith("Hiatus")}


def standby(cluster):
    """The number of the ResourceManager that is not active."""
    return _roles(cluster)[1]


def _roles(cluster):
    """Numbers of the active one and of the other."""
    active = cluster.active()
    return active, 3 - active


def _await_active(cluster, number):
    until(lambda: cluster.manager(number).is_active(), f"resourcemanager{number} is active")
    until(lambda: sum(node["state"] == "RUNNING" for node in cluster.manager(number).nodes()) == cluster.spec.nodes,
          f"all nodes have registered with resourcemanager{number}")
