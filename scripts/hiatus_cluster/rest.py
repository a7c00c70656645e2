"""What the daemons say about themselves over HTTP."""

import http.client
import json
import os
import subprocess
import urllib.error
import urllib.request

from .errors import ClusterError


#: Who says nothing for so long is dead, or as good as dead.
_SIGN_OF_LIFE_S = 3


def entries(holder, name):
    """The entries called ``name`` of what may hold none; where there is one alone, Hadoop 3.5 makes no array of it."""
    found = (holder or {}).get(name, [])
    return found if isinstance(found, list) else [found]


class Rest:
    """A JSON client of one daemon's web address. With ``ticket``, the environment of a user of Kerberos, it speaks SPNEGO
    and HTTPS."""

    def __init__(self, host, port, ticket=None):
        self.base = f"{'https' if ticket else 'http'}://{host}:{port}"
        self._ticket = ticket

    def get(self, path, timeout_s=10):
        """The JSON document at ``path``. Raises ClusterError if the daemon does not answer or refuses."""
        request = urllib.request.Request(self.base + path, headers={"Accept": "application/json"})
        return self._call(request, timeout_s)

    def put(self, path, document, timeout_s=10):
        """PUTs a JSON document, gives back the answer."""
        request = urllib.request.Request(self.base + path, json.dumps(document).encode(), method="PUT",
                                         headers={"Accept": "application/json", "Content-Type": "application/json"})
        return self._call(request, timeout_s)

    def text(self, path, timeout_s=10):
        """The page at ``path`` as text."""
        return self._read(urllib.request.Request(self.base + path), timeout_s).decode(errors="replace")

    def _call(self, request, timeout_s):
        body = self._read(request, timeout_s)
        try:
            return json.loads(body) if body else {}
        except ValueError as error:
            raise ClusterError(f"{request.full_url} answers no JSON: {body[:200]!r}") from error

    def _read(self, request, timeout_s):
        if self._ticket:
            return self._read_as_user(request, timeout_s)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            detail = error.read()[:300].decode(errors="replace")
            raise ClusterError(f"{request.full_url} answers {error.code} {error.reason}: {detail}") from error
        except OSError as error:  # URLError, refused and reset connections, time-outs
            raise ClusterError(f"{request.full_url} does not answer: {error}") from error

    def _read_as_user(self, request, timeout_s):
        words = ["curl", "--silent", "--show-error", "--location", "--negotiate", "--user", ":", "--max-time", str(timeout_s),
                 "--request", request.get_method(), "--write-out", "%{stderr}%{http_code}"]
        words += [word for header in request.header_items() for word in ("--header", ": ".join(header))]
        words += ["--data-binary", "@-"] if request.data else []
        done = subprocess.run([*words, request.full_url], input=request.data, capture_output=True, env={**os.environ, **self._ticket})
        said = done.stderr.decode(errors="replace")
        if done.returncode:
            raise ClusterError(f"{request.full_url} does not answer: {said}")
        status = int(said[-3:])
        if status >= http.client.BAD_REQUEST:
            detail = done.stdout[:300].decode(errors="replace")
            raise ClusterError(f"{request.full_url} answers {status} {http.client.responses.get(status, '')}: {detail}")
        return done.stdout


class ResourceManager(Rest):
    """A ResourceManager's web services. One that is standby leads to the active one, but for ``info`` and JMX."""

    def info(self, timeout_s=10):
        """Version, start time, whether it is active."""
        return self.get("/ws/v1/cluster/info", timeout_s)["clusterInfo"]

    def is_active(self):
        """Whether it answers that it is; one that is silent is not."""
        try:
            return self.info(_SIGN_OF_LIFE_S)["haState"] == "ACTIVE"
        except ClusterError:
            return False

    def metrics(self):
        """Numbers of nodes, applications, containers, memory."""
        return self.get("/ws/v1/cluster/metrics")["clusterMetrics"]

    def nodes(self):
        """The nodes it knows, in every state."""
        return entries(self.get("/ws/v1/cluster/nodes")["nodes"], "node")

    def scheduler(self):
        """The scheduler's own account of its queues."""
        return self.get("/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]

    def apps(self, query=""):
        """Applications, oldest first; ``query`` such as ``states=RUNNING``."""
        apps = entries(self.get("/ws/v1/cluster/apps" + (f"?{query}" if query else ""))["apps"], "app")
        return sorted(apps, key=lambda app: app["startedTime"])

    def app(self, app_id):
        """One application."""
        return self.get(f"/ws/v1/cluster/apps/{app_id}")["app"]

    def kill_app(self, app_id):
        """Asks for the end of an application."""
        self.put(f"/ws/v1/cluster/apps/{app_id}/state", {"state": "KILLED"})


class NodeManager(Rest):
    """A NodeManager's web services."""

    def info(self):
        """Health, memory, versions."""
        return self.get("/ws/v1/node/info")["nodeInfo"]

    def containers(self):
        """Its containers with their states (RUNNING, PAUSED, …) and execution types."""
        return entries(self.get("/ws/v1/node/containers")["containers"], "container")


class NameNode(Rest):
    """The NameNode's status, by its JMX page."""

    def ready(self):
        """Out of safe mode, with at least one DataNode."""
        def bean(name):
            beans = self.get(f"/jmx?qry=Hadoop:service=NameNode,name={name}")["beans"]
            return beans[0] if beans else {}  # there is none until the NameNode has read its image
        return bean("NameNodeInfo").get("Safemode") == "" and bean("FSNamesystemState").get("NumLiveDataNodes", 0) > 0


class History(Rest):
    """The job history server's web services."""

    def info(self):
        """When it was started."""
        return self.get("/ws/v1/history/info")["historyInfo"]

    def job(self, job_id):
        """One finished job."""
        return self.get(f"/ws/v1/history/mapreduce/jobs/{job_id}")["job"]

    def counters(self, job_id):
        """Total counters of a job as {group: {counter: value}}."""
        groups = entries(self.get(f"/ws/v1/history/mapreduce/jobs/{job_id}/counters")["jobCounters"], "counterGroup")
        return {group["counterGroupName"]: {c["name"]: c["totalCounterValue"] for c in entries(group, "counter")} for group in groups}

    def attempts(self, job_id):
        """All task attempts of a job, with task type, state, node, container, start and finish times (ms)."""
        attempts = []
        for task in entries(self.get(f"/ws/v1/history/mapreduce/jobs/{job_id}/tasks")["tasks"], "task"):
            path = f"/ws/v1/history/mapreduce/jobs/{job_id}/tasks/{task['id']}/attempts"
            attempts += entries(self.get(path)["taskAttempts"], "taskAttempt")
        return attempts
