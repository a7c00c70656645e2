"""Building the product, and a Hadoop to run it on."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from . import class_sharing, layout, toolchain
from .errors import ClusterError

#: Gradle, without a daemon that would stay behind.
GRADLE = ("gradle", "--console=plain", "--no-daemon")


def product(say):
    """The native library, the ``hiatus`` command and the jars; missing tools are installed if that is allowed."""
    toolchain.ensure(say)
    say("Rust")
    run("cargo", "build", "--release", "--locked", "-p", "hiatus-jni", "-p", "hiatus-sim")
    _place_native_library()
    say("Java")
    run(*GRADLE, "--quiet", "assemble")


def hadoop(say):
    """Hadoop's jars and the archive of their classes."""
    say("Hadoop's jars")
    run(*GRADLE, "--quiet", "hadoopDist")
    class_sharing.prepare(say)


def run(*command):
    """Runs a tool in the repository; its output is the user's. Raises ClusterError if it fails."""
    done = subprocess.run(command, cwd=layout.ROOT, env=toolchain.environment())
    if done.returncode:
        raise ClusterError(f"`{' '.join(map(str, command))}` ended with {done.returncode}")


def _place_native_library():
    """Puts libhiatus.so where the scheduler's jar takes it from."""
    target = layout.ROOT / Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    built = target / "release" / "libhiatus.so"
    place = layout.ROOT / "java" / "scheduler" / "build" / "native" / f"linux-{platform.machine()}" / "libhiatus.so"
    if not place.exists() or place.read_bytes() != built.read_bytes():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, place)
