"""Tez on this Hadoop: clients that submit its example jobs."""

import os

from . import distribution, layout
from .building import GRADLE, run
from .daemons import MARK

LIB = layout.BUILD / "tez" / "lib"
#: Three vertices of tasks that do nothing for as long as they are told; `-m` tasks of `-mt` ms, and so on.
SLEEP = "org.apache.tez.mapreduce.examples.MRRSleepJob"
_EXAMPLES = "org.apache.tez.examples.ExampleDriver"
_REPORTS = "io.hiatus.tez.ReportingHistoryLoggingService"


def prepare(say):
    """Tez' jars."""
    say("Tez' jars")
    run(*GRADLE, "--quiet", "tezDist")


def example(name):
    """The words that run one of its examples."""
    return [_EXAMPLES, name]


def command(cluster, words, *arguments, told=False, **conf):
    """The command line and environment of a client that submits an application to the cluster; ``told``: it reports its vertices."""
    jars = [*sorted(LIB.glob("*.jar")), layout.product_jar("tez")]
    options = " ".join([*distribution.tuning_options(), *distribution.add_opens()])
    conf = {"tez.ignore.lib.uris": "true", "tez.cluster.additional.classpath.prefix": ":".join(map(str, jars)),
            "tez.use.cluster.hadoop-libs": "true", "tez.staging-dir": cluster.dir / "staging",
            "tez.am.resource.memory.mb": 256, "tez.task.resource.memory.mb": 256,
            "tez.am.launch.cmd-opts": options, "tez.task.launch.cmd-opts": options,
            **({"tez.history.logging.service.class": _REPORTS} if told else {}), **conf}
    words = [words] if isinstance(words, str) else words
    settings = [word for key, value in conf.items() for word in ("-D", f"{key}={value}")]
    line, env = cluster.command([*words, *settings, *map(str, arguments)], extra_jars=jars)
    return line, {**env, MARK: str(cluster.dir)}
