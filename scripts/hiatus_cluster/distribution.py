"""How Hadoop's programs are started from the jars the build collected: class path, JVM options, main classes."""

import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from functools import lru_cache
from pathlib import Path

from . import layout
from .errors import ClusterError

#: HDFS daemons look for ``webapps/<name>`` on the class path; the jars of Maven Central lack it and an empty folder does.
_WEBAPPS = ("hdfs", "datanode")
_MANIFEST = "META-INF/MANIFEST.MF"

#: Sub-commands of Hadoop's shell scripts and the class behind each.
COMMANDS = {
    "hdfs": {
        "dfs": "org.apache.hadoop.fs.FsShell",
        "dfsadmin": "org.apache.hadoop.hdfs.tools.DFSAdmin",
        "fsck": "org.apache.hadoop.hdfs.tools.DFSck",
        "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
        "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    },
    "yarn": {
        "app": "org.apache.hadoop.yarn.client.cli.ApplicationCLI",
        "application": "org.apache.hadoop.yarn.client.cli.ApplicationCLI",
        "applicationattempt": "org.apache.hadoop.yarn.client.cli.ApplicationCLI",
        "cluster": "org.apache.hadoop.yarn.client.cli.ClusterCLI",
        "container": "org.apache.hadoop.yarn.client.cli.ApplicationCLI",
        "logs": "org.apache.hadoop.yarn.client.cli.LogsCLI",
        "node": "org.apache.hadoop.yarn.client.cli.NodeCLI",
        "nodeattributes": "org.apache.hadoop.yarn.client.cli.NodeAttributesCLI",
        "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
        "queue": "org.apache.hadoop.yarn.client.cli.QueueCLI",
        "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
        "rmadmin": "org.apache.hadoop.yarn.client.cli.RMAdminCLI",
        "schedulerconf": "org.apache.hadoop.yarn.client.cli.SchedConfCLI",
        "top": "org.apache.hadoop.yarn.client.cli.TopCLI",
    },
    "mapred": {
        "historyserver": "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
        "job": "org.apache.hadoop.mapred.JobClient",
        "queue": "org.apache.hadoop.mapred.JobQueueClient",
    },
}
#: One server, which the ResourceManager brings along.
ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
#: Commands whose class serves several sub-commands and wants to be told which.
_NAMES_ITSELF = {"app", "application", "applicationattempt", "container"}


@lru_cache(maxsize=None)
def java_home():
    """The JDK in use: JAVA_HOME, else the home of the ``java`` on PATH."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return Path(home)
    java = shutil.which("java")
    if not java:
        raise ClusterError("no Java found: run scripts/build, or set JAVA_HOME to a JDK (8 or newer)")
    return Path(java).resolve().parents[1]


@lru_cache(maxsize=None)
def java_major():
    """The feature release of the JDK in use: 8, 11, 17 …"""
    text = subprocess.run([java_home() / "bin" / "java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    if not found:
        raise ClusterError(f"{java_home()}/bin/java -version says nothing understandable: {text.strip()[:200]}")
    return int(found.group(1))


def hadoop_version():
    """The version of the Hadoop to run on."""
    return layout.hadoop_jar("hadoop-yarn-server-resourcemanager").stem.rpartition("-")[2]


def class_path_jar():
    """One jar whose manifest names all others, in an order that never changes: an archive of classes belongs to a class path."""
    jars = sorted(layout.HADOOP_LIB.glob("*.jar"))
    if not any(jar.name.startswith("hadoop-yarn-server-resourcemanager-") for jar in jars):
        raise ClusterError(f"no Hadoop in {layout.HADOOP_LIB}: run scripts/build first, with the same --hadoop")
    target = layout.HADOOP_LIB.parent / "classpath.jar"
    names = " ".join(f"lib/{jar.name}" for jar in jars)
    line = f"Class-Path: {names}"
    wrapped = "\r\n ".join([line[:70], *(line[i:i + 69] for i in range(70, len(line), 69))])
    manifest = f"Manifest-Version: 1.0\r\n{wrapped}\r\n\r\n".encode()
    if not _holds(target, manifest):
        partial = target.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(partial, "w") as archive:
            archive.writestr(_MANIFEST, manifest)
        partial.replace(target)
    return target


def _holds(jar, manifest):
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.read(_MANIFEST) == manifest
    except (OSError, zipfile.BadZipFile, KeyError):
        return False


def class_path(conf_dir, extra_jars=()):
    """Class path of a Hadoop process: jars first, since an archive of classes is used only by a class path that starts as its own."""
    home = layout.HADOOP_LIB.parent
    for name in _WEBAPPS:
        (home / "webapps" / name).mkdir(parents=True, exist_ok=True)
    return ":".join(map(str, [class_path_jar(), *extra_jars, home, conf_dir]))


def container_class_path(conf_dir):
    """Class path of what runs inside containers, as Hadoop's ``*.application.classpath`` properties want it."""
    return f"{class_path_jar()},{conf_dir}"


def tuning_options():
    """Options of every JVM of the cluster, containers too: small, quick to start, one archive of shared classes."""
    options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true"]
    archive = class_archive()
    if archive and archive.exists():
        options += ["-Xshare:auto", f"-XX:SharedArchiveFile={archive}"]
    return options


def class_archive():
    """Where the archive of parsed and verified classes of exactly these jars and this JVM lies, once ``class_sharing`` made it.

    None where the JVM has no such archives (before 11).
    """
    if java_major() < 11:
        return None
    key = hashlib.sha256(str(java_home()).encode())
    for jar in [java_home() / "lib" / "modules", class_path_jar(), *sorted(layout.HADOOP_LIB.glob("*.jar"))]:
        stat = jar.stat()
        key.update(f"{jar} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return layout.HADOOP_LIB.parent / f"classes-{java_major()}-{key.hexdigest()[:12]}.jsa"


def add_opens():
    """Hadoop's daemons reach into the JDK; from Java 9 on the JVM wants to be told."""
    return ["--add-opens=java.base/java.lang=ALL-UNNAMED"] if java_major() >= 9 else []


def command_line(main_class, arguments, conf_dir, *, heap_mb=128, extra_jars=(), properties=(), options=()):
    """The argument list that runs ``main_class`` with the Hadoop class path and the configuration of ``conf_dir``."""
    return [str(java_home() / "bin" / "java"), f"-Xmx{heap_mb}m", *tuning_options(), *add_opens(), *options,
            *(f"-D{key}={value}" for key, value in dict(properties).items()),
            f"-Dlog4j.configuration={(Path(conf_dir) / 'log4j.properties').as_uri()}",
            "-cp", class_path(conf_dir, extra_jars), main_class, *map(str, arguments)]


def main_class_of(words):
    """Turns ``yarn queue -status default`` into a main class and its arguments; a class name stands for itself."""
    words = list(words)
    if not words:
        raise ClusterError("nothing to run: give for example `yarn node -list`, `hdfs dfs -ls /`, `jar FILE …` or a class")
    first = words.pop(0)
    if first == "hadoop" and words:
        first = words.pop(0)
    if first == "jar":
        return "org.apache.hadoop.util.RunJar", words
    if first == "fs":
        return COMMANDS["hdfs"]["dfs"], words
    if first not in COMMANDS:
        if "." not in first:
            raise ClusterError(f"unknown command {first!r}: hdfs, yarn, mapred, jar, fs or a class name")
        return first, words
    name = words.pop(0) if words else ""
    if name not in COMMANDS[first]:
        known = ", ".join(sorted(COMMANDS[first]))
        raise ClusterError(f"{first} {name}: no such sub-command; there are {known}")
    return COMMANDS[first][name], ([name] if name in _NAMES_ITSELF else []) + words
