"""What `hiatus what-if` predicts from stock YARN's own records, beside a real run of the other setting with the same arrivals.

The jobs of hfsp-live, first under stock CapacityScheduler (FIFO); what its ResourceManager and JobHistoryServer then keep is all that the
prediction is made of.
"""

import csv
import io
import shutil
import statistics

from .. import hiatus, history, layout
from . import tables
from .hfsp_live import SCHEDULERS, draw, play

_BEFORE, _AFTER = "FIFO", "HFSP/suspend"
#: Classes of `hiatus what-if` that these jobs are of, by seconds of tasks: more than, and up to.
_CLASSES = {"up to 1 min": (0, 60), "up to 10 min": (60, 600), "up to 1 h": (600, 3600), "all": (0, float("inf"))}
_CLIENT_MS = 5000  #: a job says when its client began to submit it, the ResourceManager when it came
_METHOD = (
    f"The jobs of `scripts/experiment hfsp-live`, under stock CapacityScheduler with FIFO. `scripts/save-history` saved what YARN kept of them, and "
    f"`hiatus what-if` made a prediction of it: with policy hfsp, preemption suspend and the knobs of that experiment. Then the same jobs ran under "
    f"{_AFTER}. *Model error* is how far the simulation of the recorded setting is from what was recorded; *prediction error* how far the "
    "simulation of the other is from its real run. Classes are by seconds of all a job's tasks; one is left out where what was drawn and what was "
    "recorded, with the start of JVMs, differ in whom they put there.")


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], metavar="N", help="draws of the workload (default: 1)")


def run(options, say):
    """Prints and writes the table."""
    rows = [row for seed in options.seeds for row in _seed(seed, say)]
    columns = ["seed", "tasks", "jobs", "recorded, s", "simulated, s", "model error", "predicted, s", "really, s", "prediction error",
               "predicted of recorded", "really of recorded"]
    tables.write("what-if", "A prediction from YARN's own records, and what came of it", _METHOD,
                 [tables.table("Mean sojourns", columns, rows)])


def _seed(seed, say):
    folder = layout.BUILD / "experiments" / "what-if" / str(seed)
    shutil.rmtree(folder, ignore_errors=True)

    def save(cluster, results):
        history.save(cluster.rm.base, cluster.history.base, folder, min(result.submitted_ms for result in results) - _CLIENT_MS)

    drawn = draw(seed)
    play(_BEFORE, drawn, f"seed {seed}, {_BEFORE}", say, save)
    predicted = _predict(folder)
    really = play(_AFTER, drawn, f"seed {seed}, {_AFTER}", say).results
    work_s = [sum(one.maps_ms + one.reduces_ms) / 1000 for one in drawn]
    for name, (least_s, most_s) in _CLASSES.items():
        row = predicted.get(name)
        real = [result.sojourn_s for result, work in zip(really, work_s) if least_s < work <= most_s]
        if row and int(row["jobs"]) == len(real):
            recorded, simulated, otherwise = (float(row[key]) for key in ("recorded", "simulated", "otherwise"))
            real_s = statistics.mean(real)
            yield [seed, name, int(row["jobs"]), recorded, simulated, _percent(simulated / recorded), otherwise, real_s,
                   _percent(otherwise / real_s), otherwise / recorded, real_s / recorded]


def _predict(folder):
    """The rows of the table of sojourns, by class."""
    knobs = [f"--set={key}={value}" for key, value in SCHEDULERS[_AFTER][1].items()]
    printed = hiatus.run("what-if", folder, "--policy", "hfsp", "--preemption", "suspend", "--master-share", 1, "--format", "csv", *knobs)
    table = next(part for part in printed.split("\n\n") if "model_error_%" in part)
    header = table[table.index("tasks,jobs,"):]
    return {row["tasks"]: row for row in csv.DictReader(io.StringIO(header))}


def _percent(ratio):
    return f"{100 * (ratio - 1):+.0f} %"
