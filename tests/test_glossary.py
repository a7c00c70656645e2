"""The glossary: each of its words stands in the file that it names, and there are few of them."""

import re

import pytest

from hiatus_cluster import layout

_GLOSSARY = layout.ROOT / "docs" / "glossary.md"
#: A reader learns no more.
_MOST = 60


def _rows():
    """Word and file of each row: the first cell and the last, which is a path."""
    rows = (line.strip("| ").split(" | ") for line in _GLOSSARY.read_text().splitlines() if line.startswith("| "))
    return [(cells[0].strip(), cells[-1].strip("`")) for cells in rows if re.fullmatch(r"`[^`]+`", cells[-1])]


def _file(path):
    """A file by its path, from the root or below the core's sources; a Java class by its name alone, wherever it stands."""
    if path.endswith(".java"):
        found = list((layout.ROOT / "java").glob(f"**/src/main/**/{path}"))
        assert len(found) == 1, f"{path}: {found}"
        return found[0]
    return layout.ROOT / path if path.startswith("rust/") else layout.ROOT / "rust/core/src" / path


def test_it_is_short_and_no_word_stands_twice():
    words = [word for word, _ in _rows()]
    assert 40 < len(words) <= _MOST
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("word, path", _rows())
def test_a_word_stands_where_the_glossary_says(word, path):
    file = _file(path)
    assert file.is_file(), f"{word}: there is no {path}"
    assert word.lower() in file.read_text().lower(), f"{path} does not have the word {word}"
