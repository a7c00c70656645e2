"""The way of somebody new: unpack, install, look, let it suspend, take it out again; on a Hadoop as its tarball leaves it."""

import re
import subprocess
import time
import urllib.error
import urllib.request

import live
from hiatus_cluster.applications import work
from support import wait_for
from tarball import FromTarball

_DAEMONS = ("resourcemanager", "nodemanager1")
_SPEC = live.spec(scheduler="capacity", nodes=1, node_memory=[1024])


def _run(*words, env=None, code=0):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=env)
    assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def _refresh(cluster, before, after):
    """An administrator's hand in yarn-site.xml, and `yarn rmadmin -refreshQueues`."""
    site = cluster.home("resourcemanager") / "etc/hadoop/yarn-site.xml"
    assert before in site.read_text()
    site.write_text(site.read_text().replace(before, after))
    line, env = cluster.yarn("resourcemanager", "rmadmin", "-refreshQueues")
    _run(*line, env=env)


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


def test_from_unpacking_to_stock_again(release, clusters):
    begin = time.monotonic()

    def passed(what):
        print(f"newcomer {time.monotonic() - begin:5.1f} s: {what}", flush=True)

    cluster = clusters(kind=FromTarball, **_SPEC)
    homes = [cluster.home(name) for name in _DAEMONS]
    before = [_files(home) for home in homes]
    assert _runs_stock(cluster)
    passed("a clean Hadoop runs")

    for home in homes:
        assert "would set yarn.scheduler.hiatus.mode = observe" in _run(release / "install", "--hadoop", home, "--dry-run")
    assert [_files(home) for home in homes] == before
    for home in homes:
        _run(release / "install", "--hadoop", home)
    _, env = cluster.yarn("resourcemanager")
    _run(release / "check-config", "--hadoop", homes[1], homes[1] / "etc/hadoop", env={"PATH": "/usr/bin:/bin", **env})
    for name in _DAEMONS:
        _restart(cluster, name)
    line, env = cluster.yarn("resourcemanager", "hiatus", "status")
    assert re.search("mode +observe", _run(*line, env=env))
    passed("installed, and restarted in the mode observe")

    _refresh(cluster, "observe", "suspend")
    with live.applications(cluster) as applications:
        applications.start("big", 4)  # all that the node holds
        live.await_running(applications, "big", 4)
        applications.start("small", 1)
        (standing,) = live.await_paused(cluster)
        assert standing in [one["container"] for one in cluster.rm.get("/ws/v1/hiatus")["suspended"]]
        passed("a container of the big job stands still for the small one")
        assert "Hiatus is in mode suspend" in _run(release / "uninstall", "--hadoop", homes[0], code=1)
        applications.finish("small")
        wait_for(lambda: live.works(cluster, standing), "it goes on")
        applications.finish("big")

    _refresh(cluster, "<value>suspend</value>", "<value>off</value>")
    wait_for(lambda: cluster.rm.get("/ws/v1/hiatus")["suspended_now"] == 0, "nothing is suspended")
    for name, home in zip(_DAEMONS, homes):
        _run(release / "uninstall", "--hadoop", home)
        _restart(cluster, name)
    assert _runs_stock(cluster)
    assert [_files(home) for home in homes] == before
    with live.applications(cluster) as applications:
        applications.start("after", 2, command=work(1))
        applications.wait("after")
    passed("stock again")
