"""What a cluster is asked to be, and the ``*-site.xml`` files that say so to Hadoop."""

import getpass
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from . import distribution, layout
from .errors import ClusterError
from .kerberos import Realm
from .tls import Tls

#: Class of each ``--scheduler``.
SCHEDULERS = {
    "hiatus": "io.hiatus.scheduler.HiatusScheduler",
    "capacity": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler",
    "fair": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
    "fifo": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler",
}
HIATUS_EXECUTOR = "io.hiatus.nodemanager.HiatusDefaultContainerExecutor"

_STORES = "org.apache.hadoop.yarn.server.resourcemanager.recovery"
_SESSION_MS = 5000

#: Which file a property belongs in, by the first prefix that fits.
_FILE_BY_PREFIX = (
    ("yarn.scheduler.capacity.", "capacity-scheduler.xml"),
    ("yarn.app.mapreduce.", "mapred-site.xml"),
    ("mapreduce.", "mapred-site.xml"),
    ("mapred.", "mapred-site.xml"),
    ("yarn.", "yarn-site.xml"),
    ("dfs.", "hdfs-site.xml"),
    ("ssl.server.", "ssl-server.xml"),
    ("ssl.client.", "ssl-client.xml"),
    ("", "core-site.xml"),
)
_FILES = tuple(dict.fromkeys(name for _, name in _FILE_BY_PREFIX))

#: What the property of a web server's address is called where it speaks HTTPS.
_HTTPS = {"webapp.address": "webapp.https.address", "http-address": "https-address", "http.address": "https.address"}

_LOG4J = """log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.out
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""
_CLIENT_LOG4J = _LOG4J.replace("INFO", "WARN").replace("System.out", "System.err") + (
    "log4j.logger.org.apache.hadoop.mapreduce.Job=INFO\n"
    "log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR\n")


@dataclass
class Spec:
    """What a cluster is asked to be. Memory in MB, times in ms."""

    nodes: int = 2
    node_memory: list = field(default_factory=lambda: [2048])  #: one for all nodes, or one per node
    node_vcores: list = field(default_factory=lambda: [4])  #: one for all nodes, or one per node
    node_heartbeat_ms: int = 1000
    scheduler: str = "capacity"
    fs: str = "hdfs"  #: "hdfs" or "local"
    recovery: bool = False  #: ResourceManager and NodeManagers keep running containers over a restart
    standby: str = ""  #: a second ResourceManager that takes over by itself ("automatic"), or when it is told to ("manual"); "": none
    properties: dict = field(default_factory=dict)  #: overrides; "node2:key" holds on node 2 only
    jvm_options: dict = field(default_factory=dict)  #: more options of a daemon's JVM, a list by daemon name
    secure: bool = False  #: with Kerberos, service authorization, ACLs, and web pages with SPNEGO and HTTPS

    def validate(self):
        """Raises ClusterError where no cluster can be made of this."""
        if self.nodes < 1:
            raise ClusterError(f"--nodes {self.nodes}: at least one node is needed")
        if self.scheduler not in SCHEDULERS:
            raise ClusterError(f"--scheduler {self.scheduler}: one of {', '.join(SCHEDULERS)}")
        if self.fs not in ("hdfs", "local"):
            raise ClusterError(f"--fs {self.fs}: hdfs or local")
        if self.secure and self.fs != "hdfs":
            raise ClusterError(f"--fs {self.fs}: --secure works with hdfs only, since not all users are users of this machine")
        if self.standby not in ("", "automatic", "manual"):
            raise ClusterError(f"--standby {self.standby}: automatic or manual")
        if self.standby and not self.recovery:
            raise ClusterError(f"--standby {self.standby}: works with --recovery only")
        if self.node_heartbeat_ms < 1:
            raise ClusterError(f"--node-heartbeat-ms {self.node_heartbeat_ms}: at least 1")
        for option, values in (("--node-memory", self.node_memory), ("--node-vcores", self.node_vcores)):
            if len(values) not in (1, self.nodes) or min(values) < 1:
                raise ClusterError(f"{option} {','.join(map(str, values))}: one positive number, or one for each of {self.nodes} nodes")
        for key in self.properties:
            node = re.match(r"node(\d+):", key)
            if node and not 1 <= int(node.group(1)) <= self.nodes:
                raise ClusterError(f"-D {key}: the cluster has nodes 1 to {self.nodes}")

    def managers(self):
        """Numbers of the ResourceManagers, from 1."""
        return range(1, 3 if self.standby else 2)

    def memory_of(self, node):
        """Memory (MB) of node 1, 2, …"""
        return self.node_memory[(node - 1) % len(self.node_memory)]

    def vcores_of(self, node):
        """Virtual cores of node 1, 2, …"""
        return self.node_vcores[(node - 1) % len(self.node_vcores)]

    def to_json(self):
        """The text ``from_json`` reads."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text):
        """The specification ``to_json`` wrote."""
        return cls(**json.loads(text))


class Ports:
    """The ports of a cluster by service, each free when chosen, below the ephemeral range and kept over restarts."""

    SERVICES = ("namenode", "namenode-http", "datanode", "datanode-ipc", "datanode-http", "history", "history-http", "history-admin",
                "zookeeper", "kdc")
    MANAGER_SERVICES = ("rm", "rm-scheduler", "rm-tracker", "rm-admin", "rm-http")
    NODE_SERVICES = ("nm", "nm-localizer", "nm-http", "nm-shuffle")

    @classmethod
    def names(cls, spec):
        """Every service of a cluster; those of a ResourceManager or a node end in its number."""
        return [*cls.SERVICES, *(f"{service}{number}" for number in spec.managers() for service in cls.MANAGER_SERVICES),
                *(f"{service}{node}" for node in range(1, spec.nodes + 1) for service in cls.NODE_SERVICES)]


def manager_id(number):
    """YARN's name of ResourceManager 1 or 2."""
    return f"rm{number}"


def node_host(node):
    """Each node is a host of its own (127.0.0.2, 127.0.0.3, …), so that locality and black lists mean what they mean elsewhere."""
    return f"127.0.{(node + 1) // 256}.{(node + 1) % 256}"


def hosts(spec):
    """The hosts of a cluster, the first of which has all but the nodes."""
    return ["127.0.0.1", *map(node_host, range(1, spec.nodes + 1))]


def write(state_dir, spec, ports):
    """Writes ``conf/`` and ``conf-client/``, and folders for NodeManagers (``conf-node<i>/``) and each of two ResourceManagers."""
    common = _common(Path(state_dir), spec, ports)
    everywhere = {key: value for key, value in spec.properties.items() if not re.match(r"node\d+:", key)}
    write_folder(Path(state_dir) / "conf", {**common, **everywhere}, _LOG4J)
    write_folder(Path(state_dir) / "conf-client", {**common, **everywhere}, _CLIENT_LOG4J)
    if spec.standby:
        _replace(Path(state_dir) / "conf" / "zoo.cfg", _zookeeper(Path(state_dir), ports))
        for number in spec.managers():
            write_folder(Path(state_dir) / f"conf-resourcemanager{number}",
                         {**common, "yarn.resourcemanager.ha.id": manager_id(number), **everywhere}, _LOG4J)
    for node in range(1, spec.nodes + 1):
        own = {key.split(":", 1)[1]: value for key, value in spec.properties.items() if key.startswith(f"node{node}:")}
        write_folder(Path(state_dir) / f"conf-node{node}",
                     {**common, **_node(Path(state_dir), spec, ports, node), **everywhere, **own}, _LOG4J)


def file_of(key):
    """The file a property belongs in."""
    return next(name for prefix, name in _FILE_BY_PREFIX if key.startswith(prefix))


def read_folder(folder):
    """The properties of all files of a folder."""
    return {row.findtext("name"): row.findtext("value") for name in _FILES if (folder / name).exists()
            for row in ElementTree.parse(folder / name).getroot()}


def write_folder(folder, properties, log4j):
    """Writes properties into the files they belong in, and the text of ``log4j.properties``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        rows = "".join(f"<property><name>{escape(key)}</name><value>{escape(str(value))}</value></property>\n"
                       for key, value in sorted(properties.items()) if file_of(key) == name)
        _replace(folder / name, f"<configuration>\n{rows}</configuration>\n")
    _replace(folder / "log4j.properties", log4j)
    # What JMX shows of Hadoop's metrics is as old as this many seconds, 10 by default.
    _replace(folder / "hadoop-metrics2.properties", "*.period=1\n")


def _replace(path, text):
    """Daemons reread these files when told to refresh: they see the old one or the new one, never half of it."""
    partial = path.with_name(path.name + ".new")
    partial.write_text(text)
    partial.replace(path)


def _common(state, spec, ports):
    properties = {
        **_file_system(state, spec, ports),
        **_mapreduce(state, spec, ports),
        "hadoop.tmp.dir": state / "tmp",
        "hadoop.http.staticuser.user": getpass.getuser(),
        "ipc.client.connect.max.retries": 60,
        **_managers(spec, ports),
        **of_scheduling(spec),
        **of_recovery(spec, (state / "rm-state").as_uri()),
        # Daemons and applications find a restarted ResourceManager again at once, not after 30 s.
        "yarn.resourcemanager.connect.retry-interval.ms": 1000,
        "yarn.application.classpath": distribution.container_class_path(state / "conf"),
        "yarn.scheduler.capacity.root.queues": "default",
        "yarn.scheduler.capacity.root.default.capacity": 100,
        "yarn.scheduler.capacity.maximum-am-resource-percent": 0.5,
        # No node holds data (the DataNode is a host of its own): waiting for a local one would only be a delay.
        "yarn.scheduler.capacity.node-locality-delay": -1,
        "yarn.scheduler.fair.user-as-default-queue": "false",
    }
    if spec.secure:
        properties.update({**Tls(state).hadoop_properties(), **_secured(state, ports, "127.0.0.1", properties)})
    return properties


def _secured(state, ports, host, properties):
    """What Kerberos adds to a host's properties, and its web servers' addresses under the names they have with HTTPS."""
    return {**Realm(state, ports["kdc"]).hadoop_properties(host),
            **{key.replace(plain, https): value for key, value in properties.items() for plain, https in _HTTPS.items() if plain in key}}


def of_scheduling(spec):
    """What the ResourceManager is told of scheduler and nodes, wherever it runs."""
    properties = {
        "yarn.resourcemanager.scheduler.class": SCHEDULERS[spec.scheduler],
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": spec.node_heartbeat_ms,
        "yarn.scheduler.minimum-allocation-mb": 128,
        "yarn.scheduler.maximum-allocation-mb": max(spec.memory_of(node) for node in range(1, spec.nodes + 1)),
        "yarn.scheduler.maximum-allocation-vcores": max(spec.vcores_of(node) for node in range(1, spec.nodes + 1)),
    }
    if spec.scheduler == "hiatus":
        properties["yarn.resourcemanager.auto-update.containers"] = "true"
    return properties


def of_recovery(spec, store):
    """What lets a ResourceManager take over what it finds when it starts; ``store`` is the URI of the folder where it writes that down."""
    if not spec.recovery:
        return {}
    return {
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.work-preserving-recovery.enabled": "true",
        "yarn.resourcemanager.store.class": f"{_STORES}.{'ZKRMStateStore' if spec.standby else 'FileSystemRMStateStore'}",
        "yarn.resourcemanager.fs.state-store.uri": store,
    }


def of_node(spec, node):
    """What a NodeManager is told of itself, wherever it runs."""
    properties = {
        "yarn.nodemanager.resource.memory-mb": spec.memory_of(node),
        "yarn.nodemanager.resource.cpu-vcores": spec.vcores_of(node),
    }
    if spec.scheduler == "hiatus":
        properties["yarn.nodemanager.container-executor.class"] = HIATUS_EXECUTOR
    return properties


def _managers(spec, ports):
    """Where the ResourceManagers are, and who of two is active."""
    properties = {}
    for number in spec.managers():
        suffix = f".{manager_id(number)}" if spec.standby else ""
        properties.update({
            f"yarn.resourcemanager.hostname{suffix}": "127.0.0.1",
            f"yarn.resourcemanager.address{suffix}": f"127.0.0.1:{ports[f'rm{number}']}",
            f"yarn.resourcemanager.scheduler.address{suffix}": f"127.0.0.1:{ports[f'rm-scheduler{number}']}",
            f"yarn.resourcemanager.resource-tracker.address{suffix}": f"127.0.0.1:{ports[f'rm-tracker{number}']}",
            f"yarn.resourcemanager.admin.address{suffix}": f"127.0.0.1:{ports[f'rm-admin{number}']}",
            f"yarn.resourcemanager.webapp.address{suffix}": f"127.0.0.1:{ports[f'rm-http{number}']}",
        })
    if spec.standby:
        properties.update({
            "yarn.resourcemanager.ha.enabled": "true",
            "yarn.resourcemanager.ha.rm-ids": ",".join(map(manager_id, spec.managers())),
            "yarn.resourcemanager.ha.automatic-failover.enabled": str(spec.standby == "automatic").lower(),
            "yarn.resourcemanager.cluster-id": "hiatus",
            "hadoop.zk.address": f"127.0.0.1:{ports['zookeeper']}",
            # How long a ResourceManager may be silent until the other takes over.
            "hadoop.zk.timeout-ms": _SESSION_MS,
            "yarn.client.failover-sleep-max-ms": 1000,
        })
    return properties


def _zookeeper(state, ports):
    return (f"dataDir={state / 'zookeeper'}\nclientPortAddress=127.0.0.1\nclientPort={ports['zookeeper']}\n"
            f"tickTime={_SESSION_MS // 10}\nmaxClientCnxns=0\nadmin.enableServer=false\n")


def _file_system(state, spec, ports):
    if spec.fs == "local":
        return {"fs.defaultFS": "file:///"}
    return {
        "fs.defaultFS": f"hdfs://127.0.0.1:{ports['namenode']}",
        "dfs.namenode.name.dir": (state / "namenode").as_uri(),
        "dfs.namenode.http-address": f"127.0.0.1:{ports['namenode-http']}",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.fs-limits.min-block-size": 1024,
        "dfs.namenode.safemode.extension": 0,
        "dfs.datanode.data.dir": (state / "datanode").as_uri(),
        "dfs.datanode.address": f"127.0.0.1:{ports['datanode']}",
        "dfs.datanode.ipc.address": f"127.0.0.1:{ports['datanode-ipc']}",
        "dfs.datanode.http.address": f"127.0.0.1:{ports['datanode-http']}",
        "dfs.datanode.du.reserved": 0,
        "dfs.replication": 1,
        "dfs.blocksize": "16m",
        # Everybody here is the user who started the cluster, whatever name a test submits under.
        "dfs.permissions.enabled": "false",
    }


def _mapreduce(state, spec, ports):
    # The class path goes first on the command line, and not into CLASSPATH behind the container's folder, so that the
    # containers' JVMs can use the archive of shared classes too.
    # Hadoop 3.3 does not tell them what of the JDK to open.
    realm = Realm(state, ports["kdc"]).jvm_properties() if spec.secure else {}
    secure = [f"-D{key}={value}" for key, value in realm.items()]
    jvm = " ".join([*distribution.tuning_options(), *distribution.add_opens(), *secure, "-cp", f"{distribution.class_path_jar()}:$CLASSPATH"])
    properties = {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": distribution.container_class_path(state / "conf"),
        "mapreduce.job.ubertask.enable": "false",
        "mapreduce.client.submit.file.replication": 1,
        "mapreduce.client.progressmonitor.pollinterval": 500,
        "mapreduce.client.completion.pollinterval": 500,
        "mapreduce.jobhistory.address": f"127.0.0.1:{ports['history']}",
        "mapreduce.jobhistory.webapp.address": f"127.0.0.1:{ports['history-http']}",
        "mapreduce.jobhistory.admin.address": f"127.0.0.1:{ports['history-admin']}",
        "mapreduce.task.io.sort.mb": 16,
        "mapreduce.map.memory.mb": 256,
        "mapreduce.map.java.opts": "-Xmx128m",
        "mapreduce.reduce.memory.mb": 256,
        "mapreduce.reduce.java.opts": "-Xmx128m",
        "yarn.app.mapreduce.am.resource.mb": 256,
        "yarn.app.mapreduce.am.command-opts": "-Xmx160m",
        "yarn.app.mapreduce.am.admin-command-opts": jvm,
        "mapreduce.admin.map.child.java.opts": jvm,
        "mapreduce.admin.reduce.child.java.opts": jvm,
    }
    if spec.scheduler == "hiatus":
        properties["mapreduce.application.classpath"] += f",{layout.product_jar('mapreduce')}"
    if spec.fs == "local":
        properties["yarn.app.mapreduce.am.staging-dir"] = state / "staging"
    return properties


def _node(state, spec, ports, node):
    host, home = node_host(node), state / f"node{node}"
    properties = {
        "yarn.nodemanager.hostname": host,
        "yarn.nodemanager.address": f"{host}:{ports[f'nm{node}']}",
        "yarn.nodemanager.localizer.address": f"{host}:{ports[f'nm-localizer{node}']}",
        "yarn.nodemanager.webapp.address": f"{host}:{ports[f'nm-http{node}']}",
        "mapreduce.shuffle.port": ports[f"nm-shuffle{node}"],
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        **of_node(spec, node),
        "yarn.nodemanager.local-dirs": home / "local",
        "yarn.nodemanager.log-dirs": home / "logs",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
        # Logs of containers stay for whoever looks into a failure; `down` and the next `up` clear them.
        "yarn.nodemanager.log.retain-seconds": 86400,
        "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR,HIATUS_CLUSTER",
    }
    if spec.secure:
        properties.update(_secured(state, ports, host, properties))
    if spec.recovery:
        properties.update({
            "yarn.nodemanager.recovery.enabled": "true",
            "yarn.nodemanager.recovery.supervised": "true",
            "yarn.nodemanager.recovery.dir": home / "recovery",
        })
    return properties
