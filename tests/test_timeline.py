"""Containers' lives as the NodeManagers' logs tell them, and the picture drawn of them."""

import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from hiatus_cluster import containers, timeline
from hiatus_cluster.jobs import JobResult

_APP = "application_1795253201446_0001"
_MASTER, _MAP, _UPGRADED = "container_1795253201446_0001_01_000001", "container_1795253201446_0001_01_000002", "container_e17_1795253201446_0001_01_000003"


def _log(*transitions):
    return "".join(f"2026-11-21 09:26:{second:06.3f}".replace(".", ",") + f" INFO container.ContainerImpl: Container {name} transitioned from {a} to {b}\n"
                   for second, name, a, b in transitions)


@pytest.fixture
def lives(tmp_path):
    """One node: a master that ends, a map that is suspended twice and ends, a container that still runs."""
    log = tmp_path / "nodemanager1.log"
    log.write_text("unrelated\n" + _log(
        (1, _MASTER, "NEW", "LOCALIZING"), (2, _MASTER, "SCHEDULED", "RUNNING"),
        (3, _MAP, "SCHEDULED", "RUNNING"), (5, _MAP, "RUNNING", "PAUSING"), (5.25, _MAP, "PAUSING", "PAUSED"),
        (8, _MAP, "PAUSED", "RESUMING"), (8.5, _MAP, "RESUMING", "RUNNING"), (9, _MAP, "RUNNING", "PAUSING"), (9, _MAP, "PAUSING", "PAUSED"),
        (10, _UPGRADED, "SCHEDULED", "RUNNING"), (11, _MAP, "PAUSED", "KILLING"), (11.5, _MAP, "KILLING", "DONE"),
        (12, _MASTER, "RUNNING", "EXITED_WITH_SUCCESS"), (13, _MASTER, "EXITED_WITH_SUCCESS", "DONE")))
    cluster = SimpleNamespace(spec=SimpleNamespace(nodes=1), daemon=lambda name: SimpleNamespace(log=tmp_path / f"{name}.log"))
    return containers.lives(cluster)


def _relative(life, start):
    return [(round(begin - start, 3), end and round(end - start, 3), kind) for begin, end, kind in life.spans]


def test_a_life_is_what_the_log_says(lives):
    master, one_map, running = lives
    zero = master.begin - 2
    assert _relative(master, zero) == [(2, 12, "running")]
    assert _relative(one_map, zero) == [(3, 5.25, "running"), (5.25, 8.5, "suspended"), (8.5, 9, "running"), (9, 11, "suspended")]
    assert _relative(running, zero) == [(10, None, "running")]


def test_a_container_killed_while_suspended_was_not_resumed(lives):
    assert [(life.suspensions, life.resumptions) for life in lives] == [(0, 0), (2, 1), (0, 0)]


def test_masters_and_applications_are_known_by_the_container_id(lives):
    assert [life.is_master for life in lives] == [True, False, False]
    assert {life.application for life in lives} == {_APP}


def test_the_picture_shows_every_span_at_its_time(lives):
    zero = lives[0].begin - 2
    result = JobResult("big", _APP, "SUCCEEDED", round(zero * 1000), round((zero + 20) * 1000), [])
    root = ElementTree.fromstring(timeline.svg([timeline.Panel("A <title> & more", lives, [result])], ["big"]))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert f"big: {_MAP}, suspended 5.2 to 8.5 s" in titles
    assert f"big: {_UPGRADED}, running 10.0 to 20.0 s" in titles
    assert sum("suspended" in title for title in titles) == 2
    assert any(text.text == "A <title> & more" for text in root.iter("{http://www.w3.org/2000/svg}text"))


def test_containers_that_overlap_never_share_a_lane(lives):
    zero = lives[0].begin - 2
    result = JobResult("big", _APP, "SUCCEEDED", round(zero * 1000), round((zero + 20) * 1000), [])
    picture = timeline.svg([timeline.Panel("run", lives, [result])], ["big"])
    bars = {}
    for x, y, width, title in re.findall(r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="12" .*?<title>big: (container\S+),', picture):
        bars.setdefault(int(y), []).append((float(x), float(x) + float(width), title))
    assert sum(map(len, bars.values())) == 6
    for lane in bars.values():
        for begin, end, one in lane:
            assert all(other == one or others_end <= begin + 0.1 or end <= others_begin + 0.1 for others_begin, others_end, other in lane)
