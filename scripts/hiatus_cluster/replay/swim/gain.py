"""The command `scripts/replay gain`: what there is to gain in SWIM's windows, in simulation."""

import csv
import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ... import hiatus
from ...experiments import tables
from ...scaled import KNOB
from ..schedulers import HEARTBEAT_MS, MASTER_MB, NODE_VCORES, NODES, SLOTS, SLOTS_A_NODE, TASK_MB, node_mb
from . import model, trace

#: One line for the command's help.
ABOUT = "What there is to gain in SWIM's windows: the same jobs on a simulated cluster, by load and by what is known of sizes. No daemons."
#: What a job and a task cost beyond their work, about as replays measure it.
_JOB_MS, _TASK_MS = 5000, 2000
_LOADS = [0.6, 0.8, 1.0, 1.2, 1.5]
_ONE_MAP = "1"  #: the bin of jobs with one map
#: Whatever runs may be suspended at once and again, and nodes keep all of it.
_NO_BRAKES = (("min-run-ms", 0), ("min-resumed-ms", 0), ("max-suspended-memory", 16))


@dataclass(frozen=True)
class _Way:
    """A column of the table."""

    title: str
    policy: str
    preemption: str = "suspend"
    told: bool = False  #: each job says how large it is
    knobs: tuple = ()


_WAYS = (
    _Way("FIFO", "fifo", "wait"),
    _Way("Hiatus as it is shipped", "hfsp"),
    _Way("the same, sizes told", "hfsp", told=True),
    _Way("the same, sizes told, no brakes", "hfsp", told=True, knobs=_NO_BRAKES),
    _Way("srpt", "srpt"),
    _Way("srpt, no brakes", "srpt", knobs=_NO_BRAKES),
)


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--windows", nargs="+", choices=trace.WINDOWS, default=list(trace.WINDOWS), metavar="ID",
                        help=f"of {', '.join(trace.WINDOWS)} (default: all)")
    parser.add_argument("--loads", nargs="+", type=float, default=_LOADS, metavar="LOAD",
                        help=f"of the containers, as for `swim` (default: {' '.join(map(str, _LOADS))})")


def run(arguments, _):
    """Prints and writes the table; of a part of it, to a page of its own."""
    part = [*(arguments.windows if arguments.windows != list(trace.WINDOWS) else ()),
            *(f"{load:g}" for load in arguments.loads if arguments.loads != _LOADS)]
    rows = [[window, f"{load:g}", *_row(trace.WINDOWS[window], load)] for window in arguments.windows for load in arguments.loads]
    columns = ["window", "load", "fair, s", *(way.title for way in _WAYS)]
    method = (f"Each window's jobs as `scripts/replay swim --load LOAD` would submit them, through `hiatus simulate cluster`: {NODES} nodes of "
              f"{SLOTS_A_NODE} containers, heartbeats of {HEARTBEAT_MS} ms, {_JOB_MS / 1000:g} s for a job and {_TASK_MS / 1000:g} s for a task beyond its "
              "work. Cells are mean sojourns over those of equal shares without preemption (`fair`, with its seconds): of all jobs, and of "
              "jobs with one map. *Sizes told*: every job carries its true size as `hiatus.size`. *No brakes*: "
              f"{', '.join(f'`{key}` = {value}' for key, value in _NO_BRAKES)}. `srpt` ranks by estimated work left, and ages nobody.")
    tables.write("-".join(["replay-gain", *part]), "What there is to gain in SWIM's windows, simulated", method,
                 [tables.table("Mean sojourn over that of `fair`", columns, rows)], command="scripts/replay")


def _row(window, load):
    """The seconds under `fair`, then each way's ratios to them."""
    planned = model.plan(trace.read(trace.TRACES[window.trace], window.first, window.last), window.scale, SLOTS, load)
    simulated = {setting: _simulate(planned, *setting) for setting in {(way.told, way.knobs) for way in _WAYS}}
    base = simulated[False, ()]["fair", "wait"]
    yield statistics.mean(base[""])
    for way in _WAYS:
        ours = simulated[way.told, way.knobs][way.policy, way.preemption]
        yield " / ".join(f"{statistics.mean(ours[part]) / statistics.mean(base[part]):.2f}" for part in ("", _ONE_MAP) if part in base)


def _simulate(planned, told, knobs):
    """Sojourns in s of all jobs ("") and by bin, by policy and preemption."""
    with tempfile.TemporaryDirectory() as place:
        jobs, outcome = Path(place) / "jobs.json", Path(place) / "outcome.csv"
        jobs.write_text(json.dumps({"jobs": [_job(job, told) for job in planned]}))
        hiatus.run("simulate", "cluster", "--workload", jobs, "--out", outcome,
                   "--policy", ",".join(["fair", *dict.fromkeys(way.policy for way in _WAYS)]), "--preemption", "wait,suspend",
                   "--nodes", NODES, "--node-mb", node_mb(SLOTS_A_NODE), "--node-vcores", NODE_VCORES, "--heartbeat-ms", HEARTBEAT_MS,
                   "--master-share", 1, "--master-start-ms", _JOB_MS, "--task-start-ms", _TASK_MS,
                   *(word for key, value in knobs for word in ("--set", f"{KNOB}{key}={value}")))
        sojourns = {}
        with outcome.open() as file:
            for row in csv.DictReader(file):
                of_run = sojourns.setdefault((row["policy"], row["preemption"]), {})
                for part in ("", row["bin"]):
                    of_run.setdefault(part, []).append(float(row["sojourn_s"]))
        return sojourns


def _job(job, told):
    stages = [{"task_s": [ms / 1000 for ms in stage], "memory_mb": TASK_MB} for stage in job.times_ms if stage]
    for later in stages[1:]:
        later["slowstart"] = 0.8
    size_s = sum(map(sum, job.times_ms)) / 1000
    return {"name": job.name, "at_s": job.at_s, "program": "timed-tasks",
            "simulated": {"bin": job.bin, "master_mb": MASTER_MB, "stages": stages, "tags": [f"hiatus.size={size_s:.1f}"] if told else []}}
