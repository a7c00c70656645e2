"""Where things lie in this repository."""

import os
from pathlib import Path

from .errors import ClusterError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
#: A version of Hadoop to run on that is not the one which the product is compiled against, or nothing.
HADOOP = os.environ.get("HIATUS_HADOOP", "")
#: Hadoop's jars, as collected by the build.
HADOOP_LIB = BUILD / (f"hadoop-{HADOOP}" if HADOOP else "hadoop") / "lib"
#: Python packages that replays need, to check outputs and to plot.
REPLAY_REQUIREMENTS = ROOT / "scripts" / "hiatus_cluster" / "replay" / "requirements.txt"
#: The default state directory of ``scripts/cluster``.
DEFAULT_CLUSTER = BUILD / "cluster"


def cargo_target():
    """Where Cargo puts what it builds."""
    return ROOT / Path(os.environ.get("CARGO_TARGET_DIR", "target"))


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
        raise ClusterError(f"{HADOOP_LIB} has no {name} jar: run scripts/build first")
    return jars[-1]
