"""The one error every command of this package ends with: a message for the person who typed it."""

import signal
import sys


class ClusterError(Exception):
    """What went wrong, where, and what to do about it."""


def report(main):
    """Runs ``main()`` as a command: its integer is the exit code, a ClusterError becomes one message on stderr and code 1.

    Told to end, by SIGTERM or because its terminal is gone, it ends what it has started, as with Ctrl-C.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main() or 0)
    except ClusterError as error:
        print(f"{sys.argv[0].rsplit('/', 1)[-1]}: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
