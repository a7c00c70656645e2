"""A real ResourceManager alone, before simulated nodes and masters: the bed of `java/simulated`."""

import json
import socket
import subprocess
from dataclasses import dataclass

from . import layout
from .cluster import Cluster
from .daemons import MARK, cpu_s
from .errors import ClusterError

_MAIN = "io.hiatus.simulated.SimulatedCluster"
_HEAP_MB = 1024


class BareCluster(Cluster):
    """A ResourceManager daemon and nothing else; what ``Spec`` says of nodes bounds containers only."""

    def names(self):
        """Names of its daemons."""
        return ["resourcemanager"]


@dataclass(frozen=True)
class Nodes:
    """The simulated nodes: how many, and what each has for containers."""

    count: int
    memory_mb: int
    vcores: int
    heartbeat_ms: int = 1000


@dataclass(frozen=True)
class Ended:
    """What became of a job. Times in ms since the epoch, by the ResourceManager's clock."""

    name: str
    app: str
    state: str  #: SUCCEEDED, FAILED, KILLED
    submitted_ms: int
    launched_ms: int
    finished_ms: int
    lost: int  #: containers that were lost or killed before their task was done

    @property
    def sojourn_s(self):
        """Seconds from submission to end."""
        return (self.finished_ms - self.submitted_ms) / 1000


@dataclass(frozen=True)
class Played:
    """A workload that is over."""

    jobs: list  #: of Ended, in the workload's order
    pauses: int  #: how often nodes paused a container
    manager_cpu_s: float  #: CPU time of the ResourceManager meanwhile


def play(cluster, nodes, jobs, timeout_s, master_start_ms=0):
    """Plays jobs, in the form of ``hiatus simulate cluster``, on simulated nodes before the cluster's ResourceManager."""
    file = cluster.dir / "workload.json"
    file.write_text(json.dumps({"jobs": jobs}))
    line, env = cluster.command([_MAIN, file, nodes.count, nodes.memory_mb, nodes.vcores, cluster.spec.scheduler == "hiatus", nodes.heartbeat_ms,
                                 master_start_ms], heap_mb=_HEAP_MB, extra_jars=[layout.product_jar("simulated")])
    env[MARK] = str(cluster.dir)  # `down` ends it too, should whoever started it be gone
    before_s = cpu_s([cluster.daemon("resourcemanager").pid])
    log = cluster.dir / "logs" / "simulated.log"
    with open(log, "wb") as errors:
        try:
            done = subprocess.run(line, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, timeout=timeout_s, text=True)
        except subprocess.TimeoutExpired as error:
            raise ClusterError(f"the workload did not end within {timeout_s} s; log: {log}") from error
    if done.returncode:
        raise ClusterError(f"the simulated nodes ended with {done.returncode}:\n{log.read_text()[-2000:]}")
    events = [json.loads(text) for text in done.stdout.splitlines()]
    ended = {event["name"]: Ended(**{key: value for key, value in event.items() if key != "event"})
             for event in events if event["event"] == "ended"}
    return Played([ended[job["name"]] for job in jobs], events[-1]["pauses"],
                  cpu_s([cluster.daemon("resourcemanager").pid]) - before_s)


def report_port():
    """A UDP port that nobody has, for a ResourceManager to hear reports."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
