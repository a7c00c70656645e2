"""Where things lie in this repository."""

import os
import subprocess
from pathlib import Path

from .errors import ClusterError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
#: Hadoop's native library, which secure clusters need.
HADOOP_NATIVE = BUILD / "hadoop-native"
#: Python packages that replays need, to check outputs and to plot.
REPLAY_REQUIREMENTS = ROOT / "scripts" / "hiatus_cluster" / "replay" / "requirements.txt"
#: Where the scheduler's jar takes native libraries from.
NATIVE = ROOT / "java" / "scheduler" / "build" / "native"
#: The default state directory of ``scripts/cluster``.
DEFAULT_CLUSTER = BUILD / "cluster"


def run_on(version):
    """Has this process, and those that it starts, run on that Hadoop; nothing: on the one that the product is compiled against."""
    global HADOOP, HADOOP_LIB
    #: That version, or nothing.
    HADOOP = os.environ["HIATUS_HADOOP"] = version
    #: Hadoop's jars, as collected by the build.
    HADOOP_LIB = BUILD / (f"hadoop-{version}" if version else "hadoop") / "lib"
    return version


run_on(os.environ.get("HIATUS_HADOOP", ""))


def hadoop_option(parser):
    """``--hadoop VERSION`` of a command."""
    parser.add_argument("--hadoop", type=run_on, choices=tested_hadoops(), metavar="VERSION", help="run on that version, as with "
                        "HIATUS_HADOOP in the environment; default: the one that the product is compiled against")


def tested_hadoops():
    """The versions that the product was tested with, oldest first."""
    lines = (ROOT / "java" / "scheduler" / "src" / "main" / "resources" / "hadoop-versions").read_text().split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def git(*words):
    """What git prints of this repository; nothing where it fails, as in one that was unpacked."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def commit():
    """The commit that is checked out, in short."""
    return git("rev-parse", "--short", "HEAD")


def cargo_target():
    """Where Cargo puts what it builds."""
    return ROOT / Path(os.environ.get("CARGO_TARGET_DIR", "target"))


def native_library(machine):
    """The one for that kind of machine, as ``uname -m`` calls it."""
    return NATIVE / f"linux-{machine}" / "libhiatus.so"


def product_jar(module):
    """The jar the build made of ``java/<module>``; the newest, should versions lie side by side."""
    jars = [jar for jar in (ROOT / "java" / module / "build" / "libs").glob(f"hiatus-{module}-*.jar")
            if not jar.stem.endswith(("-sources", "-javadoc", "-tests"))]
    if not jars:
        raise ClusterError(f"java/{module}/build/libs has no hiatus-{module} jar: run scripts/build first")
    return max(jars, key=lambda jar: jar.stat().st_mtime)


def hadoop_jar(name):
    """The jar of the distribution called ``name-<version>.jar``."""
    jars = sorted(HADOOP_LIB.glob(f"{name}-[0-9]*.jar"))
    if not jars:
        raise ClusterError(f"{HADOOP_LIB} has no {name} jar: run scripts/build first, with the same --hadoop")
    return jars[-1]
