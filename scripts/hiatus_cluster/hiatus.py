"""The ``hiatus`` command that the build makes."""

import subprocess

from . import layout
from .errors import ClusterError


def path():
    """Where it is."""
    return layout.cargo_target() / "release" / "hiatus"


def run(*words):
    """Runs it with these words and gives back what it prints. Raises ClusterError, with what it says, if it fails."""
    words = [str(word) for word in words]
    done = subprocess.run([path(), *words], capture_output=True, text=True)
    if done.returncode:
        raise ClusterError(f"hiatus {' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout
