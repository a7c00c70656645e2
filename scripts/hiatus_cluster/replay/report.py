"""The page of a replay: tables of what every scheduler made of it, and plots."""

import gzip
import json
import math
import statistics

from .. import layout
from ..experiments import tables
from . import machine, plots
from .schedulers import BASELINE, NODES, SCHEDULERS, TASK_MB

_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
#: Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1; the last one serves for more.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
#: Fewer repetitions, or a machine that does other work, make a trial.
_REPETITIONS = 3


def write(replay, title, method, runs, arguments):
    """Writes docs/bench/replay-NAME.md, its plots and what it is made of: the runs' documents by (scheduler, repetition)."""
    name, folder = f"replay-{replay.name}", layout.ROOT / "docs" / "bench"
    pictures = plots.draw(runs, folder, name)
    parts = [_standing(runs, arguments.beside), _sojourns(runs), _ratios(runs), _slowdowns(runs), _costs(runs), _machine(runs),
             _checks(runs), _settings(runs), _keep(runs, folder / f"{name}.json.gz"),
             "## Plots\n\n" + "\n".join(f"![{about}]({file})\n" for about, file in pictures)]
    cluster = f" Cluster: {NODES} NodeManagers of {replay.slots_a_node} tasks of {TASK_MB} MB, heartbeats of 500 ms, a fresh one for each run."
    tables.write(name, title, method + cluster, [part for part in parts if part], command="scripts/replay")


def _keep(runs, path):
    """The runs themselves, from which others may compute what is in no table."""
    documents = [{"scheduler": name, "repetition": repetition, **document} for (name, repetition), document in runs.items()]
    path.write_bytes(gzip.compress(json.dumps(documents).encode(), mtime=0))
    return (f"## The runs\n\n[{path.name}]({path.name}): every job of each, and its tasks' containers. Under `lives` are a container's bin, begin, "
            "end (s from the first submission) and whether it ran or was suspended.\n")


def _names(runs):
    return list(dict.fromkeys(name for name, _ in runs))


def _of(runs, name):
    return [document for (scheduler, _), document in runs.items() if scheduler == name]


def _standing(runs, beside):
    """What the page may be taken for."""
    busy = sum(not document["machine"]["quiet"] for document in runs.values())
    by_repetition = {}
    for (name, repetition), document in runs.items():
        if not SCHEDULERS[name].alone:  # which leaves the processors idle
            by_repetition.setdefault(repetition, []).append(document["machine"])
    unlike = ", ".join(str(repetition) for repetition, seen in sorted(by_repetition.items()) if not machine.alike(seen))
    if busy or unlike or len(by_repetition) < _REPETITIONS:
        return (f"**A trial, not a measurement**: {len(by_repetition)} repetition(s), {busy} of {len(runs)} runs on a machine that was not "
                "quiet" + (f" ({beside})" if beside else "")
                + (f"; in repetition(s) {unlike} it was more than a tenth slower under one scheduler than under another" if unlike else "")
                + ". It shows that all works; its numbers support no claim.\n")
    return ""


def _in_bin(jobs, number):
    """Those of a bin; 0 is all."""
    return [job for job in jobs if number in (0, job["bin"])]


def _bins(runs):
    return sorted({job["bin"] for document in runs.values() for job in document["jobs"]})


def _sojourns(runs):
    bins, rows = [0, *_bins(runs)], []
    for name in _names(runs):
        row = [name, len(_of(runs, name))]
        for number in bins:
            samples = [[job["sojourn_s"] for job in _in_bin(document["jobs"], number)] for document in _of(runs, name)]
            samples = [sample for sample in samples if sample]
            row += [statistics.mean(map(statistics.mean, samples)), statistics.mean(map(statistics.median, samples))]
        rows.append(row)
    columns = ["scheduler", "runs"]
    columns += [f"{what}, {'all' if number == 0 else f'bin {number}'}" for number in bins for what in ("mean", "median")]
    return tables.table("Sojourn times, s (mean of the runs)", columns, rows)


def interval(ratios):
    """Geometric mean and 95 % interval (Student's t of the logarithms), as text; no interval of one value."""
    logs = [math.log(ratio) for ratio in ratios]
    middle = statistics.mean(logs)
    if len(logs) < 2:
        return f"{math.exp(middle):.2f}"
    half = _T95[min(len(logs) - 1, len(_T95)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(middle):.2f} ({math.exp(middle - half):.2f} to {math.exp(middle + half):.2f})"


def _ratios(runs):
    if BASELINE not in _names(runs):
        return ""
    rows = []
    for name in _names(runs):
        pairs, row, together = _beside_baseline(runs, name), [name], not SCHEDULERS[name].alone  # whose one run is many pairs
        for number in (0, *_bins(runs)):
            ratios = [_mean_sojourn_s(ours, number) / _mean_sojourn_s(theirs, number) for ours, theirs in pairs if _in_bin(ours, number)]
            row.append(interval(ratios) if together else statistics.geometric_mean(ratios))
        rows.append([*row, interval([_makespan_s(ours) / _makespan_s(theirs) for ours, theirs in pairs]) if together else None])
    columns = ["scheduler", "all", *(f"bin {number}" for number in _bins(runs)), "makespan"]
    return tables.table(f"Mean sojourn, and makespan, over those of `{BASELINE}` in the same repetition: geometric mean (95 % interval)",
                        columns, rows)


def _beside_baseline(runs, name):
    """The jobs of its runs, each with the baseline's of the same repetition; of jobs alone, with every one of the same jobs."""
    return [(document["jobs"], other["jobs"])
            for (scheduler, repetition), document in runs.items() if scheduler == name
            for (baseline, beside), other in runs.items() if baseline == BASELINE
            and (beside == repetition or SCHEDULERS[name].alone and _are_the_same(document, other))]


def _are_the_same(document, other):
    return document["made_with"]["jobs"] == other["made_with"]["jobs"]


def _mean_sojourn_s(jobs, number):
    return statistics.mean(job["sojourn_s"] for job in _in_bin(jobs, number))


def _makespan_s(jobs):
    return (max(job["finished_ms"] for job in jobs) - min(job["submitted_ms"] for job in jobs)) / 1000


def _slowdowns(runs):
    rows = []
    for name in _names(runs):
        sample = sorted(slowdown for document in _of(runs, name) for slowdown in _slowdowns_of(runs, document))
        if sample:
            rows.append([name, len(sample), *(sample[math.ceil(q * len(sample)) - 1] for q in _QUANTILES), statistics.mean(sample)])
    columns = ["scheduler", "jobs", *(f"q{q:g}" for q in _QUANTILES), "mean"]
    if not rows:
        return ""
    if any(SCHEDULERS[name].alone for name in _names(runs)):
        return tables.table("Slowdown: sojourn over that of the row `alone`", columns, rows)
    return (tables.table("Slowdown: sojourn over the time alone", columns, rows)
            + "\nThe time alone is computed from the tasks' times and from what a small job run alone cost in the same run.\n")


def _slowdowns_of(runs, document):
    """By what each job took alone, if that is a row, or else by what is computed for it; of none where it is not known."""
    measured = [other for (name, _), other in runs.items() if SCHEDULERS[name].alone]
    alone_s = ({job["name"]: job["sojourn_s"] for other in measured if _are_the_same(document, other) for job in other["jobs"]} if measured
               else {job["name"]: job["alone_s"] for job in document["jobs"] if job["alone_s"]})
    return [job["sojourn_s"] / alone_s[job["name"]] for job in document["jobs"] if job["name"] in alone_s]


def _costs(runs):
    rows = []
    for (name, repetition), document in runs.items():
        jobs = document["jobs"]

        def total(what, jobs=jobs):
            return sum(job[what] for job in jobs)
        rows.append([name, repetition, *map(total, ("suspensions", "in_vain", "suspended_s", "killed", "failed", "wasted_s")), _makespan_s(jobs)])
    columns = ["scheduler", "repetition", "suspensions", "in vain", "suspended container-s", "attempts killed", "attempts failed",
               "wasted container-s", "makespan, s"]
    return tables.table("What it cost", columns, rows)


def _machine(runs):
    rows = []
    for (name, repetition), document in runs.items():
        seen = document["machine"]
        rows.append([name, repetition, "yes" if seen["quiet"] else "**no**", seen["load_average_before"], f"{seen['others_before']:.0%}",
                     f"{seen['others_during']:.0%}", f"{seen['stolen_during']:.1%}", f"{seen['idle_during']:.0%}",
                     f"{seen['speed_during']:.0f}", seen["least_available_mb"], seen["swapped_in_pages"], document["late_s"],
                     document["costs"]["job_s"], document["costs"]["task_s"]])
    columns = ["scheduler", "repetition", "quiet", "load average before", "CPU used before", "CPU used by others", "stolen by the host",
               "CPU idle", "speed, pieces/s", "least memory, MB", "pages swapped in", "latest arrival, s", "cost of a job, s", "of a task, s"]
    return tables.table("The machine", columns, rows)


def _checks(runs):
    facts = {}
    for (name, repetition), document in runs.items():
        facts.setdefault("; ".join(document["checked"]), []).append(f"{name} {repetition}")
    return "## What was checked\n\n" + "".join(f"- {', '.join(who)}: {fact}\n" for fact, who in facts.items())


def _settings(runs):
    own = {}
    for name in _names(runs):
        about = SCHEDULERS[name]
        own[name] = (about.about, ", ".join(f"`{key}` = {value}" for key, value in about.knobs.items()) or "none")
    rows = [[name, about, knobs] for name, (about, knobs) in own.items()]
    product = ", ".join(sorted({f"{document['made_with']['product']}" for document in runs.values()}))
    jobs = ", ".join(f"{repetition}: {digest}" for repetition, digest in
                     sorted({(repetition, document["made_with"]["jobs"]) for (_, repetition), document in runs.items()}))
    return (tables.table("Settings", ["scheduler", "what it is", "its properties"], rows)
            + f"\nProduct: {product}. Digest of the jobs by repetition: {jobs}." + "\n")
