"""Studies on real daemons. Each module has ``options(parser)`` and ``run(options, say)``; the first line of its text is its help."""

from . import (batchmr_live, chaos, flex_live, gp_live, ha, hfsp_live, like_live, mapreduce_live, predoop_live, pulses, simulated_nodes,
               small_live, spark, spark_sizes, speculation, suspend_overhead, tez, what_if)

EXPERIMENTS = {"batchmr-live": batchmr_live, "chaos": chaos, "flex-live": flex_live, "gp-live": gp_live, "ha": ha, "hfsp-live": hfsp_live,
               "like-live": like_live, "mapreduce-live": mapreduce_live, "predoop-live": predoop_live, "pulses": pulses,
               "simulated-nodes": simulated_nodes, "small-live": small_live, "spark": spark, "spark-sizes": spark_sizes, "speculation": speculation,
               "suspend-overhead": suspend_overhead, "tez": tez, "what-if": what_if}
