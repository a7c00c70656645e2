"""What every query must give, computed by DuckDB from the same files, and compared with what Pig wrote.

Pig's rules for nulls are written out in SQL here: keys that are null never join; a grouping makes one group of them, a grouping of two
tables one of each; COUNT of a bag counts the rows whose first field is not null; sums and means leave nulls out; nulls are sorted first.
"""

import hashlib
import math

import duckdb

from ...errors import ClusterError
from .data import FIELD

_VIEW = ("user", "action", "timespent", "query_term", "ip_addr", "timestamp", "estimated_revenue", "page_info", "page_links")
_PERSON = ("name", "phone", "address", "city", "state", "zip")
_COLUMNS = {
    "page_views": _VIEW, "page_views_sorted": _VIEW,
    "users": _PERSON, "users_sorted": _PERSON, "power_users": _PERSON, "power_users_samples": _PERSON,
    "widegroupbydata": [f"{name}{suffix}" for suffix in ("", "_1", "_2") for name in _VIEW], "widerow": ("name",),
}
_KEYS = ", ".join(f"{name}{suffix}" for suffix in ("", "_1", "_2") for name in _VIEW if name not in ("timespent", "estimated_revenue"))
_LINKS = "unnest(string_split(page_links, chr(2)))"

#: Columns of each output that are floating-point numbers, by query and output (from 0). Everything else is compared as text.
_FLOATS = {"L2": (1,), "L3": (1,), "L8": (1,), "L10": (6,), "L12": (1,), "L13": (1,), "L14": (1,), "L15": (2,), "L16": (1,),
           "L17": range(6)}
#: Folders of the queries with several outputs.
OUTPUTS = {"L12": ("best", "times", "actions")}
#: Queries whose output is sorted, and by what: (field, falling, number).
_SORTED = {"L9": ((3, False, False),), "L10": ((3, False, False), (6, True, True), (2, False, True))}

#: A statement for each output.
SQL = {
    "L1": [f"select user, count(user) from (select user, {_LINKS} from page_views) group by user"],
    "L2": ["select user, estimated_revenue::double, name from page_views join power_users on user = name"],
    "L3": ["select user, sum(estimated_revenue::double) from page_views join users on user = name group by user"],
    "L4": ["select user, count(distinct action) from page_views group by user"],
    "L5": ["""select distinct user from page_views where user is not null and user not in (select name from users where name is not null)
              union all select distinct user from page_views where user is null
              union all select distinct name from users where name is null"""],
    "L6": ["select user, query_term, ip_addr, timestamp, sum(timespent::int) from page_views group by all"],
    "L7": ["""select user, count(user) filter (timestamp::int < 43200), count(user) filter (timestamp::int >= 43200)
              from page_views group by user"""],
    "L8": ["select sum(timespent::int), avg(estimated_revenue::double) from page_views"],
    "L9": ["select * from page_views"],
    "L10": ["select * replace (estimated_revenue::double as estimated_revenue) from page_views"],
    "L11": ["select user from page_views union select name from widerow"],
    "L12": ["""select user, max(estimated_revenue::double) from page_views
               where user is not null and query_term is not null group by user""",
            "select query_term, sum(timespent::int) from page_views where user is null group by query_term",
            "select action, count(action) from page_views where user is not null and query_term is null group by action"],
    "L13": ["select user, estimated_revenue::double, name, phone from page_views left join power_users_samples on user = name"],
    "L14": ["select user, estimated_revenue::double, name from page_views_sorted join users_sorted on user = name"],
    "L15": ["""select user, count(distinct action), r, trunc(t)::int from page_views
               left join (select user as u, sum(x::double) as r from
                            (select distinct user, estimated_revenue as x from page_views) group by u)
                 on user is not distinct from u
               left join (select user as v, avg(x::int) as t from (select distinct user, timespent as x from page_views) group by v)
                 on user is not distinct from v
               group by user, r, t"""],
    "L16": ["select user, sum(estimated_revenue::double) from page_views group by user"],
    "L17": [f"""select sum(timespent::double), sum(timespent_1::double), sum(timespent_2::double), avg(estimated_revenue::double),
                avg(estimated_revenue_1::double), avg(estimated_revenue_2::double) from widegroupbydata group by {_KEYS}"""],
}
_RELATIVE_ERROR = 1e-9  #: of doubles summed in another order


class Reference:
    """The right outputs for the tables in a folder, each computed when it is asked for first."""

    def __init__(self, folder):
        self._tables = duckdb.connect()
        self._known = {}
        for table, columns in _COLUMNS.items():
            cells = ", ".join(f"nullif(split_part(line, '{FIELD}', {number}), '') as \"{name}\""
                              for number, name in enumerate(columns, start=1))
            self._tables.execute(f"""create view {table} as select {cells} from
                (select unnest(string_split(rtrim(content, chr(10)), chr(10))) as line from read_text('{folder}/{table}/part-*'))""")

    def outputs(self, query):
        """A list of rows, as tuples of texts (a null is empty) and floats, for each output of the query."""
        if query not in self._known:
            self._known[query] = [[tuple(_told(value) for value in row) for row in self._tables.execute(statement).fetchall()]
                                  for statement in SQL[query]]
        return self._known[query]


def _told(value):
    return "" if value is None else value if isinstance(value, float) else str(value)


def check(query, reference, parts):
    """Compares each output, given as lists of its part files in order, with the reference. Raises ClusterError naming what differs."""
    for number, (right, files) in enumerate(zip(reference.outputs(query), parts, strict=True)):
        floats = _FLOATS.get(query, ()) if number == 0 else ()
        rows = [_parsed(line, floats, query) for file in files for line in file.read_text().split("\n")[:-1]]
        _compare(f"{query}, output {number + 1}", rows, right, floats)
        if query in _SORTED:
            _check_order(query, rows)


def _parsed(line, floats, query):
    cells = line.split(FIELD)
    try:
        return tuple(float(cell) if number in floats and cell else cell for number, cell in enumerate(cells))
    except ValueError as error:
        raise ClusterError(f"{query}: a field of {line[:200]!r} is no number") from error


def _compare(what, rows, right, floats):
    """As multisets; floating-point numbers may differ by a rounding."""
    if len(rows) != len(right):
        raise ClusterError(f"{what}: {len(rows)} rows, right are {len(right)}")
    def order(row):
        texts = tuple(cell for number, cell in enumerate(row) if number not in floats)
        return hashlib.sha256(repr(texts).encode()).digest(), tuple(row[number] if row[number] != "" else -math.inf for number in floats)
    for ours, theirs in zip(sorted(rows, key=order), sorted(right, key=order)):
        if len(ours) != len(theirs) or not all(_same(a, b) for a, b in zip(ours, theirs)):
            raise ClusterError(f"{what}: a row {str(ours)[:200]}, where {str(theirs)[:200]} is right")


def _same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_RELATIVE_ERROR, abs_tol=_RELATIVE_ERROR)
    return a == b


def _check_order(query, rows):
    for before, after in zip(rows, rows[1:]):
        for field, falling, numeric in _SORTED[query]:
            a, b = (_rank(row[field], numeric) for row in (before, after))
            if a != b:
                if (a > b) != falling:
                    raise ClusterError(f"{query}: {before[field]!r} comes before {after[field]!r}")
                break


def _rank(cell, numeric):
    return (cell != "", (float(cell) if cell != "" else 0.0) if numeric else cell)
