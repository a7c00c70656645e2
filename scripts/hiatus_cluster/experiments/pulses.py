"""What the pulses of suspended containers cost: processor time of their processes, and of the NodeManager that sees to them."""

import shutil
import time
from dataclasses import dataclass

from .. import daemons, jobs, layout
from ..cluster import Cluster
from ..configuration import Spec
from ..containers import lives
from ..patience import until
from ..standing import stands_still, states
from . import tables

_MAPS, _NODE_MEMORY_MB = 6, 4096
_POINTS = 10_000_000_000  #: of each map: hours of work
_KNOB = "yarn.nodemanager.hiatus.pulse-interval-ms"
_INTERVALS = {"every 30 s, as by default": {}, "none": {_KNOB: 0}, "every 5 s": {_KNOB: 5_000}}
_PATIENCE_S = 300
_METHOD = (
    f"A real ResourceManager and NodeManager, a computation of {_MAPS} maps that would keep a processor each, parked once all of them run; "
    "then processor time (user and system) of the maps' processes and of the NodeManager is read at the beginning and at the end of the same "
    "stretch of time. A pulse lets a container run for a second. The NodeManager's time has its other work in it: without pulses that is all.")


@dataclass
class Cost:
    """What was used while the maps were parked."""

    pulses: str
    seconds: float
    maps_cpu_s: float
    manager_cpu_s: float


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seconds", type=float, default=180, metavar="S", help="how long is measured under each interval (default: 180)")


def run(options, say):
    """All intervals; prints and writes the table."""
    costs = []
    for name, properties in _INTERVALS.items():
        cluster = Cluster(layout.BUILD / "experiments" / "pulses")
        cluster.down()
        shutil.rmtree(cluster.dir, ignore_errors=True)
        cluster.up(Spec(nodes=1, node_memory=[_NODE_MEMORY_MB], node_vcores=[32], scheduler="hiatus", properties=properties))
        try:
            costs.append(_cost(cluster, name, options.seconds))
            say(f"pulses {name}: {costs[-1]}")
        finally:
            cluster.down()
    tables.write("pulses", "What pulses cost", _METHOD, report(costs))


def _cost(cluster, name, seconds):
    workload = jobs.Workload(cluster, [jobs.job("night", 0, "pi", _MAPS, _POINTS)])
    try:
        until(lambda: len(lives(cluster)) == 1 + _MAPS, "its master and maps run", _PATIENCE_S)
        (app,) = workload.apps()["night"]
        cluster.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
        maps = {life.container for life in lives(cluster) if not life.is_master}
        until(lambda: all(stands_still(cluster, one) for one in maps), "the maps stand still", _PATIENCE_S)
        processes = [pid for one in maps for pid in states(cluster, one)]
        manager = cluster.daemon("nodemanager1").pid
        before, begin = (daemons.cpu_s(processes), daemons.cpu_s([manager])), time.monotonic()
        time.sleep(seconds)
        return Cost(name, time.monotonic() - begin, daemons.cpu_s(processes) - before[0], daemons.cpu_s([manager]) - before[1])
    finally:
        workload.stop()


def report(costs):
    """The table as parts of a page."""
    rows = [[one.pulses, _MAPS, round(one.seconds), one.maps_cpu_s, 60 * one.maps_cpu_s / one.seconds / _MAPS, one.manager_cpu_s,
             100 * one.manager_cpu_s / one.seconds] for one in costs]
    return [tables.table("Processor time while containers are suspended", [
        "pulses", "suspended", "measured, s", "their processes, s", "of each, s per minute", "the NodeManager, s", "% of a core"], rows)]
