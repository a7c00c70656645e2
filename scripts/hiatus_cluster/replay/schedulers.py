"""Whom a replay compares, and the cluster that all of them get."""

from dataclasses import dataclass, field

from .. import scaled
from ..configuration import Spec
from . import watched

NODES, SLOTS_A_NODE, TASK_MB = 2, 4, 256
SLOTS = NODES * SLOTS_A_NODE
HEARTBEAT_MS = 500
#: ApplicationMasters ask for next to nothing (their heaps are their own options' matter), so that none takes a task's room.
MASTER_MB, _MASTERS_MB = 4, 128
#: As many vcores of a node as are never short.
NODE_VCORES = 64

_QUEUE = "yarn.scheduler.capacity.root.default."
#: FairScheduler's pre-emption never begins by default; these delays are the shortest that do not make it kill at every arrival.
_ALLOCATIONS = """<allocations>
  <queue name="default"/>
  <queueMaxAMShareDefault>-1</queueMaxAMShareDefault>
  <defaultQueueSchedulingPolicy>fair</defaultQueueSchedulingPolicy>
  <defaultFairSharePreemptionTimeout>5</defaultFairSharePreemptionTimeout>
  <defaultFairSharePreemptionThreshold>0.8</defaultFairSharePreemptionThreshold>
</allocations>
"""


@dataclass(frozen=True)
class Scheduler:
    """A row of the tables."""

    about: str
    kind: str  #: hiatus, capacity, fair
    knobs: dict = field(default_factory=dict)
    watched: bool = False  #: it records what it decides
    alone: bool = False  #: each job comes when the one before has ended, so that nobody schedules


SCHEDULERS = {
    "fifo": Scheduler("CapacityScheduler, ordering policy fifo", "capacity", {_QUEUE + "ordering-policy": "fifo"}),
    "fair": Scheduler("CapacityScheduler, ordering policy fair", "capacity", {_QUEUE + "ordering-policy": "fair"}),
    "fair-preempting": Scheduler("FairScheduler with pre-emption", "fair", {
        "yarn.scheduler.fair.preemption": "true",
        "yarn.scheduler.fair.preemption.cluster-utilization-threshold": 0.5,
        "yarn.scheduler.fair.waitTimeBeforeKill": 1000,
        "yarn.resource-types.memory-mb.increment-allocation": MASTER_MB,
    }),
    "hiatus": Scheduler("Hiatus as it is shipped, no knob set", "hiatus"),
    "hiatus-watched": Scheduler("Hiatus as it is shipped, but that it records and forecasts", "hiatus", watched.KNOBS, watched=True),
    "hfsp-suspend": Scheduler("Hiatus, hfsp, suspends", "hiatus", {**scaled.HFSP, scaled.KNOB + "mode": "suspend"}),
    "hfsp-kill": Scheduler("Hiatus, hfsp, kills", "hiatus", {**scaled.HFSP, scaled.KNOB + "mode": "kill", scaled.KNOB + "preemption": "kill"}),
    "hfsp-wait": Scheduler("Hiatus, hfsp, waits", "hiatus", {**scaled.HFSP, scaled.KNOB + "preemption": "wait"}),
    "flex": Scheduler("Hiatus, flex for the mean response, suspends", "hiatus",
                      {**scaled.HFSP, scaled.KNOB + "policy": "flex", scaled.KNOB + "flex-metric": "avg-response"}),
    "hiatus-fair": Scheduler("Hiatus, equal shares, takes nothing back: our placement without our order", "hiatus",
                             {scaled.KNOB + "policy": "fair", scaled.KNOB + "mode": "order"}),
    "alone": Scheduler("each job alone on CapacityScheduler's cluster, one after the other, in one repetition: no scheduler can do better",
                       "capacity", alone=True),
}
#: What ratios are of.
BASELINE = "fair"


def node_mb(slots):
    """Memory of a node that may run so many tasks at a time, in MB."""
    return slots * TASK_MB + _MASTERS_MB


def spec(name, folder, cluster_dir, fs, slots_a_node=SLOTS_A_NODE):
    """The cluster of a run under this scheduler, in ``cluster_dir``; ``folder`` is for files that its configuration names."""
    scheduler = SCHEDULERS[name]
    own = dict(scheduler.knobs)
    if scheduler.kind == "fair":
        allocations = folder / "fair-allocations.xml"
        allocations.write_text(_ALLOCATIONS)
        own["yarn.scheduler.fair.allocation.file"] = str(allocations)
    if scheduler.watched:
        own |= watched.directory(cluster_dir)
    return Spec(nodes=NODES, node_memory=[node_mb(slots_a_node)], node_vcores=[NODE_VCORES], node_heartbeat_ms=HEARTBEAT_MS, scheduler=scheduler.kind,
                fs=fs, properties={**scaled.properties(MASTER_MB), **own})
