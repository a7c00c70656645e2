"""Whose code is in the native library: the crates linked into it, and Rust's own library, with their licences.

The jars bundle nothing else: what they need of Hadoop is Hadoop's.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .. import layout, portable, toolchain
from ..errors import ClusterError

_LIBRARY = "hiatus-jni"
_LICENCE_FILE = re.compile(r"(?i)(licen[sc]e|copying|unlicense|notice|copyright)")


@dataclass(frozen=True)
class Crate:
    """One crate in the native library."""

    name: str
    version: str
    licence: str  #: an SPDX expression
    source: str  #: where its source is published
    texts: tuple  #: its licence files


def crates():
    """The foreign crates linked into libhiatus, by name: not ours, not those of build scripts, macros and tests. Raises ClusterError."""
    targets = [word for machine in portable.MACHINES for word in ("--filter-platform", portable.triple(machine))]
    command = ["cargo", "metadata", "--format-version", "1", "--locked", *targets]
    done = subprocess.run(command, cwd=layout.ROOT, env=toolchain.environment(), capture_output=True, text=True)
    if done.returncode:
        raise ClusterError(f"`{' '.join(command)}` failed:\n{done.stderr}")
    metadata = json.loads(done.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
             for node in metadata["resolve"]["nodes"]}
    found, waiting = set(), [key for key, package in packages.items() if package["name"] == _LIBRARY]
    while waiting:
        key = waiting.pop()
        if key not in found and not _is_macro(packages[key]):
            found.add(key)
            waiting += needs[key]
    foreign = [packages[key] for key in found if packages[key]["source"]]
    return sorted(map(_crate, foreign), key=lambda crate: (crate.name, crate.version))


def _is_macro(package):
    return any("proc-macro" in target["kind"] for target in package["targets"])


def _crate(package):
    folder = Path(package["manifest_path"]).parent
    texts = sorted(path for path in folder.iterdir() if path.is_file() and _LICENCE_FILE.match(path.name))
    if not package["license"]:
        raise ClusterError(f"the crate {package['name']} names no licence: it cannot be released")
    source = package["repository"] or f"pkg:cargo/{package['name']}@{package['version']}"
    return Crate(package["name"], package["version"], package["license"], source, tuple(texts))


def rust():
    """Rust's own library, which is linked in as well, as a crate. Raises ClusterError."""
    done = subprocess.run(["rustc", "--version"], cwd=layout.ROOT, env=toolchain.environment(), capture_output=True, text=True)
    if done.returncode:
        raise ClusterError(f"`rustc --version` failed:\n{done.stderr}")
    return Crate("std", done.stdout.split()[1], "MIT OR Apache-2.0", "https://github.com/rust-lang/rust", ())


def write_licences(everything, folder):
    """A list of all, and the licence files of each that brings some."""
    lines = ["# What is bundled\n", "`libhiatus.so`, in the scheduler's jar, has code of others in it. Their licence files are in",
             "the folders here; who publishes none beside its code is named with its licence, of which `../LICENSE` is one text.\n",
             "| crate | version | licence | source |", "|---|---|---|---|"]
    for crate in everything:
        lines.append(f"| {crate.name} | {crate.version} | {crate.licence} | {crate.source} |")
        for text in crate.texts:
            place = folder / f"{crate.name}-{crate.version}" / text.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.read_bytes())
    (folder / "README.md").write_text("\n".join(lines) + "\n")
