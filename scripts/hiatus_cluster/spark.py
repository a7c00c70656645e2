"""Spark of PyPI on this Hadoop: clients that submit applications in Python."""

from . import daemons, layout, toolchain

#: What pins it.
REQUIREMENTS = layout.ROOT / "scripts" / "hiatus_cluster" / "experiments" / "spark-requirements.txt"
#: Two stages of tasks that work for a while; it fails unless each counts once.
STAGES = layout.ROOT / "scripts" / "hiatus_cluster" / "experiments" / "spark_stages.py"
_PLUGIN = "io.hiatus.spark.HiatusPlugin"


def prepare(say):
    """The Python that has it."""
    say("PySpark")
    return toolchain.python_with(layout.BUILD / "spark", REQUIREMENTS)


def command(cluster, python, mode, application, *arguments, told=False, conf=None):
    """The command line and environment of a client that submits a program in this deploy mode; ``told``: with the plugin."""
    home = next((python.parent.parent / "lib").glob("python3*/site-packages/pyspark"))
    local = {"spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1", "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1", "spark.ui.port": 0}
    plugin = {"spark.plugins": _PLUGIN, "spark.jars": layout.product_jar("spark")} if told else {}
    conf = {"spark.yarn.jars": f"local:{home}/jars/*", "spark.yarn.stagingDir": (cluster.dir / "staging").as_uri(),
            "spark.pyspark.python": python, "spark.local.dir": cluster.dir / "spark", "spark.driver.memory": "512m", **local, **plugin, **(conf or {})}
    settings = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    _, env = cluster.command(["yarn", "node"])
    env = {**env, "PYSPARK_PYTHON": str(python), "YARN_CONF_DIR": env["HADOOP_CONF_DIR"], "SPARK_LOCAL_IP": "127.0.0.1",
           daemons.MARK: str(cluster.dir)}
    return [home / "bin" / "spark-submit", "--master", "yarn", "--deploy-mode", mode, *settings, application, *map(str, arguments)], env
