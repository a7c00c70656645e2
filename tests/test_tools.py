"""The parts of the cluster tool that need no daemon."""

import argparse
import os
import platform
import re
import subprocess
from dataclasses import dataclass

import pytest

from hiatus_cluster import class_sharing, configuration, distribution, layout, matrix, portable
from hiatus_cluster.cluster import Cluster
from hiatus_cluster.configuration import Spec
from hiatus_cluster.errors import ClusterError
from hiatus_cluster.experiments import cgroups, kept


@pytest.mark.parametrize("spec, complaint", [
    ({"nodes": 0}, "at least one node"),
    ({"scheduler": "lottery"}, "one of hiatus, capacity, fair, fifo"),
    ({"fs": "tape"}, "hdfs or local"),
    ({"nodes": 3, "node_memory": [1024, 2048]}, "one for each of 3 nodes"),
    ({"node_vcores": [0]}, "one positive number"),
    ({"node_heartbeat_ms": 0}, "at least 1"),
    ({"secure": True, "fs": "local"}, "works with hdfs only"),
    ({"standby": "sometimes", "recovery": True}, "automatic or manual"),
    ({"standby": "manual"}, "with --recovery only"),
    ({"nodes": 2, "properties": {"node3:yarn.nodemanager.resource.memory-mb": 1}}, "nodes 1 to 2"),
])
def test_an_impossible_cluster_is_refused(spec, complaint):
    with pytest.raises(ClusterError, match=complaint):
        Spec(**spec).validate()


@pytest.mark.parametrize("key, name", [
    ("yarn.scheduler.capacity.root.queues", "capacity-scheduler.xml"),
    ("yarn.scheduler.hiatus.mode", "yarn-site.xml"),
    ("yarn.app.mapreduce.am.resource.mb", "mapred-site.xml"),
    ("mapreduce.task.timeout", "mapred-site.xml"),
    ("dfs.replication", "hdfs-site.xml"),
    ("fs.defaultFS", "core-site.xml"),
])
def test_a_property_goes_into_the_file_hadoop_reads_it_from(key, name):
    assert configuration.file_of(key) == name


def test_a_folder_that_is_not_a_clusters_is_left_alone(tmp_path):
    (tmp_path / "logs").mkdir()
    with pytest.raises(ClusterError, match="has logs, and not from a cluster"):
        Cluster(tmp_path).up(Spec())
    assert (tmp_path / "logs").is_dir()


def test_what_curl_is_to_be_told_goes_to_curl_wherever_our_own_options_stand(tmp_path):
    curl = tmp_path / "curl"
    curl.write_text('#!/bin/sh\necho "$@" > "$(dirname "$0")/told"\nexit 22\n')
    curl.chmod(0o755)
    command = [layout.ROOT / "scripts" / "save-history", "http://rm", "http://history", tmp_path / "saved", "--hours", "24"]
    subprocess.run([*command, "--", "--negotiate", "-u", ":"], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=False)
    assert " --negotiate -u : http://rm/" in (tmp_path / "told").read_text()


def test_nodes_are_different_loopback_hosts():
    hosts = [configuration.node_host(node) for node in range(1, 600)]
    assert len(set(hosts)) == len(hosts)
    assert all(host.startswith("127.0.") and max(map(int, host.split("."))) < 256 for host in hosts)
    assert "127.0.0.1" not in hosts


@pytest.mark.parametrize("words, main, arguments", [
    (["yarn", "queue", "-status", "default"], "org.apache.hadoop.yarn.client.cli.QueueCLI", ["-status", "default"]),
    (["yarn", "application", "-list"], "org.apache.hadoop.yarn.client.cli.ApplicationCLI", ["application", "-list"]),
    (["hdfs", "dfs", "-ls", "/"], "org.apache.hadoop.fs.FsShell", ["-ls", "/"]),
    (["hadoop", "jar", "x.jar"], "org.apache.hadoop.util.RunJar", ["x.jar"]),
    (["org.example.Main", "1"], "org.example.Main", ["1"]),
])
def test_commands_are_those_of_hadoops_scripts(words, main, arguments):
    assert distribution.main_class_of(words) == (main, arguments)


@pytest.mark.parametrize("words, complaint", [([], "nothing to run"), (["spark"], "unknown command"), (["yarn", "fly"], "no such sub-command")])
def test_an_unknown_command_is_refused(words, complaint):
    with pytest.raises(ClusterError, match=complaint):
        distribution.main_class_of(words)


def test_the_glibc_that_the_native_library_needs_is_that_of_its_symbols():
    library = layout.native_library(platform.machine())
    symbols = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_(\d+\.\d+)", symbols)}
    assert portable.needed_glibc(library) == max(versions)
    assert portable.OLDEST_GLIBC <= max(versions)


def test_what_is_no_library_needs_no_glibc(tmp_path):
    (tmp_path / "text").write_bytes(b"GLIBC_2.99 \0GLIBC_PRIVATE\0")
    assert portable.needed_glibc(tmp_path / "text") == (0, 0)


#: What the kernel's folder for a group's limits has, by version, and what a group of 0.3 processors says there.
_CPU_MOUNTS = {
    1: ("cgroup", "rw,cpu,cpuacct", {}, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "30000", "cpu.shares": "262144"}),
    2: ("cgroup2", "rw", {"cgroup.controllers": "cpu memory"}, {"cpu.max": "30000 100000", "cpu.weight": "10000"}),
}


@pytest.mark.parametrize("version", _CPU_MOUNTS)
def test_a_part_of_a_processor_is_asked_for_as_the_kernel_wants_it(tmp_path, version):
    kind, options, there, limits = _CPU_MOUNTS[version]
    for name, content in there.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "mounts").write_text(f"proc /proc proc rw 0 0\ncgroup {tmp_path} {kind} {options} 0 0\n")
    cgroups.of_processors("node1", 0.3, mounts=tmp_path / "mounts")
    (group,) = tmp_path.glob("hiatus-*-node1")
    assert {file.name: file.read_text() for file in group.iterdir()} == limits
    if version == 2:
        assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu"


@pytest.mark.parametrize("mounts", ["proc /proc proc rw 0 0\n", "cgroup /nowhere/memory cgroup rw,memory 0 0\n"])
def test_without_a_controller_of_processors_nothing_is_made(tmp_path, mounts):
    (tmp_path / "mounts").write_text(mounts)
    with pytest.raises(cgroups.Unavailable, match="no cgroup controller `cpu`"):
        cgroups.of_processors("node1", 0.3, mounts=tmp_path / "mounts")


@dataclass
class _Measured:
    seconds: float


def test_what_was_measured_is_there_for_the_next_run_that_wants_it(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "BUILD", tmp_path)
    first = kept.Outcomes("study", _Measured, resume=False)
    first["stock", 1] = _Measured(2.5)
    assert kept.Outcomes("study", _Measured, resume=True) == {("stock", 1): _Measured(2.5)}
    assert kept.Outcomes("study", _Measured, resume=False) == {}


def test_the_same_jars_run_on_the_hadoop_that_is_named(capsys):
    was = layout.HADOOP
    parser = argparse.ArgumentParser()
    layout.hadoop_option(parser)
    try:
        assert parser.parse_args(["--hadoop", "3.3.6"]).hadoop == layout.HADOOP == os.environ["HIATUS_HADOOP"] == "3.3.6"
        assert layout.HADOOP_LIB == layout.BUILD / "hadoop-3.3.6" / "lib"
        with pytest.raises(SystemExit):
            parser.parse_args(["--hadoop", "9.9.9"])
        assert re.search(r"'9\.9\.9' \(choose from .*3\.3\.6.*3\.5\.0", capsys.readouterr().err)
        layout.run_on("3.9.9")
        with pytest.raises(ClusterError, match="with the same --hadoop"):
            distribution.class_path_jar()
    finally:
        layout.run_on(was)


def test_lists_of_classes_make_one_list_whatever_java_wrote_them():
    """The first as Java 17 writes it, the others as Java 21 does, where one number means two classes."""
    lists = ("# a comment\njava/lang/Object\n@lambda-proxy A run ()V\nOwn id: 7 super: 1 source: own.jar\n",
             "java/lang/Object id: 0\njava/lang/String id: 1\n@cp java/lang/String 4 5\n",
             "java/lang/Object id: 0\njava/util/List id: 1\n")
    assert class_sharing.merge(lists) == [
        "java/lang/Object", "@lambda-proxy A run ()V", "java/lang/String", "@cp java/lang/String 4 5", "java/util/List"]


def test_what_came_of_a_hadoop_is_written_into_its_row(tmp_path):
    results = tmp_path / "results.xml"
    cases = ('<testcase classname="one" name="works"/><testcase classname="two" name="works[1]"/>'
             '<testcase classname="one" name="fails"><failure/></testcase><testcase classname="one" name="waits"><skipped/></testcase>')
    results.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    told = matrix.told(results)
    assert told == "2 passed; 1 failed: fails; 1 skipped: waits"
    text = "| Hadoop | Java | tests |\n|---|---|---|\n| 3.4.2 | 17 | all |\n| 3.4.10 | 17 | none |\n\nAfter.\n"
    rows = "| 3.4.2 | 8 | new |\n| 3.4.2 | 17 | all |\n| 3.4.10 | 17 | none |\n"
    assert matrix.with_row(text, "3.4.2", 8, "new") == f"| Hadoop | Java | tests |\n|---|---|---|\n{rows}\nAfter.\n"
    assert "| 3.4.10 | 17 | some |" in matrix.with_row(text, "3.4.10", 17, "some")
    document = (layout.ROOT / "docs" / "install.md").read_text()
    assert all(re.search(rf"^\| {re.escape(version)} \| 17 \| .+ \|$", document, re.MULTILINE) for version in layout.tested_hadoops())
