"""What the demonstration reports, given what happened."""

import json
from collections import Counter

import pytest

from hiatus_cluster import demo
from hiatus_cluster.containers import Life
from hiatus_cluster.jobs import JobResult


def _attempt(state, begin_ms, end_ms):
    return {"state": state, "startTime": begin_ms, "finishTime": end_ms}


def _run(scheduler, big_s, small_s, attempts=(), lives=()):
    return demo.Run(scheduler, [JobResult("big", "application_1_0001", "SUCCEEDED", 1_000, 1_000 + big_s * 1000, list(attempts)),
                                JobResult("small", "application_1_0002", "SUCCEEDED", 5_000, 5_000 + small_s * 1000, [])],
                    list(lives), {})


STOCK = _run("capacity", 60, 50)
HIATUS = _run("hiatus", 66, 10, [_attempt("SUCCEEDED", 1_000, 9_000), _attempt("KILLED", 1_000, 4_500), _attempt("FAILED", 2_000, 3_000),
                                 _attempt("KILLED", 0, 0)],
              [Life("container_1_0001_01_000002", 1, [(0, 1, "running"), (1, 2, "suspended"), (2, 3, "running"), (3, 4, "suspended")]),
               Life("container_1_0002_01_000002", 1, [(1.5, 2, "running")]), Life("container_1_0002_01_000003", 2, [(3.5, 9, "running")])])


def test_the_json_has_the_agreed_form():
    document = json.loads(json.dumps(demo.document([STOCK, HIATUS])))
    assert [(job["name"], job["scheduler"], job["sojourn_s"]) for job in document["jobs"]] == [
        ("big", "capacity", 60.0), ("small", "capacity", 50.0), ("big", "hiatus", 66.0), ("small", "hiatus", 10.0)]
    assert {key: document[key] for key in ("suspended", "suspended_in_vain", "resumed", "killed_attempts", "failed_attempts")} == {
        "suspended": 2, "suspended_in_vain": 1, "resumed": 1, "killed_attempts": 2, "failed_attempts": 1}


def test_the_table_compares_every_job_and_states_the_big_jobs_delay():
    lines = demo.table(STOCK, HIATUS)
    assert [line.split() for line in lines if line.startswith("small ")] == [["small", "50.0", "10.0", "0.20"]]
    assert "the big job ends 6.0 s (10 %) later" in lines
    assert [line.split()[-2:] for line in lines if line.startswith(("task attempts killed", "work wasted"))] == [["0", "2"], ["0", "4.5"]]


def test_of_several_big_jobs_the_table_states_the_mean_delay():
    stock, hiatus = (demo.Run(one.scheduler, [JobResult(name, app, "SUCCEEDED", 0, ms, []) for name, app, ms in jobs], [], {}) for one, jobs in (
        (STOCK, [("big-1", "a", 60_000), ("big-2", "b", 80_000), ("small", "c", 50_000)]),
        (HIATUS, [("big-1", "a", 50_000), ("big-2", "b", 76_000), ("small", "c", 10_000)])))
    lines = demo.table(stock, hiatus)
    assert "the big jobs end 7.0 s (10 %) earlier on average" in lines
    assert [line.split() for line in lines if line.startswith("small, mean")] == [["small,", "mean", "50.0", "10.0", "0.20"]]


def test_wasted_work_is_the_time_of_attempts_that_ended_in_vain():
    assert HIATUS.results[0].wasted_s == 3.5 + 1.0


@pytest.mark.parametrize("big", [1, 3])
def test_generated_text_has_the_counts_expected_of_it(tmp_path, big):
    text = demo.Text(tmp_path, lines=100, big=big)
    digest = demo.word_count_digest(Counter(text.small[0].read_text().split()))
    assert digest == text.expected["words-1"] == text.expected["words-2"]
    assert sum(path.stat().st_size for files in text.big.values() for path in files) == round(text.megabytes * 1e6)
    for name, files in text.big.items():
        assert demo.word_count_digest(sum((Counter(path.read_text().split()) for path in files), Counter())) == text.expected[name]
    text.remove_big()
    assert list(tmp_path.iterdir()) == text.small
