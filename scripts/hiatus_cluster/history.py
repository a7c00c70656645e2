"""What YARN itself keeps of a cluster and its jobs, saved as the files that `hiatus what-if` and `hiatus history import` read."""

import json
import subprocess

from .errors import ClusterError
from .rest import entries

_OF_JOBS = ("id", "queue", "state", "submitTime", "finishTime")
_OF_TASKS = ("type", "state", "startTime", "finishTime")
#: What says how large containers are. The rest of a job's configuration is nobody's business, and may hold secrets.
_SIZES = {
    "yarn.scheduler.minimum-allocation-mb",
    "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores",
    "mapreduce.map.memory.mb", "mapreduce.map.cpu.vcores",
    "mapreduce.reduce.memory.mb", "mapreduce.reduce.cpu.vcores",
}


#: By which Hiatus tells which runs are runs of one job.
_NAMES = {"mapreduce.job.name", "mapreduce.job.tags"}


def save(manager, history, folder, since_ms, curl_options=(), names=False):
    """Saves jobs submitted since then (ms of the epoch) into an empty folder; gives back how many.

    ``manager`` and ``history`` are web addresses; ``names``: jobs' names and tags, too. Raises ClusterError if one of them does not answer, or the folder has files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ClusterError(f"{folder} is not empty: name another folder, what is there would mix with what comes")

    def ask(base, path):
        return _ask(f"{base.rstrip('/')}/ws/v1/{path}", curl_options)

    def write(name, document):
        (folder / f"{name}.json").write_text(json.dumps(document))

    write("nodes", ask(manager, "cluster/nodes"))
    write("scheduler", ask(manager, "cluster/scheduler"))
    jobs = entries(ask(history, "history/mapreduce/jobs")["jobs"], "job")
    jobs = [_some(job, _OF_JOBS) for job in jobs if job["submitTime"] >= since_ms]
    for job in jobs:
        path = f"history/mapreduce/jobs/{job['id']}"
        tasks = entries(ask(history, f"{path}/tasks")["tasks"], "task")
        write(f"{job['id']}.tasks", {"tasks": {"task": [_some(task, _OF_TASKS) for task in tasks]}})
        properties = entries(ask(history, f"{path}/conf")["conf"], "property")
        kept = [_some(one, ("name", "value")) for one in properties if one["name"] in (_SIZES | _NAMES if names else _SIZES)]
        write(f"{job['id']}.conf", {"conf": {"property": kept}})
    write("jobs", {"jobs": {"job": jobs}})
    return len(jobs)


def _some(of, keys):
    return {key: of[key] for key in keys if key in of}


def _ask(url, options):
    command = ["curl", "--silent", "--show-error", "--fail", "--max-time", "60", "--header", "Accept: application/json", *options, url]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError as error:
        raise ClusterError("there is no curl on this machine: install it") from error
    except subprocess.CalledProcessError as error:
        raise ClusterError(f"{url} does not answer: {error.stderr.strip()}") from error
    try:
        return json.loads(answer)
    except ValueError as error:
        raise ClusterError(f"{url} answers no JSON (does it ask for a login?): {answer[:100]!r}") from error
