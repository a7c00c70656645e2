"""What scripts/experiment spark-sizes submits: two stages of tasks that work for a while; it fails unless each counts once."""

import sys
import time

from pyspark.sql import SparkSession

_STROKE_S = 0.1


def _work(number, seconds):
    for _ in range(round(seconds / _STROKE_S)):
        time.sleep(_STROKE_S)
    return number


def main(tasks, seconds, last_tasks, last_seconds):
    """Runs the tasks, and then the last ones, which get what those made by a shuffle."""
    spark = SparkSession.builder.getOrCreate()
    context = spark.sparkContext
    first = context.parallelize(range(tasks), tasks).map(lambda number: (number % last_tasks, _work(number, seconds)))
    last = first.reduceByKey(lambda one, other: one + other, last_tasks).mapPartitions(lambda found: [_work(sum(value for _, value in found), last_seconds)])
    total = last.sum()
    spark.stop()
    if total != sum(range(tasks)):
        raise SystemExit(f"the sum is {total}")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
