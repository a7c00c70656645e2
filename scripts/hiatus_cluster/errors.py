"""The one error every command of this package ends with: a message for the person who typed it."""

import sys


class ClusterError(Exception):
    """What went wrong, where, and what to do about it."""


def report(main):
    """Runs ``main()`` as a command: its integer is the exit code, a ClusterError becomes one message on stderr and code 1."""
    try:
        sys.exit(main() or 0)
    except ClusterError as error:
        print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
