"""What was installed, written down beside the configuration: so that exactly that is taken out again."""

import json
import os

from . import whole
from .refusal import Refusal

NAME = "hiatus-installed.json"


def read(hadoop):
    """{property: its value before, or None if it was not set}; None if nothing was installed."""
    try:
        with open(hadoop.file(NAME)) as file:
            return json.load(file)["before"]
    except OSError:
        return None
    except (ValueError, LookupError, TypeError):
        raise Refusal("{} is damaged: take it away, and what is set is known by its classes' names alone".format(hadoop.file(NAME)))


def write(hadoop, before):
    """Keeps it."""
    whole.write(hadoop.file(NAME), (json.dumps({"before": before}, indent=1, sort_keys=True) + "\n").encode())


def remove(hadoop):
    """Forgets it."""
    os.remove(hadoop.file(NAME))
