"""Tables in Markdown, and the page that says how they were made."""

import os
import platform
import shlex
import sys
from datetime import date

from .. import evidence, layout


def table(title, columns, rows):
    """A table under a heading; numbers with two decimals, a dash for None."""
    lines = [f"## {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_text(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _text(cell):
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return "–" if cell is None else str(cell)


def claim(name, holds, evidence):
    """A line that says whether a claim holds, with its numbers."""
    return f"- **{name} {'PASS' if holds else 'FAIL'}**: {evidence}\n"


def write(name, title, method, parts, command="scripts/experiment"):
    """Prints the parts and writes them, under how they were made by which command, to docs/bench/<name>.md."""
    made = (f"Made by `{command} {shlex.join(sys.argv[1:])}` on {date.today()} at commit {layout.commit() or 'unknown'}, "
            f"{os.cpu_count()} × {platform.machine()}. Load average {os.getloadavg()[2]:.1f} in the last quarter of an hour.")
    text = "\n".join([f"# {title}", "", made, "", method, "", *parts])
    path = layout.ROOT / "docs" / "bench" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    evidence.renew()
    print("\n" + "\n".join(parts))
    print(f"written to {path.relative_to(layout.ROOT)}")
