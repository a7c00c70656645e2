"""Experiments on real daemons show what Hiatus does as it is shipped, beside what it does with knobs set."""

import ast
import inspect
import types

from hiatus_cluster.experiments import EXPERIMENTS
from hiatus_cluster.scaled import KNOB

#: Experiments that set knobs and have no row for the defaults, each with why that is right.
EXCEPTIONS = {
    "batchmr-live": "nobody preempts and all are FIFO, so that the side on which jobs run is all that differs from stock",
    "chaos": "it counts what is lost in accidents, and compares no settings",
    "flex-live": "knobs are changed on a running cluster, policy by policy, and one row's are all others' but the policy",
    "ha": "it counts what is lost in accidents, and compares no settings",
    "predoop-live": "nobody preempts and all are FIFO, so that lending is all that differs; it is off by default",
    "speculation": "it compares estimators of MapReduce's, and suspends by hand as often as it can",
    "suspend-overhead": "it compares primitives on one node, one container each; its order is fixed",
    "what-if": "it predicts one setting, that of hfsp-live which gains most, and sees it come",
}


def _decides(name):
    """Whether a knob changes what is decided: those of the ResourceManager's side do not, and `mode` says how far it may go."""
    return not name.startswith("rm.") and name != "mode"


def _sets_a_knob(tree):
    """Whether a module's text puts together the name of a knob that decides, or takes the scaled thesis' settings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "HFSP":
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(KNOB):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and ast.unparse(node.left) in ("KNOB", "scaled.KNOB"):
            if not isinstance(node.right, ast.Constant) or _decides(node.right.value):
                return True
    return False


def _ways(module):
    """What each table of ways to schedule has: pairs of a scheduler and its properties, by the table's name."""
    for name, table in vars(module).items():
        if isinstance(table, dict):
            rows = [row for row in table.values() if isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], dict)]
            if rows:
                yield name, rows


def _knobs(properties):
    return [key for key in properties if key.startswith(KNOB) and _decides(key[len(KNOB):])]


def _lacks_the_defaults(module):
    """Whether an experiment sets knobs, itself or by another's table, and none of its own ways is Hiatus without any."""
    tree = ast.parse(inspect.getsource(module))
    own = {name.id for node in tree.body if isinstance(node, ast.Assign) for name in node.targets if isinstance(name, ast.Name)}
    ways = dict(_ways(module))
    by_table = any(_knobs(properties) for rows in ways.values() for _, properties in rows)
    shipped = any(scheduler == "hiatus" and not _knobs(properties) for name, rows in ways.items() if name in own
                  for scheduler, properties in rows)
    return (_sets_a_knob(tree) or by_table) and not shipped


def _module(text):
    module = types.ModuleType("made_up")
    exec(compile(text, "made_up", "exec"), vars(module))  # pylint: disable=exec-used
    return module


def test_no_experiment_sets_a_knob_without_a_row_for_the_defaults_beside_it():
    assert {name for name, module in EXPERIMENTS.items() if _lacks_the_defaults(module)} == set(EXCEPTIONS)


def test_a_new_experiment_would_be_told(monkeypatch):
    tuned = 'KNOB = "yarn.scheduler."\nSCHEDULERS = {"tuned": ("hiatus", {"yarn.scheduler.hiatus.policy": "las"})%s}\n'
    for more, lacks in (("", True), (', "as shipped": ("hiatus", {"yarn.scheduler.hiatus.mode": "suspend"})', False),
                        (', "Fair": ("capacity", {})', True)):
        text = tuned % more
        monkeypatch.setattr(inspect, "getsource", lambda _, text=text: text)
        assert _lacks_the_defaults(_module(text)) == lacks
