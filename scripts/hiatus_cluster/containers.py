"""What happened to every container, read from the NodeManagers' logs."""

import math
import re
from dataclasses import dataclass, field
from datetime import datetime

_LINE = re.compile(r"^(\S+ [\d:]+),(\d{3}) .*Container (container_\S+) transitioned from (\S+) to (\S+)")
#: NodeManager states in which a container's processes work, stand still, or are on their way from one to the other.
_WORKING = {"RUNNING", "REINITIALIZING", "PAUSING"}
_STILL = {"PAUSED", "RESUMING"}
#: So long a container that has room may take to begin; meanwhile what was suspended for it may go on in room that fell free beside it.
_STARTING_S = 3


@dataclass
class Life:
    """One container on one node: spans of time (s since the epoch) in which it ran or was suspended."""

    container: str
    node: int
    spans: list = field(default_factory=list)  #: (begin, end, "running" | "suspended"), in order; end is None while it lasts

    @property
    def application(self):
        """Id of the application it belongs to."""
        _, *rest = self.container.split("_")
        cluster, number = rest[-4:-2]
        return f"application_{cluster}_{number}"

    @property
    def is_master(self):
        """Whether it is an ApplicationMaster: the first container of an attempt."""
        return int(self.container.rsplit("_", 1)[1]) == 1

    @property
    def begin(self):
        """When it was launched."""
        return self.spans[0][0]

    @property
    def suspensions(self):
        """How often it was suspended."""
        return sum(kind == "suspended" for _, _, kind in self.spans)

    @property
    def resumptions(self):
        """How often it went on after a suspension."""
        return sum(before == "suspended" and after == "running"
                   for (_, _, before), (_, _, after) in zip(self.spans, self.spans[1:]))


def in_vain(lives):
    """Whose suspensions freed room that nobody used: nothing began or went on on its node meanwhile, or soon. A container for each."""
    begun = {}
    for life in lives:
        for begin, _, kind in life.spans:
            if kind == "running":
                begun.setdefault(life.node, []).append((begin, life.container))

    def used(life, begin, end):
        until = math.inf if end is None else max(end, begin + _STARTING_S)
        return any(begin <= at < until and other != life.container for at, other in begun.get(life.node, ()))
    return [life.container for life in lives for begin, end, kind in life.spans if kind == "suspended" and not used(life, begin, end)]


def lives(cluster):
    """The lives of all containers the cluster has launched so far, in the order of their launch."""
    found = {}
    for node in range(1, cluster.spec.nodes + 1):
        with open(cluster.daemon(f"nodemanager{node}").log, errors="replace") as log:
            for line in log:
                match = _LINE.match(line)
                if match:
                    _advance(found, node, match)
    return sorted(found.values(), key=lambda life: life.begin)


def _advance(found, node, match):
    seconds, millis, container, _, state = match.groups()
    at = datetime.strptime(seconds, "%Y-%m-%d %H:%M:%S").timestamp() + int(millis) / 1000
    kind = "running" if state in _WORKING else "suspended" if state in _STILL else None
    life = found.get(container)
    if life is None:
        if kind:
            found[container] = Life(container, node, [(at, None, kind)])
        return
    begin, end, before = life.spans[-1]
    if end is None and kind != before:
        life.spans[-1] = (begin, at, before)
        if kind:
            life.spans.append((at, None, kind))
