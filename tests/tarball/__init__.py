"""A Hadoop as it is unpacked from its tarball, made of the jars that the build collects, and a cluster that runs from such folders."""

import os
import re
import shutil
from pathlib import Path

from hiatus_cluster import distribution, layout
from hiatus_cluster.cluster import Cluster

#: Folder below share/hadoop of each of Hadoop's own jars, by the begin of its name; all others are common/lib.
_FOLDERS = (("hadoop-mapreduce-", "mapreduce"), ("hadoop-yarn-", "yarn"), ("hadoop-hdfs", "hdfs"), ("hadoop-common-", "common"))


def make(home, conf=None, jars=None):
    """Lays such a folder out; ``conf`` becomes its etc/hadoop, ``jars`` (default: those of the build) what is in it."""
    jars = sorted(layout.HADOOP_LIB.glob("*.jar")) if jars is None else jars
    for folder in ("common/lib", "hdfs/lib", "mapreduce", "yarn/lib"):
        (home / "share" / "hadoop" / folder).mkdir(parents=True)
    for jar in jars:
        folder = next((folder for begin, folder in _FOLDERS if jar.name.startswith(begin)), "common/lib")
        (home / "share" / "hadoop" / folder / jar.name).symlink_to(jar)
    (home / "bin").mkdir()
    shutil.copy(Path(__file__).parent / "yarn", home / "bin")
    (home / "etc").mkdir()
    if conf:
        (home / "etc" / "hadoop").symlink_to(conf)
    return home


class FromTarball(Cluster):
    """A cluster in which the ResourceManager and each node have a Hadoop folder of their own, and nothing else on their class paths."""

    def home(self, name):
        """The Hadoop folder of a daemon's machine."""
        return self.dir / "machines" / name

    def yarn(self, name, *words):
        """The command line of ``bin/yarn`` on a machine, and its environment."""
        return [self.home(name) / "bin" / "yarn", *map(str, words)], {"JAVA_HOME": str(distribution.java_home())}

    def _start(self, name):
        if not re.match("resourcemanager|nodemanager", name):
            return super()._start(name)
        kind = name.rstrip("0123456789")
        conf = self.dir / f"conf{'-node' + name[len(kind):] if name != kind else ''}"
        if not self.home(name).exists():
            make(self.home(name), conf)
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *distribution.add_opens(),
                   f"-Dhadoop.log.dir={self.dir / 'logs'}", f"-Djava.io.tmpdir={self.dir / 'tmp'}",
                   f"-Dlog4j.configuration={(conf / 'log4j.properties').as_uri()}"]
        line, env = self.yarn(name, kind)
        self.daemon(name).start(line, {**os.environ, **env, "HADOOP_OPTS": " ".join(options)})
        return None
