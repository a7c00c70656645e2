"""Tez on this Hadoop: clients that submit its example jobs."""

import json

from . import distribution, layout
from .daemons import MARK
from .patience import until

LIB = layout.BUILD / "tez" / "lib"
#: Three vertices of tasks that do nothing for as long as they are told; `-m` tasks of `-mt` ms, and so on.
SLEEP = "org.apache.tez.mapreduce.examples.MRRSleepJob"
_EXAMPLES = "org.apache.tez.examples.ExampleDriver"
_REPORTS = "io.hiatus.tez.ReportingHistoryLoggingService"


def example(name):
    """The words that run one of its examples."""
    return [_EXAMPLES, name]


def command(cluster, words, *arguments, told=False, conf=None):
    """The command line and environment of a client that submits an application to the cluster; ``told``: it reports its vertices."""
    jars = [*sorted(LIB.glob("*.jar")), layout.product_jar("tez")]
    options = " ".join([*distribution.tuning_options(), *distribution.add_opens()])
    conf = {"tez.ignore.lib.uris": "true", "tez.cluster.additional.classpath.prefix": ":".join(map(str, jars)),
            "tez.use.cluster.hadoop-libs": "true", "tez.staging-dir": cluster.dir / "staging",
            "tez.am.resource.memory.mb": 256, "tez.task.resource.memory.mb": 256,
            "tez.am.launch.cmd-opts": options, "tez.task.launch.cmd-opts": options,
            **({"tez.history.logging.service.class": _REPORTS} if told else {}), **(conf or {})}
    words = [words] if isinstance(words, str) else words
    settings = [word for key, value in conf.items() for word in ("-D", f"{key}={value}")]
    line, env = cluster.command([*words, *settings, *map(str, arguments)], extra_jars=jars)
    return line, {**env, MARK: str(cluster.dir)}


def attempts(cluster, app):
    """What Tez' own history log says of each task attempt of an application that ended, as it has it: `status`, `startTime` and so on.

    Its client knows of the end before the last records are written.
    """
    until(lambda: cluster.rm.app(app)["state"] == "FINISHED", f"the ApplicationMaster of {app} is gone")
    logs = cluster.dir.glob(f"node*/logs/{app}/*/history.txt.*")
    events = [json.loads(record) for log in logs for record in log.read_text().split("\x01\n") if record.strip()]
    return [event["otherinfo"] for event in events if [one["eventtype"] for one in event.get("events", ())] == ["TASK_ATTEMPT_FINISHED"]]
