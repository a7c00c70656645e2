"""Clusters with Kerberos: who sees and changes what, suspension from end to end, and what tickets and tokens that end do to it."""

import getpass
import os
import re
import socket
import subprocess
import time

import live
import pytest
from hiatus_cluster import jobs, layout, rest
from hiatus_cluster.errors import ClusterError
from hiatus_cluster.kerberos import ADMIN, REALM, STRANGER
from support import put_text, read_counts, wait_for

pytestmark = pytest.mark.secure

_OWNER = getpass.getuser()
_NOBODY = None  #: without a ticket
_MAPS, _REDUCES = 3, 1

SPEC = live.spec(fs="hdfs", secure=True, recovery=True, properties={
    "yarn.scheduler.hiatus.rm.progress-interval-ms": 1000,
    # On a slow machine parked maps would be done by their pulses.
    "yarn.nodemanager.hiatus.pulse-interval-ms": 600_000,
})


def _rm(cluster, user):
    """The active ResourceManager as it answers somebody."""
    if user is not _NOBODY:
        return cluster.manager(cluster.active(), user)
    return rest.ResourceManager("127.0.0.1", cluster.ports[f"rm-http{cluster.active()}"], cluster.realm.without_ticket())


def _status(cluster, user, path, put=None):
    """What somebody's request is answered."""
    try:
        _rm(cluster, user).text(path) if put is None else _rm(cluster, user).put(path, put)
        return 200
    except ClusterError as error:
        return int(re.search(r" answers (\d{3}) ", str(error)).group(1))


def _hiatus(cluster, *words, user=None, ticket=None):
    """The command as somebody calls it: exit code, and what it says there is to say."""
    line, env = cluster.command(["jar", layout.product_jar("scheduler"), *words], user=user)
    done = subprocess.run(line, env={**env, **(ticket or {})}, capture_output=True, text=True)
    return done.returncode, (done.stdout if done.returncode == 0 else done.stderr).strip()


def _text(cluster, folder):
    """Text in HDFS, a file a map, and the right word counts."""
    expected = live.write_text(cluster.dir / folder, _MAPS)
    cluster.run("hdfs", "dfs", "-put", cluster.dir / folder, f"/{folder}")
    return expected


def _word_count(cluster, name, folder, conf=None):
    return jobs.Workload(cluster, [jobs.job(name, 0, "wordcount", f"/{folder}", f"/{name}-counts", conf={
        "mapreduce.job.reduces": _REDUCES, "mapreduce.job.reduce.slowstart.completedmaps": 1, **(conf or {})})])


def _await_still(cluster, containers):
    wait_for(lambda: all(live.stands_still(cluster, container) for container in containers), "they stand still")


def test_a_big_job_makes_room_for_a_small_one_and_goes_on(hiatus):
    big = jobs.Workload(hiatus, [jobs.job("big", 0, "timed-tasks", ",".join(["15000"] * 7))])
    live.await_job(hiatus, 8)
    small = jobs.Workload(hiatus, [jobs.job("small", 0, "timed-tasks", "1000,1000")])
    live.await_paused(hiatus, 2)
    assert {one["application"] for one in hiatus.rm.get("/ws/v1/hiatus")["suspended"]} == {big.apps()["big"][0]["id"]}
    for workload, tasks in ((small, 2), (big, 7)):
        workload.wait(timeout_s=300)
        (result,) = workload.results()
        live.assert_each_task_ran_once(result, tasks)
    (asked,) = hiatus.rm.get("/jmx?qry=Hadoop:service=ResourceManager,name=HiatusProgressMetrics")["beans"]
    assert (asked["Answered"] > 0, asked["Failed"]) == (True, 0), "ApplicationMasters answer without a ticket, as to the web proxy"


@pytest.fixture(scope="module")
def night(cluster):
    """A job with all its maps parked by its owner: the application, its maps, the workload and the right counts."""
    expected = _text(cluster, "night")
    workload = _word_count(cluster, "night", "night")
    app, (master, *maps) = live.await_job(cluster, 1 + _MAPS)
    cluster.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
    _await_still(cluster, maps)
    assert live.works(cluster, master)
    return app["id"], maps, workload, expected


#: What who is answered: the table of docs/operations.md.
_ANSWERS = [
    # path                                    owner  admin  stranger  without a ticket
    ("/hiatus/",                              (200,   200,   200,      401)),
    ("/hiatus/hiatus.js",                     (200,   200,   200,      401)),
    ("/cluster/scheduler",                    (200,   200,   200,      401)),
    ("/ws/v1/hiatus",                         (200,   200,   200,      401)),
    ("/ws/v1/hiatus/timeline",                (200,   200,   200,      401)),
    ("/ws/v1/hiatus/openapi.json",            (200,   200,   200,      401)),
    ("/ws/v1/hiatus/apps/{app}",              (200,   200,   403,      401)),
    ("/jmx",                                  (200,   200,   200,      401)),
]
_WHO = (_OWNER, ADMIN, STRANGER, _NOBODY)


@pytest.mark.parametrize("path, answers", _ANSWERS, ids=[path for path, _ in _ANSWERS])
def test_who_is_let_see_what(cluster, night, path, answers):
    app, *_ = night
    assert tuple(_status(cluster, who, path.format(app=app)) for who in _WHO) == answers


def test_a_stranger_sees_no_application_anywhere(cluster, night):
    app, maps, *_ = night
    number = app.replace("application_", "")
    for who, sees in ((_OWNER, True), (ADMIN, True), (STRANGER, False)):
        told = _rm(cluster, who).text("/ws/v1/hiatus")
        assert (app in told, maps[0] in told) == (sees, sees), (who, told)
        assert (number in _hiatus(cluster, "list", user=who)[1]) == sees
        assert number not in _rm(cluster, who).text("/jmx?qry=Hadoop:service=ResourceManager,name=Hiatus*"), "metrics name queues alone"


def test_a_stranger_changes_nothing(cluster, night):
    app, maps, *_ = night
    park = f"/ws/v1/hiatus/apps/{app}/parked"
    for path in (park, f"/ws/v1/hiatus/containers/{maps[0]}/parked"):
        assert [_status(cluster, who, path, False) for who in (STRANGER, _NOBODY)] == [403, 401]
    assert _hiatus(cluster, "resume", app, user=STRANGER) == (1, f"{STRANGER}@{REALM} may not modify {app}")
    assert _hiatus(cluster, "resume", maps[0], user=STRANGER) == (1, f"{STRANGER}@{REALM} may not modify {app}")
    assert _hiatus(cluster, "explain", app, user=STRANGER) == (1, f"You may not view {app}")
    assert all(live.stands_still(cluster, container) for container in maps)


def test_who_has_no_ticket_or_one_that_has_ended_is_told_so_in_one_line(cluster, night):
    app, maps, *_ = night
    expected = (1, "The ResourceManager's web server does not learn who asks: GSSException: No valid credentials provided "
                   "(Mechanism level: Failed to find any Kerberos tgt). Get a ticket with kinit")
    assert _hiatus(cluster, "resume", app, ticket=cluster.realm.without_ticket()) == expected
    ended = cluster.realm.ticket(life_s=3)
    time.sleep(5)
    assert _hiatus(cluster, "resume", app, ticket=ended) == expected
    assert all(live.stands_still(cluster, container) for container in maps)


def test_nothing_is_lost_while_there_is_no_kdc(cluster, night):
    """Whoever has tickets goes on; who needs one is told."""
    app, maps, *_ = night
    fresh = cluster.realm.ticket(life_s=3600)
    cluster.daemon("kdc").kill()
    try:
        code, said = _hiatus(cluster, "list", ticket=fresh)
        assert (code, said) == (1, "The ResourceManager's web server does not learn who asks: GSSException: No valid credentials provided "
                                   "(Mechanism level: Connection refused). If klist shows a valid ticket, look at the KDC and at the keytab "
                                   "of that web server")
        assert cluster.rm.get("/ws/v1/hiatus")["mode"] == "suspend", "of whom the ticket for the web server is here already"
        cluster.rm.put(f"/ws/v1/hiatus/containers/{maps[0]}/parked", True)
        cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", False)
        wait_for(lambda: all(live.works(cluster, container) for container in maps[1:]), "they go on")
        cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", True)
        _await_still(cluster, maps)
    finally:
        cluster.start("kdc")
    cluster.rm.put(f"/ws/v1/hiatus/containers/{maps[0]}/parked", False)


def test_the_parked_job_is_known_after_a_restart_and_woken_by_an_administrator(hiatus, night):
    app, maps, workload, expected = night
    hiatus.restart("resourcemanager")
    hiatus.await_ready()
    wait_for(lambda: len(hiatus.rm.get("/ws/v1/hiatus")["suspended"]) == _MAPS, "the nodes are back")
    _await_still(hiatus, maps)
    assert _hiatus(hiatus, "resume", app, user=ADMIN) == (0, "")
    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, _MAPS + _REDUCES)
    assert read_counts(hiatus, "/night-counts") == expected
