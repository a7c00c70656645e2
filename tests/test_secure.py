"""Clusters with Kerberos: who sees and changes what, suspension from end to end, and what tickets and tokens that end do to it."""

import getpass
import os
import socket
import subprocess
import time

import live
import pytest
from browser import browser
from hiatus_cluster import configuration, containers, daemons, distribution, failovers, jobs, layout
from hiatus_cluster.kerberos import ADMIN, REALM, STRANGER
from support import put_text, read_counts, wait_for

pytestmark = pytest.mark.secure

_OWNER = getpass.getuser()
_NOBODY = None  #: without a ticket
_MAPS, _REDUCES = 3, 1


def _free_port():
    """A port of UDP on which nobody listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


_REPORT_PORT = _free_port()

SPEC = live.spec(fs="hdfs", secure=True, recovery=True, properties={
    "yarn.scheduler.hiatus.rm.progress-interval-ms": 1000,
    "yarn.scheduler.hiatus.rm.report-port": _REPORT_PORT,
    # On a slow machine parked maps would be done by their pulses.
    "yarn.nodemanager.hiatus.pulse-interval-ms": 600_000,
})


def _rm(cluster, user):
    """The active ResourceManager as it answers somebody with a ticket."""
    return cluster.manager(cluster.active(), user)


def _status(cluster, user, path, *words):
    """How somebody's request is answered, told by curl in these words."""
    ticket = cluster.realm.without_ticket() if user is _NOBODY else cluster.realm.ticket(user)
    done = subprocess.run(["curl", "--silent", "--negotiate", "--user", ":", "--output", "/dev/null", "--write-out", "%{http_code}", *words,
                           cluster.manager(cluster.active()).base + path], env={**os.environ, **cluster.trusting(ticket)}, capture_output=True, text=True)
    return int(done.stdout)


#: Asks for a job to go on, with curl.
_WAKE = ("--request", "PUT", "--header", "Content-Type: application/json", "--data", "false")


def _hiatus(cluster, *words, user=None, ticket=None):
    """The command as somebody calls it: exit code, and what it says there is to say."""
    line, env = cluster.command(["jar", layout.product_jar("scheduler"), *words])
    done = subprocess.run(line, env={**env, **(ticket or cluster.ticket(user))}, capture_output=True, text=True)
    return done.returncode, (done.stdout if done.returncode == 0 else done.stderr).strip()


def _text(cluster, folder):
    """Text in HDFS, a file a map, and the right word counts."""
    expected = live.write_text(cluster.dir / folder, _MAPS)
    cluster.run("hdfs", "dfs", "-put", cluster.dir / folder, f"/{folder}")
    return expected


def _parked_word_count(cluster, name, folder, ticket=None):
    """A word count whose owner parks all its maps: the workload, the application and the maps."""
    workload = jobs.Workload(cluster, [jobs.job(name, 0, "wordcount", f"/{folder}", f"/{name}-counts", conf={
        "mapreduce.job.reduces": _REDUCES, "mapreduce.job.reduce.slowstart.completedmaps": 1})], ticket)
    app = wait_for(lambda: workload.apps().get(name, [{}])[0].get("id"), f"{name} is submitted")
    master, *maps = wait_for(lambda: len(found := sorted(life.container for life in containers.lives(cluster) if life.application == app)) > _MAPS
                             and found, "its maps run", 120)
    _park(cluster, app, True)
    _await_still(cluster, maps)
    assert live.works(cluster, master)
    return workload, app, maps


def _park(cluster, app, parked):
    cluster.rm.put(f"/ws/v1/hiatus/apps/{app}/parked", parked)


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
    asked = _progress_metrics(hiatus)
    assert (asked["Answered"] > 0, asked["Failed"]) == (True, 0), "ApplicationMasters answer without a ticket, as to the web proxy"


#: With this a job reports by itself.
_REPORTING = {"yarn.app.mapreduce.am.preemption.policy": "io.hiatus.mapreduce.ReportingPreemptionPolicy"}


def _progress_metrics(cluster):
    (bean,) = cluster.rm.get("/jmx?qry=Hadoop:service=ResourceManager,name=HiatusProgressMetrics")["beans"]
    return bean


def _reports(cluster):
    (bean,) = cluster.rm.get("/jmx?qry=Hadoop:service=ResourceManager,name=HiatusReportMetrics")["beans"]
    return bean


def test_a_job_reports_by_itself_and_nobody_else_is_believed(hiatus):
    workload = jobs.Workload(hiatus, [jobs.job("reporting", 0, "timed-tasks", "8000,8000", conf=_REPORTING)])
    wait_for(lambda: _reports(hiatus)["Taken"] > 1, "reports are taken", 120)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anybody:
        anybody.sendto(b"whatever", ("127.0.0.1", _REPORT_PORT))
    wait_for(lambda: _reports(hiatus)["Malformed"] == 1, "what anybody sends is refused")
    workload.wait(timeout_s=120)
    assert _reports(hiatus)["Forged"] == 0


@pytest.fixture(scope="module")
def night(cluster):
    """A job with all its maps parked: the workload, the application, the maps, and the right counts."""
    expected = _text(cluster, "night")
    return *_parked_word_count(cluster, "night", "night"), expected


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
    ("/ws/v1/hiatus/apps/{app}/report-token", (200,   200,   403,      401)),
    ("/jmx",                                  (200,   200,   200,      401)),
]
_WHO = (_OWNER, ADMIN, STRANGER, _NOBODY)


@pytest.mark.parametrize("path, answers", _ANSWERS, ids=[path for path, _ in _ANSWERS])
def test_who_is_let_see_what(cluster, night, path, answers):
    _, app, *_ = night
    assert tuple(_status(cluster, who, path.format(app=app)) for who in _WHO) == answers


def test_a_stranger_sees_no_application_anywhere(cluster, night):
    _, app, maps, _ = night
    number = app.replace("application_", "")
    for who, sees in ((_OWNER, True), (ADMIN, True), (STRANGER, False)):
        told = _rm(cluster, who).text("/ws/v1/hiatus")
        assert (app in told, maps[0] in told) == (sees, sees), (who, told)
        assert (number in _hiatus(cluster, "list", user=who)[1]) == sees
        assert number not in _rm(cluster, who).text("/jmx?qry=Hadoop:service=ResourceManager,name=Hiatus*"), "metrics name queues alone"


def test_a_stranger_changes_nothing(cluster, night):
    _, app, maps, _ = night
    park = f"/ws/v1/hiatus/apps/{app}/parked"
    for path in (park, f"/ws/v1/hiatus/containers/{maps[0]}/parked"):
        assert [_status(cluster, who, path, *_WAKE) for who in (STRANGER, _NOBODY)] == [403, 401]
    assert _hiatus(cluster, "resume", app, user=STRANGER) == (1, f"{STRANGER}@{REALM} may not modify {app}")
    assert _hiatus(cluster, "resume", maps[0], user=STRANGER) == (1, f"{STRANGER}@{REALM} may not modify {app}")
    assert _hiatus(cluster, "explain", app, user=STRANGER) == (1, f"You may not view {app}")
    assert all(live.stands_still(cluster, container) for container in maps)


def test_no_page_of_somebody_elses_and_no_proxy_goes_round_that(cluster, night):
    """A browser sends its tickets on by itself; a proxy user has the rights of whom it stands for."""
    _, app, maps, _ = night
    park = f"/ws/v1/hiatus/apps/{app}/parked"
    assert _status(cluster, _OWNER, park, *_WAKE, "--user-agent", "Mozilla/5.0") == 400, "without a header of ours"
    assert _status(cluster, STRANGER, f"{park}?doAs={_OWNER}", *_WAKE) == 403, "who is no proxy user"
    assert _status(cluster, ADMIN, f"{park}?doAs={STRANGER}", *_WAKE) == 403
    assert all(live.stands_still(cluster, container) for container in maps)
    assert _status(cluster, ADMIN, f"/ws/v1/hiatus/apps/{app}?doAs={_OWNER}") == 200


def test_a_browser_shows_the_page_by_its_users_ticket(cluster, night):
    _, app, *_ = night
    for who, shown, button in ((_OWNER, "put aside by hand", True), (STRANGER, "may not view", False)):
        with browser(cluster.realm.ticket(who)) as page:
            page.open(f"{cluster.rm.base}/hiatus/hiatus.css")  # Chromium loads the library of Kerberos only after a first refusal
            page.open(f"{cluster.rm.base}/hiatus/#/job/{app}")
            page.await_text("body", shown)
            assert bool(page.all("#park")) == button


def test_who_has_no_ticket_or_one_that_has_ended_is_told_so_in_one_line(cluster, night):
    _, app, maps, _ = night
    expected = (1, "The ResourceManager's web server does not learn who asks: GSSException: No valid credentials provided "
                   "(Mechanism level: Failed to find any Kerberos tgt). Get a ticket with kinit")
    assert _hiatus(cluster, "resume", app, ticket=cluster.realm.without_ticket()) == expected
    ended = cluster.realm.ticket(life_s=3)
    time.sleep(5)
    assert _hiatus(cluster, "resume", app, ticket=ended) == expected
    assert all(live.stands_still(cluster, container) for container in maps)


def test_nothing_is_lost_while_there_is_no_kdc(cluster, night):
    """Whoever has tickets goes on; who needs one is told."""
    _, app, maps, _ = night
    fresh = cluster.realm.ticket(life_s=3600)
    cluster.daemon("kdc").kill()
    try:
        code, said = _hiatus(cluster, "list", ticket=fresh)
        assert (code, said) == (1, "The ResourceManager's web server does not learn who asks: GSSException: No valid credentials provided "
                                   "(Mechanism level: Connection refused). If klist shows a valid ticket, look at the KDC and at the keytab "
                                   "of that web server")
        assert cluster.rm.get("/ws/v1/hiatus")["mode"] == "suspend", "of whom the ticket for the web server is here already"
        cluster.rm.put(f"/ws/v1/hiatus/containers/{maps[0]}/parked", True)
        _park(cluster, app, False)
        wait_for(lambda: all(live.works(cluster, container) for container in maps[1:]), "they go on")
        _park(cluster, app, True)
        _await_still(cluster, maps)
    finally:
        cluster.start("kdc")
    cluster.rm.put(f"/ws/v1/hiatus/containers/{maps[0]}/parked", False)


def test_the_parked_job_is_known_after_a_restart_and_woken_by_an_administrator(hiatus, night):
    workload, app, maps, expected = night
    hiatus.restart("resourcemanager")
    hiatus.await_ready()
    wait_for(lambda: len(hiatus.rm.get("/ws/v1/hiatus")["suspended"]) == _MAPS, "the nodes are back")
    _await_still(hiatus, maps)
    assert _hiatus(hiatus, "resume", app, user=ADMIN) == (0, "")
    workload.wait(timeout_s=300)
    (result,) = workload.results()
    live.assert_each_task_ran_once(result, _MAPS + _REDUCES)
    assert read_counts(hiatus, "/night-counts") == expected


def test_nothing_is_lost_by_failovers(clusters):
    cluster = clusters(**{**SPEC, "standby": "manual"})
    expected = _text(cluster, "night")
    workload, app, maps = _parked_word_count(cluster, "night", "night")
    for failover in (failovers.ordered, failovers.killed):
        failover(cluster)
        wait_for(lambda: {one["container"] for one in cluster.rm.get("/ws/v1/hiatus")["suspended"]} == set(maps), "it knows what is parked")
        _await_still(cluster, maps)
        assert _hiatus(cluster, "resume", app, user=STRANGER) == (1, f"{STRANGER}@{REALM} may not modify {app}")
    assert _hiatus(cluster, "resume", app) == (0, ""), "the command finds the active one"
    workload.wait(timeout_s=300)
    live.assert_each_task_ran_once(workload.results()[0], _MAPS + _REDUCES)
    assert read_counts(cluster, "/night-counts") == expected


def test_masters_that_only_a_proxy_with_kerberos_may_ask_report(clusters):
    """It lets nobody in without a ticket of the job's user, so not the ResourceManager either."""
    address = f"{configuration.node_host(1)}:{_REPORT_PORT}"  # a port of TCP here
    cluster = clusters(**{**SPEC, "properties": {**SPEC["properties"], "yarn.scheduler.hiatus.rm.report-port": _free_port(),  # others run
                                                     "yarn.web-proxy.address": address,
                                                     "yarn.web-proxy.principal": f"rm/localhost@{REALM}",
                                                     "yarn.web-proxy.keytab": "kerberos/rm.keytab"}})
    line = distribution.command_line("org.apache.hadoop.yarn.server.webproxy.WebAppProxyServer", [], cluster.dir / "conf-node1",
                                     properties=cluster.realm.jvm_properties())
    with open(cluster.dir / "proxy.log", "wb") as log:
        proxy = subprocess.Popen(line, env={**os.environ, daemons.MARK: str(cluster.dir)}, stdout=log, stderr=log, cwd=cluster.dir)
    try:
        silent = jobs.Workload(cluster, [jobs.job("silent", 0, "timed-tasks", "10000,10000")])
        wait_for(lambda: _progress_metrics(cluster)["Failed"] > 0, "it is asked in vain", 120)
        silent.wait(timeout_s=120)
        live.assert_each_task_ran_once(silent.results()[0], 2)
        reporting = jobs.Workload(cluster, [jobs.job("reporting", 0, "timed-tasks", "8000,8000", conf=_REPORTING)])
        wait_for(lambda: _reports(cluster)["Taken"] > 1, "it reports", 120)
        reporting.wait(timeout_s=120)
        assert _progress_metrics(cluster)["Answered"] == 0
    finally:
        proxy.kill()
        proxy.wait()


_RENEW_S, _MOST_S = 20, 90  #: of HDFS's delegation tokens


def _outcome(cluster, app):
    """How an application ended."""
    return wait_for(lambda: (status := cluster.rm.app(app)["finalStatus"]) != "UNDEFINED" and status, f"{app} ends", 120)


def test_a_job_outlives_its_users_ticket_and_its_tokens_renewals_but_not_its_tokens_last_day(clusters):
    """And the command says so where the web server's keytab has another key than the KDC, or a principal of which that knows nothing."""
    cluster = clusters(**{**SPEC, "properties": {
        **SPEC["properties"], "dfs.namenode.delegation.token.renew-interval": _RENEW_S * 1000,
        "dfs.namenode.delegation.token.max-lifetime": _MOST_S * 1000}})
    expected = _text(cluster, "text")
    begin = time.monotonic()
    _, night, _ = _parked_word_count(cluster, "night", "text", cluster.realm.ticket(life_s=15))
    _, week, _ = _parked_word_count(cluster, "week", "text", cluster.realm.ticket(life_s=16))
    time.sleep(max(0, begin + 2.5 * _RENEW_S - time.monotonic()))
    _park(cluster, night, False)
    assert _outcome(cluster, night) == "SUCCEEDED"
    assert read_counts(cluster, "/night-counts") == expected
    time.sleep(max(0, begin + _MOST_S + _RENEW_S - time.monotonic()))
    _park(cluster, week, False)
    assert _outcome(cluster, week) == "FAILED", "as any job does that runs so long"
    live.assert_books_agree(cluster)

    for spoil, why in ((cluster.realm.change_key, "Checksum failed"), (cluster.realm.remove, "Server not found in Kerberos database")):
        spoil("HTTP/127.0.0.1")
        code, said = _hiatus(cluster, "status", ticket=cluster.realm.ticket(life_s=3600))
        assert (code, said.count("\n"), why in said, said.endswith("look at the KDC and at the keytab of that web server")) == (1, 0, True, True), said
