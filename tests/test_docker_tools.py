"""What of clusters in Docker needs no Docker."""

import os
import re
import subprocess

import pytest
import yaml

from hiatus_cluster import configuration, layout
from hiatus_cluster.configuration import Spec
from hiatus_cluster.docker import image
from hiatus_cluster.docker.cluster import DockerCluster
from hiatus_cluster.errors import ClusterError

_FILES = sorted(image.FOLDER.glob("compose*.yaml"))
_SPEC = Spec(nodes=3, node_memory=[1024], scheduler="hiatus", recovery=True, properties={"yarn.scheduler.hiatus.min-run-ms": 500})


@pytest.fixture
def saved(tmp_path):
    """A cluster that was made, without containers."""
    cluster = DockerCluster(tmp_path, cgroups="/sys/fs/cgroup/freezer")
    cluster._save(_SPEC, {"rm-http1": 20001, "history-http": 20002, "namenode-http": 20003})
    return cluster


@pytest.mark.parametrize("command", [["scripts/test", "--docker", "--local-base"], ["docker/mini-cluster", "up"]], ids=" ".join)
def test_where_there_is_no_docker_that_is_said_at_once(command):
    env = {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    done = subprocess.run(command, cwd=layout.ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "no Docker: the engine that DOCKER_HOST names, unix:///nowhere/docker.sock, does not answer" in done.stderr
    assert "Rust" not in done.stdout, "nothing was built before"


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_every_variable_of_a_compose_file_has_a_value(file, saved):
    wanted = set(re.findall(r"\$\{(\w+)\}", file.read_text()))
    assert wanted <= {name for name, value in saved.variables().items() if value}


def test_every_daemon_is_a_service_and_nodes_have_limits_and_the_mark():
    services = yaml.safe_load((image.FOLDER / "compose.yaml").read_text())["services"]
    assert set(services) == {"namenode", "datanode", "resourcemanager", "historyserver", "nodemanager", "client"}
    node = services["nodemanager"]
    assert node["mem_limit"] == "${NODE_LIMIT}"
    assert node["environment"]["HIATUS_CLUSTER"] == "${STATE}", "by which its processes are found"
    assert all(service["image"] == image.NAME for service in services.values())
    extended = [name for file in _FILES for name in yaml.safe_load(file.read_text())["services"]]
    assert set(extended) == set(services)


def test_a_node_may_take_more_memory_than_its_containers_ask_for(saved):
    limit = int(saved.variables()["NODE_LIMIT"].rstrip("m"))
    assert limit > saved.spec.memory_of(1)


def test_its_configuration_is_that_of_the_image_with_what_was_asked_for(saved):
    written = configuration.read_folder(saved.dir / "conf")
    assert configuration.read_folder(image.FOLDER / "conf").items() <= written.items()
    assert written["yarn.nodemanager.container-executor.class"] == configuration.HIATUS_EXECUTOR
    assert (written["yarn.nodemanager.resource.memory-mb"], written["yarn.scheduler.hiatus.min-run-ms"]) == ("1024", "500")
    assert written["yarn.resourcemanager.recovery.enabled"] == "true"


def test_two_clusters_have_names_and_networks_of_their_own(tmp_path):
    one, other = (DockerCluster(tmp_path / name) for name in ("1", "2"))
    assert one.variables()["SUBNET"] != other.variables()["SUBNET"]


@pytest.mark.parametrize("wish", [{"node_memory": [512, 1024, 512]}, {"standby": "manual"}, {"properties": {"node2:yarn.x": 1}}], ids=str)
def test_nodes_that_differ_and_a_standby_are_refused(tmp_path, wish):
    with pytest.raises(ClusterError, match="all alike"):
        DockerCluster(tmp_path).up(Spec(**{**vars(_SPEC), **wish}))
