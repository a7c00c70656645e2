"""A native library for Linux distributions that are older than this machine's."""

import os
import platform
import re
import subprocess

from . import layout, toolchain
from .errors import ClusterError

#: The oldest glibc that Rust itself supports: RHEL 7, Ubuntu 14.04, Debian 8, and everything later.
OLDEST_GLIBC = (2, 17)
_REQUIREMENTS = layout.ROOT / "scripts" / "hiatus_cluster" / "portable.txt"


def build():
    """Builds libhiatus with Zig as the linker, against a glibc of that age; returns the file. Raises ClusterError."""
    tools = toolchain.python_with(layout.BUILD / "portable-tools", _REQUIREMENTS).parent
    triple = f"{platform.machine()}-unknown-linux-gnu"
    command = ["cargo", "zigbuild", "--release", "--locked", "-p", "hiatus-jni", "--lib",
               "--target", f"{triple}.{'.'.join(map(str, OLDEST_GLIBC))}"]
    environment = toolchain.environment()
    environment["PATH"] = os.pathsep.join([str(tools), environment["PATH"]])
    done = subprocess.run(command, cwd=layout.ROOT, env=environment)
    if done.returncode:
        raise ClusterError(f"`{' '.join(command)}` ended with {done.returncode}; is the Rust target {triple} installed?")
    library = layout.cargo_target() / triple / "release" / "libhiatus.so"
    if needed_glibc(library) > OLDEST_GLIBC:
        raise ClusterError(f"{library} needs glibc {needed_glibc(library)}, not {OLDEST_GLIBC} or older as it should")
    return library


def needed_glibc(library):
    """The version of glibc that a shared library needs at least, as (2, 17); (0, 0) if it names none."""
    # Versions are among the strings of its dynamic symbol table, each between zero bytes.
    names = re.findall(rb"(?<=\0)GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", library.read_bytes())
    return max(((int(major), int(minor)) for major, minor in names), default=(0, 0))
