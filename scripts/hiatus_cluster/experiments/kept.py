"""Outcomes of a study that takes long: each is kept as soon as it is there, so that a study can be made in parts."""

import json
from dataclasses import asdict

from .. import layout


def option(parser):
    """The argument of the command line with which a study goes on."""
    parser.add_argument("--resume", action="store_true", help="go on with what earlier runs, of the same code, have measured")


class Outcomes(dict):
    """Outcomes (a dataclass of what JSON knows) by key (a tuple of strings and numbers), and the file that has them all."""

    def __init__(self, name, kind, resume):
        """``resume``: with what was measured before; otherwise the file begins anew with the first outcome."""
        self._path = layout.BUILD / "experiments" / f"{name}-outcomes.json"
        super().__init__((tuple(key), kind(**outcome)) for key, outcome in
                         (json.loads(self._path.read_text()) if resume and self._path.exists() else []))

    def __setitem__(self, key, outcome):
        super().__setitem__(key, outcome)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps([[key, asdict(one)] for key, one in self.items()]))
