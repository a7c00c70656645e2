"""PigMix: what the generated tables look like, which queries a workload draws, and that the check of outputs knows right from wrong."""

import argparse
import math
import random
from collections import Counter

import pytest

from hiatus_cluster.errors import ClusterError
from hiatus_cluster.replay.pigmix import command, data, reference
from hiatus_cluster.replay.pigmix.draw import MIXES, QUERIES, draw

_ROWS = 20_000


@pytest.fixture(scope="module")
def views():
    return list(data.Tables(3).page_views(_ROWS))


def _share(views, holds):
    return sum(map(holds, views)) / len(views)


def test_page_views_are_drawn_as_published(views):
    """The design's measurements of 20,000 rows of the published generator."""
    assert [round(_share(views, lambda row, at=at: row[at] is None), 2) for at in range(9)] == [0.07, 0, 0, 0.2, 0, 0, 0.05, 0, 0]
    top = Counter(row[0] for row in views if row[0] is not None).most_common(1)[0][1] / _ROWS
    assert top == pytest.approx(0.061, abs=0.01)
    assert {row[1] for row in views} == {"0", "1"} and {int(row[2]) for row in views} == set(range(20))
    assert sum(int(row[2]) for row in views) / _ROWS == pytest.approx(4.6, abs=0.1)
    assert _share(views, lambda row: int(row[5]) < 43_200) == pytest.approx(0.94, abs=0.01)
    assert sum(len(data.FIELD.join(cell or "" for cell in row)) + 1 for row in views) / _ROWS == pytest.approx(1600, rel=0.03)
    assert {row[8].count(data.ELEMENT) + 1 for row in views} == set(range(5, 10))
    assert all(len(row[0]) in range(14, 26) for row in views if row[0])


def test_zipf_law_is_followed():
    indices = data.Tables(5)._indices(20, 200_000)
    total = sum(1 / rank for rank in range(1, 21))
    for index, count in Counter(indices).items():
        assert count / 200_000 == pytest.approx(1 / (index + 1) / total, rel=0.1)


def test_the_same_seed_gives_the_same_tables_and_one_user_in_ten_is_unknown(tmp_path):
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        data.generate(tmp_path / name, 2, 0.1, seed)

    def texts(name):
        return {path.relative_to(tmp_path / name): path.read_text() for path in (tmp_path / name).glob("*/*")}
    one = texts("one")
    assert {path.parts[0] for path in one} == set(data.TABLES) and one == texts("same") != texts("other")
    tables = {table: "".join(text for path, text in sorted(one.items()) if path.parts[0] == table).splitlines() for table in data.TABLES}
    names = {line.split(data.FIELD)[0] for line in tables["page_views"]}
    known = [line.split(data.FIELD)[0] for line in tables["users"]]
    assert known == sorted(set(known)) and known[0] == "" and len(known) / len(names) == pytest.approx(0.9, abs=0.03)
    assert tables["power_users"] == tables["users"][:500] and set(tables["power_users_samples"]) < set(tables["power_users"])
    assert sorted(tables["page_views"]) == sorted(tables["page_views_sorted"])
    for table, separators in (("page_views", 8), ("users", 5), ("widegroupbydata", 26), ("widerow", 500)):
        assert {line.count(data.FIELD) for line in tables[table]} == {separators}


@pytest.mark.parametrize("name, bins", [("dev", [29, 9, 5, 2]), ("test", [9, 12, 3, 6]), ("prod", [0, 2, 13, 7]), ("each", [6, 6, 5, 0])])
def test_a_workload_has_the_shares_of_its_bins_exactly(name, bins):
    mix = MIXES[name]
    drawn = draw(mix, QUERIES, mix.queries, mix.between_s, seed=1)
    assert [sum(one.bin == number for one in drawn) for number in (1, 2, 3, 4)] == bins
    counts = Counter(one.query for one in drawn)
    assert set(counts) == set(QUERIES) and max(counts.values()) - min(counts.values()) <= 1
    assert drawn == draw(mix, QUERIES, mix.queries, mix.between_s, seed=1) != draw(mix, QUERIES, mix.queries, mix.between_s, seed=2)
    gaps = [after.at_s - before.at_s for seed in range(40) for before, after in _pairs(draw(mix, QUERIES, 17, 20.0, seed))]
    assert sum(gaps) / len(gaps) == pytest.approx(20, rel=0.15)


def _pairs(drawn):
    return zip(drawn, drawn[1:])


@pytest.mark.parametrize("words, name", [
    ("", "pigmix-test"), ("--workload each --scale 1/50 --between 8", "pigmix-each-1in50-every-8s"), ("--slots-a-node 1", "pigmix-test-1-a-node"),
    ("--between 20 --slots-a-node 4 --jobs 30", "pigmix-test"), ("--queries L1 L9 --jobs 4", "pigmix-test-L1-L9-4-queries")])
def test_a_page_is_named_after_what_is_not_as_usual(words, name):
    parser = argparse.ArgumentParser()
    command.options(parser)
    assert command.name_of(parser.parse_args(words.split())) == name


# A few rows, and what Pig makes of them by its rules for nulls, written down by hand.

_INFO, _LINKS = "a\x04x", "mb\x04y\x02mb\x04z"
_VIEWS = [
    # user, action, timespent, query_term, ip_addr, timestamp, estimated_revenue
    ("ann", "0", "3", "t", "7", "100", "1.50"),
    ("ann", "1", "4", "", "7", "50000", "1.50"),
    ("bob", "1", "5", "s", "8", "200", ""),
    ("", "0", "6", "t", "7", "100", "2.25"),
    ("", "1", "6", "", "9", "60000", "4.00"),
]
_PEOPLE = [("", "p0"), ("ann", "p1"), ("eve", "p2")]
_EXPECTED = {
    "L1": [["", 0], ["ann", 4], ["bob", 2]],
    "L2": [["ann", 1.5, "ann"], ["ann", 1.5, "ann"]],
    "L3": [["ann", 3.0]],
    "L4": [["", 2], ["ann", 2], ["bob", 1]],
    "L5": [[""], [""], ["bob"]],
    "L6": [["ann", "t", 7, 100, 3], ["ann", "", 7, 50000, 4], ["bob", "s", 8, 200, 5], ["", "t", 7, 100, 6], ["", "", 9, 60000, 6]],
    "L7": [["", 0, 0], ["ann", 1, 1], ["bob", 1, 0]],
    "L8": [[24, 9.25 / 4]],
    "L11": [[""], ["ann"], ["bob"], ["wide"]],
    "L13": [["ann", 1.5, "ann", "p1"], ["ann", 1.5, "ann", "p1"], ["bob", "", "", ""], ["", 2.25, "", ""], ["", 4.0, "", ""]],
    "L14": [["ann", 1.5, "ann"], ["ann", 1.5, "ann"]],
    "L15": [["", 2, 6.25, 6], ["ann", 2, 1.5, 3], ["bob", 1, "", 5]],
    "L16": [["", 6.25], ["ann", 3.0], ["bob", ""]],
    "L17": [[3.0, 3.0, 3.0, 1.5, 1.5, 1.5], [4.0, 4.0, 4.0, 1.5, 1.5, 1.5], [5.0, 5.0, 5.0, "", "", ""], [6.0, 6.0, 6.0, 2.25, 2.25, 2.25],
            [6.0, 6.0, 6.0, 4.0, 4.0, 4.0]],
}
_BEST, _TIMES, _ACTIONS = [["ann", 1.5], ["bob", ""]], [["", 6], ["t", 6]], [["1", 1]]


@pytest.fixture
def right(tmp_path):
    rows = [data.FIELD.join((*view, _INFO, _LINKS)) for view in _VIEWS]
    people = [data.FIELD.join((*person, "", "", "", "")) for person in _PEOPLE]
    tables = {"page_views": rows, "page_views_sorted": sorted(rows), "users": people, "users_sorted": people, "power_users": people,
              "power_users_samples": people, "widegroupbydata": [data.FIELD.join([row] * 3) for row in rows],
              "widerow": [data.FIELD.join(["wide", "1"]), data.FIELD.join(["ann", "2"])]}
    for name, lines in tables.items():
        (tmp_path / name).mkdir()
        for number, part in enumerate((lines[:2], lines[2:])):
            (tmp_path / name / f"part-{number}").write_text("".join(line + "\n" for line in part), newline="")
    return reference.Reference(tmp_path)


def _written(tmp_path, *outputs):
    """Files as Pig writes them, rows in random order, in two parts."""
    parts = []
    for number, rows in enumerate(outputs):
        rows = random.Random(1).sample(rows, len(rows))
        files = [tmp_path / f"{number}-{part}" for part in (0, 1)]
        for file, some in zip(files, (rows[:1], rows[1:])):
            file.write_text("".join(data.FIELD.join(map(str, row)) + "\n" for row in some), newline="")
        parts.append(files)
    return parts


@pytest.mark.parametrize("query", _EXPECTED)
def test_what_pig_gives_by_its_rules_is_right_and_anything_else_is_not(right, tmp_path, query):
    rows = _EXPECTED[query]
    reference.check(query, right, _written(tmp_path, rows))
    for wrong in (rows[:-1], rows + rows[:1], [[*rows[0][:-1], "9"], *rows[1:]]):
        with pytest.raises(ClusterError, match=f"{query}, output 1"):
            reference.check(query, right, _written(tmp_path, wrong))


def test_all_outputs_of_a_query_with_several_are_compared(right, tmp_path):
    reference.check("L12", right, _written(tmp_path, _BEST, _TIMES, _ACTIONS))
    with pytest.raises(ClusterError, match="L12, output 3"):
        reference.check("L12", right, _written(tmp_path, _BEST, _TIMES, [["1", 2]]))


def _sorted_views(order):
    return [[*_VIEWS[at], _INFO, _LINKS] for at in order]


def _in_order(tmp_path, rows):
    file = tmp_path / "sorted"
    file.write_text("".join(data.FIELD.join(row) + "\n" for row in rows), newline="")
    return [[file]]


@pytest.mark.parametrize("query, good, bad", [("L9", (1, 4, 2, 0, 3), (1, 4, 0, 3, 2)), ("L9", (4, 1, 2, 3, 0), (2, 4, 1, 3, 0)),
                                              ("L10", (4, 1, 2, 3, 0), (1, 4, 2, 3, 0))])
def test_a_sorted_output_must_be_sorted_and_ties_may_come_in_any_order(right, tmp_path, query, good, bad):
    reference.check(query, right, _in_order(tmp_path, _sorted_views(good)))
    with pytest.raises(ClusterError, match=f"{query}: .* comes before"):
        reference.check(query, right, _in_order(tmp_path, _sorted_views(bad)))


def test_sums_may_differ_by_a_rounding_and_by_no_more(right, tmp_path):
    rows = [["", math.nextafter(6.25, 7)], ["ann", 3.0], ["bob", ""]]
    reference.check("L16", right, _written(tmp_path, rows))
    with pytest.raises(ClusterError, match="L16"):
        reference.check("L16", right, _written(tmp_path, [["", 6.25 + 1e-6], *rows[1:]]))
