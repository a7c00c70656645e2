#!/usr/bin/env python3
"""Speed, growth and memory of the single-server simulator; beside schedsim where there is a checkout of it.

  [SCHEDSIM=CHECKOUT] [PEER_PYTHON=python3] scripts/bench sim [--out FILE.md] [--quick]
"""
import argparse
import csv
import json
import os
import platform
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PEER = Path(__file__).with_name("schedsim_peer.py")
# Seconds: schedsim counts service in these.
QUANTUM = 1e-6


def build(*targets):
    """Paths of what is freshly built, by name."""
    cargo = ["cargo", "build", "--release", "-p", "hiatus-sim", *targets, "--message-format=json"]
    built = subprocess.run(cargo, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    paths = {}
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable"):
            paths[message["target"]["name"]] = message["executable"]
    return paths


def json_lines(command, **options):
    print("+ " + shlex.join(map(str, command)), file=sys.stderr)
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return {row["policy"]: row for row in map(json.loads, ran.stdout.splitlines())}


def peer(jobs, *options):
    python = os.environ.get("PEER_PYTHON", "python3")
    return json_lines([python, PEER, jobs, *options])


def peak_bytes(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{shlex.join(command)} failed")
    return usage.ru_maxrss * 1024


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def speed(hiatus, single, scratch, compare):
    jobs = scratch / "speed.csv"
    subprocess.run([hiatus, "simulate", "single", "--policy", "fifo", "--synth", "njobs=10000", "--out", jobs],
                   check=True, stdout=subprocess.DEVNULL)
    ours = json_lines([single, "--jobs", jobs])
    theirs = peer(jobs, "--repeat", "7") if compare else {}
    rows = []
    for policy, row in ours.items():
        cells = [policy, f"{1e3 * row['cpu_s']:.3f}"]
        if compare:
            other = theirs.get(policy)
            cells += [f"{1e3 * other['cpu_s']:.0f}", f"{other['cpu_s'] / row['cpu_s']:.0f}"] if other else ["", ""]
        rows.append(cells)
    columns = ["policy", "ours, CPU ms"] + (["schedsim, CPU ms", "times faster"] if compare else [])
    return "## CPU time for 10,000 jobs\n\nMedians; shape 0.25, load 0.9, σ 0.5.\n\n" + table(columns, rows)


def growth(single, largest):
    small = json_lines([single, "--njobs", str(largest // 10), "--seconds", "0"])
    large = json_lines([single, "--njobs", str(largest), "--seconds", "0"])
    rows = [[policy, f"{small[policy]['cpu_s']:.4f}", f"{row['cpu_s']:.4f}",
             f"{row['cpu_s'] / small[policy]['cpu_s']:.1f}"] for policy, row in large.items()]
    columns = ["policy", f"{largest // 10:,} jobs, CPU s", f"{largest:,} jobs, CPU s", "ratio"]
    return f"## Growth\n\nTen times the jobs; n log n would be {11.7 if largest == 1_000_000 else 12:.1f}.\n\n" + table(
        columns, rows)


def memory(hiatus, largest):
    rows = []
    for policy in ["fifo", "ps", "las", "srpt", "fsp", "srpte+las", "fspe+ps"]:
        peaks = [peak_bytes([hiatus, "simulate", "single", "--policy", policy, "--synth", f"njobs={n}"])
                 for n in (largest // 10, largest)]
        per_job = (peaks[1] - peaks[0]) / (largest - largest // 10)
        rows.append([policy, f"{peaks[0] / 1e6:.1f}", f"{peaks[1] / 1e6:.1f}", f"{per_job:.0f}"])
    columns = ["policy", f"{largest // 10:,} jobs, MB", f"{largest:,} jobs, MB", "bytes per further job"]
    return "## Peak memory of the command, workload and results included\n\n" + table(columns, rows)


def weighted(jobs, path, seed):
    """The jobs with weights of five classes."""
    draw = random.Random(seed)
    with open(jobs, newline="") as source, open(path, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["arrival", "size", "estimate", "weight"])
        for row in csv.DictReader(source):
            writer.writerow([row["arrival"], row["size"], row["estimate"], 1 / draw.randint(1, 5)])


def completions(hiatus, policy, jobs, scratch):
    out = scratch / "completions.csv"
    subprocess.run([hiatus, "simulate", "single", "--policy", policy, "--jobs", jobs, "--out", out], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out, newline="") as rows:
        rows = list(csv.DictReader(rows))
    return [float(row["completion"]) for row in rows], [float(row["arrival"]) for row in rows]


def agreement(hiatus, scratch, njobs=2_500):
    worst = {}
    for seed, shape in enumerate([0.25, 0.35, 0.5, 1, 2], start=1):
        plain, weights = scratch / f"agree-{seed}.csv", scratch / f"agree-{seed}-weights.csv"
        synth = f"shape={shape},njobs={njobs}"
        subprocess.run([hiatus, "--seed", str(seed), "simulate", "single", "--policy", "fifo", "--synth", synth,
                        "--out", plain], check=True, stdout=subprocess.DEVNULL)
        weighted(plain, weights, seed)
        for jobs, suffix in [(plain, ""), (weights, ", weighted")]:
            for policy, row in peer(jobs, "--completions").items():
                ours, arrivals = completions(hiatus, policy, jobs, scratch)
                apart = [abs(a - b) for a, b in zip(ours, row["completions"])]
                means = [sum(c - t for c, t in zip(list_, arrivals)) / njobs for list_ in (ours, row["completions"])]
                many = sum(delta > 5 * njobs * QUANTUM for delta in apart)
                found = worst.setdefault(policy + suffix, [0, 0, 0, 0])
                found[0] = max(found[0], max(apart))
                found[1] = max(found[1], sorted(apart)[len(apart) // 2])
                found[2] += many
                found[3] = max(found[3], abs(means[0] / means[1] - 1))
    rows = [[policy, f"{a:.2g}", f"{b:.2g}", n, f"{m:.2g}"] for policy, (a, b, n, m) in worst.items()]
    columns = ["policy", "largest difference, s", "median difference, s", "jobs apart by more",
               "relative difference of MST"]
    return (f"## Agreement with schedsim\n\nCompletion times on 5 random workloads of {njobs:,} jobs (shapes 0.25 to 2, "
            f"σ 0.5). schedsim counts service in quanta of {QUANTUM:g} s and rounds at every event, some 5 a job: "
            f"“apart by more” counts jobs, of all 5 workloads, that differ by more than {5 * njobs * QUANTUM:g} s.\n\n"
            + table(columns, rows))


def publish(out, part, title, how, parts):
    """Prints the parts as a page that says how it was made, and writes it to `out`."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()
    made = f"Made by `scripts/bench {part}` at commit {commit}, {os.cpu_count()} × {platform.machine()}, {how}"
    text = "\n".join([f"# {title}\n\n{made}\n", *parts])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    print(text)
    print(f"written to {out}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench/sim.md")
    parser.add_argument("--quick", action="store_true", help="a tenth of the jobs for growth and memory")
    args = parser.parse_args()
    compare = "SCHEDSIM" in os.environ
    if not compare:
        print("SCHEDSIM is not set: give it a checkout of the public repository bigfootproject/schedsim for a "
              "comparison; measuring ours alone", file=sys.stderr)
    built = build("--bin", "hiatus", "--bench", "single")
    hiatus, single = built["hiatus"], built["single"]
    largest = 100_000 if args.quick else 1_000_000
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        parts = [speed(hiatus, single, scratch, compare), growth(single, largest), memory(hiatus, largest)]
        if compare:
            parts.append(agreement(hiatus, scratch))
    how = (f"Python {platform.python_version()}, "
           f"{'beside schedsim (bigfootproject/schedsim)' if compare else 'without schedsim (SCHEDSIM not set)'}.")
    publish(args.out, "sim", "The single-server simulator, measured", how, parts)


if __name__ == "__main__":
    main()
