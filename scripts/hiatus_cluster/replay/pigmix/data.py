"""PigMix's tables: same fields, cardinalities and distributions as published, from a seed.

Three things differ from the published generator on purpose. Columns of `users` are all separated (there name and phone became one field,
and joins found a fifth of their matches). One user in ten is left out of `users`, as its comment says and its script forgets (otherwise
nobody is unknown, and L5 finds nothing). Names in `widerow` are users of `page_views`, so that L11 finds some in both.
"""

import itertools
import random
from dataclasses import dataclass

FIELD, ELEMENT, ENTRY, VALUE = "\x01", "\x02", "\x03", "\x04"  #: what separates fields, bag elements, map entries, key and value
#: The published generator's characters, 'A' to 'y': also [ \ ] ^ _ and `.
_LETTERS = "".join(map(chr, range(65, 122)))
_OF_BYTE = (_LETTERS * 5)[:256]

#: Rows of a file of `page_views`, a map each, and files by bin. Bins are the thesis' (Table 5.1), scaled.
ROWS_A_FILE = 10_000
FILES = {1: 1, 2: 3, 3: 8, 4: 24}
_POWER_USERS = 500
_KNOWN_USERS = 0.9
_WIDE_COLUMNS, _WIDE_CARDINALITY = 500, 10_000
_WIDE_PART, _WIDE_ROWS_PART = 3, 62.5  #: page_views' rows over those of widegroupbydata, and of widerow

TABLES = ("page_views", "page_views_sorted", "users", "users_sorted", "power_users", "power_users_samples", "widegroupbydata", "widerow")


@dataclass(frozen=True)
class Column:
    """How a column's values are drawn: the k-th of ``cardinality`` with a probability like 1/k, and nulls."""

    cardinality: int
    null: float = 0.0


class Tables:
    """Draws the tables of one bin."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._weights = {}
        self._values = {}

    def _indices(self, cardinality, count):
        """So many draws after Zipf's law: indices of values, from 0."""
        if cardinality not in self._weights:
            self._weights[cardinality] = list(itertools.accumulate(1 / rank for rank in range(1, cardinality + 1)))
        return self._random.choices(range(cardinality), cum_weights=self._weights[cardinality], k=count)

    def _string(self, size):
        """A random string: lengths are uniform, and their mean is about the size."""
        spread = max(1, int(0.3 * size))
        return self._letters(self._random.randint(size - spread, size + spread - 1))

    def _letters(self, count):
        return self._random.randbytes(count).decode("latin-1").translate(_OF_BYTE)

    def _strings(self, name, size, column, count):
        """Draws of strings, one for each index and always the same; None for null."""
        known = self._values.setdefault(name, {})
        return [None if self._random.random() < column.null else known.get(index) or known.setdefault(index, self._string(size))
                for index in self._indices(column.cardinality, count)]

    def _map(self):
        """A map of 6 to 25 fresh entries with keys a, b, c …"""
        return ENTRY.join(f"{chr(97 + key)}{VALUE}{self._string(10)}" for key in range(self._random.randint(6, 25)))

    def page_views(self, count):
        """Rows of the fact table, as lists of nine texts; None for null."""
        users = self._strings("user", 20, Column(1_600_000, 0.07), count)
        terms = self._strings("query_term", 10, Column(1_800_000, 0.2), count)
        times, addresses, stamps = (self._indices(cardinality, count) for cardinality in (20, 1_000_000, 86_400))
        revenues = self._revenues(count)
        for user, time, term, address, stamp, revenue in zip(users, times, terms, addresses, stamps, revenues):
            links = ELEMENT.join("m" + self._map() for _ in range(self._random.randint(5, 9)))
            yield [user, str(self._random.randint(0, 1)), str(time), term, str(address), str(stamp), revenue, self._map(), links]

    def _revenues(self, count):
        known = self._values.setdefault("revenue", {})
        for index in self._indices(100_000, count):
            if self._random.random() < 0.05:
                yield None
            else:
                # Cents: sums then agree whatever their order, up to the last digits of a double.
                yield known.get(index) or known.setdefault(index, f"{self._random.random() * self._random.randint(-2**31, 2**31 - 1):.2f}")

    def users(self, names):
        """A row for each of these names (None for the null one), sorted: nulls first."""
        rows = [self._person(name) for name in names]
        return sorted(rows, key=_by_name)

    def _person(self, name):
        def cell(key, size, cardinality=1_600_000):
            (value,) = self._strings(key, size, Column(cardinality, 0.2), 1)
            return value
        zip_code = None if self._random.random() < 0.2 else str(self._indices(1600, 1)[0])
        return [name, cell("phone", 10), cell("address", 20), cell("city", 10), cell("state", 2, 1600), zip_code]

    def known(self, names):
        """These names without a random tenth; the null name always stays."""
        return [name for name in names if name is None or self._random.random() < _KNOWN_USERS]

    def half(self, rows):
        """A random half."""
        return [row for row in rows if self._random.random() < 0.5]

    def widerow(self, count):
        """Rows of a name and 500 numbers."""
        for name in self._strings("user", 20, Column(_WIDE_CARDINALITY), count):
            yield [name, *map(str, self._random.choices(range(_WIDE_CARDINALITY), k=_WIDE_COLUMNS))]


def _by_name(row):
    return (row[0] is not None, row[0] or "")


def generate(folder, bin_number, scale, seed):
    """Writes the tables of a bin into folders below ``folder``, unless they are there. Rows are ``scale`` times those of the bin."""
    if folder.exists():
        return
    partial = folder.with_name(folder.name + ".new")
    tables = Tables(f"{seed} {bin_number}")
    files = FILES[bin_number]
    views = list(tables.page_views(max(1, round(files * ROWS_A_FILE * scale))))
    names = sorted({row[0] for row in views}, key=lambda name: (name is not None, name or ""))
    users = tables.users(tables.known(names))
    power_users = users[:_POWER_USERS]
    wide = [views[at % len(views)] for at in range(3 * max(1, len(views) // _WIDE_PART))]
    _write(partial / "page_views", views, files)
    _write(partial / "page_views_sorted", sorted(views, key=_by_name), files)
    _write(partial / "users", users, 1)
    _write(partial / "users_sorted", users, 1)
    _write(partial / "power_users", power_users, 1)
    _write(partial / "power_users_samples", tables.half(power_users), 1)
    _write(partial / "widegroupbydata", [wide[at] + wide[at + 1] + wide[at + 2] for at in range(0, len(wide), 3)], files)
    _write(partial / "widerow", tables.widerow(max(1, round(len(views) / _WIDE_ROWS_PART))), 1)
    partial.rename(folder)


def _write(folder, rows, files):
    """Rows in so many files, one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [FIELD.join("" if cell is None else cell for cell in row) + "\n" for row in rows]
    for number in range(files):
        part = lines[len(lines) * number // files:len(lines) * (number + 1) // files]
        (folder / f"part-{number:02}").write_text("".join(part), newline="")
