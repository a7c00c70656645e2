"""Plots of a replay: how long jobs took, and what the cluster did meanwhile."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from .schedulers import SCHEDULERS  # noqa: E402

matplotlib.rcParams["svg.hashsalt"] = "hiatus"  # the same picture of the same numbers
#: Told apart by colour-blind readers, too.
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#994400", "#777777", "#000000", "#332288", "#ddaa99")


def draw(runs, folder, name):
    """Writes the plots of runs by (scheduler, repetition) into ``folder``; gives back what each shows, and its file's name."""
    pictures = {"Part of the jobs that took no longer": _sojourns, "Jobs in the system, first repetition": _in_system,
                "Containers that run, and that are suspended, by bin, first repetition": _containers}
    files = []
    for (about, plot), kind in zip(pictures.items(), ("ecdf", "jobs", "containers")):
        figure = plot(runs)
        figure.tight_layout()
        file = f"{name}-{kind}.svg"
        figure.savefig(folder / file, metadata={"Date": None})
        plt.close(figure)
        files.append((about, file))
    return files


def _names(runs):
    return list(dict.fromkeys(name for name, _ in runs))


def _side_by_side(runs):
    """Those whose jobs came at the same times, if any did."""
    return [name for name in _names(runs) if not SCHEDULERS[name].alone] or _names(runs)


def _sojourns(runs):
    bins = sorted({job["bin"] for document in runs.values() for job in document["jobs"]})
    figure, axes = plt.subplots(1, 1 + len(bins), figsize=(3.2 * (1 + len(bins)), 3.2), squeeze=False)
    for axis, number in zip(axes[0], (0, *bins)):
        for name, colour in zip(_names(runs), _COLOURS):
            sample = [job["sojourn_s"] for (scheduler, _), document in runs.items() if scheduler == name
                      for job in document["jobs"] if number in (0, job["bin"])]
            if sample:
                axis.ecdf(sample, label=name, color=colour)
        axis.set(title="all jobs" if number == 0 else f"bin {number}", xlabel="sojourn, s", xlim=(0, None))
    axes[0][0].set_ylabel("part of the jobs")
    axes[0][0].legend(fontsize="small")
    return figure


def _in_system(runs):
    figure, axis = plt.subplots(figsize=(9, 3.2))
    for name, colour in zip(_side_by_side(runs), _COLOURS):
        jobs = runs[name, 1]["jobs"]
        zero = min(job["submitted_ms"] for job in jobs)
        steps = sorted(((job[what] - zero) / 1000, by) for job in jobs for what, by in (("submitted_ms", 1), ("finished_ms", -1)))
        _stairs(axis, steps, label=name, color=colour)
    axis.set(xlabel="s since the first submission", ylabel="jobs in the system")
    axis.legend(fontsize="small")
    return figure


def _containers(runs):
    names = _side_by_side(runs)
    figure, axes = plt.subplots(len(names), 1, figsize=(9, 2.2 * len(names)), sharex=True, squeeze=False)
    for (axis,), name in zip(axes, names):
        spans = runs[name, 1]["lives"]
        for number, colour in zip(sorted({span[0] for span in spans}), _COLOURS):
            for kind, style in (("running", "-"), ("suspended", ":")):
                own = [span for span in spans if span[0] == number and span[3] == kind]
                if own:
                    steps = sorted([(span[1], 1) for span in own] + [(span[2], -1) for span in own])
                    _stairs(axis, steps, label=f"bin {number}, {kind}", color=colour, linestyle=style)
        axis.set(title=name, ylabel="containers")
        axis.legend(fontsize="x-small", loc="upper right")
    axes[-1][0].set_xlabel("s since the first submission")
    return figure


def _stairs(axis, steps, **style):
    times, heights, height = [0.0], [0], 0
    for at, by in steps:
        height += by
        times.append(at)
        heights.append(height)
    axis.step(times, heights, where="post", **style)
