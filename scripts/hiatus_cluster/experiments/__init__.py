"""Studies on real daemons. Each module has ``options(parser)`` and ``run(options, say)``; the first line of its text is its help."""

from . import flex_live, hfsp_live, suspend_overhead

EXPERIMENTS = {"flex-live": flex_live, "hfsp-live": hfsp_live, "suspend-overhead": suspend_overhead}
