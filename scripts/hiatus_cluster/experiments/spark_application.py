"""What scripts/experiment spark submits: tasks that work for a while, and in the end, as JSON, what Spark says of its executors."""

import json
import sys
import time
import urllib.request

from pyspark.sql import SparkSession

_STROKE_S = 0.1


def _work(number, seconds):
    for _ in range(int(seconds / _STROKE_S)):
        time.sleep(_STROKE_S)
    return number


def main(tasks, seconds):
    """Runs the tasks and tells their sum."""
    spark = SparkSession.builder.appName("parked").getOrCreate()
    context = spark.sparkContext
    total = context.parallelize(range(tasks), tasks).map(lambda number: _work(number, seconds)).sum()
    with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/allexecutors") as answer:
        executors = json.load(answer)
    removed = [one for one in executors if not one["isActive"]]
    print(json.dumps({"sum": total, "failed_tasks": sum(one["failedTasks"] for one in executors),
                      "removed": [{"id": one["id"], "removeReason": one.get("removeReason", "")} for one in removed]}))
    spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
