"""Documents: every command in them is one that exists, with options it takes, and every link leads somewhere.

Commands are only parsed here. ``install``, ``uninstall``, ``check-config`` and ``yarn rmadmin -refreshQueues`` are run by ``test_newcomer`` and
``test_install``, with other folders. What stands in indented blocks and within sentences is not looked at.
"""

import re
import shlex
import subprocess
from functools import lru_cache

import pytest

from hiatus_cluster import layout
from hiatus_cluster.release import assembly

_DOCS = [layout.ROOT / "README.md", *sorted((layout.ROOT / "docs").glob("*.md"))]
#: Other people's programs that documents may call; their options are not looked at.
_FOREIGN = {"cargo", "hiatus", "sha256sum", "tar"}
#: Commands of bin/yarn that documents may call.
_YARN = {"rmadmin -refreshQueues", "jar", "hiatus"}


def _commands():
    """The lines between fences that name no language."""
    for path in _DOCS:
        fence = None
        for line in path.read_text().splitlines():
            if line.startswith("```"):
                fence = line if fence is None else None
            elif fence == "```" and (words := shlex.split(line, comments=True)):
                yield pytest.param(words, id=f"{path.name}: {line.split('#')[0].strip()}")


@lru_cache(maxsize=None)
def _help(program):
    done = subprocess.run([program, "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", _commands())
def test_every_command_exists_with_its_options(words):
    program, *rest = words
    if program in _FOREIGN:
        return
    if program == "yarn":
        assert any(" ".join(rest).startswith(known) for known in _YARN), words
        return
    path = _program(program)
    assert path.is_file(), f"{program} does not exist"
    if path.name == "check-config":  # a shell script; test_newcomer runs it
        assert rest[0] == "--hadoop" and len(rest) == 3
        return
    options = [word.split("=")[0] for word in rest if word.startswith("--")]
    known = " ".join([_help(path), *(_sub(path, rest[0]) for _ in rest[:1] if not rest[0].startswith("-"))])
    assert all(option in known for option in options), f"{options}: {known}"


def _program(name):
    """A script of the repository, or of a release that was unpacked."""
    unpacked = f"hiatus-{assembly.version()}/"
    return assembly.SCRIPTS / name[len(unpacked):] if name.startswith(unpacked) else layout.ROOT / name


@lru_cache(maxsize=None)
def _sub(path, command):
    done = subprocess.run([path, command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0, f"{path.name} has no command {command}: {done.stderr}"
    return done.stdout


def _anchors(path):
    """GitHub's anchors of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", _DOCS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if target.startswith(("http:", "https:")):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), f"{path.name}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in _anchors(file), f"{path.name}: {target}; there are {sorted(_anchors(file))}"
