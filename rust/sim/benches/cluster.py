#!/usr/bin/env python3
"""The cluster simulator on a whole recorded day: Facebook's 24,442 jobs of 2010 on 600 nodes.

  scripts/bench cluster [--policy NAME] [--preemption HOW] [--nodes N] [--jobs N] [--out FILE.md]
"""
import argparse
import csv
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from sim import ROOT, build, publish, table


def simulate(hiatus, args):
    """A row of the table: what the simulation did, and what that took."""
    command = [hiatus, "simulate", "cluster", "--workload", "swim:fb-2010", "--jobs", str(args.jobs), "--nodes", str(args.nodes),
               "--policy", args.policy, "--preemption", args.preemption, "--format", "csv"]
    print("+ " + shlex.join(command), file=sys.stderr)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as told:
        child = subprocess.Popen(command, stdout=out, stderr=told)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        told.seek(0)
        if child.returncode:
            sys.exit(told.read())
        events, steps = map(int, re.search(r"(\d+) events, (\d+) steps", told.read()).groups())
        sojourn = next(csv.DictReader(out))
    cpu = usage.ru_utime + usage.ru_stime
    return [f"{args.jobs:,}", f"{events:,}", f"{steps:,}", f"{cpu:.0f}", f"{events / cpu:,.0f}", f"{usage.ru_maxrss / 1024:.0f}",
            f"{float(sojourn['mean_s']):.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="hfsp")
    parser.add_argument("--preemption", default="suspend")
    parser.add_argument("--nodes", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=24_442, help="the first so many")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench/cluster.md")
    args = parser.parse_args()
    hiatus = build("--bin", "hiatus")["hiatus"]
    columns = ["jobs", "events", "steps of the core", "CPU s", "events per CPU s", "peak memory, MiB", "mean response, s"]
    how = (f"one thread. Facebook's trace of 2010 (SWIM) on {args.nodes} nodes of 8 containers with a heartbeat a second, "
           f"policy `{args.policy}`, preemption `{args.preemption}`.")
    publish(args.out, "cluster", "The cluster simulator, measured", how, [table(columns, [simulate(hiatus, args)])])


if __name__ == "__main__":
    main()
