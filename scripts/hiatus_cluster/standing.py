"""What stands still on a cluster: its containers, and their processes."""

import contextlib
import os

from . import daemons


def paused(cluster, nodes=None):
    """{container: number of its node} of what its NodeManager calls paused now."""
    return {one["id"]: node for node in nodes or range(1, cluster.spec.nodes + 1) for one in cluster.nm(node).containers()
            if one["state"] == "PAUSED"}


def states(cluster, container):
    """{process: state letter} of all sessions opened in a container; the shell in which YARN waits for its end is in none of them."""
    mark = b"CONTAINER_ID=" + container.encode()
    sessions = {}
    for pid in daemons.processes(cluster.dir):
        with contextlib.suppress(ProcessLookupError):
            sessions[pid] = os.getsid(pid)
    own = {pid for pid, session in sessions.items() if pid == session and mark in daemons.environment(pid)}
    found = {pid: _state(pid) for pid, session in sessions.items() if session in own}
    return {pid: state for pid, state in found.items() if state not in (None, "Z")}


def works(cluster, container):
    """Whether a container has processes and none of them stands still."""
    found = states(cluster, container)
    return bool(found) and "T" not in found.values()


def stands_still(cluster, container):
    """Whether a container has processes and all of them stand still."""
    return set(states(cluster, container).values()) == {"T"}


def stopped(cluster):
    """Processes of the cluster that stand still, whoever they belong to."""
    return [pid for pid in daemons.processes(cluster.dir) if pid != os.getpid() and _state(pid) == "T"]


def _state(pid):
    """State letter of a process; T for one that a cgroup freezer holds, too."""
    letter = daemons.state(pid)
    return "T" if letter not in (None, "Z") and daemons.frozen(pid) else letter
