"""The cluster tool itself: what it starts works, and nothing of it stays."""

import json
import shutil
from collections import Counter

import pytest

from documented import Shell
from hiatus_cluster import daemons, jobs, toolchain
from hiatus_cluster.cluster import Cluster
from hiatus_cluster.configuration import Spec
from hiatus_cluster.errors import ClusterError
from support import put_text, read_counts, wait_for

SPEC = {"nodes": 2, "node_memory": [1024, 1536], "node_vcores": [2, 3], "scheduler": "capacity"}


def test_every_node_has_its_own_host_memory_and_vcores(cluster):
    nodes = {node["id"]: node for node in cluster.rm.nodes()}
    assert len({node["nodeHostName"] for node in nodes.values()}) == 2
    for number, memory, vcores in ((1, 1024, 2), (2, 1536, 3)):
        node = nodes[cluster.node_id(number)]
        assert (node["state"], node["availMemoryMB"], node["availableVirtualCores"]) == ("RUNNING", memory, vcores)


def test_word_count_counts_words(cluster):
    text = "the small job\nwaits for the big job\n" * 50
    put_text(cluster, "/text", text)
    (result,) = jobs.run(cluster, [jobs.job("words", 0, "wordcount", "/text", "/words")])
    assert result.status == "SUCCEEDED"
    assert {attempt["type"]: attempt["state"] for attempt in result.attempts} == {"MAP": "SUCCEEDED", "REDUCE": "SUCCEEDED"}
    assert read_counts(cluster, "/words") == Counter(text.split())


def test_a_failing_job_is_told_apart(cluster):
    good, bad = jobs.run(cluster, [
        jobs.job("good", 0, "sleep", "-m", 1, "-r", 0, "-mt", 1),
        jobs.job("bad", 0, "sleep", "-m", 1, "-r", 0, "-mt", 1,  # A JVM that does not start fails at once, on any machine.
                 conf={"mapreduce.map.maxattempts": 1, "mapreduce.map.java.opts": "-XX:+NoSuchOption"})])
    assert (good.status, bad.status) == ("SUCCEEDED", "FAILED")
    assert (good.attempts_in("FAILED"), bad.attempts_in("FAILED")) == (0, 1)


def test_what_yarn_itself_keeps_answers_what_if_and_becomes_history(cluster, tmp_path):
    """All jobs above, by the JobHistoryServer's records, and no Hiatus anywhere."""
    toolchain.program("curl", "curl", print)

    shell = Shell(tmp_path, filled={"http://rm:8088": cluster.rm.base, "http://history:19888": cluster.history.base,
                                    "/var/lib/hadoop-yarn/hiatus-history": tmp_path / "history"})

    def figures(told):
        return dict(line.rsplit(",", 1) for line in told.splitlines() if line.count(",") == 1)

    shell.documented("scripts/save-history http://rm:8088 http://history:19888 saved --hours 24")
    finished = {job["id"]: job["state"] for job in json.loads((tmp_path / "saved" / "jobs.json").read_text())["jobs"]["job"]}
    done = list(finished.values()).count("SUCCEEDED")
    assert done >= 1
    told = shell.documented("hiatus what-if saved --policy hfsp --preemption suspend", "--format csv")
    read = figures(told)
    assert (int(read["jobs used"]), int(read["nodes"])) == (done, 2), told

    def save_with_names(code):
        return shell.documented("scripts/save-history http://rm:8088 http://history:19888 saved --hours 720 --names", code=code)

    assert "is not empty" in save_with_names(code=1)
    shutil.rmtree(tmp_path / "saved")
    save_with_names(code=0)
    told = shell.documented("hiatus history import saved /var/lib/hadoop-yarn/hiatus-history", "--format csv")
    imported = figures(told)
    assert (int(imported["runs read in"]), int(imported["runs known now"])) == (done, done), told


def test_properties_reach_their_daemon_at_a_refresh(cluster):
    def capacities():
        return {queue["queueName"]: queue["capacity"] for queue in cluster.rm.scheduler()["queues"]["queue"]}

    assert capacities() == {"default": 100.0}
    cluster.configure({"yarn.scheduler.capacity.root.queues": "default,night", "yarn.scheduler.capacity.root.default.capacity": "70",
                       "yarn.scheduler.capacity.root.night.capacity": "30"})
    cluster.run("yarn", "rmadmin", "-refreshQueues")
    assert capacities() == pytest.approx({"default": 70.0, "night": 30.0})


def test_a_killed_daemon_comes_back_where_it_was(cluster):
    node = cluster.node_id(2)
    daemon = cluster.daemon("nodemanager2")
    before = daemon.pid
    daemon.kill()
    assert daemon.pid is None
    cluster.start("nodemanager2")
    assert daemon.pid not in (None, before)
    wait_for(lambda: [n["state"] for n in cluster.rm.nodes() if n["id"] == node] == ["RUNNING"], f"{node} RUNNING again")


def test_a_frozen_daemon_is_stopped_until_thawed(cluster):
    daemon = cluster.daemon("nodemanager1")
    daemon.freeze()
    wait_for(lambda: daemons.state(daemon.pid) == "T", "NodeManager stopped")
    daemon.thaw()
    wait_for(lambda: daemons.state(daemon.pid) != "T", "NodeManager running")


def test_up_refuses_what_runs_already(cluster):
    with pytest.raises(ClusterError, match=f"resourcemanager {cluster.daemon('resourcemanager').pid}"):
        cluster.up(Spec())


def test_a_daemon_that_cannot_start_is_reported_with_its_log(clusters):
    with pytest.raises(ClusterError, match="(?s)resourcemanager ended while starting.*no.such.Scheduler"):
        clusters(nodes=1, fs="local", properties={"yarn.resourcemanager.scheduler.class": "no.such.Scheduler"})


def test_down_ends_containers_even_of_a_dead_node_manager(clusters):
    cluster = clusters(nodes=1, fs="local", scheduler="capacity")
    workload = jobs.Workload(cluster, [jobs.job("long", 0, "sleep", "-m", 2, "-r", 0, "-mt", 600_000)])
    containers = lambda: {entry for pid in daemons.processes(cluster.dir)  # noqa: E731
                          for entry in daemons.environment(pid) if entry.startswith(b"CONTAINER_ID=")}
    # By their processes: the NodeManager calls a container RUNNING before it has started it.
    wait_for(lambda: len(containers()) == 3, "an ApplicationMaster and two maps running")
    cluster.daemon("nodemanager1").kill()
    assert len(containers()) == 3
    assert workload.running()
    cluster.down()
    assert daemons.processes(cluster.dir) == []
    wait_for(lambda: not workload.running(), "the client, which lost its environment first, is gone")


def test_a_policy_of_ones_own_is_tried_by_the_commands_of_its_document(clusters, tmp_path):
    folder = tmp_path / "cluster"
    shell = Shell(tmp_path, filled={f"scripts/cluster {word}": f"scripts/cluster {word} --dir {folder}" for word in ("up", "submit", "down")})
    try:
        shell.documented("scripts/cluster up -D yarn.scheduler.hiatus.policy=las")
        cluster = Cluster(folder)
        assert cluster.rm.get("/ws/v1/hiatus")["mode"] == "suspend" and cluster.spec.properties == {"yarn.scheduler.hiatus.policy": "las"}
        shell.documented("scripts/cluster submit sleep -m 4 -r 0 -mt 20000")
        assert [app["finalStatus"] for app in cluster.rm.apps()] == ["SUCCEEDED"]
        shell.documented("scripts/cluster down")
        assert daemons.processes(folder) == []
    finally:
        Cluster(folder).down()


def test_a_command_for_no_cluster_says_so(tmp_path):
    with pytest.raises(ClusterError, match="no cluster in .*: start one"):
        Cluster(tmp_path).names()
