"""What of yarn-site.xml is ours: docs/install.md says the same to people."""

SCHEDULER = "yarn.resourcemanager.scheduler.class"
EXECUTOR = "yarn.nodemanager.container-executor.class"
MODE = "yarn.scheduler.hiatus.mode"
#: What the names of all knobs of the ResourceManager begin with, and of all our classes.
KNOBS = "yarn.scheduler.hiatus."
CLASSES = "io.hiatus."

#: Each class of YARN's that one of ours takes the place of; the first is YARN's default.
SCHEDULERS = {
    "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler": "io.hiatus.scheduler.HiatusScheduler",
}
EXECUTORS = {
    "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor": "io.hiatus.nodemanager.HiatusDefaultContainerExecutor",
    "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor": "io.hiatus.nodemanager.HiatusLinuxContainerExecutor",
}


def stock(ours):
    """The class of YARN's that one of ours stands for; None for others."""
    return {value: key for classes in (SCHEDULERS, EXECUTORS) for key, value in classes.items()}.get(ours)
