"""A cluster: HDFS, ResourceManager (with a standby, if wanted), NodeManagers, job history server as processes on this machine."""

import contextlib
import fcntl
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from . import configuration, daemons, distribution, layout, rest
from .configuration import Ports, Spec
from .daemons import Daemon
from .errors import ClusterError
from .kerberos import ADMIN, Realm
from .tls import Tls

_EXAMPLES = "org.apache.hadoop.examples.ExampleDriver"
_TEST_EXAMPLES = {"sleep": "org.apache.hadoop.mapreduce.SleepJob"}
#: Heaps in MB; what a daemon takes in all is about 80 MB more.
_HEAP_MB = {"namenode": 128, "datanode": 128, "resourcemanager": 256, "nodemanager": 128, "historyserver": 128,
            "zookeeper": 64}
_START_PATIENCE_S = 180
#: What `up` makes in its folder, beside folders for nodes and daemons' configurations, and clears away before.
_FILES = ("conf", "namenode", "datanode", "rm-state", "zookeeper", "staging", "kerberos", "tls", "tmp", "pids", "logs")


class Cluster:
    """The cluster of one state directory, running or not."""

    def __init__(self, state_dir=layout.DEFAULT_CLUSTER):
        self.dir = Path(state_dir).resolve()
        self._file = self.dir / "cluster.json"

    # What it is -----------------------------------------------------------------------------------------------------

    @property
    def exists(self):
        """Whether the state directory holds a cluster, running or not."""
        return self._file.exists()

    @property
    def spec(self):
        """What the cluster was asked to be."""
        return Spec(**self._saved()["spec"])

    @property
    def ports(self):
        """Port by service name (see ``Ports``)."""
        return self._saved()["ports"]

    def _saved(self):
        try:
            return json.loads(self._file.read_text())
        except OSError as error:
            raise ClusterError(f"no cluster in {self.dir}: start one with scripts/cluster up --dir {self.dir}") from error

    def names(self):
        """Names of its daemons, in the order of their start."""
        spec = self.spec
        hdfs = ["namenode", "datanode"] if spec.fs == "hdfs" else []
        zookeeper = ["zookeeper"] if spec.standby else []
        kdc = ["kdc"] if spec.secure else []
        return [*kdc, *hdfs, *zookeeper, *self.managers(), *(f"nodemanager{node}" for node in range(1, spec.nodes + 1)), "historyserver"]

    def managers(self):
        """Names of its ResourceManagers: resourcemanager, or resourcemanager1 and resourcemanager2."""
        spec = self.spec
        return [f"resourcemanager{number}" for number in spec.managers()] if spec.standby else ["resourcemanager"]

    def daemon(self, name):
        """A daemon by name: kdc, namenode, datanode, zookeeper, resourcemanager, nodemanager1, …, historyserver."""
        if name not in self.names():
            raise ClusterError(f"no daemon {name!r}: there are {', '.join(self.names())}")
        return Daemon(self.dir, name)

    def running(self):
        """The daemons that are alive."""
        return [daemon for daemon in map(self.daemon, self.names()) if daemon.pid] if self.exists else []

    @property
    def rm(self):
        """The ResourceManager over REST: the active one of two. Raises ClusterError if none is."""
        return self.manager(self.active())

    def manager(self, number, user=None):
        """ResourceManager 1 or 2 over REST, active or not; in a secure cluster as it answers that user."""
        return rest.ResourceManager("127.0.0.1", self.ports[f"rm-http{number}"], self.ticket(user))

    def active(self):
        """The number of the ResourceManager that is active. Raises ClusterError if none is."""
        if not self.spec.standby:
            return 1
        for number in self.spec.managers():
            if self.manager(number).is_active():
                return number
        raise ClusterError(f"no ResourceManager is active; logs: {self.dir}/logs")

    def nm(self, node):
        """NodeManager 1, 2, … over REST."""
        return rest.NodeManager(configuration.node_host(node), self.ports[f"nm-http{node}"], self.ticket())

    @property
    def history(self):
        """The job history server over REST."""
        return rest.History("127.0.0.1", self.ports["history-http"], self.ticket())

    @property
    def realm(self):
        """The realm of a secure cluster, else None."""
        return Realm(self.dir, self.ports["kdc"]) if self.spec.secure else None

    def ticket(self, user=None):
        """The environment of a program that is run as that user (default: who started the cluster); nothing in a cluster without Kerberos."""
        return self.trusting(self.realm.ticket(user)) if self.realm else {}

    def trusting(self, ticket):
        """The same, for programs that are not Java's and shall trust the cluster's web servers."""
        return {**ticket, "CURL_CA_BUNDLE": str(Tls(self.dir).certificate)}

    def node_id(self, node):
        """YARN's name of node 1, 2, …"""
        return f"{configuration.node_host(node)}:{self.ports[f'nm{node}']}"

    # Life -----------------------------------------------------------------------------------------------------------

    def up(self, spec, say=lambda text: None):
        """Starts everything and waits until all nodes are RUNNING and HDFS can be written to. Clears an earlier cluster's data."""
        spec.validate()
        with self._locked():
            if running := self.running():
                pids = ", ".join(f"{daemon.name} {daemon.pid}" for daemon in running)
                raise ClusterError(f"a cluster is running in {self.dir} already ({pids}): `down` it first, or choose another --dir")
            self._end()
            self._clear()
            self._save(spec, _free_ports(spec))
            (self.dir / "tmp").mkdir()
            try:
                self._launch(say)
            except BaseException:
                self._end()
                raise

    def _clear(self):
        """Removes an earlier cluster's files, last that by which the folder is known for a cluster's."""
        earlier = [path for path in (*map(self.dir.joinpath, _FILES), *self.dir.glob("node[0-9]*"), *self.dir.glob("conf-*")) if path.exists()]
        if earlier and not (self.dir / "cluster.json").exists():
            names = ", ".join(path.name for path in earlier)
            raise ClusterError(f"{self.dir} has {names}, and not from a cluster: choose another --dir, or remove them")
        for path in (*earlier, self.dir / "cluster.json"):
            _remove(path)

    def down(self):
        """Ends every process of the cluster, containers too; says how many there were. Logs and data stay until the next ``up``."""
        if not self.dir.exists():
            return 0
        with self._locked():
            return self._end()

    def _launch(self, say):
        if self.realm:
            self.realm.create(configuration.hosts(self.spec))
            Tls(self.dir).create(configuration.hosts(self.spec))
        *others, last = self.names()  # the history server, unless a subclass has none
        for name in others:
            self._start(name)
        if self.spec.standby == "manual":
            self.await_ready(self.managers())
            self.administer("rmadmin", "-transitionToActive", configuration.manager_id(1))
        if "namenode" in others:  # without it the history server sleeps 10 s before it looks again
            self.await_ready(["namenode"])
        self._start(last)
        self.await_ready(say=say)

    def _end(self):
        """Ends every process of the cluster; says how many there were."""
        return daemons.kill_all(self.dir)

    def _save(self, spec, ports, **more):
        """Writes down what the cluster is, here and in its configuration."""
        self._file.write_text(json.dumps({"spec": vars(spec), "ports": ports, **more}, indent=1))
        self._write_configuration(spec, ports)

    def _write_configuration(self, spec, ports):
        configuration.write(self.dir, spec, ports)

    def start(self, name, wait=True):
        """Starts one daemon again, on its old ports."""
        if self.daemon(name).pid:
            raise ClusterError(f"{name} is running already")
        self._start(name)
        if wait:
            self.await_ready([name])

    def restart(self, name, hard=True):
        """Ends a daemon, by ``kill -9`` or (``hard=False``) in an orderly way, and starts it again."""
        daemon = self.daemon(name)
        daemon.kill() if hard else daemon.stop()
        self.start(name)

    def configure(self, properties):
        """Changes properties in the files of a running cluster; None removes an override. Daemons see it at a refresh or restart."""
        saved = self._saved()
        merged = {**saved["spec"]["properties"], **properties}
        saved["spec"]["properties"] = {key: value for key, value in merged.items() if value is not None}
        spec = Spec(**saved.pop("spec"))
        spec.validate()
        self._save(spec, **saved)

    def await_ready(self, names=None, say=lambda text: None, patience_s=_START_PATIENCE_S):
        """Waits until the named daemons (default: all) do their work; a daemon that dies meanwhile is an error with its log's tail."""
        waiting, deadline = list(names or self.names()), time.monotonic() + patience_s
        while waiting:
            for name in list(waiting):
                daemon = self.daemon(name)
                if daemon.pid is None:
                    raise ClusterError(f"{name} ended while starting; the end of {daemon.log}:\n{daemon.tail()}")
                if self._ready(name):
                    waiting.remove(name)
                    say(f"{name} ready")
            if waiting and time.monotonic() > deadline:
                daemon = self.daemon(waiting[0])
                raise ClusterError(f"{', '.join(waiting)} not ready after {patience_s} s; the end of {daemon.log}:\n{daemon.tail()}")
            if waiting:
                time.sleep(0.2)

    def _ready(self, name):
        try:
            if name == "namenode":
                return rest.NameNode("127.0.0.1", self.ports["namenode-http"], self.ticket()).ready()
            if name in ("zookeeper", "kdc"):
                return _answers(self.ports[name])
            if name in self.managers() and self.spec.standby:
                return self.manager(int(name[len("resourcemanager"):])).info() is not None
            if name == "resourcemanager":
                return self.rm.metrics() is not None
            if name == "historyserver":
                return self.history.info() is not None
            if name.startswith("nodemanager"):
                wanted = self.node_id(int(name[len("nodemanager"):]))
                return any(node["id"] == wanted and node["state"] == "RUNNING" for node in self.rm.nodes())
            return True  # the DataNode: the NameNode is ready only with it
        except ClusterError:
            return False

    def _start(self, name):
        if name == "kdc":
            self.daemon(name).start(*self.realm.command())
            self.await_ready([name])
            return
        kind = name.rstrip("0123456789")
        number = name[len(kind):]
        conf_dir = self.dir / (f"conf-node{number}" if kind == "nodemanager" else f"conf-{name}" if number else "conf")
        jars = []
        if self.spec.scheduler == "hiatus" and kind in ("resourcemanager", "nodemanager"):
            jars = [layout.product_jar("scheduler" if kind == "resourcemanager" else "nodemanager")]
        logs = self.dir / "logs"
        main, arguments = _program(kind, conf_dir)
        command = distribution.command_line(
            main, arguments, conf_dir, heap_mb=_HEAP_MB[kind], extra_jars=jars,
            properties={"hadoop.log.dir": logs, "yarn.log.dir": logs, **self._jvm_properties()},
            options=["-XX:+ExitOnOutOfMemoryError", *self.spec.jvm_options.get(name, [])])
        if kind == "namenode" and not (self.dir / "namenode").exists():
            self._format(conf_dir)
        self.daemon(name).start(command, self._env(conf_dir))

    def _format(self, conf_dir):
        command = distribution.command_line(distribution.COMMANDS["hdfs"]["namenode"], ["-format", "-nonInteractive"], conf_dir,
                                            properties={"hadoop.log.dir": self.dir / "logs", **self._jvm_properties()})
        done = subprocess.run(command, env={**os.environ, **self._env(conf_dir)}, capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"formatting the NameNode failed:\n{(done.stdout + done.stderr)[-3000:]}")

    def _jvm_properties(self):
        return {"java.io.tmpdir": self.dir / "tmp", **(self.realm.jvm_properties() if self.realm else {})}

    def _env(self, conf_dir):
        return {"JAVA_HOME": str(distribution.java_home()), "HADOOP_CONF_DIR": str(conf_dir)}

    @contextlib.contextmanager
    def _locked(self):
        """One command at a time changes a cluster's life."""
        self.dir.mkdir(parents=True, exist_ok=True)
        with open(self.dir / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ClusterError(f"another `up` or `down` works on {self.dir}: wait for it") from error
            yield

    # Work -----------------------------------------------------------------------------------------------------------

    def command(self, words, *, heap_mb=192, extra_jars=()):
        """The argument list and environment of a client such as ``yarn node -list`` or a class with a main method."""
        main, arguments = distribution.main_class_of(words)
        conf_dir = self.dir / "conf-client"
        line = distribution.command_line(main, arguments, conf_dir, heap_mb=heap_mb, extra_jars=extra_jars,
                                         properties=self._jvm_properties())
        return line, {**os.environ, **self._env(conf_dir), **self.ticket()}

    def run(self, *words, user=None, check=True, stdin=None):
        """Runs a client to its end and gives back what subprocess.run does, with text output. ``check``: a failure is an error."""
        line, env = self.command(words)
        if user:
            env.update(self.ticket(user) or {"HADOOP_USER_NAME": user})
        done = subprocess.run(line, env=env, capture_output=True, text=True, input=stdin)
        if check and done.returncode:
            raise ClusterError(f"`{' '.join(map(str, words))}` ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
        return done

    def administer(self, *words):
        """Runs a command of ``yarn`` as somebody who may order that."""
        return self.run("yarn", *words, user=ADMIN if self.spec.secure else None)

    def example(self, name, *arguments):
        """The words that submit a MapReduce example (wordcount, terasort, pi, sleep …), for ``run`` or ``command``."""
        if name in _TEST_EXAMPLES:
            return [_TEST_EXAMPLES[name], *arguments]
        return [_EXAMPLES, name, *arguments]


def _program(kind, conf_dir):
    """The main class of a kind of daemon, and its arguments."""
    if kind == "zookeeper":
        return distribution.ZOOKEEPER, [conf_dir / "zoo.cfg"]
    shell = "hdfs" if kind in ("namenode", "datanode") else "mapred" if kind == "historyserver" else "yarn"
    return distribution.COMMANDS[shell][kind], []


def _answers(port):
    """Whether somebody listens."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _free_ports(spec):
    """A port for every service, free on all loopback addresses and outside the range the kernel hands out by itself."""
    chosen, ports = set(), {}
    for name in Ports.names(spec):
        for _ in range(1000):
            port = random.randrange(15000, 32000)
            if port not in chosen and _free(port):
                chosen.add(port)
                ports[name] = port
                break
        else:
            raise ClusterError("no free port found between 15000 and 32000")
    return ports


def _free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
            return True
        except OSError:
            return False
