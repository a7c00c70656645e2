"""Tez applications are parked for longer and longer, with pulses and without: what they lose by it.

Tez gives up a task and a container that it has not heard of for 300 s (`tez.task.timeout-ms`). A stopped one says nothing, but in its pulses.
"""

import shutil
import subprocess
import time
from dataclasses import dataclass, field

from .. import building, tez, text
from ..containers import lives
from ..errors import ClusterError
from ..patience import until
from ..standing import stands_still
from . import tables, together

_NODES, _NODE_MEMORY_MB, _FILES, _LINES = 2, 4096, 3, 3_000_000
_PATIENCE_S = 900
#: So long after its first containers were launched an application is parked: their JVMs have begun then, and tasks work.
_BEGUN_S = 15
_PULSES = {"every 30 s, as by default": {}, "none": {"yarn.nodemanager.hiatus.pulse-interval-ms": 0}}
_METHOD = (
    f"Real daemons, {_NODES} nodes of {_NODE_MEMORY_MB} MB, Hiatus and Tez with no knob set but how often NodeManagers pulse. Each application is the example "
    f"`orderedwordcount` of {_FILES} files of {_LINES} lines: three vertices, of which the first reads and sorts. It is parked {_BEGUN_S} s "
    f"after the {_FILES} containers for that were launched, and woken later; all are parked side by side. *Stood still*: containers whose processes were all seen "
    "stopped. *Longest attempt*: of those that succeeded, from its beginning to its end, so with the time that it was parked. "
    "*Attempts lost*: task attempts that failed or were killed, by Tez' own history log, with Tez' reasons. *Right*: every word is counted as often as it was written.")


@dataclass
class Outcome:
    """What became of one application."""

    pulses: str
    parked_s: float
    stood: int
    lost: list  #: Tez' reasons
    attempts: int  #: of tasks, that succeeded
    longest_s: float  #: of these
    right: bool


@dataclass
class _Parked:
    """One that is parked now, or was."""

    client: subprocess.Popen
    app: str
    seconds: float
    until: float
    stood: set = field(default_factory=set)  #: its containers that were seen to stand still
    woken: bool = False


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--parked", type=float, nargs="+", default=[60, 180, 360], metavar="S",
                        help="for how long an application is parked, each (default: 60 180 360)")


def run(options, say):
    """All applications; prints and writes the table."""
    building.frameworks(say)
    options.at_once, options.apart_s = len(_PULSES), 0

    def spec(pulses):
        return together.spec("HFSP/suspend", nodes=_NODES, node_memory=[_NODE_MEMORY_MB], properties=_PULSES[pulses])

    def scene(cluster, pulses):
        return _play(cluster, pulses, options.parked, say)

    outcomes = [one for _, found in together.play("tez", list(_PULSES), options, spec, scene, say) for one in found]
    tables.write("tez", "Tez applications that were parked", _METHOD, report(outcomes))


def _play(cluster, pulses, parked_s, say):
    """An Outcome for each of these times."""
    folder = cluster.dir / "words"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text.write(folder / "in", _FILES, _LINES)
    parked = []
    for seconds in parked_s:
        line, env = tez.command(cluster, tez.example("orderedwordcount"), folder / "in", folder / f"{seconds:g}", conf={
            "tez.grouping.split-count": _FILES, "tez.runtime.io.sort.mb": 64})
        with (folder / f"{seconds:g}.log").open("w") as log:
            client = subprocess.Popen(line, env=env, stdout=log, stderr=log)
        app = until(lambda: _newest(cluster, len(parked) + 1), "an application works", _PATIENCE_S)
        cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", True)
        parked.append(_Parked(client, app, seconds, time.monotonic() + seconds))
        say(f"pulses {pulses}: {app} is parked for {seconds:g} s")
    while waiting := [one for one in parked if not one.woken]:
        for one in waiting:
            one.stood |= {life.container for life in lives(cluster) if life.application == one.app and stands_still(cluster, life.container)}
            if time.monotonic() >= one.until:
                cluster.rm.put(f"/ws/v1/hiatus/apps/{one.app}/parked", False)
                one.woken = True
        time.sleep(1)
    return [_outcome(cluster, folder, pulses, one) for one in parked]


def _newest(cluster, count):
    """The last of so many applications, once its first tasks run."""
    apps = sorted(app["id"] for app in cluster.rm.apps("states=RUNNING"))
    if len(apps) == count:
        running = [life for life in lives(cluster) if life.application == apps[-1] and not life.is_master]
        return len([life for life in running if time.time() - life.begin > _BEGUN_S]) >= _FILES and apps[-1]
    return None


def _outcome(cluster, folder, pulses, one):
    code = one.client.wait(_PATIENCE_S)
    name = f"{one.seconds:g}"
    if code:
        raise ClusterError(f"the client of {one.app} ended with {code}: see {folder / name}.log")
    ended = tez.attempts(cluster, one.app)
    lost = [f"{attempt['status']} ({attempt.get('taskAttemptErrorEnum')})" for attempt in ended if attempt["status"] != "SUCCEEDED"]
    longest_s = max((attempt["endTime"] - attempt["startTime"]) / 1000 for attempt in ended if attempt["status"] == "SUCCEEDED")
    return Outcome(pulses, one.seconds, len(one.stood), lost, len(ended) - len(lost), longest_s, text.is_counted(folder / name, _FILES, _LINES))


def report(outcomes):
    """The table and claims as parts of a page."""
    rows = [[one.pulses, one.parked_s, one.stood, one.attempts, one.longest_s,
             ", ".join(f"{one.lost.count(why)} {why}" for why in sorted(set(one.lost))) or "none", "yes" if one.right else "NO"] for one in outcomes]
    table = tables.table("Applications", ["pulses", "parked, s", "stood still", "attempts done", "longest, s", "attempts lost", "right"], rows)
    default, *_ = _PULSES
    by_default = [one for one in outcomes if one.pulses == default]
    claims = tables.claim("All work is right", all(one.right for one in outcomes), f"{sum(one.right for one in outcomes)} of {len(outcomes)}")
    claims += tables.claim("With pulses as by default nothing is lost", not any(one.lost for one in by_default),
                           ", ".join(f"{len(one.lost)} in {one.parked_s:g} s" for one in by_default))
    return [table, "## Claims\n\n" + claims]
