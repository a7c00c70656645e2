"""What administrators of CapacityScheduler rely on is as it was."""

import pytest

import live
from hiatus_cluster.applications import work
from hiatus_cluster.errors import ClusterError
from support import wait_for

SPEC = live.spec(nodes=1, properties={
    "yarn.acl.enable": "true",
    "yarn.admin.acl": "root",
    "yarn.scheduler.capacity.root.acl_submit_applications": " ",
    "yarn.scheduler.capacity.root.acl_administer_queue": " ",
    "yarn.scheduler.capacity.root.queues": "default,closed",
    "yarn.scheduler.capacity.root.default.capacity": 60,
    "yarn.scheduler.capacity.root.closed.capacity": 40,
    "yarn.scheduler.capacity.root.default.maximum-capacity": 100,
    "yarn.scheduler.capacity.root.default.user-limit-factor": 2,
    "yarn.scheduler.capacity.root.default.acl_submit_applications": "*",
    "yarn.scheduler.capacity.root.closed.acl_submit_applications": "root",
    "yarn.cluster.max-application-priority": 10,
})


def test_the_scheduler_s_rest_and_page_are_capacity_scheduler_s(hiatus):
    info = hiatus.rm.scheduler()
    assert info["type"] == "capacityScheduler"
    assert {queue["queueName"] for queue in info["queues"]["queue"]} == {"default", "closed"}
    page = hiatus.rm.text("/cluster/scheduler")
    assert "closed" in page and "default" in page


def test_yarn_queue_tells_of_a_queue(hiatus):
    said = hiatus.run("yarn", "queue", "-status", "default").stdout
    assert "Capacity : 60.00%" in said and "Maximum Capacity : 100.00%" in said


def test_a_refresh_changes_shares_and_a_bad_one_changes_nothing(hiatus):
    hiatus.configure({"yarn.scheduler.capacity.root.default.capacity": 70, "yarn.scheduler.capacity.root.closed.capacity": 30})
    hiatus.run("yarn", "rmadmin", "-refreshQueues")
    assert _capacity(hiatus, "default") == 70

    hiatus.configure({"yarn.scheduler.hiatus.min-run-ms": "soon", "yarn.scheduler.capacity.root.default.capacity": 60,
                      "yarn.scheduler.capacity.root.closed.capacity": 40})
    with pytest.raises(ClusterError) as refused:
        hiatus.run("yarn", "rmadmin", "-refreshQueues")
    for part in ("yarn.scheduler.hiatus.min-run-ms", "soon", "a whole number from 0"):
        assert part in str(refused.value)
    assert _capacity(hiatus, "default") == 70
    assert live.metrics(hiatus)["Fallback"] == 0

    hiatus.configure({"yarn.scheduler.hiatus.min-run-ms": 500})
    hiatus.run("yarn", "rmadmin", "-refreshQueues")
    assert _capacity(hiatus, "default") == 60


def test_a_more_important_application_goes_first(hiatus, applications):
    applications.start("running", 4)
    live.await_running(applications, "running", 4)
    applications.start("patient", 8)
    hiatus.run("yarn", "application", "-appId", applications.app_id("patient"), "-updatePriority", "7")
    assert hiatus.rm.app(applications.app_id("patient"))["priority"] == 7
    applications.finish("running", "patient")


def test_a_stranger_may_not_submit_to_a_closed_queue(hiatus):
    refused = hiatus.run(*hiatus.example("pi", "-Dmapreduce.job.queuename=closed", "1", "1"), user="stranger", check=False)
    assert refused.returncode != 0
    assert "User stranger" in refused.stdout + refused.stderr and "closed" in refused.stdout + refused.stderr
    assert [app for app in hiatus.rm.apps() if app["user"] == "stranger" and app["queue"].endswith("closed")
            and app["finalStatus"] != "FAILED"] == []


def test_an_application_moves_between_queues_with_all_it_holds(hiatus, applications):
    applications.start("nomad", 2)
    live.await_running(applications, "nomad", 2)
    assert _used(hiatus, "default") == 512
    hiatus.run("yarn", "application", "-appId", applications.app_id("nomad"), "-changeQueue", "closed")
    wait_for(lambda: (_used(hiatus, "default"), _used(hiatus, "closed")) == (0, 512), "moved")
    applications.start("other", 1, command=work(1))
    applications.wait("other")
    applications.finish("nomad")


def _queue(cluster, name):
    return next(one for one in cluster.rm.scheduler()["queues"]["queue"] if one["queueName"] == name)


def _capacity(cluster, name):
    return round(_queue(cluster, name)["capacity"], 3)


def _used(cluster, name):
    return _queue(cluster, name)["resourcesUsed"]["memory"]
