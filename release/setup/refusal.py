"""What ``install`` and ``uninstall`` end with when they do nothing: one message for the person who typed the command."""

import sys


class Refusal(Exception):
    """What is in the way, where, and what to do about it. Nothing was changed."""


def report(main):
    """Runs ``main()`` as a command; a Refusal becomes one message on stderr and exit code 1."""
    try:
        main()
    except Refusal as refusal:
        print("{}: {}".format(sys.argv[0].rsplit("/", 1)[-1], refusal), file=sys.stderr)
        sys.exit(1)
