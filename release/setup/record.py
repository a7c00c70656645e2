"""What was installed, written down beside the configuration: so that exactly that is taken out again."""

import json
import os

NAME = "hiatus-installed.json"


def read(hadoop):
    """{property: its value before, or None if it was not set}; None if nothing was installed."""
    try:
        with open(hadoop.file(NAME)) as file:
            return json.load(file)["before"]
    except OSError:
        return None


def write(hadoop, before):
    """Keeps it."""
    with open(hadoop.file(NAME), "w") as file:
        json.dump({"before": before}, file, indent=1, sort_keys=True)
        file.write("\n")


def remove(hadoop):
    """Forgets it."""
    os.remove(hadoop.file(NAME))
