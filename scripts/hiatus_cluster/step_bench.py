"""What a step costs in the ResourceManager, beside CapacityScheduler: each in a JVM of its own, under the same load."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hiatus_cluster import building, layout  # noqa: E402
from hiatus_cluster.errors import report  # noqa: E402


def main():
    """Builds, measures both and leaves the tables in build/bench/step.txt."""
    building.product(lambda text: print(f"bench: {text}", flush=True))
    out = layout.ROOT / "build" / "bench" / "step.txt"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    for scheduler in ("hiatus", "capacity"):
        arguments = " ".join([*sys.argv[1:], f"scheduler={scheduler}", f"out={out}"])
        building.run(*building.GRADLE, "--quiet", ":scheduler:stepBench", f"-Pbench={arguments}")
    print(f"bench: written to {out}")


report(main)
