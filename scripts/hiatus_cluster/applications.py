"""Applications that cost nothing: masters are threads of one JVM (``Applications`` of ``java/workload``), containers shell commands."""

import json
import subprocess
import threading
import time
from dataclasses import dataclass

from . import containers, layout
from .errors import ClusterError

_MAIN = "io.hiatus.workload.Applications"
#: Shell commands survive standing still; of applications without a type of their own nobody knows that before they say it.
_SUSPEND = "hiatus.suspend=yes"


def work(seconds):
    """A command that works for so long, in short strokes: time in which it is suspended does not count. A stroke starts no process, which a busy
    machine would draw out."""
    return f"exec 3<> <(:); for stroke in {{1..{round(seconds * 5)}}}; do read -t 0.2 -u 3; done; true"


@dataclass
class Wanted:
    """An application for ``play``: when it comes, how many containers of what size it wants, and how long each of them works."""

    name: str
    at_s: float
    tasks: int
    task_s: float
    memory_mb: int = 256
    tags: tuple = ()


class Applications:
    """Starts and ends such applications, and knows what became of them."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._events = []
        self._news = threading.Condition()
        line, env = cluster.command([_MAIN], extra_jars=[layout.product_jar("workload")])
        self._log = open(cluster.dir / "logs" / "applications.log", "ab")
        self._process = subprocess.Popen(line, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def start(self, name, count, memory_mb=256, command="sleep 3600", tags=(), suspend=True, **wish):
        """Submits an application of ``count`` containers, which says by a tag that they may be suspended, unless told not to. Further wishes:
        queue, user, node_label, heartbeat_ms."""
        tags = [*tags, _SUSPEND] if suspend else list(tags)
        self._tell({"do": "start", "name": name, "count": count, "memory_mb": memory_mb, "command": command, "tags": tags, **wish})

    def play(self, wanted, timeout_s=600):
        """Starts applications at their times and waits until all have ended; gives back the seconds from submission to end of each.

        One without containers goes before: the JVM loads its classes then, and nobody else's order depends on that.
        """
        self.start("warm-up", 0)
        self.wait("warm-up")
        begin = time.monotonic()
        for one in sorted(wanted, key=lambda one: one.at_s):
            time.sleep(max(0.0, begin + one.at_s - time.monotonic()))
            self.start(one.name, one.tasks, memory_mb=one.memory_mb, command=work(one.task_s), tags=list(one.tags))
        ends = [self.wait(one.name, timeout_s=timeout_s)[0]["at_ms"] for one in wanted]
        return [(end - self.wait(one.name, "submitted")[0]["at_ms"]) / 1000 for one, end in zip(wanted, ends)]

    def finish(self, *names):
        """Has applications end at once, whatever they still run; waits until they have."""
        for name in names:
            self._tell({"do": "finish", "name": name})
        for name in names:
            self.wait(name)

    def wait(self, name, event="ended", count=1, timeout_s=120):
        """Waits until something has happened to the application so often, and gives back those events. ClusterError at the time-out."""
        with self._news:
            if not self._news.wait_for(lambda: len(self.events(name, event)) >= count, timeout_s):
                raise ClusterError(f"after {timeout_s} s still not: {count} x {event} of {name}")
            return self.events(name, event)

    def events(self, name, event):
        """What happened so far of that kind; see ``Applications.java``."""
        with self._news:
            if errors := [one for one in self._events if one["event"] == "error" and event != "error"]:
                raise ClusterError(f"application {errors[0]['name']}: {errors[0]['message']}")
            return [one for one in self._events if (one["name"], one["event"]) == (name, event)]

    def app_id(self, name):
        """YARN's id of the application."""
        return self.wait(name, "submitted")[0]["app"]

    def lives(self, name):
        """The lives of its containers so far, by the nodes' logs."""
        app = self.app_id(name)
        return [life for life in containers.lives(self._cluster) if life.application == app]

    def close(self):
        """Ends all masters, in good order or not."""
        self._process.stdin.close()
        self._process.wait(30)
        self._reader.join()
        self._log.close()

    def _tell(self, command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def _read(self):
        for line in self._process.stdout:
            with self._news:
                self._events.append(json.loads(line))
                self._news.notify_all()
