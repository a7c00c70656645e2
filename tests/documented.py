"""The commands in the documents, and running them as they stand there."""

import os
import re
import shlex
import subprocess
from functools import lru_cache

from hiatus_cluster import hiatus, layout, toolchain

#: What is read: docs/bench is left out, which tells what made its pages, not what to do.
DOCUMENTS = [layout.ROOT / "README.md", layout.ROOT / "CONTRIBUTING.md", *sorted((layout.ROOT / "docs").glob("*.md")),
             *sorted((layout.ROOT / "docs" / "design").glob("*.md"))]
#: A line, or a piece of a sentence, is a command if it begins with one of these and has more to it, or is a script.
_PROGRAM = rf"(?:HIATUS_\w+=\S+ )?(?:(?:yarn|hiatus|cargo|curl|tar|sha256sum|docker/mini-cluster|hiatus-[\d.]+/[\w-]+|scripts/{{}}) \S|scripts/{{}}$)"
_SCRIPTS = "(?:" + "|".join(path.name for path in (layout.ROOT / "scripts").iterdir() if path.is_file()) + ")"
_COMMAND = re.compile(_PROGRAM.format(_SCRIPTS, _SCRIPTS))

#: Hadoop's clients live for a second or two: nothing that a JVM does to be fast later is worth it.
_BRIEF = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@lru_cache(maxsize=None)
def commands():
    """Every command with the documents that have it: of blocks, fenced without a language or indented, and between backticks."""
    found = {}
    for path in DOCUMENTS:
        for text in _pieces(path.read_text()):
            text = " ".join(_without_comment(text).split())
            if _COMMAND.match(text) and path.name not in found.setdefault(text, []):
                found[text].append(path.name)
    return found


def beginning(*words):
    """The commands that begin with these words, to run each by a test."""
    begin = " ".join(words)
    return [text for text in commands() if text == begin or text.startswith(begin + " ")]


def _pieces(text):
    prose, fence = [], None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line if fence is None else None
        elif fence == "```" or fence is None and re.match(r" {4,}\S", line):
            yield line
        if fence is None:
            prose.append(line)
    for paragraph in "\n".join(prose).split("\n\n"):
        yield from re.findall(r"`([^`]+)`", paragraph)


def _without_comment(line):
    return re.split(r"\s#\s", line)[0]


class Shell:
    """Runs commands of the documents in a folder of its own, in which ``scripts`` are the repository's; or ``here``.

    ``filled`` has, for a part of a command, what stands there on this machine: ``{"<application id>": "application_1_0001"}``.
    """

    def __init__(self, folder, here=None, hadoop=None, filled=None):
        self.folder, self._here = folder, here or folder
        self.filled = dict(filled or {})
        (folder / "bin").mkdir()
        (folder / "scripts").symlink_to(layout.ROOT / "scripts")
        programs = {"hiatus": hiatus.path(), **({"yarn": hadoop / "bin" / "yarn"} if hadoop else {})}
        for name, path in programs.items():
            (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {shlex.quote(str(path))} "$@"\n')
            (folder / "bin" / name).chmod(0o755)

    def documented(self, command, more="", code=0, **environment):
        """Runs a command, given word by word as some document has it, and ``more`` behind it; gives back what it said."""
        line = f"{command} {more}"
        for part, real in self.filled.items():
            line = line.replace(part, str(real))
        tools = toolchain.environment()
        env = {**tools, "HADOOP_OPTS": _BRIEF, **environment, "PATH": f"{self.folder / 'bin'}{os.pathsep}{tools['PATH']}"}
        done = subprocess.run(["bash", "-c", line], cwd=self._here, env=env, capture_output=True, text=True)
        assert done.returncode == code, f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr
