"""Runs on clusters of their own, one after the other, or several at the same time, so that what else the machine does hits all alike."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from .. import layout
from ..cluster import Cluster
from ..configuration import Spec
from ..scaled import KNOB

_QUEUE = "yarn.scheduler.capacity.root.default."
#: Hiatus at its defaults (policy `hfsp`, preemption `suspend`) or with one of them changed, and stock CapacityScheduler.
SCHEDULERS = {
    "HFSP/suspend": ("hiatus", {}),
    "HFSP/wait": ("hiatus", {KNOB + "preemption": "wait"}),
    "Fair": ("capacity", {_QUEUE + "ordering-policy": "fair"}),
    "FIFO": ("capacity", {_QUEUE + "ordering-policy": "fifo"}),
}

#: So many NodeManagers on one machine would spend its processors on looking how much memory each other's containers take.
_RARE_LOOKS = {"yarn.nodemanager.container-monitor.interval-ms": 60_000}


def spec(name, **fields):
    """The Spec of a cluster without HDFS under one of SCHEDULERS, with these fields; its order, and no limit of masters, decides who waits."""
    scheduler, properties = SCHEDULERS[name]
    more = fields.pop("properties", {})
    return Spec(**fields, node_vcores=[32], scheduler=scheduler, fs="local", properties={
        "yarn.scheduler.capacity.maximum-am-resource-percent": 1, **_RARE_LOOKS, **more, **properties})


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--schedulers", nargs="+", choices=SCHEDULERS, default=["HFSP/suspend", "HFSP/wait", "Fair"], metavar="NAME",
                        help=f"of {', '.join(SCHEDULERS)} (default: all but FIFO)")
    parser.add_argument("--at-once", type=int, default=1, metavar="N",
                        help="clusters that work at the same time, once all of them have started (default: 1)")
    parser.add_argument("--apart-s", type=float, default=0, metavar="S", help="from one cluster's beginning to work to the next one's (default: 0)")


def play(name, keys, options, spec_of, scene, say, kind=Cluster):
    """Yields (key, what ``scene(cluster, key)`` gave back) for each key, on a cluster of that kind as ``spec_of(key)`` wants it; ``name`` is the
    experiment's."""
    for first in range(0, len(keys), options.at_once):
        batch = keys[first:first + options.at_once]
        with ExitStack() as ends, ThreadPoolExecutor(len(batch)) as pool:
            clusters = []
            for number, key in enumerate(batch):
                say(f"{key}: starting")
                clusters.append(kind(layout.BUILD / "experiments" / name / str(number)))
                clusters[-1].down()
                ends.callback(clusters[-1].down)
                clusters[-1].up(spec_of(key))
            delays_s = [options.apart_s * number for number in range(len(batch))]
            for key, outcome in zip(batch, pool.map(partial(_after, scene), delays_s, clusters, batch)):
                say(f"{key}: {outcome}")
                yield key, outcome


def _after(scene, delay_s, cluster, key):
    time.sleep(delay_s)
    return scene(cluster, key)


def suspensions(cluster):
    """How often a container was suspended so far; stock suspends none."""
    return cluster.rm.get("/ws/v1/hiatus")["counters"]["suspended"] if cluster.spec.scheduler == "hiatus" else 0
