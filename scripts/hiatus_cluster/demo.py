"""The demonstration: one workload under the stock CapacityScheduler, then under Hiatus."""

import hashlib
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from . import containers, layout, timeline
from .cluster import Cluster
from .configuration import Spec
from .errors import ClusterError
from .jobs import Workload, job

HOME = layout.BUILD / "demo"
TITLES = {"capacity": "CapacityScheduler (stock)", "hiatus": "Hiatus"}
_NODES, _BIG_APART_S = 2, 2
_CONTAINER_MB = 256
#: Of all big jobs together.
BIG_MAPS = 14
#: 4 containers of 256 MB: the big job's ApplicationMaster and seven of its maps fill the cluster.
NODE_MEMORY_MB = 1024
_TERASORT_ROWS = 20_000


def workload(big):
    """Big word counts, and small jobs that arrive while those fill the cluster."""
    return [
        *(job(name, _BIG_APART_S * number, "wordcount", f"/demo/{name}", f"/demo/out/{name}") for number, name in enumerate(big)),
        job("words-1", 18, "wordcount", "/demo/small", "/demo/out/words-1"),
        job("terasort", 28, "terasort", "/demo/rows", "/demo/out/terasort", conf={"mapreduce.job.reduces": 1}),
        job("pi", 38, "pi", 2, 10_000),
        job("words-2", 48, "wordcount", "/demo/small", "/demo/out/words-2"),
    ]


@dataclass
class Run:
    """What one scheduler made of the workload."""

    scheduler: str
    results: list  #: a JobResult for each job
    lives: list  #: the containers' lives
    outputs: dict  #: checksum of what each job wrote, by job

    def total(self, what):
        """Sum of a Life's number over all containers of the workload."""
        return sum(getattr(life, what) for life in self.lives)


class Text:
    """Generated text with word frequencies as in natural language, its parts for each big job, and its right word counts."""

    def __init__(self, folder, lines=35_000, big=1):
        chooser = random.Random(1)
        vocabulary = ["".join(chooser.choices("abcdefghijklmnopqrstuvwxyz", k=chooser.randint(3, 9))) for _ in range(5000)]
        weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
        words = chooser.choices(vocabulary, weights, k=12 * lines)
        block = "".join(" ".join(words[at:at + 12]) + "\n" for at in range(0, len(words), 12)).encode()
        counts = Counter(words)
        self.small = [folder / "small.txt"]
        self.small[0].write_bytes(block)
        files, repeats = [folder / f"big-{number:02}.txt" for number in range(BIG_MAPS)], 8
        for path in files:
            path.write_bytes(block * repeats)
        self.big = {f"big-{number + 1}" if big > 1 else "big": files[number::big] for number in range(big)}
        self.megabytes = len(block) * repeats * BIG_MAPS / 1e6
        small = word_count_digest(counts)
        self.expected = {"words-1": small, "words-2": small,
                         **{name: word_count_digest(counts, repeats * len(mine)) for name, mine in self.big.items()}}

    def remove_big(self):
        """Removes what the big jobs read."""
        for path in sum(self.big.values(), []):
            path.unlink()


def word_count_digest(counts, factor=1):
    """Checksum of the output of a word count over ``factor`` copies of a text: lines in the order of the words' bytes."""
    text = "".join(f"{word}\t{counts[word] * factor}\n" for word in sorted(counts))
    return hashlib.sha256(text.encode()).hexdigest()


def run(scheduler, text, say, properties=None, node_memory_mb=NODE_MEMORY_MB):
    """One cluster, which may have more properties, one workload, one scheduler. Raises ClusterError unless every job succeeds with the right
    result."""
    cluster = Cluster(HOME / scheduler)
    spec = Spec(nodes=_NODES, node_memory=[node_memory_mb], node_vcores=[node_memory_mb // _CONTAINER_MB], scheduler=scheduler, properties={
        "dfs.blocksize": 128 << 20,  # a file, a map
        "yarn.scheduler.capacity.maximum-am-resource-percent": 1,  # room, and nothing else, is what small jobs wait for
        # A second attempt of a task that seems slow, and the end of one of the two, would hide whether a scheduler killed anything;
        # a suspended task does seem slow.
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
        **(properties or {}),
    })
    say(f"{TITLES[scheduler]}: starting {_NODES} nodes of {node_memory_mb} MB, with HDFS")
    cluster.up(spec)
    try:
        say(f"{TITLES[scheduler]}: writing {text.megabytes:.0f} MB of text and {_TERASORT_ROWS} rows to HDFS")
        cluster.run("hdfs", "dfs", "-mkdir", "-p", *(f"/demo/{name}" for name in text.big), "/demo/small", "/demo/out")
        for name, files in text.big.items():
            cluster.run("hdfs", "dfs", "-put", *map(str, files), f"/demo/{name}")
        cluster.run("hdfs", "dfs", "-put", *map(str, text.small), "/demo/small")
        cluster.run(*cluster.example("teragen", "-Dmapreduce.job.maps=1", str(_TERASORT_ROWS), "/demo/rows"))
        say(f"{TITLES[scheduler]}: the workload")
        progress = Workload(cluster, workload(text.big))
        try:
            _watch(cluster, progress)
            progress.wait(timeout_s=30)
        finally:
            progress.stop()
        results = progress.results()
        for result in results:
            if result.status != "SUCCEEDED":
                raise ClusterError(f"{result.name} under {scheduler} ended as {result.status}: see {cluster.rm.base} and {progress.log}")
        apps = {result.app_id for result in results}
        return Run(scheduler, results, [life for life in containers.lives(cluster) if life.application in apps],
                   {result.name: _checksum(cluster, result.name) for result in results if result.name != "pi"})
    finally:
        cluster.down()


def _checksum(cluster, name):
    line, env = cluster.command(["hdfs", "dfs", "-cat", f"/demo/out/{name}/part-*"])
    return hashlib.sha256(subprocess.run(line, env=env, capture_output=True, check=True).stdout).hexdigest()


def _watch(cluster, progress, patience_s=420):
    """Shows the workload's progress until it ends: one line that is rewritten, or on no terminal one line every 5 s."""
    live, begin, shown = sys.stdout.isatty(), time.monotonic(), 0.0
    while progress.running():
        now = time.monotonic() - begin
        if now > patience_s:
            raise ClusterError(f"the workload has not ended after {patience_s} s; logs: {cluster.dir}/logs and {progress.log}")
        if live or now - shown >= 5:
            line = _progress_line(cluster, progress, now)
            print(f"\r\033[K{line}" if live else line, end="" if live else "\n", flush=True)
            shown = now
        time.sleep(0.5)
    if live:
        print("\r\033[K", end="", flush=True)


def _progress_line(cluster, progress, now):
    apps = progress.apps()
    jobs = []
    for name in progress.names:
        if name in apps:
            app = apps[name][-1]
            word = {"FINISHED": "done", "RUNNING": f"{app['progress']:.0f} %"}.get(app["state"], "waiting")
            jobs.append(f"{name} {word}")
    states = [one["state"] for node in range(1, cluster.spec.nodes + 1) for one in cluster.nm(node).containers()]
    suspended = sum(state == "PAUSED" for state in states)
    return f"  {now:4.0f} s  {states.count('RUNNING')} containers running, {suspended} suspended   {' · '.join(jobs)}"


def draw(runs):
    """Writes the timeline picture and gives back its path."""
    panels = [timeline.Panel(TITLES[one.scheduler], one.lives, one.results) for one in runs]
    path = HOME / "timeline.svg"
    path.write_text(timeline.svg(panels, [result.name for result in runs[0].results]))
    return path


def table(stock, hiatus):
    """The comparison as lines of text."""
    lines = [f"{'job':<10}{'stock':>10}{'Hiatus':>10}{'ratio':>8}    sojourn: seconds from submission to end"]
    for before, after in zip(stock.results, hiatus.results):
        lines.append(f"{before.name:<10}{before.sojourn_s:>10.1f}{after.sojourn_s:>10.1f}{after.sojourn_s / before.sojourn_s:>8.2f}")
    small, big = ([_mean_s(one, is_big) for one in (stock, hiatus)] for is_big in (False, True))
    lines.append(f"{'small, mean':<10}{small[0]:>9.1f}{small[1]:>10.1f}{small[1] / small[0]:>8.2f}")
    later, several = big[1] - big[0], sum(map(_is_big, stock.results)) > 1
    lines += [f"the big job{'s end' if several else ' ends'} {abs(later):.1f} s ({abs(later) / big[0] * 100:.0f} %) "
              f"{'later' if later >= 0 else 'earlier'}{' on average' if several else ''}", ""]
    for title, number in (("containers suspended", lambda one: one.total("suspensions")),
                          ("in vain", lambda one: len(containers.in_vain(one.lives))),
                          ("containers resumed", lambda one: one.total("resumptions")),
                          ("task attempts killed", lambda one: _attempts(one, "KILLED")),
                          ("task attempts failed", lambda one: _attempts(one, "FAILED")),
                          ("work wasted, s", lambda one: round(sum(result.wasted_s for result in one.results), 1))):
        lines.append(f"{title:<22}{number(stock):>8}{number(hiatus):>10}")
    return lines


def _is_big(result):
    return result.name.startswith("big")


def _mean_s(one, is_big):
    sojourns_s = [result.sojourn_s for result in one.results if _is_big(result) == is_big]
    return sum(sojourns_s) / len(sojourns_s)


def document(runs):
    """The result as `--json` writes it; the totals are those of the last run, Hiatus's."""
    last = runs[-1]
    return {
        "jobs": [{"name": result.name, "scheduler": one.scheduler, "sojourn_s": round(result.sojourn_s, 3), "status": result.status,
                  "application": result.app_id, "killed_attempts": result.attempts_in("KILLED"),
                  "failed_attempts": result.attempts_in("FAILED"), "wasted_s": round(result.wasted_s, 3)}
                 for one in runs for result in one.results],
        "suspended": last.total("suspensions"),
        "suspended_in_vain": len(containers.in_vain(last.lives)),
        "resumed": last.total("resumptions"),
        "killed_attempts": _attempts(last, "KILLED"),
        "failed_attempts": _attempts(last, "FAILED"),
    }


def _attempts(one, state):
    return sum(result.attempts_in(state) for result in one.results)


def check_outputs(runs, text):
    """Raises ClusterError if a job's output is wrong, or differs between the schedulers."""
    for one in runs:
        for name, digest in one.outputs.items():
            right = text.expected.get(name, runs[0].outputs[name])
            if digest != right:
                raise ClusterError(f"{name} under {one.scheduler} wrote something else than it should: {digest}, not {right}")
