"""Evidence: every study has its place on the page, nothing is measured twice, and the page says what the other documents say."""

import json
import re

import pytest

from hiatus_cluster import evidence, hiatus, layout

_DOCUMENTS = sorted((layout.ROOT / "docs").glob("experiments*.md"))


def _study(kept, name, **claim):
    (kept / name).mkdir(parents=True)
    claims = [{"id": "C", "statement": "half", "measured": "DEV 0.4 (≤ 0.5); **TEST 0.9 (≤ 0.5)**", "passes": False, **claim}]
    (kept / name / "claims.json").write_text(json.dumps(claims))
    (kept / name / "seconds").write_text("1800\n")


def test_every_study_has_its_place_in_the_order_and_one_source():
    told = hiatus.run("reproduce", "list")
    assert {line.split()[0] for line in told.splitlines()[2:]} == set(evidence.ORDER)
    for study in evidence.ORDER:
        assert [study.startswith(begins) for begins in evidence.SOURCES.values()].count(True) == 1, study


def test_a_study_that_was_cut_is_run_again_and_one_that_ended_is_not(tmp_path):
    _study(tmp_path, "ended")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "claims.json").write_text("[]")
    assert evidence.missing(tmp_path, ["ended", "cut", "later"]) == ["cut", "later"]


def test_the_page_names_what_was_not_measured(tmp_path):
    for study in set(evidence.ORDER) - {"hints", "distance"}:
        _study(tmp_path, study, passes=True)
    assert "Not measured at that commit: `hints`, `distance`." in evidence.of_studies(tmp_path, "abc1234")


def test_of_what_does_not_hold_the_page_has_the_figures_that_do_not(tmp_path):
    for study in evidence.ORDER:
        _study(tmp_path, study, **({} if study == "hints" else {"passes": True}))
    text = evidence.of_studies(tmp_path, "abc1234")
    assert "| C | half | **does not** | TEST 0.9 (≤ 0.5) | `hints` |" in text
    assert "| C | half | holds |  | `distance` |" in text
    assert "| Our own studies | 7 | 6 | 3.50 |" in text and "at commit abc1234" in text


def test_of_daemons_it_has_what_the_pages_say_and_at_what_commit(tmp_path):
    page = tmp_path / "some-live.md"
    page.write_text("# Title\n\nMade by `scripts/experiment some-live` on 2026-11-29 at commit 1ec4e78, 2 × x86_64.\n\n"
                    "- **All work is right PASS**: 9 of 9\n- **Small jobs wait less FAIL**: 0.9\n")
    text = evidence.of_daemons([page])
    assert "1 of 2 hold." in text
    assert "| [some-live](bench/some-live.md) | All work is right | holds |  | 1ec4e78 |" in text
    assert "| [some-live](bench/some-live.md) | Small jobs wait less | **does not** | 0.9 | 1ec4e78 |" in text


def test_the_page_is_not_older_than_the_pages_of_experiments():
    assert evidence.PAGE.read_text().endswith(evidence.of_daemons(sorted((layout.ROOT / "docs" / "bench").glob("*.md")))), "run scripts/evidence --daemons"


@pytest.mark.parametrize("document", _DOCUMENTS, ids=lambda path: path.name)
def test_a_verdict_is_the_same_on_the_page_and_in_the_studys_document(document):
    said = {}
    for line in evidence.PAGE.read_text().splitlines():
        if found := re.match(r"\| (.+?) \| .* \| (holds|\*\*does not\*\*) \|.*\| `([\w.-]+)` \|$", line):
            name, verdict, study = found.groups()
            said[study, name] = verdict == "holds"
    rows = re.findall(r"^\| (.+?) \| .* \| (PASS|\*\*FAIL\*\*) \| `([\w.-]+)` \|$", document.read_text(), re.MULTILINE)
    documented = {(study, name): verdict == "PASS" for name, verdict, study in rows}
    assert {key: verdict for key, verdict in documented.items() if key in said} == {key: said[key] for key in documented if key in said}
