"""Waiting for what happens on daemons."""

import time

from .errors import ClusterError


def until(condition, what, timeout_s=180, every_s=0.3):
    """Polls until ``condition()`` is true and gives back what it returned. ClusterError, naming ``what``, at the time-out.

    A daemon that does not answer, as during a failover, is no reason to give up before.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        trouble = None
        try:
            if value := condition():
                return value
        except ClusterError as error:
            trouble = error
        if time.monotonic() > deadline:
            raise ClusterError(f"after {timeout_s} s still not: {what}" + (f" ({trouble})" if trouble else ""))
        time.sleep(every_s)
