"""Building the product, and a Hadoop to run it on."""

import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from . import class_sharing, layout, portable, spark, toolchain
from .errors import ClusterError

#: Gradle, without a daemon that would stay behind.
GRADLE = ("gradle", "--console=plain", "--no-daemon")


def on_hadoop():
    """Gradle for the Hadoop to run on."""
    return (*GRADLE, f"-Phadoop={layout.HADOOP}") if layout.HADOOP else GRADLE


def product(say):
    """The native library, the ``hiatus`` command and the jars; missing tools are installed if that is allowed."""
    toolchain.ensure(say)
    say("Rust")
    _jars_for_this_system(say, _rust())


def product_and_hadoop(say, with_command=True, for_old_systems=False):
    """The product, with the ``hiatus`` command or without, and a Hadoop to run it on, which does not need the product: it is got
    while Rust compiles, much of which one processor does."""
    toolchain.ensure(say)
    say("Rust, and meanwhile what follows")
    with ThreadPoolExecutor(1) as beside:
        library = beside.submit(_rust, with_command)
        hadoop(say)
        built = library.result()
    if for_old_systems:
        jars_for_old_systems(say)
    else:
        _jars_for_this_system(say, built)


def _rust(with_command=True):
    """The native library that Cargo makes for this system, and the command."""
    run("cargo", "build", "--release", "--locked", "-p", "hiatus-jni", *(("-p", "hiatus-sim") if with_command else ()))
    return layout.cargo_target() / "release" / "libhiatus.so"


def _jars_for_this_system(say, library):
    _jars(say, {platform.machine(): library}, "; with `scripts/build --portable` it runs on older systems, too")


def jars_for_old_systems(say, machines=portable.MACHINES):
    """The jars alone, the native libraries in them for these processors and built against an old glibc."""
    toolchain.ensure(say)
    say(f"Rust, the native library for older systems on {' and '.join(machines)}")
    _jars(say, portable.build(say, machines))


def _jars(say, libraries, remark=""):
    _place_native_libraries(libraries)
    major, minor = max(map(portable.needed_glibc, libraries.values()))
    say(f"the native library needs glibc {major}.{minor} or newer{remark}")
    say("Java")
    run(*GRADLE, "--quiet", "assemble")


def hadoop(say):
    """Hadoop's jars and the archive of their classes."""
    hadoop_jars(say)
    class_sharing.prepare(say)


def hadoop_jars(say):
    """Hadoop's jars alone."""
    say("Hadoop's jars")
    run(*on_hadoop(), "--quiet", "hadoopDist")


def secure(say):
    """What secure clusters need beside Hadoop's jars: a KDC, its tools, curl (which speaks SPNEGO), and Hadoop's native library."""
    for program, package in (("krb5kdc", "krb5-kdc"), ("kadmin.local", "krb5-admin-server"), ("kinit", "krb5-user"), ("curl", "curl")):
        toolchain.program(program, package, say)
    if not (layout.HADOOP_NATIVE / "libhadoop.so").exists():
        say("Hadoop's native library")
        run(*GRADLE, "--quiet", "hadoopNative")


def every_hadoops_jars(say):
    """Those of every version that the product is for, each in a folder of its own, and of Sparks and Tezes: what the jars are checked against."""
    say("jars of every Hadoop, Spark and Tez that it is for")
    run(*GRADLE, "--quiet", "hadoopDist", "hadoopDists", "frameworkDists")


def frameworks(say):
    """Spark and Tez."""
    spark.prepare(say)
    say("Tez' jars")
    run(*GRADLE, "--quiet", "tezDist")


def run(*command):
    """Runs a tool in the repository; its output is the user's. Raises ClusterError if it fails."""
    done = subprocess.run(command, cwd=layout.ROOT, env=toolchain.environment())
    if done.returncode:
        raise ClusterError(f"`{' '.join(map(str, command))}` ended with {done.returncode}")


def _place_native_libraries(libraries):
    """Puts each machine's libhiatus.so where the scheduler's jar takes it from, and takes away those of an earlier build for other machines."""
    places = {layout.native_library(machine): library for machine, library in libraries.items()}
    for place in layout.NATIVE.glob("*/libhiatus.so"):
        if place not in places:
            place.unlink()
    for place, built in places.items():
        if not place.exists() or place.read_bytes() != built.read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(built, place)
