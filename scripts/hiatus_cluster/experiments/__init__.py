"""Studies on real daemons. Each module has ``options(parser)`` and ``run(options, say)``; the first line of its text is its help."""

from . import hfsp_live, suspend_overhead

EXPERIMENTS = {"hfsp-live": hfsp_live, "suspend-overhead": suspend_overhead}
