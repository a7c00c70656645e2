"""All that is claimed of Hiatus, measured at one commit, and a page of it with a row for each claim.

Studies run one after the other. What is there of a commit is not run again, so a run that was cut goes on.
"""

import json
import os
import platform
import re
import time
from dataclasses import dataclass
from datetime import date

from . import hiatus, layout
from .errors import ClusterError

PAGE = layout.ROOT / "docs" / "evidence.md"
#: Sources of claims, with how their studies' names begin, in the order of the page.
SOURCES = {
    "Thesis, chapter 3 (one server)": ("table-3", "fig-3", "checks-3", "speed-3"),
    "Thesis, chapter 4 (examples)": ("fig-4",),
    "Thesis, chapter 5 (HFSP on a cluster)": ("fig-5", "checks-5", "causes-5"),
    "FLEX": ("flex-",),
    "GP": ("gp-",),
    "BatchMR": ("batchmr-",),
    "Predoop": ("predoop-",),
    "Our own studies": ("hints", "forecast", "recurring", "distance", "remainders", "like-jobs", "held-out"),
}
#: Studies, those that take seconds before those that take minutes; the two that measure time come last.
ORDER = (
    "fig-4.1", "fig-4.2", "fig-4.4", "fig-5.7", "fig-3.1", "table-3.1", "flex-5a", "flex-5b", "flex-larger", "predoop-bins", "fig-3.7", "fig-3.8", "fig-3.9",
    "fig-3.6", "checks-3", "fig-5.3", "fig-5.11", "fig-5.4", "fig-5.9", "fig-5.2", "fig-5.6", "fig-5.1", "fig-5.5", "checks-5", "flex-base", "flex-5c", "flex-6a",
    "flex-6b", "flex-6c", "flex-6-sizes", "flex-more-jobs", "hints", "recurring", "gp-idle", "gp-busy", "gp-causes", "gp-variants", "predoop-idle",
    "predoop-causes", "predoop-programs", "predoop-grid", "predoop-nodes", "batchmr-motivation", "batchmr-sweeps", "batchmr-sweeps-literal",
    "batchmr-causes", "batchmr-placement", "batchmr-speculation", "flex-side-by-side", "held-out", "remainders", "like-jobs", "fig-3.10", "fig-3.11",
    "fig-3.2", "fig-3.3", "fig-3.4", "fig-3.5", "causes-5", "distance", "forecast", "speed-3", "flex-bench",
)
_FAILED = re.compile(r"\*\*(.+?)\*\*")
_MADE = re.compile(r"^Made by .*?\bat commit ([0-9a-f]{7,})", re.MULTILINE | re.DOTALL)
_CLAIM = re.compile(r"^- \*\*(.+) (PASS|FAIL)\*\*: (.+)$", re.MULTILINE)


@dataclass
class Row:
    """A claim, and what came of it."""

    name: str  #: empty in pages of experiments
    claim: str
    passes: bool
    measured: str

    def cells(self):
        """Of a table: what fails is told with its figures, what holds is in the study's own page."""
        verdict, why = ("holds", "") if self.passes else ("**does not**", "; ".join(_FAILED.findall(self.measured)) or self.measured)
        return [self.name, self.claim, verdict, why]


def commit():
    """The commit that is checked out. Raises ClusterError if there is none, or what is built differs from it."""
    changed = layout.git("status", "--porcelain", "--", "Cargo.toml", "Cargo.lock", "rust")
    if changed:
        raise ClusterError(f"evidence is of one commit, and these files are of none: commit them first\n{changed}")
    if not (checked_out := layout.commit()):
        raise ClusterError(f"evidence is of one commit, and {layout.ROOT} is no git repository: clone it")
    return checked_out


def folder(of):
    """Where what was measured at a commit is kept."""
    return layout.BUILD / "evidence" / of


def missing(kept, studies=ORDER):
    """Of the studies those that were not run to their end, in order."""
    return [study for study in studies if not _took(kept, study).exists()]


def _took(kept, study):
    """The file that says how long a study took. It is written last."""
    return kept / study / "seconds"


def run(kept, studies, say):
    """Runs these studies by the ``hiatus`` command that was built."""
    for study in studies:
        say(study)
        begin = time.monotonic()
        hiatus.run("reproduce", study, "--out", kept)
        _took(kept, study).write_text(f"{time.monotonic() - begin:.0f}\n")


def rows_of(kept, study):
    """What a study claims."""
    return [Row(one["id"], one["statement"], one["passes"], one["measured"]) for one in json.loads((kept / study / "claims.json").read_text())]


def live_rows(page):
    """What a page of docs/bench claims; its commit, if it says so."""
    text = page.read_text()
    made = _MADE.search(text)
    return made and made.group(1), [Row("", name, verdict == "PASS", measured) for name, verdict, measured in _CLAIM.findall(text)]


def of_studies(kept, of):
    """The page's beginning, from what was measured at a commit; what was not is named."""
    not_run = missing(kept)
    took = {study: int(_took(kept, study).read_text()) for study in ORDER if study not in not_run}
    rows = {study: rows_of(kept, study) for study in took}
    parts = {source: [study for study in took if study.startswith(begins)] for source, begins in SOURCES.items()}
    lines = ["# Evidence", "", _HEAD.format(commit=of, day=date.today(), machine=f"{os.cpu_count()} × {platform.machine()}", hours=sum(took.values()) / 3600), "",
             "| source | claims | hold | hours |", "|---|---|---|---|"]
    for source, studies in parts.items():
        claims = [row for study in studies for row in rows[study]]
        lines.append(_line([source, len(claims), _held(claims), f"{sum(took[study] for study in studies) / 3600:.2f}"]))
    if not_run:
        lines += ["", f"Not measured at that commit: {', '.join(f'`{study}`' for study in not_run)}."]
    for source, studies in parts.items():
        lines += ["", f"## {source}", "", "| claim | what | verdict | what does not hold | study |", "|---|---|---|---|---|"]
        lines += [_line([*row.cells(), f"`{study}`"]) for study in studies for row in rows[study]]
    return "\n".join(lines) + "\n\n"


def of_daemons(pages):
    """The page's end, from what pages of experiments say."""
    found = {page: live_rows(page) for page in pages}
    claims = [row for _, rows in found.values() for row in rows]
    lines = [_DAEMONS, "", _LIVE, "", f"{_held(claims)} of {len(claims)} hold.", "",
             "| page | what | verdict | what does not hold | commit |", "|---|---|---|---|---|"]
    for page, (made, rows) in found.items():
        lines += [_line([f"[{page.stem}](bench/{page.name})", *row.cells()[1:], made or "see the page"]) for row in rows]
    return "\n".join(lines) + "\n"


def renew(beginning=None):
    """Writes the page: its end anew, and its beginning if there is a new one."""
    if beginning is None:
        beginning = PAGE.read_text().partition(_DAEMONS)[0]
    PAGE.write_text(beginning + of_daemons(sorted((layout.ROOT / "docs" / "bench").glob("*.md"))))


def _held(claims):
    return sum(row.passes for row in claims)


def _line(cells):
    return f"| {' | '.join(map(str, cells))} |"


_HEAD = """\
Every claim that is checked, with its verdict. Made by `scripts/evidence` at commit {commit} on {day}, {machine}; its studies took {hours:.1f} hours.
Of a claim that does not hold the figures are here, with what they should be; the others' are in the study's own
document, and why something fails is told there: [chapters 3 to 6](experiments.md), [FLEX](experiments-flex.md),
[GP](experiments-gp.md), [BatchMR](experiments-batchmr.md), [Predoop](experiments-predoop.md), [how far from the
best possible](experiments-distance.md), [remainders](experiments-remainders.md)."""
_DAEMONS = "## Real daemons"
_LIVE = """\
Experiments on real daemons take hours each. They are run by themselves, so each page says at what commit it was made,
by which command, and what ran beside it."""
