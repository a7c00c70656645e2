"""An archive of parsed and verified classes (class data sharing), mapped by every JVM of the cluster.

On two cores, loading classes is most of what a short task does. The classes are those that a small training cluster loads.
"""

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

from . import distribution, layout
from .cluster import Cluster
from .configuration import Spec
from .errors import ClusterError

_OPTIONS = "JAVA_TOOL_OPTIONS"


def prepare(say):
    """Makes the archive unless there is one for these jars and this JVM. About a minute, once."""
    archive = distribution.class_archive()
    if archive is None or archive.exists():
        return
    for old in archive.parent.glob(f"classes-{distribution.java_major()}-*.jsa"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="training-", dir=layout.BUILD) as folder:
        say("class archive: training run on a small cluster")
        lists = Path(folder) / "lists"
        lists.mkdir()
        _train(Path(folder) / "cluster", lists)
        say("class archive: writing")
        _dump(lists, archive)


def _train(state_dir, lists):
    """Runs one of each daemon, a MapReduce job and a few clients, each writing down the classes it loads."""
    cluster = Cluster(state_dir)
    text = state_dir.parent / "text"
    text.write_text("\n".join(f"some words {number}" for number in range(2000)))
    with _environment(_OPTIONS, f"-XX:DumpLoadedClassList={lists}/%p"):
        try:
            whitelist = f"JAVA_HOME,HADOOP_CONF_DIR,HIATUS_CLUSTER,{_OPTIONS}"
            cluster.up(Spec(nodes=1, recovery=True, properties={"yarn.nodemanager.env-whitelist": whitelist}))
            cluster.run("hdfs", "dfs", "-put", str(text), "/text")
            cluster.run(*cluster.example("wordcount", "/text", "/words"))
            cluster.run("yarn", "node", "-list")
        finally:
            cluster.down()


def merge(lists):
    """The lines of several JVMs' lists in one, each once.

    Newer JVMs number the classes of a list, by which one names the super class of another that has a loader of its own: the numbers
    of two lists contradict each other, and such classes are left out.
    """
    return list(dict.fromkeys(line.partition(" id:")[0] for text in lists for line in text.splitlines()
                              if line and not line.startswith("#") and " source:" not in line))


def _dump(lists, archive):
    merged = lists / "merged"
    merged.write_text("\n".join(merge(path.read_text() for path in sorted(lists.iterdir()))))
    partial = archive.with_suffix(".new")
    done = subprocess.run([distribution.java_home() / "bin" / "java", "-Xshare:dump", f"-XX:SharedClassListFile={merged}",
                           f"-XX:SharedArchiveFile={partial}", "-cp", distribution.class_path_jar()],
                          capture_output=True, text=True)
    if done.returncode or not partial.exists():
        raise ClusterError(f"writing the class archive failed:\n{(done.stdout + done.stderr)[-2000:]}")
    partial.replace(archive)


@contextlib.contextmanager
def _environment(name, value):
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
