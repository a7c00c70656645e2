"""What `scripts/replay` runs, by name. Each has ``ABOUT``, ``options(parser)`` and ``run(arguments, say)``."""

from .pigmix import command as pigmix
from .swim import command as swim
from .swim import gain

COMMANDS = {"gain": gain, "pigmix": pigmix, "swim": swim}
