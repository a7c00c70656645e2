"""What a ResourceManager with Hiatus records: ended in an orderly way, and decided once more."""

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path

from . import hiatus, patience
from .scaled import KNOB

#: The property that names the directory of recordings.
RECORD_DIR = KNOB + "rm.record-dir"


@dataclass(frozen=True)
class Replayed:
    """What `hiatus replay` found: the same decisions, byte for byte, to the end of the log."""

    steps: int
    facts: int
    decisions: int
    lasted_s: float


def finish(cluster):
    """Ends the recording of a running cluster; its log, whole. Raises ClusterError if that takes too long."""
    directory = Path(cluster.spec.properties[RECORD_DIR])
    cluster.configure({RECORD_DIR: None})
    cluster.run("yarn", "rmadmin", "-refreshQueues")
    (log,) = directory.iterdir()
    return patience.until(lambda: _ends(log) and log, f"the recording {log} has its end")


def _ends(log):
    """Whether a packed file has its end, which the thread that writes it puts there in its own time."""
    try:
        with gzip.open(log) as packed:
            return bool(packed.read())
    except EOFError:
        return False


def replay(log):
    """Has the core decide once more. Raises ClusterError where a decision differs or the log is damaged."""
    (row,) = csv.DictReader(io.StringIO(hiatus.run("replay", log, "--format", "csv")))
    return Replayed(int(row["steps"]), int(row["facts"]), int(row["decisions"]), float(row["lasted_s"]))
