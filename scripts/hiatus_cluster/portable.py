"""Native libraries for other machines than this one: for older Linux distributions, and for each kind of processor."""

import os
import platform
import re
import subprocess

from . import layout, toolchain
from .errors import ClusterError

#: The oldest glibc that Rust itself supports: RHEL 7, Ubuntu 14.04, Debian 8, and everything later.
OLDEST_GLIBC = (2, 17)
#: Kinds of processors that a release is for, as `uname -m` calls them.
MACHINES = ("x86_64", "aarch64")
_REQUIREMENTS = layout.ROOT / "scripts" / "hiatus_cluster" / "portable.txt"


def triple(machine):
    """What Rust calls Linux with glibc on such a processor."""
    return f"{machine}-unknown-linux-gnu"


def build(say, machines):
    """Builds libhiatus for these of MACHINES with Zig as the linker, against a glibc of that age; returns the files by machine. Raises ClusterError.

    Where Rust cannot build for another processor there is none for that, which is said.
    Without what debuggers read: Zig's own part of that names the folder in which it was run.
    """
    lacks = {machine: toolchain.rust_target(triple(machine), say) for machine in machines}
    for machine in filter(lacks.get, machines):
        if machine == platform.machine():
            raise ClusterError(f"Rust cannot build for {machine}: {lacks[machine]}")
        say(f"NO library for {machine}: {lacks[machine]}")
    machines = [machine for machine in machines if not lacks[machine]]
    tools = toolchain.python_with(layout.BUILD / "portable-tools", _REQUIREMENTS).parent
    glibc = ".".join(map(str, OLDEST_GLIBC))
    command = ["cargo", "zigbuild", "--release", "--locked", "-p", "hiatus-jni", "--lib",
               *(word for machine in machines for word in ("--target", f"{triple(machine)}.{glibc}"))]
    environment = {**toolchain.environment(), "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(_unplaced()), "CARGO_PROFILE_RELEASE_STRIP": "debuginfo"}
    environment["PATH"] = os.pathsep.join([str(tools), environment["PATH"]])
    done = subprocess.run(command, cwd=layout.ROOT, env=environment)
    if done.returncode:
        raise ClusterError(f"`{' '.join(command)}` ended with {done.returncode}")
    libraries = {machine: layout.cargo_target() / triple(machine) / "release" / "libhiatus.so" for machine in machines}
    for library in libraries.values():
        if needed_glibc(library) > OLDEST_GLIBC:
            raise ClusterError(f"{library} needs glibc {needed_glibc(library)}, not {OLDEST_GLIBC} or older as it should")
    return libraries


def _unplaced():
    """Options of rustc by which it does not matter where the sources lie: the same sources make the same library."""
    cargo_home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    return [f"--remap-path-prefix={layout.ROOT}=/hiatus", f"--remap-path-prefix={cargo_home}=/cargo"]


def needed_glibc(library):
    """The version of glibc that a shared library needs at least, as (2, 17); (0, 0) if it names none."""
    return glibc_of(library.read_bytes())


def glibc_of(library):
    """The same of a library's bytes."""
    # Versions are among the strings of its dynamic symbol table, each between zero bytes.
    names = re.findall(rb"(?<=\0)GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", library)
    return max(((int(major), int(minor)) for major, minor in names), default=(0, 0))
