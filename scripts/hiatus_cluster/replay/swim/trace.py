"""Traces as the SWIM project publishes them: tab-separated lines of job, submission (s), gap (s), input, shuffle, output (bytes)."""

from dataclasses import dataclass
from pathlib import Path

from ... import layout
from ...errors import ClusterError

_COLUMNS = ("job", "submit", "gap", "input", "shuffle", "output")
_PATHS = 2  #: some files have input and output paths in columns of their own at the end
_FOLDER = layout.ROOT / "rust" / "sim" / "data" / "swim"
#: Traces by name, as published; their licence lies beside them.
TRACES = {name: _FOLDER / f"{name.upper()}_samples_24_times_1hr_0.tsv" for name in ("fb-2009", "fb-2010")}


@dataclass(frozen=True)
class Row:
    """A job of a trace."""

    line: int  #: in the file, from 1
    submit_s: int  #: from the start of the trace
    input_bytes: int
    shuffle_bytes: int  #: 0 for a job without reduces
    output_bytes: int


@dataclass(frozen=True)
class Window:
    """Lines of a trace that are replayed, first and last one included, and the part of their bytes that is left of them."""

    trace: str
    first: int
    last: int
    scale: float


#: Fifty to seventy jobs each. A0 and B0 are the first lines of their traces that are small enough; the others were selected, among those of
#: like size, for a large gain of size-based orders in a model: what they show is no average. docs/replays.md tells how.
WINDOWS = {
    "A0": Window("fb-2009", 241, 300, 1 / 100),
    "A1": Window("fb-2009", 2661, 2720, 1 / 50),
    "A2": Window("fb-2009", 2181, 2240, 1 / 100),
    "A3": Window("fb-2009", 3351, 3420, 1 / 200),
    "B0": Window("fb-2010", 1, 60, 1 / 800),
    "B1": Window("fb-2010", 20201, 20260, 1 / 100),
    "B2": Window("fb-2010", 16691, 16760, 1 / 1600),
    "B3": Window("fb-2010", 13741, 13790, 1 / 400),
}


def read(path, first=1, last=None):
    """The rows of these lines. Raises ClusterError with file and line where the file, up to there, is no trace."""
    path = Path(path)
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ClusterError(f"trace {path} cannot be read: {error}") from error
    last = len(lines) if last is None else last
    if not 1 <= first <= last <= len(lines):
        raise ClusterError(f"lines {first}-{last} of {path}: it has lines 1 to {len(lines)}")
    rows = []
    for number, line in enumerate(lines[:last], start=1):
        row = _row(path, number, line)
        if rows and row.submit_s < rows[-1].submit_s:
            raise ClusterError(f"{path}:{number}: submitted at {row.submit_s} s, before the line above it ({rows[-1].submit_s} s)")
        rows.append(row)
    return rows[first - 1:]


def _row(path, number, line):
    fields = line.split("\t")
    if len(fields) not in (len(_COLUMNS), len(_COLUMNS) + _PATHS):
        raise ClusterError(f"{path}:{number}: {len(fields)} columns, where {len(_COLUMNS)} ({', '.join(_COLUMNS)}), separated by tabs, "
                           "are needed")
    values = {}
    for name, text in zip(_COLUMNS[1:], fields[1:]):
        if not (text.isascii() and text.isdigit()):
            raise ClusterError(f"{path}:{number}: {name} is {text!r}, where a whole number of at least 0 is needed")
        values[name] = int(text)
    return Row(number, values["submit"], values["input"], values["shuffle"], values["output"])
