"""Text for word counts in the local file system, and whether they were counted right."""

from collections import Counter

_LINE = "one two two three three three\n"


def write(folder, files, lines):
    """Makes a folder of so many files of so many lines each."""
    folder.mkdir()
    for number in range(files):
        (folder / f"{number}.txt").write_text(_LINE * lines)


def is_counted(folder, files, lines):
    """Whether a job's output folder has the right counts of such a text."""
    return read_counts(folder) == {word: count * lines * files for word, count in Counter(_LINE.split()).items()}


def read_counts(folder):
    """The result of a word count as a Counter."""
    lines = [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]
    return Counter({word: int(count) for word, count in (line.split("\t") for line in lines)})
