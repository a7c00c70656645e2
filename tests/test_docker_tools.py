"""What of clusters in Docker needs no Docker."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

from hiatus_cluster import configuration, daemons, layout
from hiatus_cluster.configuration import Spec
from hiatus_cluster.docker import image
from hiatus_cluster.docker.cluster import DockerCluster, freezers
from hiatus_cluster.errors import ClusterError
from hiatus_cluster.replay.swim import command, model, trace
from support import wait_for

_FILES = sorted(image.FOLDER.glob("compose*.yaml"))
_SPEC = Spec(nodes=3, node_memory=[1024], scheduler="hiatus", recovery=True, properties={"yarn.scheduler.hiatus.min-run-ms": 500})


@pytest.fixture
def saved(tmp_path):
    """A cluster that was made, without containers."""
    cluster = DockerCluster(tmp_path, cgroups="/sys/fs/cgroup/freezer")
    cluster._save(_SPEC, {"rm-http1": 20001, "history-http": 20002, "namenode-http": 20003})
    return cluster


@pytest.mark.parametrize("words", [["scripts/test", "--docker", "--local-base"], ["docker/mini-cluster", "up"]], ids=" ".join)
def test_where_there_is_no_docker_that_is_said_at_once(words):
    env = {**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    done = subprocess.run(words, cwd=layout.ROOT, env=env, capture_output=True, text=True)
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
    assert services["nodemanager"]["mem_limit"] == "${NODE_LIMIT}"
    assert all(one["environment"]["HIATUS_CLUSTER"] == "${STATE}" for one in services.values()), "by which their processes are found"
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


def test_a_cluster_whose_containers_others_removed_does_not_run(saved, tmp_path, monkeypatch):
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text("#!/bin/sh\n[ $1 = ps ] || { echo No such object; exit 1; }\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}{os.pathsep}{os.environ['PATH']}")
    saved._save(_SPEC, saved.ports, containers={"resourcemanager": "0123456789ab"})
    assert saved.daemon("resourcemanager").id and saved.running() == []


def test_two_clusters_have_names_and_networks_of_their_own(tmp_path):
    one, other = (DockerCluster(tmp_path / name) for name in ("1", "2"))
    assert one.variables()["SUBNET"] != other.variables()["SUBNET"]


@pytest.mark.skipif(not any(os.access(folder / "cgroup.procs", os.W_OK) for folder in freezers().values()), reason="no cgroup to write here")
def test_a_container_gets_a_cgroup_by_which_it_is_frozen_and_known_to_be(tmp_path):
    container = f"container_{os.getpid()}_0001_01_000002"
    script = tmp_path / container / "launch_container.sh"
    script.parent.mkdir()
    script.write_text("sleep 600; true\n")
    process = subprocess.Popen([image.FOLDER / "setsid-in-cgroup", "/bin/bash", script])
    try:
        (folder,) = wait_for(lambda: [path for top in freezers().values() for path in top.rglob(container)], "it has a cgroup")
        wait_for(lambda: str(process.pid) in (folder / "cgroup.procs").read_text().split(), "it is in there")
        wait_for(lambda: b"launch_container.sh" in Path(f"/proc/{process.pid}/cmdline").read_bytes(), "it runs")
        version_1 = (folder / "freezer.state").exists()
        control, frozen, thawed = (folder / "freezer.state", "FROZEN", "THAWED") if version_1 else (folder / "cgroup.freeze", "1", "0")
        assert not daemons.frozen(process.pid)
        control.write_text(frozen)
        wait_for(lambda: daemons.frozen(process.pid), "it is frozen")
        control.write_text(thawed)
        wait_for(lambda: not daemons.frozen(process.pid), "it goes on")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    wait_for(lambda: not (folder / "cgroup.procs").read_text(), "nobody is left in there")
    folder.rmdir()


def test_a_replay_in_docker_has_the_same_jobs_and_a_page_of_its_own():
    planned = model.plan([trace.Row(1, 0, 64 * model.MB, 0, 0)], 1, 8, 0.8)
    one = command.replay("swim-x-timed", planned, "timed")
    other = command.in_docker(one, ["fair", "hiatus"])
    assert (other.name, other.kind, other.fs) == ("swim-x-timed-docker", DockerCluster, "hdfs")
    assert other.jobs(1) == one.jobs(1)
    with pytest.raises(ClusterError, match="leave out fair-preempting"):
        command.in_docker(one, ["fair-preempting"])


@pytest.mark.parametrize("wish", [{"node_memory": [512, 1024, 512]}, {"standby": "manual"}, {"properties": {"node2:yarn.x": 1}}], ids=str)
def test_nodes_that_differ_and_a_standby_are_refused(tmp_path, wish):
    with pytest.raises(ClusterError, match="all alike"):
        DockerCluster(tmp_path).up(Spec(**{**vars(_SPEC), **wish}))
