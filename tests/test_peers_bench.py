"""What the benchmark of schedulers makes of its runs."""

import pytest

from hiatus_cluster import peers_bench
from hiatus_cluster.errors import ClusterError
from hiatus_cluster.peers_bench import CAPACITY, HIATUS, LOADS, Result, judged, rows_of

CHURN = next(load for load in LOADS if load.kind == "churn")
MORNING = next(load for load in LOADS if load.kind == "morning")
COLUMNS = [("updates", "update us", ".1f"), ("rounds", "rounds", ".0f")]


def _runs(*updates):
    return [Result({"update us": update, "rounds": 7}) for update in updates]


def test_a_cell_is_the_median_and_a_ratio_is_the_median_of_the_pairs():
    rows = rows_of(CHURN, {HIATUS: _runs(2.0, 30.0, 5.0), CAPACITY: _runs(1.0, 10.0, 10.0)}, COLUMNS)
    assert [row[2:] for row in rows] == [[HIATUS, "5.0", "7"], [CAPACITY, "10.0", "7"], [f"{HIATUS} / {CAPACITY}", "2.00", ""]]


def test_numbers_of_a_hiatus_that_switched_itself_off_are_not_shown():
    off = judged(CHURN, {"fault": "5 steps in a row took over 1000 ms", "given": 100, "update us": 1.0, "rounds": 3})
    rows = rows_of(CHURN, {HIATUS: [*_runs(2.0), off], CAPACITY: _runs(1.0, 1.0)}, COLUMNS)
    assert rows[0][3:] == ["**failure** in 1 of 2: switched itself off: 5 steps in a row took over 1000 ms", ""]
    assert [row[2] for row in rows] == [HIATUS, CAPACITY], "no ratio"


def test_who_does_not_place_everything_has_failed():
    assert judged(MORNING, {"fault": None, "given": 10, "wanted": 20}).failure == "placed 10 of 20 containers"
    assert not judged(MORNING, {"fault": None, "given": 20, "wanted": 20}).failure


def test_a_profile_is_a_row_of_shares_for_each_scheduler():
    runs = {HIATUS: Result({"shares": {"commit": 0.75, "ours": 0.25}}), CAPACITY: Result({"shares": {"commit": 1.0}})}
    assert peers_bench.profiles({CHURN: runs}).splitlines()[2:] == [
        f"| {CHURN.name} | {HIATUS} | 75% | 25% |", f"| {CHURN.name} | {CAPACITY} | 100% |  |"]
    assert peers_bench.profiles({CHURN: {HIATUS: Result(failure="stands still")}}) == ""


def test_unknown_loads_and_no_runs_are_refused():
    with pytest.raises(SystemExit):
        peers_bench.arguments(["--loads", "storm"])
    with pytest.raises(ClusterError, match="--repeats"):
        peers_bench.arguments(["--repeats", "0"])
