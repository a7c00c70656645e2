"""SWIM's traces: what is read of them, the tasks made of them, and that a replay moves exactly the bytes of its model."""

import shutil
import struct
import zlib

import pytest

from hiatus_cluster.errors import ClusterError
from hiatus_cluster.replay.swim import data, gain, model, trace

_SLOTS, _LOAD = 8, 0.8

#: Windows as the design computed them beforehand: jobs, stretch of time, jobs by bin, maps, reduces, map-only jobs, container-seconds with
#: 3 s a task, and GB read, shuffled and written.
_WINDOWS = {
    "A0": (60, 0.348, [44, 8, 6, 2], 186, 35, 37, 2381, (1.75, 2.15, 1.70)),
    "A1": (60, 0.572, [28, 20, 8, 4], 294, 38, 35, 3618, (2.55, 5.16, 2.97)),
    "A2": (60, 0.498, [40, 7, 7, 6], 284, 38, 44, 3532, (2.65, 4.12, 1.97)),
    "A3": (70, 0.389, [59, 2, 4, 5], 283, 51, 33, 3437, (5.36, 4.08, 1.13)),
    "B0": (60, 2.402, [37, 1, 21, 1], 268, 45, 21, 2890, (3.37, 0.60, 0.28)),
    "B1": (60, 3.591, [51, 0, 2, 7], 282, 40, 21, 3401, (3.65, 0.16, 4.20)),
    "B2": (70, 2.429, [52, 7, 5, 6], 275, 44, 32, 3450, (3.67, 1.34, 1.01)),
    "B3": (50, 6.328, [34, 5, 1, 10], 287, 49, 24, 3402, (3.91, 2.53, 0.24)),
}


def _rows(name):
    window = trace.WINDOWS[name]
    return trace.read(trace.TRACES[window.trace], window.first, window.last), window.scale


@pytest.mark.parametrize("name", _WINDOWS)
def test_a_window_becomes_the_tasks_that_the_design_computed(name):
    rows, scale = _rows(name)
    jobs = model.plan(rows, scale, _SLOTS, _LOAD)
    stretch = model.stretch_of(jobs, rows[-1].submit_s - rows[0].submit_s, _SLOTS, _LOAD)
    bins = [sum(job.bin == number for job in jobs) for number in (1, 2, 3, 4)]
    gigabytes = tuple(round(sum(getattr(job, f"{what}_bytes") for job in jobs) / 1e9, 2) for what in ("input", "shuffle", "output"))
    assert (len(jobs), round(stretch, 3), bins, sum(job.maps for job in jobs), sum(job.reduces for job in jobs),
            sum(job.shuffle_bytes == 0 for job in jobs), pytest.approx(sum(job.load_ms for job in jobs) / 1000, abs=1),
            gigabytes) == _WINDOWS[name]


def test_the_load_is_what_was_asked_for():
    rows, scale = _rows("A1")
    jobs = model.plan(rows, scale, _SLOTS, 0.5)
    span_s = jobs[-1].at_s - jobs[0].at_s
    assert sum(job.load_ms for job in jobs) / 1000 / (_SLOTS * span_s) == pytest.approx(0.5, rel=1e-3)
    assert [job.at_s for job in jobs] == sorted(job.at_s for job in jobs) and jobs[0].at_s == 0


def test_traces_hold_the_jobs_that_their_publishers_count():
    assert [len(trace.read(path)) for path in trace.TRACES.values()] == [5894, 24442]


def _job(*bytes_, scale=1.0):
    (job,) = model.plan([trace.Row(1, 0, *bytes_)], scale, _SLOTS, _LOAD)
    return job


def test_a_job_of_nothing_is_one_short_map():
    job = _job(0, 0, 0)
    assert (job.times_ms, job.bin, job.capped, model.moved(job)) == ([[1000], []], 1, False, (0, 0, 0))


def test_a_job_without_reduces_is_sized_by_what_it_writes():
    job = _job(1000, 0, 32 * model.MB)
    assert (job.maps, job.map_ms, job.reduces, job.bin) == (2, 8000, 0, 2)


def test_what_a_job_has_too_much_of_is_capped_and_said():
    job = _job(16 * model.MB * 100, 64 * model.MB * 9, 0)
    assert (job.maps, job.reduces, job.capped, job.bin) == (48, 4, True, 4)


def test_a_job_moves_a_record_at_least_of_what_it_moves_at_all():
    assert model.moved(_job(1, 1, 1)) == (100, 100, 100)
    assert model.moved(_job(80_000, 0, 8_000)) == (10_000, 0, 1_000)


@pytest.mark.parametrize("line, complaint", [
    ("job1\t9\t9\t1762\t0", r"t.tsv:2: 5 columns, where 6 .* are needed"),
    ("job1\t9\t9\t1\t-4\t3", r"t.tsv:2: shuffle is '-4'"),
    ("job1\t9\t9\t1\tnan\t3", r"t.tsv:2: shuffle is 'nan'"),
    ("job1\t4\t9\t1\t4\t3", r"t.tsv:2: submitted at 4 s, before the line above it \(5 s\)"),
    ("", r"t.tsv:2: 1 columns"),
])
def test_a_bad_line_is_refused_by_its_number(tmp_path, line, complaint):
    (tmp_path / "t.tsv").write_text(f"job0\t5\t5\t1\t0\t3\n{line}\njob2\t10\t1\t1\t0\t3\n")
    with pytest.raises(ClusterError, match=complaint):
        trace.read(tmp_path / "t.tsv")


def test_lines_that_are_not_there_are_refused(tmp_path):
    (tmp_path / "t.tsv").write_text("job0\t5\t5\t1\t0\t3\tin\tout\n")
    assert trace.read(tmp_path / "t.tsv") == [trace.Row(1, 5, 1, 0, 3)]
    with pytest.raises(ClusterError, match="lines 1-2 of .*: it has lines 1 to 1"):
        trace.read(tmp_path / "t.tsv", 1, 2)
    with pytest.raises(ClusterError, match="cannot be read"):
        trace.read(tmp_path / "none.tsv")


_JOB = 105405  # "job".hashCode() in Java


def _record(number, length=100, job=_JOB):
    body = struct.pack(">iiq", length, job, number) + bytes(length - 20)
    return body + struct.pack(">I", zlib.crc32(body))


def test_an_output_is_right_only_with_each_record_once(tmp_path):
    part = tmp_path / "part-0"

    def check(*records, wanted=250):
        part.write_bytes(b"".join(records))
        data.check_output("job", [part], wanted)
    check(_record(1, 150), _record(0))
    broken = bytearray(_record(1, 150))
    broken[40] ^= 1
    for records, complaint in [((_record(0),), "100 bytes and 1 records"), ((_record(0), bytes(broken)), "broken record at byte 100"),
                               ((_record(0), _record(0)), "record 0, which was there before"),
                               ((_record(0), _record(1, 150, job=7)), "a record of another job at byte 100"),
                               ((_record(0), _record(2, 150)), "250 bytes and 2")]:
        with pytest.raises(ClusterError, match=complaint):
            check(*records)


def test_what_there_is_to_gain_is_told_of_the_same_jobs():
    """In a window that was selected for it, where a size-based order gains much and FIFO loses."""
    fair_s, fifo, shipped, *_ = gain._row(trace.WINDOWS["B2"], _LOAD)
    of_all, of_one_map = ([float(cell.split(" / ")[part]) for cell in (fifo, shipped)] for part in (0, 1))
    assert fair_s > 20 and of_all[0] > 1 > of_all[1] and of_one_map[0] > 1 > of_one_map[1]
