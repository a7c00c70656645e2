"""A cluster whose daemons are Docker containers: each node a host with its own processes, memory, file system and network."""

import hashlib
import json
import os
from pathlib import Path

from .. import configuration, daemons, distribution, layout, rest
from ..cluster import Cluster
from ..errors import ClusterError
from . import engine, image

_STORE = "file:///data/rm-state"  #: in the ResourceManager's container, as HDFS is in those of its daemons: it stays when that starts again
_COMPOSE, _FREEZER, _HOST_CGROUPS = (image.FOLDER / f"compose{kind}.yaml" for kind in ("", ".freezer", ".host-cgroups"))
_CGROUPS = Path("/sys/fs/cgroup")
_LABEL = "com.docker.compose"
_NODE_PORT, _NODE_WEB_PORT = 45454, 8042  #: 45454 by docker/conf, so that a node that comes back is the same node
#: What a node's container gets beyond its YARN containers' memory: its NodeManager, and shells that start containers.
_NODE_ROOM_MB = 512


def freezers():
    """{cgroup version: folder of this machine's cgroups that have its freezer}; a machine may have both."""
    places = {"v1": [(_CGROUPS / "freezer", "cgroup.procs")],
              "v2": [(folder, "cgroup.controllers") for folder in (_CGROUPS / "unified", _CGROUPS)]}
    return {version: folder for version, tried in places.items() for folder, file in tried if (folder / file).exists()}


class DockerCluster(Cluster):
    """The cluster of one state directory; everything that a cluster of processes does, it does."""

    def __init__(self, state_dir, cgroups=None):
        """``cgroups``: one of ``freezers()``, which nodes may write then, so that their executors stop by it; else they stop by signals."""
        super().__init__(state_dir)
        self._cgroups = cgroups

    def up(self, spec, say=lambda text: None):
        """As of any cluster, from the image that was built last."""
        if spec.standby or len(spec.node_memory) > 1 or len(spec.node_vcores) > 1 or any(key.startswith("node") for key in spec.properties):
            raise ClusterError("nodes of a cluster in Docker are all alike, and there is no standby: give one size, and properties for all")
        super().up(spec, say)

    def daemon(self, name):
        """A daemon by name, as of any cluster; it can be cut off the network, too."""
        if name not in self.names():
            raise ClusterError(f"no daemon {name!r}: there are {', '.join(self.names())}")
        return Container(self.dir, name, self._saved().get("containers", {}).get(name))

    def nm(self, node):
        """NodeManager 1, 2, … over REST. Which port of this machine leads to it changes when it starts again."""
        address = engine.told("port", self.daemon(f"nodemanager{node}").id, str(_NODE_WEB_PORT)).splitlines()[0]
        return rest.NodeManager("127.0.0.1", int(address.rpartition(":")[2]))

    def node_id(self, node):
        """YARN's name of node 1, 2, …"""
        return f"{self.daemon(f'nodemanager{node}').host}:{_NODE_PORT}"

    def command(self, words, *, heap_mb=192, extra_jars=()):
        """The argument list and environment of a client, which runs in a container of its own and sees the folder ``build``."""
        main, arguments = distribution.main_class_of(words)
        modules = " ".join(jar.name.split("-")[1] for jar in extra_jars)
        line = ["docker", "exec", "-i", "-e", f"HIATUS={modules}", "-e", f"HEAP={heap_mb}m", self._saved()["containers"]["client"],
                "hadoop", main, *map(str, arguments)]
        return line, dict(os.environ)

    def _launch(self, say):
        spec = self.spec
        (self.dir / "logs").mkdir()
        self._compose("up", "-d", "--scale", f"nodemanager={spec.nodes}")
        saved = self._saved()
        self._file.write_text(json.dumps({**saved, "containers": self._containers()}, indent=1))
        self.await_ready(say=say)

    def _end(self):
        """Removes the containers and their network; says how many there were."""
        count = len(self._containers())
        self._compose("down", "-v", "-t", "2")
        return count

    def _start(self, name):
        engine.docker("start", self.daemon(name).id, capture_output=True)

    def _write_configuration(self, spec, ports):
        properties = {
            **configuration.read_folder(image.FOLDER / "conf"),
            **configuration.of_scheduling(spec),
            **configuration.of_recovery(spec, _STORE),
            **configuration.of_node(spec, 1),
            **spec.properties,
        }
        configuration.write_folder(self.dir / "conf", properties, (image.FOLDER / "conf" / "log4j.properties").read_text())

    def _containers(self):
        """{daemon, or client: id of its container}, running or not."""
        found = {}
        line = f'{{{{.ID}}}} {{{{.Label "{_LABEL}.service"}}}} {{{{.Label "{_LABEL}.container-number"}}}}'
        for told in engine.told("ps", "-a", "--filter", f"label={_LABEL}.project={self._project}", "--format", line).splitlines():
            container, service, number = told.split()
            found[service + (number if service == "nodemanager" else "")] = container
        return found

    @property
    def _project(self):
        """What Compose calls this cluster."""
        return f"hiatus-{self._digest.hex()[:8]}"

    @property
    def _digest(self):
        return hashlib.sha256(str(self.dir).encode()).digest()

    def _compose(self, *words):
        """Runs Compose on this cluster's containers."""
        files = [_COMPOSE, *([_FREEZER] if self._cgroups else []), *([_HOST_CGROUPS] if self._cgroups == _CGROUPS else [])]
        engine.compose("-p", self._project, *(word for file in files for word in ("-f", file)), *words, capture_output=True,
                       env={**os.environ, **self.variables()})

    def variables(self):
        """What stands for the variables of Compose's files; ports are 0 while there is no cluster."""
        saved = self._saved() if self.exists else {"ports": {}, "spec": {"node_memory": [0]}}
        ports = {name: saved["ports"].get(name, 0) for name in ("namenode-http", "rm-http1", "history-http")}
        values = {
            "STATE": self.dir,
            "BUILD": layout.BUILD,
            "CGROUPS": self._cgroups or "",
            "NODE_LIMIT": f"{saved['spec']['node_memory'][0] + _NODE_ROOM_MB}m",
            # Chosen here, because Docker lets a container that comes back keep its address only in a network of chosen addresses.
            "SUBNET": f"10.{128 + self._digest[0] % 64}.{self._digest[1]}.0/24",
            **{name.upper().replace("-", "_"): port for name, port in ports.items()},
        }
        return {name: str(value) for name, value in values.items()}


class Container(daemons.Daemon):
    """One daemon of such a cluster: a container, and the one daemon in it."""

    def __init__(self, state_dir, name, container):
        super().__init__(state_dir, name)
        self.id = container  #: Docker's, a dozen hexadecimal digits; it stays when the container is ended and started
        self.host = container if name.startswith("nodemanager") or name == "datanode" else name
        self.log = self.state_dir / "logs" / f"{self.host}.log"

    @property
    def pid(self):
        """Process id, on this machine, of the container's first process if it is alive, else None."""
        runs = self.id and engine.told("ps", "-q", "--filter", f"id={self.id}")  # it may have been removed by others
        return int(self._inspect("{{.State.Pid}}")) or None if runs else None

    def kill(self):
        """``docker kill``: everything in the container dies at once, as when a machine loses power. Its files stay."""
        engine.docker("kill", self.id, capture_output=True)

    def stop(self):
        """``docker stop``: an orderly end."""
        engine.docker("stop", self.id, capture_output=True)

    def freeze(self):
        """``docker pause``: all processes of the container stand still, and it is silent."""
        engine.docker("pause", self.id, capture_output=True)

    def thaw(self):
        """``docker unpause``."""
        engine.docker("unpause", self.id, capture_output=True)

    def cut(self):
        """Takes the container off the network: it works on, and nobody hears of it."""
        (network, address), = self._networks()
        self._was = network, address
        engine.docker("network", "disconnect", network, self.id, capture_output=True)

    def join(self):
        """Puts it back after ``cut``, with the address that it had."""
        network, address = self._was
        engine.docker("network", "connect", "--ip", address, network, self.id, capture_output=True)

    def _networks(self):
        networks = json.loads(self._inspect("{{json .NetworkSettings.Networks}}"))
        return [(name, network["IPAddress"]) for name, network in networks.items()]

    def _inspect(self, wanted):
        return engine.told("inspect", "--format", wanted, self.id)
