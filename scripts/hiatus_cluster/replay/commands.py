"""What `scripts/replay` runs, by name. Each has ``ABOUT``, ``options(parser)`` and ``run(arguments, say)``."""

from .swim import command as swim

COMMANDS = {"swim": swim}
