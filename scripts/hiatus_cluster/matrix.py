"""The table of docs/install.md that says what came of the tests on each Hadoop and Java."""

import re
import xml.etree.ElementTree as ElementTree

from . import layout

_DOCUMENT = layout.ROOT / "docs" / "install.md"
_ROW = re.compile(r"^\| (\d+)\.(\d+)\.(\d+) \| (\d+) \|.*\n", re.MULTILINE)


def told(results):
    """What a file of results by pytest's ``--junitxml`` tells, in a cell: how many passed, and the names of those that did not."""
    cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    failed = sorted({case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None})
    skipped = sorted({case.get("name") for case in cases if case.find("skipped") is not None} - set(failed))
    passed = {(case.get("classname"), case.get("name")) for case in cases} - {
        (case.get("classname"), case.get("name")) for case in cases if case.get("name") in {*failed, *skipped}}
    parts = [f"{len(passed)} passed", *(f"{len(names)} {how}: {', '.join(names)}" for how, names in (("failed", failed), ("skipped", skipped)) if names)]
    return "; ".join(parts)


def with_row(text, version, java, cell):
    """The document with that cell in the row of that version and that release of Java, in their order."""
    row = f"| {version} | {java} | {cell} |\n"
    rows = {tuple(map(int, found.groups())): found.group() for found in (*_ROW.finditer(text), _ROW.match(row))}
    ordered = "".join(rows[key] for key in sorted(rows))
    begin = _ROW.search(text).start()
    return text[:begin] + ordered + _ROW.sub("", text[begin:])


def write(version, java, cell):
    """Puts it into the document."""
    _DOCUMENT.write_text(with_row(_DOCUMENT.read_text(), version, java, cell))
