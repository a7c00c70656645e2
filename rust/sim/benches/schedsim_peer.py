#!/usr/bin/env python3
"""Run schedsim (the public repository bigfootproject/schedsim) on a CSV of jobs.

  SCHEDSIM=CHECKOUT schedsim_peer.py JOBS.csv [--repeat N] [--completions]

Prints one JSON object per policy: its name here, the median CPU seconds and, if asked for, the completion times.
schedsim needs the module blist; where that cannot be built, sortedcontainers stands in for it.
"""
import argparse
import csv
import json
import os
import statistics
import sys
import time
import types


def import_schedsim():
    try:
        import blist  # noqa: F401
    except ImportError:
        try:
            from sortedcontainers import SortedDict, SortedList
        except ImportError:
            sys.exit("schedsim needs blist or sortedcontainers: python3 -m pip install sortedcontainers")
        stand_in = types.ModuleType("blist")
        stand_in.blist, stand_in.sorteddict, stand_in.sortedlist = list, SortedDict, SortedList
        sys.modules["blist"] = stand_in
    sys.path.insert(0, os.environ["SCHEDSIM"])
    import schedulers
    import simulator
    return schedulers, simulator


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--completions", action="store_true")
    args = parser.parse_args()
    schedulers, simulator = import_schedsim()
    with open(args.jobs, newline="") as rows:
        rows = list(csv.DictReader(rows))
    jobs = [(i, float(row["arrival"]), float(row["size"])) for i, row in enumerate(rows)]
    estimates = [float(row["estimate"]) for row in rows]
    weights = [float(row["weight"]) for row in rows] if "weight" in rows[0] else None

    def run(scheduler, estimated, priorities):
        estimate = simulator.fixed_estimations(estimates) if estimated else simulator.identity
        start = time.process_time()
        done = list(simulator.simulator(jobs, scheduler, estimate, priorities))
        return time.process_time() - start, done

    policies = [
        ("fifo", schedulers.FIFO, False), ("ps", schedulers.PS, False), ("las", schedulers.LAS, False),
        ("srpt", schedulers.SRPT, False), ("fsp", schedulers.FSP, False), ("srpte", schedulers.SRPT, True),
        ("srpte+ps", schedulers.SRPT_plus_PS, True), ("srpte+las", schedulers.SRPT_plus_LAS, True),
        ("fspe", schedulers.FSP, True), ("fspe+ps", schedulers.FSP_plus_PS, True),
        ("fspe+las", schedulers.FSP_plus_LAS, True), ("fspe+dc", schedulers.FSPE_PS_DC, True),
    ]
    if weights:
        policies = [("gps", schedulers.GPS, False), ("psbs", schedulers.PSBS, True)]
    else:
        policies.append(("psbs", schedulers.FSPE_PS, True))
    for name, scheduler, estimated in policies:
        runs = [run(scheduler, estimated, weights) for _ in range(args.repeat)]
        result = {"policy": name, "cpu_s": statistics.median(cpu for cpu, _ in runs)}
        if args.completions:
            completions = [0.0] * len(jobs)
            for at, job in runs[0][1]:
                completions[job] = at
            result["completions"] = completions
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
