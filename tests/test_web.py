"""What an administrator looks at: the page in a real browser, REST against its description, metrics through a real Prometheus."""

import json
import re
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import jsonschema
import live
import pytest
from browser import browser
from hiatus_cluster import jobs, layout, toolchain
from openapi_spec_validator import validate
from prometheus_client.parser import text_string_to_metric_families
from support import wait_for

SPEC = live.spec(properties={
    "hadoop.prometheus.endpoint.enabled": "true",
    "yarn.scheduler.hiatus.max-suspended-memory": 1,
    "yarn.scheduler.capacity.root.queues": "online,batch",
    "yarn.scheduler.capacity.root.online.capacity": 50,
    "yarn.scheduler.capacity.root.online.maximum-capacity": 100,
    "yarn.scheduler.capacity.root.online.user-limit-factor": 10,
    "yarn.scheduler.capacity.root.batch.capacity": 50,
    "yarn.scheduler.capacity.root.batch.maximum-capacity": 100,
    "yarn.scheduler.capacity.root.batch.user-limit-factor": 10,
})
#: What runs of the big job beside its master: the cluster holds 8 containers.
_TASKS = 7
_MONITORING = layout.ROOT / "docs" / "monitoring"


@pytest.fixture(scope="module")
def busy(cluster):
    """The cluster, with a job in each queue, of which one has made way for the other; and both until the module ends."""
    with live.applications(cluster) as started:
        started.start("big", 12, queue="batch")
        live.await_running(started, "big", 1 + _TASKS)
        started.start("small", 3, queue="online")
        live.await_paused(cluster, 2)
        yield cluster, started
        started.finish("small", "big")


def _set(cluster, **knobs):
    cluster.configure({f"yarn.scheduler.hiatus.{name.replace('_', '-')}": value for name, value in knobs.items()})
    cluster.run("yarn", "rmadmin", "-refreshQueues")


def test_in_observe_the_page_says_what_would_have_been_saved(cluster):
    """Before anything else runs there: a change of the mode forgets what was seen."""
    _set(cluster, mode="observe", hindsight_interval_ms=1000)
    try:
        with browser() as page:
            page.open(cluster.rm.base + "/hiatus/")
            page.await_text("#hindsight-text", "It is simulated as soon as jobs have come and ended")
            assert page.barriers() == [], "while nothing is known"
            results = jobs.run(cluster, [jobs.job(f"job-{number}", 0, "sleep", "-m", 1 + number, "-r", 0, "-mt", 1000,
                                                  conf={"mapreduce.job.queuename": "batch"}) for number in range(2)])
            assert [result.status for result in results] == ["SUCCEEDED"] * 2
            told = page.await_text("#hindsight-text", "2 jobs that came and ended", 180)
            assert re.search(r"took .+ on average\. With Hiatus as configured, in mode suspend, it would have been \d+\.\d\d of that", told), told
            assert re.search(r"a simulation whose error on what really happened was [+\u2212]\d+", told), told
            assert "means nothing" in page.text("#hindsight-limits")
            about = cluster.rm.get("/ws/v1/hiatus")["hindsight"]
            assert (about["state"], about["all"]["jobs"], about["left_out"]) == ("made", 2, 0), about

            (section,) = page.all("#hindsight")
            assert (section.aria_role, section.accessible_name) == ("region", "What Hiatus would have saved")
            page.driver.execute_script("document.getElementById('tab-jobs').focus()")
            page.press("ARROW_RIGHT")
            wait_for(lambda: page.text("#hindsight-text") != told, "the answer is told anew")
            assert page.focused() == "tab-queues", "which takes the focus from nobody"
            assert page.barriers() == []
            page.dark()
            assert page.barriers() == [], "in dark colours"
            page.dark(False)

            _set(cluster, mode=None, hindsight_interval_ms=None)
            wait_for(lambda: page.all("#hindsight[hidden]"), "it is gone where Hiatus acts")
            assert page.errors() == []
    finally:
        _set(cluster, mode=None, hindsight_interval_ms=None)


def _served(cluster):
    return {family.name: family for family in text_string_to_metric_families(cluster.rm.text("/prom"))}


def _suspended_by_queue(served):
    family = served.get("hiatus_queue_metrics_suspended_now")
    return {sample.labels["queue"]: sample.value for sample in family.samples} if family else {}


def _dashboard():
    return json.loads((_MONITORING / "grafana.json").read_text())


def _wanted():
    """Names of metrics in the dashboard and in the alert rules."""
    expressions = [target["expr"] for panel in _dashboard()["panels"] for target in panel["targets"]]
    rules = re.findall(r"^ *expr: (.*)$", (_MONITORING / "alerts.yml").read_text(), re.MULTILINE)
    return set(re.findall(r"\bhiatus_\w+", " ".join(expressions + rules)))


def test_hadoops_prometheus_endpoint_has_every_metric_of_the_dashboard_and_of_the_alerts(busy):
    cluster, _ = busy
    found = wait_for(lambda: (served := _served(cluster)) and _suspended_by_queue(served).get("root.batch", 0) >= 2 and served,
                     "two containers suspended, as the metrics say, which are counted once a second")
    # The parser calls a counter by its name without _total, and Hadoop's have none.
    assert _wanted() and _wanted() <= set(found), _wanted() - set(found)
    assert _suspended_by_queue(found)["root.online"] == 0
    (all_together,) = found["hiatus_metrics_suspended_now"].samples
    assert all_together.value >= 2
    assert {name for name in found if name.startswith("hiatus_progress_metrics_")} >= {"hiatus_progress_metrics_failing"}


def test_a_real_prometheus_takes_the_rules_and_answers_the_dashboard(busy, tmp_path):
    cluster, _ = busy
    prometheus = toolchain.program("prometheus", "prometheus", print)
    checked = subprocess.run([toolchain.program("promtool", "prometheus", print), "check", "rules", _MONITORING / "alerts.yml"],
                             capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    (tmp_path / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(_MONITORING / "alerts.yml")],
        "scrape_configs": [{"job_name": "hadoop", "metrics_path": "/prom",
                            "static_configs": [{"targets": [urllib.parse.urlsplit(cluster.rm.base).netloc]}]}]}))
    server = subprocess.Popen([prometheus, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
                               f"--web.listen-address={address}"], stdout=subprocess.DEVNULL, stderr=(tmp_path / "log").open("wb"))

    def asked(path):
        try:
            with urllib.request.urlopen(f"http://{address}{path}") as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            return None  # it is not ready yet
        except OSError:
            return None  # it does not listen yet

    def query(expression):
        found = asked("/api/v1/query?" + urllib.parse.urlencode({"query": expression.replace("$queue", ".*")}))
        return found and found["result"]

    try:
        wait_for(lambda: query("hiatus_metrics_jobs"), f"it has read the metrics: {(tmp_path / 'log').read_text()}")
        for panel in _dashboard()["panels"]:
            for target in panel["targets"]:
                assert wait_for(lambda: query(target["expr"]), f"{panel['title']}: {target['expr']}")
        assert {row["metric"]["queue"] for row in query("hiatus_queue_metrics_jobs")} == {"root.batch", "root.online"}
        groups = wait_for(lambda: asked("/api/v1/rules")["groups"], "its rules")
        rules = [rule for group in groups for rule in group["rules"]]
        assert len(rules) >= 8
        wait_for(lambda: all(rule["health"] == "ok" for group in asked("/api/v1/rules")["groups"] for rule in group["rules"]),
                 "all rules were evaluated")
    finally:
        server.terminate()
        server.wait(30)


def _call(cluster, method, path, body=None, agent=None):
    """Status and JSON of an answer, refused or not."""
    headers = {"Accept": "application/json", "Content-Type": "application/json", **({"User-Agent": agent} if agent else {})}
    request = urllib.request.Request(cluster.rm.base + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_answers_are_as_their_description_says(busy):
    cluster, applications = busy
    described = cluster.rm.get("/ws/v1/hiatus/openapi.json")
    validate(described)

    def fits(method, path, status, real_path=None, body=None, **more):
        found, answer = _call(cluster, method.upper(), "/ws/v1/hiatus" + (real_path or path), body, **more)
        assert found == status, answer
        content = described["paths"][path][method]["responses"][str(status)]["content"]["application/json"]["schema"]
        jsonschema.validate(answer, {"components": described["components"], **content}, cls=jsonschema.Draft202012Validator)
        return answer

    big, gone = applications.app_id("big"), "application_1_0001"
    everything = fits("get", "/", 200, real_path="")
    for name in ("queues", "jobs", "nodes", "suspended"):
        assert everything[name], f"{name} must not be empty here, or nothing is checked"
    assert everything["jobs"][0]["phases"] and everything["jobs"][0]["sizing"]
    some = fits("get", "/", 200, real_path="?lists=jobs&limit=1&queue=root.batch")
    assert [job["application"] for job in some["jobs"]] == [big] and "queues" not in some
    assert fits("get", "/timeline", 200, real_path="/timeline?queue=root.batch")["suspended"][-1] >= 2
    one = fits("get", "/apps/{id}", 200, real_path=f"/apps/{big}")
    assert one["may_park"] is True and len(one["suspended"]) == everything["totals"]["suspended"]
    fits("get", "/", 400, real_path="?lists=nonsense")
    fits("get", "/apps/{id}", 404, real_path=f"/apps/{gone}")
    fits("get", "/apps/{id}", 400, real_path="/apps/nonsense")
    fits("put", "/apps/{id}/parked", 400, real_path=f"/apps/{big}/parked", body=b"perhaps")
    forged = fits("put", "/apps/{id}/parked", 400, real_path=f"/apps/{big}/parked", body=b"true", agent="Mozilla/5.0")
    assert "X-XSRF-HEADER" in forged["RemoteException"]["message"]
    fits("put", "/containers/{id}/parked", 404, real_path="/containers/container_1_0001_01_000009/parked", body=b"true")
    fits("get", "/openapi.json", 200)


def test_the_page_shows_what_runs_who_waits_and_why_and_parks_by_button(busy):
    cluster, applications = busy
    big, small = (applications.app_id(name) for name in ("big", "small"))
    with browser() as page:
        page.open(cluster.rm.base + "/cluster/scheduler")
        assert "Hiatus" in page.text("#hiatus")
        page.picture("scheduler")
        page.click("#hiatus a")
        page.await_text("#table", small.replace("application_", ""))
        assert page.driver.current_url == cluster.rm.base + "/hiatus/"
        assert page.text("#mode") == "mode suspend" and not page.all("#banner:not([hidden])")
        page.await_text("#chart-text", "suspended")
        wait_for(lambda: not page.text("#chart-text").startswith("Nothing"), "a timeline")
        rows = [row.text for row in page.all("#table tbody tr")]
        assert any(big.replace("application_", "") in row and "root.batch" in row for row in rows), rows
        assert page.barriers() == []
        page.picture("jobs")
        page.dark()
        page.picture("jobs-dark")
        assert page.barriers() == [], "in dark colours"
        page.dark(False)

        page.driver.execute_script("document.getElementById('tab-jobs').focus()")
        page.press("ARROW_RIGHT", "ARROW_RIGHT")
        assert page.focused() == "tab-suspended"
        page.await_text("#table", "container_")
        assert "held more than its target" in page.text("#table") and small.replace("application_", "") in page.text("#table")
        page.picture("suspended")
        page.press("ARROW_RIGHT")
        page.await_text("#table", "Memory they keep")
        page.picture("nodes")
        assert page.barriers() == []
        page.press("ARROW_RIGHT")
        assert page.focused() == "tab-jobs", "and round again"

        page.open(f"{cluster.rm.base}/hiatus/#/job/{big}")
        page.await_text("#job", "Why is it suspended?")
        assert "its job held more than its target" in page.text("#job")
        assert page.barriers() == []
        page.picture("job")
        try:
            page.driver.execute_script("document.getElementById('park').focus()")
            page.press("ENTER")
            page.await_text("#job", "Wake it")
            page.await_text("#job", "containers of it are suspended: it was put aside by hand", 60)
            page.picture("job-parked")
            page.click("#park")
            page.await_text("#job", "Park it")
        finally:
            cluster.rm.put(f"/ws/v1/hiatus/apps/{big}/parked", False)
        assert page.errors() == []


def test_who_may_not_park_has_no_button(clusters):
    cluster = clusters(**live.spec(nodes=1, properties={
        "yarn.acl.enable": "true", "yarn.admin.acl": "nobody", "yarn.scheduler.capacity.root.acl_administer_queue": " "}))
    with live.applications(cluster) as applications, browser() as page:
        applications.start("hers", 1)
        live.await_running(applications, "hers", 1)
        app = applications.app_id("hers")
        owner = cluster.rm.app(app)["user"]
        page.open(f"{cluster.rm.base}/hiatus/?user.name={owner}#/job/{app}")
        page.await_text("#job", "Park it")
        page.driver.delete_all_cookies()  # Hadoop takes a browser for whom it took it before
        page.open("about:blank")
        page.open(f"{cluster.rm.base}/hiatus/?user.name=mallory#/job/{app}")
        page.await_text("#said", "may not view")
        assert not page.all("#park")
        applications.finish("hers")


def test_when_stock_has_taken_over_both_pages_say_so(clusters):
    cluster = clusters(**live.spec(nodes=1, jvm_options={"resourcemanager": ["-Dhiatus.native.path=/nowhere/libhiatus.so"]}))
    with browser() as page:
        page.open(cluster.rm.base + "/cluster/scheduler")
        assert "stock CapacityScheduler has taken over" in page.text("#hiatus")
        page.picture("scheduler-stock")
        page.open(cluster.rm.base + "/hiatus")
        assert "/nowhere/libhiatus.so" in page.await_text("#banner", "Stock CapacityScheduler has taken over")
        assert page.barriers() == []
        assert page.errors() == []
