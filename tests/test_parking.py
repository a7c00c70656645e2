"""Somebody parks a job for the night and wakes it, though nobody needs its room."""

import getpass
import json
import re

import live
from hiatus_cluster import jobs, layout
from support import wait_for

_MAPS = 4

SPEC = live.spec(nodes=2, node_memory=[1024], recovery=True, properties={
    "yarn.acl.enable": "true",
    "yarn.admin.acl": getpass.getuser(),
    "yarn.scheduler.capacity.root.acl_administer_queue": " ",
})


def _hiatus(cluster, *words, user=None, check=True):
    """The command as an administrator calls it."""
    return cluster.run("jar", layout.product_jar("scheduler"), *words, user=user, check=check)


def _assert_listed(cluster, app, suspended):
    listed = _hiatus(cluster, "list").stdout
    assert re.search(rf"Parked applications\n.*\n.*{app['id']} +{len(suspended)}", listed), listed
    assert all(container in listed for container in suspended), listed


def test_a_parked_job_stands_still_until_it_is_woken_and_its_output_is_right(hiatus, tmp_path):
    expected = live.write_text(tmp_path / "text", _MAPS)
    workload = jobs.Workload(hiatus, [jobs.job("night", 0, "wordcount", tmp_path / "text", tmp_path / "counts")])
    app, (master, *maps) = live.await_job(hiatus, 1 + _MAPS)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
    for container in maps:
        wait_for(lambda: live.stands_still(hiatus, container), f"{container} stands still")
    assert live.works(hiatus, master)

    refused = _hiatus(hiatus, "resume", app["id"], user="mallory", check=False)
    assert (refused.returncode, "mallory may not modify" in refused.stderr) == (1, True), refused.stderr
    assert all(live.stands_still(hiatus, container) for container in maps), "for as long as that command took, too"
    _assert_listed(hiatus, app, maps)
    hiatus.restart("resourcemanager")
    hiatus.await_ready()
    wait_for(lambda: (told := hiatus.rm.get("/ws/v1/hiatus"))["jobs"] and len(told["suspended"]) == _MAPS, "the nodes are back, and planned for")
    _assert_listed(hiatus, app, maps)
    wait_for(lambda: all(live.stands_still(hiatus, container) for container in maps), "they stand still under the new ResourceManager")
    assert "being woken by hand" in _hiatus(hiatus, "explain", app["id"]).stdout
    assert re.search(rf"{app['id']} +root.default .* being woken by hand", _hiatus(hiatus, "jobs", "root.default").stdout)
    assert json.loads(_hiatus(hiatus, "jobs", "root.default", "--json").stdout)["jobs"][0]["application"] == app["id"]

    _hiatus(hiatus, "resume", app["id"])
    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, _MAPS + 1)
    assert live.read_counts(tmp_path / "counts") == expected


def test_one_container_is_parked_and_stays_so_when_its_node_manager_restarts(hiatus, applications):
    applications.start("service", 4)
    live.await_running(applications, "service", 4)
    parked, *others = sorted(life.container for life in applications.lives("service"))
    _hiatus(hiatus, "suspend", parked)
    wait_for(lambda: live.stands_still(hiatus, parked), "it stands still")
    node = next(node for node in (1, 2) if any(one["id"] == parked for one in hiatus.nm(node).containers()))

    said = live.restart_node(hiatus, node)
    wait_for(lambda: f"Suspended {parked} (HELD)" in said(), "the new NodeManager holds it")
    wait_for(lambda: live.stands_still(hiatus, parked), "it stands still again, after a pulse")
    assert all(live.works(hiatus, container) for container in others)

    _hiatus(hiatus, "resume", parked)
    wait_for(lambda: live.works(hiatus, parked), "it works again")
    applications.finish("service")
