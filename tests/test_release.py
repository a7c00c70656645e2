"""What an administrator unpacks: whole, described, and the same bytes wherever it was built."""

import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import processors
from hiatus_cluster import distribution, layout, portable
from hiatus_cluster.errors import ClusterError
from hiatus_cluster.release import archive, assembly


def test_checksums_cover_every_file(release):
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=release, check=True)
    listed = {line.split("  ")[1] for line in (release / "SHA256SUMS").read_text().splitlines()}
    files = {str(path.relative_to(release)) for path in release.rglob("*") if path.is_file()}
    assert files - listed == {"SHA256SUMS"}
    packed = layout.BUILD / f"{release.name}.tar.gz"
    subprocess.run(["sha256sum", "--check", "--quiet", f"{packed.name}.sha256"], cwd=packed.parent, check=True)


def test_there_are_docs_jars_and_commands(release):
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/operations.md", "install", "uninstall", "check-config"):
        assert (release / name).is_file(), name
    assert len(list((release / "jars").glob(f"hiatus-*-{assembly.version()}.jar"))) == 3
    for name in ("spark", "tez"):
        assert (release / name / f"hiatus-{name}-{assembly.version()}.jar").is_file()
    assert all(os.access(release / name, os.X_OK) for name in ("install", "uninstall", "check-config"))


def test_the_bill_of_materials_is_valid_and_names_what_the_licences_are_of(release):
    text = (release / "hiatus.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    for name in ("jni", "serde_json", "hiatus-scheduler", "std"):
        assert f'"name": "{name}' in text, name
    assert '"name": "proptest"' not in text, "what only tests use is not bundled"
    listed = (release / "licences" / "README.md").read_text()
    assert "| serde_json |" in listed and list((release / "licences").glob("serde_json-*/LICENSE*"))


def test_a_version_nobody_wrote_of_is_not_released():
    changelog = "# Changelog\n\n## 1.2.0 – 2026-02-03\n"
    assert assembly.date(changelog, "1.2.0") == datetime.datetime(2026, 2, 3, tzinfo=datetime.timezone.utc)
    with pytest.raises(ClusterError, match="## 1.2.1 – YYYY-MM-DD"):
        assembly.date(changelog, "1.2.1")


def test_the_archive_depends_on_contents_alone(tmp_path):
    """Not on times, order, owner or modes beyond whether somebody may run a file."""
    packed = []
    for name, moment in (("a", 1_000_000_000), ("b", 1_500_000_000)):
        folder = tmp_path / name / "thing"
        folder.mkdir(parents=True)
        for file in sorted(("run", "read"), reverse=name == "b"):
            (folder / file).write_text(file)
            os.utime(folder / file, (moment, moment))
        (folder / "run").chmod(0o755 if name == "a" else 0o700)
        packed.append(tmp_path / f"{name}.tar.gz")
        archive.pack(folder, packed[-1], 1_700_000_000)
    assert packed[0].read_bytes() == packed[1].read_bytes()
    with tarfile.open(packed[0]) as tar:
        assert [(entry.name, oct(entry.mode), entry.mtime) for entry in tar] == [
            ("thing", "0o755", 1_700_000_000), ("thing/read", "0o644", 1_700_000_000), ("thing/run", "0o755", 1_700_000_000)]


@pytest.mark.parametrize("machine", portable.MACHINES)
def test_its_library_decides_the_same_on_every_processor(release, machine, tmp_path, pytestconfig):
    """A thousand steps by the library in the jar, from a Java of that machine; all of them say the same as this machine's own."""
    if not (pytestconfig.getoption("--release") or layout.native_library(machine).exists()):
        pytest.skip(f"the release was not built for {machine}")
    jars = [release / "jars" / f"hiatus-scheduler-{assembly.version()}.jar", *map(layout.hadoop_jar, ("commons-io", "slf4j-api"))]
    subprocess.run([distribution.java_home() / "bin" / "javac", "-Xlint:all", "-Werror", "-cp", ":".join(map(str, jars)), "-d", tmp_path,
                    Path(__file__).parent / "processors" / "Steps.java"], check=True)

    def steps(on):
        command = [*processors.java(on), "-cp", ":".join(map(str, [tmp_path, *jars])), "Steps", tmp_path / "extracted"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    try:
        told = steps(machine)
    except processors.Unavailable as error:
        if pytestconfig.getoption("--release"):
            raise
        pytest.skip(f"no Java for {machine}: {error}")
    assert re.fullmatch(r"1000 steps: decisions \{101=\d+, 102=\d+, 103=\d+\}, checksum \d+\n", told), told
    assert told == steps(platform.machine())


@pytest.mark.release
def test_built_elsewhere_it_is_the_same_byte_by_byte(release, tmp_path):
    """From a copy of the sources in another folder, with nothing that was built before but the linker."""
    tree = tmp_path / "some" / "where" / "else"
    built = ("target", "build", ".gradle", ".venv", ".git", "__pycache__")
    shutil.copytree(layout.ROOT, tree, ignore=lambda folder, names: [name for name in names if name in built], symlinks=True)
    (tree / "build").mkdir()
    (tree / "build" / "portable-tools").symlink_to(layout.BUILD / "portable-tools")
    subprocess.run([sys.executable, tree / "scripts" / "release"], cwd=tmp_path, check=True)
    first, second = (root / "build" / f"{release.name}.tar.gz" for root in (layout.ROOT, tree))
    assert archive.sha256(first) == archive.sha256(second)
