"""Pig 0.18.0 on this Hadoop: a client for each script, as a job of a workload."""

from ... import distribution, jobs, layout
from ...building import GRADLE, run
from ...errors import ClusterError
from .data import TABLES

_LIB = layout.BUILD / "pig" / "lib"
_SCRIPTS = layout.ROOT / "scripts" / "hiatus_cluster" / "replay" / "pigmix" / "queries"
_CONF = "hiatus.workload.pig."
_CLIENT_MB = 512
#: Files that a query with reduces writes for each output.
PARALLEL = 2


def prepare(say):
    """Pig's jars."""
    say("Pig's jars")
    run(*GRADLE, "--quiet", "pigDist")


def submission(cluster_dir, name, at_s, query, tables, out):
    """A query as a job of a workload; ``tables`` is the folder of its data, ``out`` that of its output."""
    folders = [f"{table}={tables}/{table}" for table in TABLES]
    return jobs.job(name, at_s, "pig-script", _SCRIPTS / f"{query}.pig", f"out={out}", f"parallel={PARALLEL}", *folders,
                    conf={_CONF + "command": "\n".join(_command(cluster_dir)), _CONF + "logs": cluster_dir / "pig"})


def _command(cluster_dir):
    jars = sorted(_LIB.glob("*.jar"))
    if not jars:
        raise ClusterError(f"no Pig in {_LIB}: run scripts/replay")
    collections = next(jar for jar in jars if jar.name.startswith("commons-collections-"))
    own = [*jars, layout.product_jar("workload")]
    *line, _ = distribution.command_line("", [], cluster_dir / "conf-client", heap_mb=_CLIENT_MB, extra_jars=own, properties={
        "java.io.tmpdir": cluster_dir / "tmp",
        # Pig appends a garbage collector to tasks' options, and two make a JVM refuse to start: ours.
        "pig.gc.default.params": "-XX:+UseSerialGC",
        # Tasks of queries of several jobs need it, and neither Pig's jar nor Hadoop has it.
        "pig.additional.jars": collections,
        "pig.jobcontrol.sleep": 500,  # ms between looks at whether a script's next job may begin; 5000 by default
        "pig.noSplitCombination": "true",  # a file, a map
        # Pig's jars are put into HDFS once and not for every job.
        "pig.user.cache.enabled": "true",
        "pig.user.cache.location": "/pigmix/jars",
    })
    return line
