"""The image of all daemons, with what the build made, and a base for it where no image registry is reached."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from .. import building, layout, toolchain
from . import engine

NAME = "hiatus/mini-cluster"
_LOCAL_BASE, _DEBIAN = "hiatus/base", "bookworm"
#: What belongs to containers only; beside it the Dockerfile.
FOLDER = layout.ROOT / "docker"


def options(parser):
    """What image to build on, as arguments of a command line."""
    parser.add_argument("--base", default=f"debian:{_DEBIAN}-slim", metavar="IMAGE", help="Docker image to build on (default: %(default)s)")
    parser.add_argument("--local-base", action="store_true",
                        help="build on a Debian made here instead, where packages but no image registry are reached; needs root")


def build(arguments, say):
    """Builds the product and the image."""
    building.product(say)
    building.hadoop_jars(say)
    base = _local_base(say) if arguments.local_base else arguments.base
    with tempfile.TemporaryDirectory(dir=layout.BUILD) as folder:
        context = Path(folder)
        shutil.copytree(layout.HADOOP_LIB, context / "hadoop" / "lib")
        shutil.copytree(FOLDER / "conf", context / "conf")
        for name in ("hadoop-command", "setsid-in-cgroup"):
            shutil.copy2(FOLDER / name, context)
        (context / "hiatus").mkdir()
        for module in ("scheduler", "nodemanager", "workload"):
            shutil.copy2(layout.product_jar(module), context / "hiatus")
        say(f"image {NAME} from {base}")
        engine.docker("build", "-q", "-t", NAME, "--build-arg", f"BASE={base}", "-f", FOLDER / "Dockerfile", context)


def _local_base(say):
    if subprocess.run(["docker", "image", "inspect", _LOCAL_BASE], capture_output=True).returncode:
        debootstrap = toolchain.program("debootstrap", "debootstrap", say)
        with tempfile.TemporaryDirectory(dir=layout.BUILD) as folder:
            say(f"making {_LOCAL_BASE}: debootstrap {_DEBIAN}")
            engine.run([debootstrap, "--variant=minbase", _DEBIAN, folder], stdout=subprocess.DEVNULL)
            archive = subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE)
            engine.docker("import", "-", _LOCAL_BASE, stdin=archive.stdout, stdout=subprocess.DEVNULL)
    return _LOCAL_BASE
