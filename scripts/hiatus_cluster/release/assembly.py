"""Puts the release together: build/hiatus-<version>.tar.gz."""

import datetime
import re
import shutil
import zipfile

from .. import layout, portable
from ..errors import ClusterError
from . import archive, bill, bundled

#: Jars that `install` puts into Hadoop, and those that users or administrators of another framework put beside its own.
_JARS = ("scheduler", "nodemanager", "mapreduce")
_OF_FRAMEWORKS = ("spark", "tez")
#: What an administrator gets as it is, beside the jars: ``install``, ``uninstall`` and what they share.
SCRIPTS = layout.ROOT / "release"


def version():
    """The product's version: the Cargo workspace's."""
    return re.search(r'^version = "([^"]+)"', (layout.ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)


def date(changelog, released):
    """The day of a version by its heading in the changelog (``## 1.2.3 – 2026-01-31``): no release depends on a clock. Raises ClusterError."""
    found = re.search(rf"^## {re.escape(released)} – (\d+)-(\d+)-(\d+)$", changelog, re.MULTILINE)
    if not found:
        raise ClusterError(f"CHANGELOG.md has no heading `## {released} – YYYY-MM-DD`: say what is new, and when")
    return datetime.datetime(*map(int, found.groups()), tzinfo=datetime.timezone.utc)


def assemble(say):
    """Makes the archive of what was built, with its checksum beside it, and returns it. Raises ClusterError."""
    released = version()
    day = date((layout.ROOT / "CHANGELOG.md").read_text(), released)
    folder = layout.BUILD / "release" / f"hiatus-{released}"
    shutil.rmtree(folder.parent, ignore_errors=True)
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(layout.ROOT / name, folder)
    shutil.copytree(layout.ROOT / "docs", folder / "docs")
    jars = [_jar(module, released, folder / "jars") for module in _JARS]
    jars += [_jar(module, released, folder / module) for module in _OF_FRAMEWORKS]
    _check_libraries(jars[0])
    say("licences and bill of materials")
    linked = [*bundled.crates(), bundled.rust()]
    bundled.write_licences(linked, folder / "licences")
    bill.write(folder / "hiatus.cdx.json", released, jars, linked)
    (folder / "SHA256SUMS").write_text(archive.sums(folder))
    packed = layout.BUILD / f"hiatus-{released}.tar.gz"
    archive.pack(folder, packed, int(day.timestamp()))
    packed.with_name(packed.name + ".sha256").write_text(f"{archive.sha256(packed)}  {packed.name}\n")
    return packed


def _jar(module, released, folder):
    jar = layout.product_jar(module)
    if jar.name != f"hiatus-{module}-{released}.jar":
        raise ClusterError(f"{jar} is not of version {released}: remove java/{module}/build/libs and build again")
    folder.mkdir(exist_ok=True)
    return shutil.copy(jar, folder / jar.name)


def _check_libraries(scheduler):
    """The libraries in the jar must be those that were built for releases. That they load, and fit the jar, is checked by tests."""
    wanted = {str(path.relative_to(layout.NATIVE.parent)) for path in layout.NATIVE.glob("*/libhiatus.so")}
    with zipfile.ZipFile(scheduler) as jar:
        inside = {name: jar.read(name) for name in jar.namelist() if name.endswith("libhiatus.so")}
    if inside.keys() != wanted:
        raise ClusterError(f"{scheduler} should have {sorted(wanted)}, and has {sorted(inside)}")
    for name, library in inside.items():
        needed = portable.glibc_of(library)
        if needed > portable.OLDEST_GLIBC:
            raise ClusterError(f"{name} in {scheduler} needs glibc {needed}, and should run with {portable.OLDEST_GLIBC}")
