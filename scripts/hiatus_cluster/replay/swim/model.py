"""From a line of a trace to tasks: how many, how long, and how many bytes each job reads, shuffles and writes.

A trace has bytes, no tasks. The same scale for all bytes keeps the ratios between large jobs; what gets small ends as one short map. SWIM's
own scaling makes nine of ten jobs of these traces equal, because it lets none read less than 64 MB.
"""

import math
from dataclasses import dataclass

from ...errors import ClusterError

MB = 1_000_000
_MAP_BYTES, _MOST_MAPS = 16 * MB, 48
_REDUCE_BYTES, _MOST_REDUCES = 64 * MB, 4
_MAP_BYTES_PER_S, _REDUCE_BYTES_PER_S = 2 * MB, 8 * MB
_MAP_MS, _REDUCE_MS = (1000, 16_000), (1000, 40_000)  #: least and most
#: What a task costs beyond its work, for the load only.
_TASK_COST_MS = 3000
#: Jobs of the mode `bytes` have as many tasks as those of `timed`, and move an eighth of the bytes: so much two cores can do.
BYTES_DIVISOR = 8
RECORD_BYTES = 100
#: Jobs are told apart by their number of maps: 1, 2 to 4, 5 to 15, more.
_BINS = (1, 4, 15)


@dataclass(frozen=True)
class Planned:
    """A job of the replay."""

    name: str
    line: int  #: in the trace
    at_s: float
    bin: int  #: 1 to 4
    maps: int
    map_ms: int
    reduces: int
    reduce_ms: int  #: 0 without reduces
    input_bytes: int
    shuffle_bytes: int
    output_bytes: int
    capped: bool  #: whether it would have had more tasks, or longer ones

    @property
    def times_ms(self):
        """Task times, stage by stage."""
        return [[self.map_ms] * self.maps, [self.reduce_ms] * self.reduces]

    @property
    def load_ms(self):
        """What its tasks take of containers, with the cost of a task."""
        return sum(time + _TASK_COST_MS for stage in self.times_ms for time in stage)


def plan(rows, scale, slots, load):
    """The jobs of these rows with bytes times ``scale``, arriving so that ``slots`` containers are offered ``load`` on average."""
    if not (0 < scale <= 1 and 0 < load <= 2):
        raise ClusterError(f"--scale {scale:g}, --load {load:g}: a scale from 0 to 1 and a load from 0 to 2 are needed")
    jobs = [_job(row, scale) for row in rows]
    span_s = rows[-1].submit_s - rows[0].submit_s
    stretch = stretch_of(jobs, span_s, slots, load)
    return [Planned(**{**vars(job), "at_s": round((row.submit_s - rows[0].submit_s) * stretch, 3)}) for row, job in zip(rows, jobs)]


def stretch_of(jobs, span_s, slots, load):
    """By how much the trace's time has to be stretched for this load."""
    return sum(job.load_ms for job in jobs) / 1000 / (slots * load * span_s) if span_s else 1.0


def _job(row, scale):
    read, shuffled, written = (bytes_ * scale for bytes_ in (row.input_bytes, row.shuffle_bytes, row.output_bytes))
    # A job without reduces may read little and write much: it brought data from elsewhere.
    uncapped = max(1, math.ceil((read if shuffled else max(read, written)) / _MAP_BYTES))
    by_shuffle = math.ceil(shuffled / _REDUCE_BYTES)
    maps, reduces = min(uncapped, _MOST_MAPS), min(by_shuffle, _MOST_REDUCES)
    map_ms = (read + (0 if shuffled else written)) / uncapped / _MAP_BYTES_PER_S * 1000
    reduce_ms = (shuffled + written) / reduces / _REDUCE_BYTES_PER_S * 1000 if reduces else 0
    capped = uncapped > maps or by_shuffle > reduces or map_ms > _MAP_MS[1] or reduce_ms > _REDUCE_MS[1]
    return Planned(f"line-{row.line}", row.line, 0.0, 1 + sum(maps > most for most in _BINS),
                   maps, _within(map_ms, _MAP_MS), reduces, _within(reduce_ms, _REDUCE_MS) if reduces else 0,
                   *(max(1, round(bytes_)) if bytes_ else 0 for bytes_ in (read, shuffled, written)), capped)


def _within(ms, bounds):
    return round(min(max(ms, bounds[0]), bounds[1]))


def moved(job):
    """Bytes that the job reads, shuffles and writes in the mode ``bytes``: where there are any, one record at least, or one a reduce."""
    def at_least(bytes_, records):
        return max(bytes_ // BYTES_DIVISOR, records * RECORD_BYTES) if bytes_ else 0
    return at_least(job.input_bytes, 1), at_least(job.shuffle_bytes, job.reduces), at_least(job.output_bytes, 1)
