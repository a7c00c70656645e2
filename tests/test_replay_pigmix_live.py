"""Queries of PigMix on real daemons under Hiatus: right although their tasks were suspended in between."""

import time
from fractions import Fraction

import live
from hiatus_cluster import containers, jobs
from hiatus_cluster.replay.pigmix import command, data, pig
from hiatus_cluster.replay.pigmix.draw import Drawn
from support import wait_for

SPEC = live.spec(nodes=2, node_memory=[1024], fs="hdfs")
#: A join and a grouping, two jobs; and a query of three outputs.
_DRAWN = [Drawn("join", "L3", 3, 0.0), Drawn("split", "L12", 1, 1.0)]


def test_outputs_are_right_although_maps_were_suspended(hiatus, monkeypatch, tmp_path):
    pig.prepare(print)
    monkeypatch.setattr(data, "FILES", {1: 1, 3: 4})
    tables = command.Tables(Fraction(1, 100), print, tmp_path / "data")
    command.put(hiatus, tables, {1, 3})
    workload = jobs.Workload(hiatus, [command.submission(hiatus.dir, one) for one in _DRAWN])
    app = wait_for(lambda: next((app for app in workload.apps().get("join", ())), None), "the join's first job is there", 180)
    maps = wait_for(lambda: _maps(hiatus, app["id"]), "maps of the join are there", 120)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", True)
    # Not: has no process. One that is just being launched has none yet.
    wait_for(lambda: all(live.stands_still(hiatus, one) for one in _maps(hiatus, app["id"]) if one in maps), "maps stand still, or have ended")
    assert any(live.stands_still(hiatus, one) for one in maps)
    time.sleep(2)
    hiatus.rm.put(f"/ws/v1/hiatus/apps/{app['id']}/parked", False)
    workload.wait(timeout_s=400)
    assert [(event["job"], event["event"]) for event in workload.events() if event["event"] != "submit"] in (
        [("join", "success"), ("split", "success")], [("split", "success"), ("join", "success")])
    join, split = workload.results()
    assert (len(join.earlier_apps), len(split.earlier_apps)) == (1, 0)
    assert {attempt["state"] for result in (join, split) for attempt in result.attempts} == {"SUCCEEDED"}
    assert "outputs of 2 queries equal" in command.check_outputs(hiatus, tables, _DRAWN, tmp_path)


def _maps(cluster, application):
    """Those that are there, running or suspended."""
    return [life.container for life in containers.lives(cluster) if life.application == application and not life.is_master
            and life.spans[-1][1] is None]
