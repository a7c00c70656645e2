"""A row of the tables that records and forecasts: its decisions are made once more, its forecasts held against what came."""

from .. import recordings
from ..scaled import KNOB

#: What is set for that, beside the directory.
KNOBS = {KNOB + "forecast-interval-ms": 10_000}


def directory(cluster_dir):
    """The property that has a cluster in that directory record, there."""
    return {recordings.RECORD_DIR: str(cluster_dir / "tmp" / "records")}


def check(cluster):
    """Of a cluster that was told to record, in words; raises ClusterError where a decision differs. Nothing of others."""
    if recordings.RECORD_DIR not in cluster.spec.properties:
        return []
    forecast = cluster.rm.get("/ws/v1/hiatus")["forecast"]
    log = recordings.finish(cluster)
    done = recordings.replay(log)
    held = "none was compared with a job's end" if forecast["held"] is None else (
        f"{forecast['held']:.2f} of the ends lay in their intervals (meant: {forecast['meant']:g}), of {forecast['checked_jobs']} jobs, "
        "learning from nothing")
    return [f"{done.steps:,} steps of {done.lasted_s / 60:.1f} minutes, replayed from {log.stat().st_size / 1024:,.0f} KiB of log, gave the "
            f"same {done.decisions:,} decisions byte for byte",
            f"forecasts: {held}"]
