"""What tests of the whole product share."""

import time
from collections import Counter


def wait_for(condition, what, timeout_s=60, every_s=0.2):
    """Polls until ``condition()`` is true and gives back what it returned; fails naming ``what`` after the time-out."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"after {timeout_s} s still not: {what}"
        time.sleep(every_s)


def put_text(cluster, path, text):
    """Writes a text file into the cluster's file system."""
    cluster.run("hdfs", "dfs", "-put", "-f", "-", path, stdin=text)


def read_counts(cluster, folder):
    """The result of a word count as a Counter."""
    lines = cluster.run("hdfs", "dfs", "-cat", f"{folder}/part-*").stdout.splitlines()
    return Counter({word: int(count) for word, count in (line.split("\t") for line in lines)})
