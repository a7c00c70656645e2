"""The command `scripts/replay swim`."""

import dataclasses
import math
import re
import tempfile
from fractions import Fraction
from pathlib import Path

from ... import jobs
from ...docker import image
from ...docker.cluster import DockerCluster
from ...errors import ClusterError
from .. import report, side_by_side
from ..schedulers import SLOTS
from . import data, model, trace

#: One line for the command's help.
ABOUT = "A stretch of a recorded day of Facebook's clusters, scaled down to this machine."
_INPUT, _OUTPUT = "/swim/input", "/swim/output"
_TALLY = {"timed": jobs.TIMED_TALLY, "bytes": "io.hiatus.workload.BytesJob$Tally"}
_STROKE_MS = 100
_LOAD = 0.8


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--trace", metavar="NAME|FILE", help=f"{', '.join(trace.TRACES)}, or a file of that form (default: the window's)")
    parser.add_argument("--window", default="A1", metavar="ID|FIRST-LAST",
                        help=f"{', '.join(trace.WINDOWS)}, or lines of the trace (default: A1)")
    parser.add_argument("--scale", type=side_by_side.part, metavar="PART", help="of the trace's bytes, such as 1/50 (default: the window's)")
    parser.add_argument("--load", type=float, default=_LOAD, help=f"of the containers that arrivals are spaced for (default: {_LOAD})")
    parser.add_argument("--mode", choices=_TALLY, default="timed",
                        help="tasks work as long as the model says (timed, the default), or jobs read, shuffle and write bytes: "
                        "an eighth of the scaled trace's (bytes)")
    parser.add_argument("--docker", action="store_true", help="on a cluster of Docker containers, on a page of its own")
    image.options(parser)
    side_by_side.options(parser)


def run(arguments, say):
    """Replays a window; prints and writes the tables."""
    window, name = _window(arguments)
    rows = trace.read(trace.TRACES.get(window.trace, window.trace), window.first, window.last)
    planned = model.plan(rows, window.scale, SLOTS, arguments.load)
    loaded = "" if arguments.load == _LOAD else f"-load-{arguments.load:g}"
    one = replay(f"swim-{name}-{arguments.mode}{loaded}", planned, arguments.mode)
    if arguments.docker:
        one = in_docker(one, arguments.schedulers)
    say(_summary(planned))
    runs = side_by_side.run(one, arguments, say)
    capped = [job.name for job in planned if job.capped]
    method = (f"Lines {window.first} to {window.last} of the trace {Path(window.trace).name}, bytes times "
              f"{Fraction(window.scale).limit_denominator(10**6)}, arrivals spaced for a load of {arguments.load:g}. "
              f"{_summary(planned)} Larger than the model allows: {', '.join(capped) or 'none'}. "
              "Mode `" + arguments.mode + "`: " + _ABOUT[arguments.mode])
    where = "in Docker" if arguments.docker else "on real daemons"
    report.write(one, f"SWIM, window {name}, {arguments.mode}, replayed {where}", method, runs, arguments)


_ABOUT = {
    "timed": "tasks work for the model's times in strokes of 100 ms, so that time in which they are suspended does not count.",
    "bytes": f"jobs read, shuffle and write records of {model.RECORD_BYTES} bytes, in all one part in {model.BYTES_DIVISOR} of the scaled "
             "trace's bytes; how long their tasks take is an outcome.",
}


def _window(arguments):
    """The window asked for, and what it is called."""
    if arguments.window in trace.WINDOWS:
        named = trace.WINDOWS[arguments.window]
        if arguments.trace not in (None, named.trace):
            raise ClusterError(f"--window {arguments.window} is of the trace {named.trace}: leave out --trace {arguments.trace}, or give "
                               "lines")
        if arguments.scale in (None, Fraction(named.scale).limit_denominator(10**6)):
            return named, arguments.window
        return trace.Window(named.trace, named.first, named.last, float(arguments.scale)), f"{arguments.window}-{_slug(arguments.scale)}"
    lines = re.fullmatch(r"(\d+)-(\d+)", arguments.window)
    if not lines or arguments.trace is None or arguments.scale is None:
        raise ClusterError(f"--window {arguments.window}: one of {', '.join(trace.WINDOWS)}, or FIRST-LAST with --trace and --scale")
    first, last = map(int, lines.groups())
    return (trace.Window(arguments.trace, first, last, float(arguments.scale)),
            f"{Path(arguments.trace).stem}-{first}-{last}-{_slug(arguments.scale)}")


def _slug(scale):
    return f"{scale.numerator}in{scale.denominator}"


def _summary(planned):
    maps, reduces = sum(job.maps for job in planned), sum(job.reduces for job in planned)
    return (f"{len(planned)} jobs ({sum(job.reduces == 0 for job in planned)} without reduces), {maps} maps and {reduces} reduces, "
            f"arrivals over {planned[-1].at_s:.0f} s.")


def replay(name, planned, mode):
    """The jobs of a plan, and how they are checked."""
    submitted = [side_by_side.Job(job.bin, _SUBMISSIONS[mode](job), job.times_ms if mode == "timed" else None) for job in planned]
    checked = {"timed": _check_times, "bytes": _check_bytes}[mode]

    def check(cluster, _, results, folder):
        return checked(cluster, planned, results, folder)
    if mode == "timed":
        return side_by_side.Replay(name, lambda repetition: submitted, check)
    return side_by_side.Replay(name, lambda repetition: submitted, check, fs="hdfs", prepare=_put)


def in_docker(one, names):
    """The same replay on clusters of containers, which have no local file system in common."""
    if kept_out := [name for name in ("fair-preempting", "hiatus-watched") if name in names]:
        raise ClusterError(f"--docker: files of the ResourceManager's are not handed to containers and back; leave out {', '.join(kept_out)}")
    return dataclasses.replace(one, name=f"{one.name}-docker", kind=DockerCluster, fs="hdfs")


def _timed(job):
    return jobs.job(job.name, job.at_s, "timed-tasks", *(",".join(map(str, stage)) for stage in job.times_ms))


def _moving(job):
    return jobs.job(job.name, job.at_s, "bytes-job", _INPUT, f"{_OUTPUT}/{job.name}", job.maps, job.reduces, *model.moved(job))


_SUBMISSIONS = {"timed": _timed, "bytes": _moving}


def _put(cluster, _):
    """Copies the input, made once, into a fresh HDFS."""
    files = data.prepare(side_by_side.generated("swim-input", data))
    cluster.run("hdfs", "dfs", "-mkdir", "-p", _INPUT)
    cluster.run("hdfs", "dfs", "-put", *sorted(files.iterdir()), _INPUT)


def _tallies(cluster, planned, results, mode):
    """Each job's own counters. Raises ClusterError where a job had other tasks than planned."""
    for job, result in zip(planned, results):
        done = [attempt["type"] for attempt in result.attempts if attempt["state"] == "SUCCEEDED"]
        if (done.count("MAP"), done.count("REDUCE")) != (job.maps, job.reduces):
            raise ClusterError(f"{job.name}: {done.count('MAP')} maps and {done.count('REDUCE')} reduces succeeded, "
                               f"planned {job.maps} and {job.reduces}")
        yield job, cluster.history.counters(result.app_id.replace("application", "job")).get(_TALLY[mode], {})


def _check_times(cluster, planned, results, _):
    strokes = 0
    for job, tally in _tallies(cluster, planned, results, "timed"):
        wanted = sum(max(1, ms // _STROKE_MS) for stage in job.times_ms for ms in stage)
        if tally.get("STROKES") != wanted or tally.get("WRONG_CHUNKS"):
            raise ClusterError(f"{job.name}: {tally.get('STROKES')} strokes of work, planned {wanted}")
        strokes += wanted
    return [f"tasks as planned, and {strokes * _STROKE_MS / 1000:.0f} s of work counted, all of it"]


def _check_bytes(cluster, planned, results, folder):
    total = [0, 0, 0]
    for job, tally in _tallies(cluster, planned, results, "bytes"):
        found, wanted = tuple(tally.get(name, 0) for name in ("IN", "SHUFFLE", "OUT")), model.moved(job)
        if found != wanted or tally.get("WRONG_RECORDS"):
            raise ClusterError(f"{job.name}: {found} bytes read, shuffled and written, planned {wanted}; "
                               f"{tally.get('WRONG_RECORDS', 0)} wrong records")
        total = [before + more for before, more in zip(total, found)]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        cluster.run("hdfs", "dfs", "-get", _OUTPUT, place)
        for job in planned:
            data.check_output(job.name, sorted((Path(place) / "output" / job.name).glob("part-*")), model.moved(job)[2])
    cluster.run("hdfs", "dfs", "-rm", "-r", "-skipTrash", _OUTPUT)
    read, shuffled, written = (math.ceil(bytes_ / model.MB) for bytes_ in total)
    return [f"tasks as planned; counters as planned to the byte: {read} MB read, {shuffled} MB shuffled, {written} MB written; "
            "every record read, shuffled and written there once and intact"]
