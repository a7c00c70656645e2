"""The page /hiatus of a large cluster: time to its first row in a browser, bytes, and what viewers cost the scheduler."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hiatus_cluster import building, layout, peers_bench, toolchain  # noqa: E402
from hiatus_cluster.errors import ClusterError, report  # noqa: E402

#: What the page asks for while somebody looks at its list of jobs, and how often (EVERY_MS and PAGE in hiatus.js).
_ASKED = ("/ws/v1/hiatus?lists=jobs&offset=0&limit=50", "/ws/v1/hiatus/timeline")
_EVERY_S = 3
_FILES = ("/hiatus/", "/hiatus/hiatus.css", "/hiatus/hiatus.js")
_OTHERS = {"another page of jobs": "/ws/v1/hiatus?lists=jobs&offset=1000&limit=50", "suspended": "/ws/v1/hiatus?lists=suspended&offset=0&limit=50",
           "nodes": "/ws/v1/hiatus?lists=nodes&offset=0&limit=50", "everything, as the command `list` asks": "/ws/v1/hiatus"}
#: When the first row of the list is there, in ms since the browser began to load the page.
_FIRST_ROW = """
const done = arguments[0], look = () => document.querySelector('#table tbody tr th') ? done(performance.now()) : requestAnimationFrame(look);
look();
"""

METHOD = """One thread plays all nodes and masters at the pace of a cluster: one round of masters' calls and nodes' heartbeats a second. Half of the jobs
have filled the cluster with containers that last, the other half came then and want a few each, which end after 1 to 20 s; together they want 130 %
of the cluster; policy `hfsp`, mode `suspend`, all nodes able to suspend. Windows with and without viewers take turns, in one JVM. A viewer asks what the page asks with its list of jobs
open, every 3 s, all at once. Times of calls and updates are CPU times of the thread that plays, so that other work matters little; *longest hold* is
the most CPU time for which another thread (Hiatus' ticker, which makes the explanation once a second while somebody looks) kept the scheduler's write
lock. The very first request is not counted: it has the web application set up. Times of requests and in the browser are wall times, on the same
machine as all the rest: they say little where the load average is above its cores.
"""


class Player:
    """The ResourceManager under its load (``PageBench.java``)."""

    def __init__(self, options, log):
        jvm = peers_bench.jvm_options()
        self._scratch = tempfile.TemporaryDirectory()
        command = ["java", "-XX:+UseSerialGC", "-Xmx2g", f"-Dhadoop.tmp.dir={self._scratch.name}", *jvm, "io.hiatus.scheduler.PageBench",
                   f"nodes={options.nodes}", f"apps={options.jobs}"]
        self._process = subprocess.Popen(command, cwd=self._scratch.name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        port = self._process.stdout.readline().strip()
        if not port:
            raise ClusterError(f"PageBench did not start: see {log.name}")
        self.base = f"http://127.0.0.1:{port}"

    def window(self, rounds, meanwhile=None):
        """Plays so many rounds, and does something meanwhile; what the rounds took, by name."""
        self._process.stdin.write(f"{rounds}\n")
        self._process.stdin.flush()
        if meanwhile:
            meanwhile()
        line = self._process.stdout.readline()
        if not line:
            raise ClusterError("PageBench ended")
        numbers = json.loads(line)
        if numbers["fault"]:
            raise ClusterError(f"Hiatus switched itself off: {numbers['fault']}")
        return numbers

    def close(self):
        """Ends it."""
        self._process.stdin.close()
        self._process.wait(60)
        self._scratch.cleanup()


def fetch(base, path):
    """Wall time in ms and bytes of one answer."""
    begun = time.monotonic()
    with urllib.request.urlopen(base + path) as answer:
        size = len(answer.read())
    return 1000 * (time.monotonic() - begun), size


def look(base, viewers, seconds):
    """So many viewers for so long; the times of all answers, in ms."""
    times, until = [], time.monotonic() + seconds

    def view():
        while time.monotonic() < until:
            begun = time.monotonic()
            times.extend(fetch(base, path)[0] for path in _ASKED)
            time.sleep(max(0, _EVERY_S - (time.monotonic() - begun)))

    threads = [threading.Thread(target=view) for _ in range(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def first_rows(base, visits):
    """When the first row is there, in ms, in a browser that opens the page for the first time, for each visit."""
    from selenium import webdriver  # the tests' environment has it

    found = []
    for _ in range(visits):
        options = webdriver.ChromeOptions()
        options.binary_location = toolchain.program("chromium", "chromium", print)
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(toolchain.program("chromedriver", "chromium-driver", print)))
        try:
            driver.set_page_load_timeout(120)
            driver.set_script_timeout(120)
            driver.get(base + "/hiatus/")
            found.append(driver.execute_async_script(_FIRST_ROW))
        finally:
            driver.quit()
    return found


def median(numbers, name):
    """Of several windows."""
    return statistics.median(window[name] for window in numbers)


def document(options, without, with_viewers, times, sizes, rows, when):
    """The page, in Markdown."""
    def line(name, windows):
        return (f"| {name} | {median(windows, 'node update p50 us'):.1f} | {median(windows, 'node update p99 us'):.0f} | {median(windows, 'node update mean us'):.1f} "
                f"| {median(windows, 'allocate p50 us'):.1f} | {median(windows, 'allocate p99 us'):.0f} | {median(windows, 'allocate mean us'):.1f} "
                f"| {max(window['longest hold by others ms'] for window in windows):.1f} |\n")

    command = " ".join(["scripts/bench page", *sys.argv[1:]])
    times = sorted(times)
    last = with_viewers[-1]
    size_lines = "".join(f"| {name} | {size:,} | {ms:.0f} |\n" for name, (ms, size) in sizes.items())
    return f"""# The page of a large cluster, measured

Made by `{command}` on {when[0]} at commit {when[2]}, load average {when[1]:.1f} at the end: {options.beside}.
{options.jobs:,} jobs, {options.nodes:,} nodes, {last['live']:,} containers, {last['suspended']:,} of them suspended at the end.

{METHOD}
**Time to the first row**, from a browser's first request (nothing cached) until the first job stands in the table: {', '.join(f'{ms:.0f}' for ms in rows)} ms
in {len(rows)} visits.

| what is fetched | bytes | ms |
| --- | --: | --: |
{size_lines}
**What viewers cost the scheduler**: medians of {len(without)} windows of {options.seconds} s each.

| viewers | node update µs, p50 | p99 | mean | allocate µs, p50 | p99 | mean | longest hold by others, ms |
| --- | --: | --: | --: | --: | --: | --: | --: |
{line('none', without)}{line(str(options.viewers), with_viewers)}
The viewers had {len(times):,} answers, half of them within {statistics.median(times):.0f} ms, 99 in 100 within {times[int(0.99 * len(times))]:.0f} ms.
"""


def main():
    """Builds, measures, and writes the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench page", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--viewers", type=int, default=5, help="at the same time (default: 5)")
    parser.add_argument("--seconds", type=int, default=30, help="of each window (default: 30)")
    parser.add_argument("--repeats", type=int, default=3, help="windows of each kind, and visits (default: 3)")
    parser.add_argument("--beside", default="whether other work ran beside was not told", help="a word on other work on the machine, for the page")
    parser.add_argument("--out", type=Path, default=layout.ROOT / "docs" / "bench" / "page.md")
    options = parser.parse_args()
    building.product(lambda text: print(f"bench: {text}", flush=True))
    python = toolchain.python_with(layout.ROOT / ".venv", layout.ROOT / "tests" / "requirements.txt", layout.REPLAY_REQUIREMENTS)
    sys.path.extend(map(str, (python.parent.parent / "lib").glob("python*/site-packages")))
    log = layout.BUILD / "bench" / "page.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    without, with_viewers, times = [], [], []
    with log.open("w") as output:
        player = Player(options, output)
        try:
            for path in (*_FILES, *_ASKED):
                fetch(player.base, path)  # the first request of all has the web application set up
            for repeat in range(options.repeats):
                without.append(player.window(options.seconds))
                with_viewers.append(player.window(options.seconds, lambda: times.extend(look(player.base, options.viewers, options.seconds - 2))))
                print(f"bench: {repeat + 1}/{options.repeats} done", flush=True)
            sizes, rows = {}, []

            def visit():
                rows.extend(first_rows(player.base, options.repeats))
                sizes["the page's files"] = tuple(map(sum, zip(*(fetch(player.base, path) for path in _FILES))))
                sizes["jobs, 50 of them, and the timeline, every 3 s"] = tuple(map(sum, zip(*(fetch(player.base, path) for path in _ASKED))))
                sizes.update((name, fetch(player.base, path)) for name, path in _OTHERS.items())

            player.window(options.seconds, visit)
        finally:
            player.close()
    text = document(options, without, with_viewers, times, sizes, rows, peers_bench.now())
    options.out.write_text(text)
    print(f"\n{text}\nbench: written to {options.out}")


if __name__ == "__main__":
    report(main)
