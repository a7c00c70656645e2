"""A Java for each kind of processor that releases are for: this machine's own, and others' by qemu."""

import os
import platform
import shutil
import subprocess

from hiatus_cluster import distribution, layout

#: What Debian calls the kinds of processors that `uname -m` calls so.
_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


class Unavailable(Exception):
    """There is no such Java here, and why."""


def java(machine):
    """The command of a Java that runs as on that machine. Another's is of Debian's packages, unpacked in a folder. Raises Unavailable."""
    if machine == platform.machine():
        return [distribution.java_home() / "bin" / "java"]
    root = layout.BUILD / f"debian-{_DEBIAN[machine]}"
    if not (root / "unpacked").exists():
        _unpack(root, machine)
        (root / "unpacked").touch()
    return [root / "usr" / "bin" / f"qemu-{machine}-static", "-L", root, next(root.glob("usr/lib/jvm/java-*/bin/java"))]


def _unpack(root, machine):
    """The packages of a Java of that machine, those that it loads, and this machine's qemu, into one folder."""
    architecture = _DEBIAN[machine]
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise Unavailable(f"packages of {architecture} are Debian's, and this machine has no {tool}")
    shutil.rmtree(root, ignore_errors=True)
    packages = root / "packages"
    (packages / "lists" / "partial").mkdir(parents=True)
    (packages / "status").touch()
    # As a machine of that architecture on which nothing is installed: this one's own state stays as it is.
    theirs = ["apt-get", *(word for option in (
        f"APT::Architecture={architecture}", f"APT::Architectures={architecture}", f"Dir::State={packages}",
        f"Dir::State::lists={packages / 'lists'}", f"Dir::State::status={packages / 'status'}", f"Dir::Cache={packages}",
        "APT::Sandbox::User=", "Acquire::Languages=none") for word in ("-o", option))]
    _run(packages, *theirs, "update")
    _run(packages, *theirs, "download", f"openjdk-{distribution.java_major()}-jre-headless", "libc6", "libgcc-s1", "libstdc++6", "zlib1g")
    _run(packages, "apt-get", "-o", "APT::Sandbox::User=", "download", "qemu-user-static")
    for package in packages.glob("*.deb"):
        _run(packages, "dpkg-deb", "--extract", package, root)
    shutil.rmtree(packages)
    for other in set(root.glob("usr/bin/qemu-*")) - {root / "usr" / "bin" / f"qemu-{machine}-static"}:  # hundreds of MB
        other.unlink()


def _run(folder, *command):
    done = subprocess.run(command, cwd=folder, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"`{' '.join(map(str, command))}` failed: {done.stderr.strip()[-500:]}")
