"""The way of somebody new: unpack, install, look, let it suspend, park, take it out again; on a Hadoop as its tarball leaves it.

With the very commands that the documents have for it.
"""

import re
import shutil
import time
import urllib.error
import urllib.request

import live
from documented import Shell
from hiatus_cluster import layout
from hiatus_cluster.applications import work
from hiatus_cluster.release import assembly
from support import wait_for
from tarball import FromTarball

_DAEMONS = ("resourcemanager", "nodemanager1")
#: More tasks than a tiny job has, which comes first for a minute (`training-tasks`), and all that the node holds.
_BIG = 8
_SPEC = live.spec(scheduler="capacity", nodes=1, node_memory=[256 * _BIG])


def _refresh(cluster, shell, before, after):
    """An administrator's hand in yarn-site.xml, and the command that the documents have for it."""
    site = cluster.home("resourcemanager") / "etc/hadoop/yarn-site.xml"
    assert before in site.read_text()
    site.write_text(site.read_text().replace(before, after))
    shell.documented("yarn rmadmin -refreshQueues")


def _restart(cluster, name):
    cluster.restart(name, hard=False)
    cluster.await_ready(list(_DAEMONS))


def _runs_stock(cluster):
    try:
        urllib.request.urlopen(cluster.rm.base + "/ws/v1/hiatus", timeout=10)
    except urllib.error.HTTPError as error:
        return error.code == 404
    return False


def _files(home):
    return {path.relative_to(home): path.read_bytes() for folder in ("share/hadoop/yarn/lib", "share/hadoop/mapreduce", "etc/hadoop")
            for path in (home / folder).iterdir() if path.is_file()}


def _look(shell, cluster, big, small, standing):
    """Everything that `yarn hiatus` tells, while a container of the one job stands still for the other."""
    shell.filled.update({"[QUEUE]": "root.default", "[APPLICATION]": big, "FOLDER": cluster.home("nodemanager1") / "etc/hadoop"})
    assert "suspend ID" in shell.documented("yarn hiatus", code=2)
    assert re.search("mode +suspend", shell.documented("yarn hiatus status"))
    assert "root.default" in shell.documented("yarn hiatus queues")
    told = shell.documented("yarn hiatus jobs [QUEUE]")
    assert told.index(small) < told.index(big)
    assert "127.0.0.2" in shell.documented("yarn hiatus nodes")
    assert standing in shell.documented("yarn hiatus list")
    assert '"suspended"' in shell.documented("yarn hiatus explain [APPLICATION]")
    assert "RUNNING" in shell.documented("yarn queue", "-status default")
    address = cluster.rm.base.removeprefix("http://")
    assert "DEBUG" in shell.documented("yarn daemonlog", f"-setlevel {address} io.hiatus.core DEBUG")


def _park(shell, cluster, big, containers):
    """By application, as for the night, and by container."""
    def still(*which):
        return all(live.stands_still(cluster, container) for container in which)

    one = containers[0]
    shell.filled["application_1700000000000_0001"] = big
    shell.documented("yarn hiatus suspend application_1700000000000_0001")
    # Told with the core's next step, which other work on the machine may hold up.
    wait_for(lambda: big in shell.documented("yarn hiatus list"), "it is listed as parked")
    wait_for(lambda: still(*containers), "all of it stands still")
    shell.documented("yarn hiatus resume application_1700000000000_0001")
    # Not before: the one that still stands from before would pass for suspended.
    wait_for(lambda: all(live.works(cluster, container) for container in containers), "all of it was woken")
    shell.filled["ID…"] = one
    shell.documented("yarn hiatus suspend ID…")
    wait_for(lambda: one in shell.documented("yarn hiatus list"), "the one is listed")
    wait_for(lambda: still(one), "the one stands still")
    shell.documented("yarn hiatus resume ID…")
    wait_for(lambda: all(live.works(cluster, container) for container in containers), "all of it goes on")
    shell.filled["explain ID"] = f"explain {big}"
    assert '"forecast"' in shell.documented("yarn hiatus explain ID")


def _speculate(shell, release):
    """One job with the estimator that knows suspension: it fails if its ApplicationMaster does not find the class."""
    shell.filled.update({
        "job.jar Main": f"{layout.hadoop_jar('hadoop-mapreduce-examples')} pi",
        "hiatus-mapreduce-<version>.jar": release / "jars" / f"hiatus-mapreduce-{assembly.version()}.jar",
        "estimator.class=…": "estimator.class=io.hiatus.mapreduce.BatchMRTaskRuntimeEstimator"})
    shell.documented("yarn jar job.jar Main -libjars hiatus-mapreduce-<version>.jar -Dyarn.app.mapreduce.am.job.task.estimator.class=…",
                     "1 10")


def test_from_unpacking_to_stock_again(release, clusters, tmp_path):
    begin = time.monotonic()

    def passed(what):
        print(f"newcomer {time.monotonic() - begin:5.1f} s: {what}", flush=True)

    cluster = clusters(kind=FromTarball, **_SPEC)
    homes = [cluster.home(name) for name in _DAEMONS]
    before = [_files(home) for home in homes]
    assert _runs_stock(cluster)
    passed("a clean Hadoop runs")

    shell = Shell(tmp_path, hadoop=homes[0])
    for name in (f"{release.name}.tar.gz", f"{release.name}.tar.gz.sha256"):
        shutil.copy(layout.BUILD / name, tmp_path)
    shell.documented("sha256sum --check hiatus-0.1.0.tar.gz.sha256")
    shell.documented("tar xf hiatus-0.1.0.tar.gz")

    def at(home, command, code=0):
        shell.filled["/opt/hadoop"] = home
        return shell.documented(command, code=code)

    for home in homes:
        assert "would set yarn.scheduler.hiatus.mode = observe" in at(home, "hiatus-0.1.0/install --hadoop /opt/hadoop --dry-run")
    assert [_files(home) for home in homes] == before
    for home in homes:
        at(home, "hiatus-0.1.0/install --hadoop /opt/hadoop")
    at(homes[1], "hiatus-0.1.0/check-config --hadoop /opt/hadoop /opt/hadoop/etc/hadoop")
    shell.filled["FOLDER"] = shell.filled["DIR"] = homes[1] / "etc/hadoop"
    shell.documented("yarn hiatus check-config FOLDER")
    for name in _DAEMONS:
        _restart(cluster, name)
    assert re.search("mode +observe", shell.documented("yarn hiatus status"))
    shell.filled["hiatus-scheduler-<version>.jar"] = release / "jars" / f"hiatus-scheduler-{assembly.version()}.jar"
    nodes_jar = str(release / "jars" / f"hiatus-nodemanager-{assembly.version()}.jar")
    shell.documented("yarn jar hiatus-scheduler-<version>.jar check-config DIR", HADOOP_CLASSPATH=nodes_jar)
    shell.filled["…"] = "status"
    assert re.search("mode +observe", shell.documented("yarn jar hiatus-scheduler-<version>.jar …"))
    del shell.filled["…"]
    passed("installed, and restarted in the mode observe")

    _refresh(cluster, shell, "observe", "suspend")
    with live.applications(cluster) as applications:
        applications.start("big", _BIG)
        live.await_running(applications, "big", _BIG)
        applications.start("small", 1)
        (standing,) = live.await_paused(cluster)
        # What is told may be seconds old, as `yarn hiatus` asked before.
        wait_for(lambda: standing in [one["container"] for one in cluster.rm.get("/ws/v1/hiatus")["suspended"]], "it is told there")
        big = applications.app_id("big")
        _look(shell, cluster, big, applications.app_id("small"), standing)
        passed("a container of the big job stands still for the small one")
        assert "Hiatus is in mode suspend" in at(homes[0], "hiatus-0.1.0/uninstall --hadoop /opt/hadoop", code=1)
        applications.finish("small")
        wait_for(lambda: live.works(cluster, standing), "it goes on")
        _park(shell, cluster, big, [life.container for life in applications.lives("big")])
        applications.finish("big")
        passed("the big job was parked, and woken")
    _speculate(shell, release)
    passed("a MapReduce job ran with the third jar")

    _refresh(cluster, shell, "<value>suspend</value>", "<value>off</value>")
    wait_for(lambda: cluster.rm.get("/ws/v1/hiatus")["suspended_now"] == 0, "nothing is suspended")
    for name, home in zip(_DAEMONS, homes):
        assert "would " in at(home, "hiatus-0.1.0/uninstall --hadoop /opt/hadoop --dry-run")
        at(home, "hiatus-0.1.0/uninstall --hadoop /opt/hadoop")
        _restart(cluster, name)
    assert _runs_stock(cluster)
    said = at(homes[0], "hiatus-0.1.0/uninstall --hadoop /opt/hadoop")
    assert "remove yarn.scheduler.hiatus.mode" in said, "it stayed off there until no ResourceManager ran Hiatus any more"
    assert [_files(home) for home in homes] == before
    with live.applications(cluster) as applications:
        applications.start("after", 2, command=work(1))
        applications.wait("after")
    passed("stock again")
