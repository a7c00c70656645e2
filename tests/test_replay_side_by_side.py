"""Replays side by side: what is kept and what is done again, when a run counts, and what a page makes of the numbers."""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from hiatus_cluster import alone, containers, jobs, recordings
from hiatus_cluster.errors import ClusterError
from hiatus_cluster.replay import machine, plots, report, schedulers, side_by_side, watched
from hiatus_cluster.replay.side_by_side import Job, Replay

_QUIET = machine.Readings(load_average_before=0.1, others_before=0.01, others_during=0.02, idle_during=0.3, stolen_during=0.01,
                          speed_during=400.0, least_available_mb=9000, swapped_in_pages=0)


def _arguments(*words):
    parser = argparse.ArgumentParser()
    side_by_side.options(parser)
    return parser.parse_args(words)


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Runs that cost nothing: the labels of those that were measured."""
    labels = []
    monkeypatch.setattr(side_by_side, "folder_of", lambda name: tmp_path / name)
    monkeypatch.setattr(side_by_side, "_product", lambda: "one")
    monkeypatch.setattr(side_by_side, "_measure", lambda replay, repetition, spec, jobs, play, label, say: labels.append(label) or {"jobs": []})
    return labels


def _replay(at_s=0.0):
    return Replay("some", lambda repetition: [Job(1, jobs.job("one", at_s, "pi"))], check=None)


def test_schedulers_take_turns_at_coming_first(measured):
    runs = side_by_side.run(_replay(), _arguments("--schedulers", "fifo", "fair", "hiatus", "--repeats", "2"), print)
    assert [label.split(",")[0] for label in measured] == ["fifo", "fair", "hiatus", "fair", "hiatus", "fifo"]
    assert list(runs) == [(name, repetition) for name in ("fifo", "fair", "hiatus") for repetition in (1, 2)]


def test_each_job_alone_is_measured_once_however_often_the_others_are(measured):
    runs = side_by_side.run(_replay(), _arguments("--schedulers", "fair", "alone", "--repeats", "3"), print)
    assert list(runs) == [("fair", 1), ("fair", 2), ("fair", 3), ("alone", 1)]


def test_jobs_alone_come_one_after_the_other_and_at_once(monkeypatch):
    played = []

    def play(cluster, submitted, allowed_s, label, say):
        played.append((label, [(one.name, one.submission["at_s"]) for one in submitted]))
        return [f"result of {one.name}" for one in submitted], 0.0
    monkeypatch.setattr(side_by_side, "_at_their_times", play)
    both = [Job(1, jobs.job(name, at_s, "pi")) for name, at_s in (("a", 0), ("b", 900))]
    assert side_by_side._one_by_one(None, both, 1, "alone", print) == (["result of a", "result of b"], 0.0)
    assert played == [("alone, a (1 of 2)", [("a", 0)]), ("alone, b (2 of 2)", [("b", 0)])]


def test_what_was_measured_is_kept_until_jobs_or_product_change(measured, monkeypatch):
    arguments = _arguments("--schedulers", "fair", "hiatus")
    first = side_by_side.run(_replay(), arguments, print)
    assert side_by_side.run(_replay(), arguments, print) == first and len(measured) == 2
    side_by_side.run(_replay(at_s=1.0), arguments, print)
    assert len(measured) == 4
    monkeypatch.setattr(side_by_side, "_product", lambda: "another")
    side_by_side.run(_replay(at_s=1.0), arguments, print)
    assert len(measured) == 6


def test_a_late_arrival_makes_a_run_void():
    def lateness(*at_ms):
        due = [Job(1, jobs.job(name, at_s, "pi")) for name, at_s in (("a", 0), ("b", 10))]
        results = [jobs.JobResult(name, f"application_1_000{name}", "SUCCEEDED", at, at + 1, []) for name, at in zip("ab", at_ms)]
        return side_by_side._lateness_s(due, results, allowed_s=1)
    assert lateness(5000, 15_400) == pytest.approx(0.4)
    assert lateness(5400, 15_000) == pytest.approx(0.4), "the first may be late, too"
    with pytest.raises(ClusterError, match="1.5 s late"):
        lateness(5000, 16_500)


def test_a_job_that_pig_gave_up_is_lost_although_its_applications_succeeded(tmp_path):
    result = jobs.JobResult("a", "application_1_0001", "SUCCEEDED", 0, 1000, [])
    workload = SimpleNamespace(events=lambda: [{"job": "a", "event": "failure"}], log=tmp_path / "workloads" / "log")
    with pytest.raises(ClusterError, match="a did not succeed"):
        side_by_side._check_ends("fair", [result], workload)


def test_suspended_time_is_no_waste_and_belongs_to_the_job_of_any_of_its_applications():
    first, second = (f"application_1_000{number}" for number in (1, 2))
    attempts = [{"state": "KILLED", "startTime": 1_000, "finishTime": 11_000, "assignedContainerId": "container_1_0001_01_000002"}]
    result = jobs.JobResult("a", second, "SUCCEEDED", 0, 30_000, attempts, [first])
    lives = [containers.Life("container_1_0001_01_000002", 1, [(1, 3, "running"), (3, 10, "suspended"), (10, 11, "running")]),
             containers.Life("container_1_0002_01_000002", 1, [(10, 20, "running"), (20, None, "suspended")]),
             containers.Life("container_1_0003_01_000002", 1, [(0, 5, "suspended"), (5, 30, "running")])]
    told = side_by_side._document(Job(2, jobs.job("a", 0, "pi")), result, None, lives, containers.in_vain(lives), 8)
    assert (told["wasted_s"], told["suspended_s"], told["suspensions"], told["killed"]) == (3.0, 17.0, 2, 1)
    assert told["in_vain"] == 1, "somebody else went on where the first stood still, nobody where the second does"


def test_room_is_used_by_what_begins_soon_there_and_not_by_who_left_it():
    left = containers.Life("container_1_0001_01_000002", 1, [(0, 1, "running"), (1, 2, "suspended"), (2, 9, "running")])

    def in_vain(node, begin):
        return len(containers.in_vain([left, containers.Life("container_1_0002_01_000002", node, [(begin, 9, "running")])]))
    assert [in_vain(1, 1.5), in_vain(1, 3.5), in_vain(1, 4.5), in_vain(2, 1.5)] == [0, 0, 1, 1]


def test_what_a_job_costs_alone_is_told_by_one_with_and_one_without_reduces_after_a_warm_up(monkeypatch):
    names = []

    def run(cluster, submitted):
        names.append(submitted[0]["name"])
        begins = (3000, 5000) if all(submitted[0]["args"]) else (3000,)
        attempts = [{"state": "SUCCEEDED", "startTime": begin, "finishTime": begin + 1500} for begin in begins]
        return [jobs.JobResult("alone", "application_1_0002", "SUCCEEDED", 0, 3000 + 2500 * len(begins), attempts)]
    monkeypatch.setattr(alone, "run", run)
    costs = alone.measure(None)
    assert (costs.job_s, costs.maps_only_s, costs.task_s, len(set(names))) == (5.0, 4.0, 0.5, 3), "YARN knows them by their names"
    assert costs.alone_s([[1000] * 3, [2000]], slots=2) == 5.0 + 2 * 1.5 + 2.5
    assert costs.alone_s([[1000] * 3, []], slots=2) == costs.alone_s([[1000] * 3], slots=2) == 4.0 + 2 * 1.5


@pytest.mark.parametrize("reading", [{"others_before": 0.06}, {"others_during": 0.06}, {"stolen_during": 0.06}, {"least_available_mb": 4000},
                                     {"swapped_in_pages": 1}])
def test_a_machine_that_does_anything_else_is_not_quiet(reading):
    assert _QUIET.quiet and not machine.Readings(**{**vars(_QUIET), **reading}).quiet


def test_what_others_take_is_seen(tmp_path):
    watch = machine.Watch(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other, watch:
        watch._done.wait(2.5 * machine._EVERY_S)
        other.kill()
    assert 0.2 / os.cpu_count() < watch.readings().others_during <= 1, "a part of one CPU at least"


def test_who_could_not_look_at_the_machine_has_seen_nothing(tmp_path, monkeypatch):
    def fail():
        raise OSError("gone")
    watch = machine.Watch(tmp_path)
    monkeypatch.setattr(watch, "_look", fail)
    with pytest.raises(OSError, match="gone"), watch:
        pass


def test_the_speed_is_that_of_the_best_of_three_pieces(monkeypatch):
    times = iter([0.0, 0.004, 1.0, 1.002, 2.0, 2.003])
    monkeypatch.setattr(machine.time, "thread_time", lambda: next(times))
    assert machine._speed() == pytest.approx(500)


def _runs(sojourns, quiet=True):
    """Documents with a job in bin 1 and one in bin 2 each, of these times in s by (scheduler, repetition)."""
    def told(number, sojourn_s):
        return {"name": f"job-{number}", "bin": number, "sojourn_s": sojourn_s, "submitted_ms": 0, "finished_ms": sojourn_s * 1000,
                "alone_s": 5.0, "killed": 0, "failed": 0, "wasted_s": 0.0, "suspensions": 1, "in_vain": 0, "suspended_s": 2.0}
    return {key: {"jobs": [told(1, small), told(2, large)], "machine": {**_QUIET.document(), "quiet": quiet}, "late_s": 0.1,
                  "costs": {"job_s": 1.0, "task_s": 1.0}, "checked": ["2 of 2 jobs succeeded"], "lives": [[1, 0.0, 4.0, "running"]],
                  "made_with": {"product": "abc", "jobs": "def"}}
            for key, (small, large) in sojourns.items()}


_THREE = {**{("fair", number): (10.0, 20.0) for number in (1, 2, 3)},
          ("hiatus", 1): (5.0, 20.0), ("hiatus", 2): (4.0, 20.0), ("hiatus", 3): (6.4, 20.0)}


def test_only_quiet_repetitions_make_a_measurement():
    assert report._standing(_runs(_THREE), "") == ""
    assert "3 repetition(s), 6 of 6 runs on a machine that was not quiet (a build)" in report._standing(
        _runs(_THREE, quiet=False), "a build")
    assert report._standing(_runs({("fair", 1): (10.0, 20.0)}), "").startswith("**A trial, not a measurement**: 1 repetition(s), 0 of 1")


def test_repetitions_of_unlike_speed_make_no_measurement():
    runs = _runs(_THREE)
    runs["fair", 2]["machine"]["speed_during"] *= 0.95
    assert report._standing(runs, "") == ""
    runs["fair", 2]["machine"]["speed_during"] *= 0.95
    assert "in repetition(s) 2 it was more than a tenth slower" in report._standing(runs, "")


def test_ratios_are_paired_by_repetition_and_have_an_interval():
    table = report._ratios(_runs(_THREE))
    # All: 0.833, 0.8, 0.88, whose logarithms have the mean -0.1778 and the standard deviation 0.0478; t is 4.303.
    assert "| hiatus | 0.84 (0.74 to 0.94) | 0.50 (0.28 to 0.90) | 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) |" in table
    assert report.interval([0.5]) == "0.50", "one value has none"


def test_all_plots_are_drawn(tmp_path):
    files = plots.draw(_runs(_THREE), tmp_path, "replay-some")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(file for _, file in files) and len(files) == 3
    assert all((tmp_path / file).read_text().startswith("<?xml") for _, file in files)


def test_the_runs_are_kept_beside_their_page(tmp_path):
    runs = _runs(_THREE)
    assert "[some.json.gz](some.json.gz)" in report._keep(runs, tmp_path / "some.json.gz")
    kept = json.loads(gzip.decompress((tmp_path / "some.json.gz").read_bytes()))
    assert {(one["scheduler"], one["repetition"]): one["jobs"] for one in kept} == {key: run["jobs"] for key, run in runs.items()}


def test_there_is_a_colour_for_each_scheduler():
    assert len(set(plots._COLOURS)) == len(plots._COLOURS) >= len(schedulers.SCHEDULERS), "who has none is left out of the pictures"


def test_jobs_alone_are_in_no_timeline_of_those_that_came_together():
    runs = _runs({**_THREE, ("alone", 1): (4.0, 9.0)})
    assert plots._side_by_side(runs) == ["fair", "hiatus"]


def test_jobs_alone_bound_the_ratios_of_all_repetitions_of_the_same_jobs():
    runs = _runs({**_THREE, ("alone", 1): (4.0, 9.0)})
    assert "| alone | 0.43 | 0.40 | 0.45 |" in report._ratios(runs), "of one run there is no interval"
    runs["fair", 2]["made_with"]["jobs"] = runs["fair", 3]["made_with"]["jobs"] = "drawn anew"
    assert "| alone | 0.43 | 0.40 | 0.45 |" in report._ratios(runs)


def test_slowdowns_are_by_what_was_measured_alone_or_else_computed():
    assert report._slowdowns_of(_runs(_THREE), _runs(_THREE)["hiatus", 2]) == [4.0 / 5.0, 20.0 / 5.0]
    runs = _runs({**_THREE, ("alone", 1): (2.0, 10.0)})
    assert report._slowdowns_of(runs, runs["hiatus", 2]) == [2.0, 2.0] and "row `alone`" in report._slowdowns(runs)
    runs["fair", 1]["made_with"]["jobs"] = "drawn anew"
    assert report._slowdowns_of(runs, runs["fair", 1]) == [], "one table has one base"


def test_a_quantile_is_the_least_that_so_many_do_not_exceed():
    runs = _runs({("fair", number): (5.0 * number, 5.0 * number) for number in (1, 2, 3, 4, 5)})
    assert "| fair | 10 | 2.00 | 3.00 | 4.00 | 5.00 | 5.00 | 5.00 | 3.00 |" in report._slowdowns(runs)


@pytest.mark.parametrize("words", ["--repeats 0", "--repeats -1", "--repeats two"])
def test_repetitions_are_one_or_more(words, capsys):
    with pytest.raises(SystemExit):
        _arguments(*words.split())
    assert "is not 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["1/0", "0", "-1/2", "half"])
def test_a_scale_is_a_positive_part(text):
    assert side_by_side.part("1/50") == Fraction(1, 50)
    with pytest.raises(argparse.ArgumentTypeError, match=f"{text} is no part of a whole"):
        side_by_side.part(text)


def test_without_git_nobody_knows_what_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(side_by_side.layout, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ClusterError, match="replay from a clone of the repository"):
        side_by_side._product()


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_what_is_measured_is_told_by_what_git_does_not_follow_yet_too(tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setattr(side_by_side.layout, "ROOT", tmp_path)
    (tmp_path / "rust").mkdir()
    (tmp_path / "rust" / "lib.rs").write_text("one")
    git("init")
    git("add", "rust")
    git("commit", "-m", "one")
    committed = side_by_side._product()
    (tmp_path / "rust" / "new.rs").write_text("two")
    with_new = side_by_side._product()
    (tmp_path / "rust" / "lib.rs").write_text("changed")
    assert "+" not in committed and len({committed, with_new, side_by_side._product()}) == 3


def test_every_row_of_the_tables_is_a_cluster_that_can_be_asked_for(tmp_path):
    for name in schedulers.SCHEDULERS:
        spec = schedulers.spec(name, tmp_path, tmp_path / "cluster", "local")
        spec.validate()
        assert type(spec).from_json(spec.to_json()) == spec
    assert schedulers.SCHEDULERS["hiatus"].knobs == {}, "as it is shipped"


def test_nodes_of_fewer_tasks_have_room_for_as_many_masters(tmp_path):
    one, four = (schedulers.spec("fair", tmp_path, tmp_path / "cluster", "local", slots).node_memory[0] for slots in (1, 4))
    assert four - one == 3 * schedulers.TASK_MB


def test_a_job_alone_is_reckoned_by_the_containers_that_its_replay_has():
    result = jobs.JobResult("a", "application_1_0001", "SUCCEEDED", 0, 30_000, [])
    costs = alone.Costs(job_s=3.0, maps_only_s=2.0, task_s=0.5)
    job = Job(1, jobs.job("a", 0, "pi"), [[1000] * 4])
    assert [side_by_side._document(job, result, costs, [], [], slots)["alone_s"] for slots in (4, 2)] == [3.5, 5.0]


def test_a_watched_row_records_into_its_own_cluster_and_others_are_not_asked(tmp_path):
    spec = schedulers.spec("hiatus-watched", tmp_path, tmp_path / "cluster", "local")
    assert Path(spec.properties[recordings.RECORD_DIR]).is_relative_to(tmp_path / "cluster")
    shipped = schedulers.spec("hiatus", tmp_path, tmp_path / "cluster", "local")
    assert watched.check(SimpleNamespace(spec=shipped)) == []


def test_a_recording_that_is_being_written_has_no_end(tmp_path):
    whole = gzip.compress(b"steps" * 1000)
    for written, ends in ((b"", False), (whole[:-9], False), (whole, True)):
        (tmp_path / "log").write_bytes(written)
        assert recordings._ends(tmp_path / "log") == ends
