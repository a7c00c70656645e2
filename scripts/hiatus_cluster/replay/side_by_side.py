"""The same jobs at the same times under one scheduler after the other, on a fresh cluster each; what was measured is kept in files.

Beside these each job alone, one after the other: what no scheduler can do better.

A run whose file is there already is not done again, as long as product, jobs and settings are those it was made with.
"""

import argparse
import contextlib
import hashlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Callable

from .. import alone, containers, layout
from ..cluster import Cluster
from ..errors import ClusterError
from ..jobs import Workload
from . import schedulers, watched
from .machine import Watch

CLUSTER = "cluster"
_PATIENCE_S = 3600  #: after the last arrival
#: What is measured, but for what only simulates or draws pages: a change in that makes no run be done again.
_PARTS = ("rust", "java", "scripts", "docker", "build.gradle", "Cargo.toml", "Cargo.lock", ":!rust/sim", ":!scripts/hiatus_cluster/experiments",
          *(f":!scripts/hiatus_cluster/replay/{name}.py" for name in ("report", "plots", "swim/gain")))


@dataclass(frozen=True)
class Job:
    """A job of a replay."""

    bin: int
    submission: dict  #: as ``jobs.job`` makes it
    stages_ms: list = None  #: task times by stage, where they are known beforehand

    @property
    def name(self):
        """Its name in the workload."""
        return self.submission["name"]


@dataclass(frozen=True)
class Replay:
    """Something that can be replayed."""

    name: str  #: of its folder and its page
    jobs: Callable  #: the jobs of a repetition (from 1)
    check: Callable  #: (cluster, repetition, results, folder to work in) -> list of what was checked, in words; raises ClusterError
    fs: str = "local"
    prepare: Callable = lambda cluster, repetition: None  #: puts data into a fresh cluster
    late_s: float = 2.0  #: so much later than another may a job reach the ResourceManager, beside its time; else the run is void
    slots_a_node: int = schedulers.SLOTS_A_NODE  #: tasks that a node may run at a time
    kind: Callable = Cluster  #: what makes its clusters, each of a state directory


def folder_of(name):
    """Where the runs of a replay are kept, and its cluster (in ``CLUSTER``)."""
    return layout.BUILD / "replay" / name


def options(parser):
    """Arguments that all replays have."""
    parser.add_argument("--schedulers", nargs="+", choices=schedulers.SCHEDULERS, default=["fair", "hiatus"], metavar="NAME",
                        help=f"of {', '.join(schedulers.SCHEDULERS)} (default: fair hiatus)")
    parser.add_argument("--repeats", type=_at_least_one, default=1, metavar="N", help="how often under each (default: 1)")
    parser.add_argument("--beside", default="", metavar="TEXT", help="what else the machine did meanwhile, for the page")


def part(text):
    """A positive part of a whole, such as ``1/50``, as an argument of a command line."""
    with contextlib.suppress(ValueError, ZeroDivisionError):
        if (value := Fraction(text)) > 0:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no part of a whole, such as 1/50")


def _at_least_one(text):
    with contextlib.suppress(ValueError):
        if (value := int(text)) > 0:
            return value
    raise argparse.ArgumentTypeError(f"{text} is not 1 or more")


def run(replay, arguments, say):
    """All runs, those that are missing; as documents by (scheduler, repetition)."""
    folder_of(replay.name).mkdir(parents=True, exist_ok=True)
    names, repeats, runs, product = arguments.schedulers, arguments.repeats, {}, _product()
    for repetition in range(1, repeats + 1):
        shift = (repetition - 1) % len(names)  # no scheduler always comes first, with what the machine still does from before
        for name in names[shift:] + names[:shift]:
            if repetition == 1 or not schedulers.SCHEDULERS[name].alone:
                runs[name, repetition] = _once(replay, name, repetition, product, say)
    return {key: runs[key] for name in names for key in runs if key[0] == name}


def _once(replay, name, repetition, product, say):
    label = f"{name}, repetition {repetition}"
    spec = schedulers.spec(name, folder_of(replay.name), folder_of(replay.name) / CLUSTER, replay.fs, replay.slots_a_node)
    jobs = replay.jobs(repetition)
    knobs = {key: str(value) for key, value in spec.properties.items()}
    made_with = {"product": product, "jobs": _digest([vars(job) for job in jobs]), "knobs": knobs}
    path = folder_of(replay.name) / f"{name}-{repetition}.json"
    if path.exists() and (kept := json.loads(path.read_text()))["made_with"] == made_with:
        say(f"{label}: kept from before")
        return kept
    play = _one_by_one if schedulers.SCHEDULERS[name].alone else _at_their_times
    document = {"made_with": made_with, **_measure(replay, repetition, spec, jobs, play, label, say)}
    partial = path.with_suffix(".new")
    partial.write_text(json.dumps(document))
    partial.replace(path)
    return document


def _measure(replay, repetition, spec, jobs, play, label, say):
    cluster = replay.kind(folder_of(replay.name) / CLUSTER)
    cluster.down()
    watch = Watch(cluster.dir)
    say(f"{label}: starting")
    cluster.up(spec)
    try:
        replay.prepare(cluster, repetition)
        costs = alone.measure(cluster)
        with watch:
            results, late_s = play(cluster, jobs, replay.late_s, label, say)
        lives = containers.lives(cluster)
        in_vain = containers.in_vain(lives)
        checked = [f"{len(results)} of {len(results)} jobs succeeded",
                   *replay.check(cluster, repetition, results, folder_of(replay.name)), *watched.check(cluster)]
        readings = watch.readings()
        say(f"{label}: mean sojourn {sum(result.sojourn_s for result in results) / len(results):.1f} s; {'; '.join(checked)}")
        if not readings.quiet:
            say(f"{label}: NOT a quiet machine: others took {readings.others_before:.0%} of it before and {readings.others_during:.0%} "
                f"during the run, and its host {readings.stolen_during:.0%}")
        return {"costs": vars(costs), "machine": readings.document(), "checked": checked, "late_s": late_s,
                "jobs": [_document(job, result, costs, lives, in_vain, schedulers.NODES * replay.slots_a_node)
                         for job, result in zip(jobs, results)],
                "lives": _spans(jobs, results, lives)}
    finally:
        cluster.down()


def _at_their_times(cluster, jobs, allowed_s, label, say):
    """Plays the jobs: their results, and by how many s the latest was late. Raises ClusterError if that is more than allowed, or a job is lost."""
    workload = Workload(cluster, [job.submission for job in jobs])
    _follow(workload, label, _PATIENCE_S + max(job.submission["at_s"] for job in jobs), say)
    results = workload.results()
    _check_ends(label, results, workload)
    return results, _lateness_s(jobs, results, allowed_s)


def _one_by_one(cluster, jobs, allowed_s, label, say):
    """The same, but that each job comes when the one before has ended."""
    results = []
    for job in jobs:
        at_once = replace(job, submission={**job.submission, "at_s": 0})
        results += _at_their_times(cluster, [at_once], allowed_s, f"{label}, {job.name} ({len(results) + 1} of {len(jobs)})", say)[0]
    return results, 0.0


def _follow(workload, label, patience_s, say):
    """Waits for the end of all jobs, and shows how far they are."""
    begin, shown = time.monotonic(), -1
    try:
        while workload.running():
            kinds = [event["event"] for event in workload.events()]
            submitted = kinds.count("submit")
            ended, elapsed_s = len(kinds) - submitted, time.monotonic() - begin
            filled = 30 * ended // len(workload.names)
            text = (f"{label}: [{'#' * filled:<30}] {ended} of {len(workload.names)} jobs ended, {submitted - ended} in the system, "
                    f"{elapsed_s:.0f} s")
            if sys.stdout.isatty():
                print(f"\r{text}", end="", flush=True)
            elif filled // 6 > shown:
                shown = filled // 6
                say(text)
            if elapsed_s > patience_s:
                raise ClusterError(f"{label}: not done after {elapsed_s:.0f} s; log: {workload.log}")
            time.sleep(0.5)
    finally:
        workload.stop()
        if sys.stdout.isatty():
            print()


def _check_ends(label, results, workload):
    lost = {result.name for result in results if result.status != "SUCCEEDED"}
    lost |= {event["job"] for event in workload.events() if event["event"] == "failure"}
    if lost:
        raise ClusterError(f"{label}: {', '.join(sorted(lost))} did not succeed; logs: {workload.log.parents[1]}")


def _lateness_s(jobs, results, allowed_s):
    """By how much the latest reached the ResourceManager late. A workload whose arrivals are not those it says is none."""
    delays_s = [result.submitted_ms / 1000 - job.submission["at_s"] for job, result in zip(jobs, results)]
    late_s = max(delays_s) - min(delays_s)
    if late_s > allowed_s:
        raise ClusterError(f"a job reached the ResourceManager {late_s:.1f} s late: the machine is too busy for a replay")
    return late_s


def _document(job, result, costs, lives, in_vain, slots):
    mine = [life for life in lives if life.application in {result.app_id, *result.earlier_apps}]
    suspended = {life.container: _suspended_s(life, result.finished_ms / 1000) for life in mine}
    lost = [attempt for attempt in result.attempts if attempt["state"] in ("KILLED", "FAILED")]
    return {"name": job.name, "bin": job.bin, "at_s": job.submission["at_s"], "sojourn_s": result.sojourn_s,
            "submitted_ms": result.submitted_ms, "finished_ms": result.finished_ms,
            "alone_s": costs.alone_s(job.stages_ms, slots) if job.stages_ms else None,
            "killed": result.attempts_in("KILLED"), "failed": result.attempts_in("FAILED"),
            "wasted_s": max(0.0, result.wasted_s - sum(suspended.get(attempt.get("assignedContainerId"), 0) for attempt in lost)),
            "suspensions": sum(life.suspensions for life in mine), "in_vain": sum(container in suspended for container in in_vain),
            "suspended_s": sum(suspended.values())}


def _suspended_s(life, job_end):
    return sum((job_end if end is None else end) - begin for begin, end, kind in life.spans if kind == "suspended")


def _spans(jobs, results, lives):
    """What the picture needs: [bin, begin, end, kind] of every container that is no master, in s from the first submission."""
    zero = min(result.submitted_ms for result in results) / 1000
    bin_of = {app: job.bin for job, result in zip(jobs, results) for app in (result.app_id, *result.earlier_apps)}
    end_of = {app: result.finished_ms / 1000 for result in results for app in (result.app_id, *result.earlier_apps)}
    return [[bin_of[life.application], round(begin - zero, 2), round((end or end_of[life.application]) - zero, 2), kind]
            for life in lives if life.application in bin_of and not life.is_master for begin, end, kind in life.spans]


def generated(name, module):
    """Where data of this name lie that a module generates: another version of it has another folder."""
    return layout.BUILD / "replay" / f"{name}-{hashlib.sha256(Path(module.__file__).read_bytes()).hexdigest()[:8]}"


def _digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:12]


def _product():
    """What is measured: the last commit of product and tools, and a digest of what is changed beyond it. Raises ClusterError without git."""
    def git(*words):
        try:
            return subprocess.run(["git", *words, "--", *_PARTS], cwd=layout.ROOT, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise ClusterError(f"git does not tell what is measured ({error}): replay from a clone of the repository, with git") from error
    new = {name: (layout.ROOT / name).read_text(errors="replace") for name in git("ls-files", "--others", "--exclude-standard").splitlines()}
    changed = git("diff", "HEAD")
    return git("log", "-1", "--format=%h").strip() + (f"+{_digest([changed, new])}" if changed or new else "")
