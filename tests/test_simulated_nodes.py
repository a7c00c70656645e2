"""A real ResourceManager before simulated nodes and masters: the bed of `scripts/experiment simulated-nodes`."""

import argparse

import pytest

import live
from hiatus_cluster import bare
from hiatus_cluster.experiments import simulated_nodes

#: Two nodes for two containers each beside a master's, all of which are taken when the small job comes.
_NODES = bare.Nodes(count=2, memory_mb=2 * 256 + 128, vcores=8, heartbeat_ms=200)
_CONTAINERS = 4
#: So many maps that `hfsp` learns from the first how large the job is: with fewer it would be as small as the other.
_BIG, _SMALL = {"tasks": 8, "each_s": 5.0}, {"tasks": 4, "each_s": 4.0}
_REDUCE = {"tasks": 1, "each_s": 1.0, "slowstart": 0.8}


def _job(name, at_s, *stages):
    return {"name": name, "at_s": at_s, "simulated": {"master_mb": 128, "stages": [{"memory_mb": 256, **stage} for stage in stages]}}


@pytest.mark.slow
def test_a_small_job_is_served_by_suspension_and_the_time_that_stands_still_is_no_work(clusters):
    cluster = clusters(kind=bare.BareCluster, **live.spec(nodes=1, node_memory=[_NODES.memory_mb], properties={
        "yarn.scheduler.hiatus.rm.report-port": bare.report_port()}))
    played = bare.play(cluster, _NODES, [_job("big", 0, _BIG, _REDUCE), _job("small", 3, _SMALL)], timeout_s=120)
    big, small = played.jobs
    assert [job.state for job in played.jobs] == ["SUCCEEDED"] * 2
    assert [job.lost for job in played.jobs] == [0, 0], "nothing was killed"
    counters = cluster.rm.get("/ws/v1/hiatus")["counters"]
    assert counters["suspended"] >= 2 and counters["killed"] == 0
    assert played.pauses >= 2, "the nodes paused what was demoted"
    assert small.finished_ms < big.finished_ms, "the small job passed the big one"
    work_s = sum(stage["tasks"] * stage["each_s"] for stage in (_BIG, _SMALL))
    assert big.sojourn_s >= work_s / _CONTAINERS + _REDUCE["each_s"], "a paused map worked nothing off, and the reduce waited for it"
    (reports,) = cluster.rm.get("/jmx?qry=Hadoop:service=ResourceManager,name=HiatusReportMetrics")["beans"]
    assert reports["Taken"] > 0 and reports["Forged"] == reports["Malformed"] == 0, "masters told their tasks over Hiatus' own channel"


def test_arrivals_are_spaced_for_a_load():
    jobs = [{"name": name, "at_s": at_s, "simulated": {"stages": [{"tasks": 10, "each_s": 8.0}]}} for name, at_s in (("a", 100), ("b", 110), ("c", 120))]
    spaced = simulated_nodes.spaced(jobs, slots=4, load=0.5)
    assert [job["at_s"] for job in spaced] == [0, 60, 120], "240 s of work for 4 containers that are half full"
    assert simulated_nodes.spaced(jobs[:1], slots=4, load=0.5)[0]["at_s"] == 0


@pytest.mark.parametrize("maps, wanted", [(1, "1 map"), (2, "2 to 15"), (15, "2 to 15"), (16, "16 to 150"), (151, "more")])
def test_jobs_are_told_apart_by_their_maps(maps, wanted):
    assert simulated_nodes.class_of({"simulated": {"stages": [{"tasks": maps}]}}) == wanted


def test_the_tables_set_the_simulator_beside_the_resourcemanager():
    jobs = [{"name": f"job{maps}", "simulated": {"stages": [{"tasks": maps}]}} for maps in (1, 1, 200)]
    outcomes = {"Fair": simulated_nodes.Outcome([10, 30, 100], 0, 0, 0, 5.0, 0.1),
                "HFSP/suspend": simulated_nodes.Outcome([5, 5, 110], 7, 6, 0, 6.0, 0.1)}
    live_, ratios, model = simulated_nodes.report(jobs, outcomes, {"Fair": [10, 30, 100], "HFSP/suspend": [5, 15, 100]})
    assert "| HFSP/suspend | 40 | 5 | – | – | 110 | 7 | 6 | 0 | 6.00 | 0.10 |" in live_
    assert "| HFSP/suspend | ResourceManager | 0.86 | 0.25 | – | – | 1.10 |" in ratios
    assert "| HFSP/suspend | 1.00 | 2.00 | – | – | 0.91 |" in model


def test_what_is_asked_of_a_trace_must_be_lines_of_it():
    parser = argparse.ArgumentParser()
    simulated_nodes.options(parser)
    with pytest.raises(simulated_nodes.ClusterError, match="--lines 7: FIRST-LAST"):
        simulated_nodes.window(parser.parse_args(["--lines", "7"]))
