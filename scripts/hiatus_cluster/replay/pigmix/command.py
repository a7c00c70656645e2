"""The command `scripts/replay pigmix`."""

import math
import tempfile
from fractions import Fraction
from pathlib import Path

from ...errors import ClusterError
from .. import report, schedulers, side_by_side
from . import data, pig, reference
from .draw import MIXES, QUERIES, draw

#: One line for the command's help.
ABOUT = "PigMix's 17 queries on generated data, arriving as in the HFSP thesis' workloads; every output is checked."
_DATA, _OUTPUT = "/pigmix/data", "/pigmix/out"
_DATA_SEED = 1
_LATE_S = 15  #: a query's client plans it before it submits a job, some longer than others
#: Queries whose last step is maps alone, which write as many files as there are maps; and the one with a single group.
_BY_MAPS, _ONE_FILE = ("L2", "L14"), ("L8",)


def options(parser):
    """Arguments of the command line."""
    parser.add_argument("--workload", choices=MIXES, default="test", help="; ".join(f"{name}: {mix.about}" for name, mix in MIXES.items())
                        + " (default: test)")
    parser.add_argument("--scale", type=side_by_side.part, default=Fraction(1), metavar="PART",
                        help=f"of the rows: 1, the default, is {data.ROWS_A_FILE} a map, about 16 MB")
    parser.add_argument("--queries", nargs="+", choices=QUERIES, default=list(QUERIES), metavar="L1 … L17",
                        help="only these (default: all)")
    parser.add_argument("--jobs", type=int, metavar="N", help="queries in all (default: the workload's)")
    parser.add_argument("--between", type=float, metavar="S", help="mean time between arrivals (default: the workload's)")
    parser.add_argument("--slots-a-node", type=int, default=schedulers.SLOTS_A_NODE, metavar="N",
                        help=f"tasks that each of the {schedulers.NODES} nodes may run at a time (default: {schedulers.SLOTS_A_NODE})")
    side_by_side.options(parser)


def run(arguments, say):
    """Replays a workload; prints and writes the tables."""
    mix, scale, slots = MIXES[arguments.workload], arguments.scale, arguments.slots_a_node
    count, between_s = _how_many_how_often(arguments)
    if not (scale <= 100 and count > 0 and 0 < between_s < math.inf and slots > 0):
        raise ClusterError(f"--scale {scale}, --jobs {count}, --between {between_s:g}, --slots-a-node {slots}: all must be above 0, "
                           "the scale at most 100")
    pig.prepare(say)
    tables = Tables(scale, say, side_by_side.generated(f"pigmix-data-{scale.numerator}in{scale.denominator}", data))
    one = replay(name_of(arguments), tables, lambda repetition: draw(mix, arguments.queries, count, between_s, repetition), slots)
    runs = side_by_side.run(one, arguments, say)
    method = (f"{count} queries of PigMix ({mix.about}), bins of {', '.join(map(str, data.FILES.values()))} maps with "
              f"{round(data.ROWS_A_FILE * scale)} rows each, Poisson arrivals, one in {between_s:g} s; each repetition draws anew. "
              "A query is a Pig script of one to three jobs; its sojourn is from the first job's submission to the end of the last. Pig 0.18.0. "
              "Bin: size of the data.")
    report.write(one, f"PigMix, {arguments.workload.upper()}, replayed on real daemons", method, runs, arguments)


def _how_many_how_often(arguments):
    """Queries, and the mean time between their arrivals in s: as asked for, or the workload's."""
    mix = MIXES[arguments.workload]
    return (mix.queries if arguments.jobs is None else arguments.jobs,
            mix.between_s if arguments.between is None else arguments.between)


def name_of(arguments):
    """Of the folder and the page: the workload, and what is not as usual in it."""
    mix, scale, slots = MIXES[arguments.workload], arguments.scale, arguments.slots_a_node
    count, between_s = _how_many_how_often(arguments)
    unusual = {f"{scale.numerator}in{scale.denominator}": scale != 1,
               "-".join(arguments.queries): arguments.queries != list(QUERIES),
               f"{count}-queries": count != mix.queries,
               f"{slots}-a-node": slots != schedulers.SLOTS_A_NODE,
               f"every-{between_s:g}s": between_s != mix.between_s}
    return "-".join(["pigmix", arguments.workload, *(word for word, is_so in unusual.items() if is_so)])


class Tables:
    """The data, generated once, and the right outputs."""

    def __init__(self, scale, say, folder):
        self._scale, self._say, self._folder = scale, say, folder
        self._references = {}

    def bin(self, number):
        """The folder of a bin's tables."""
        folder = self._folder / f"bin{number}"
        if not folder.exists():
            self._say(f"data of bin {number}")
            data.generate(folder, number, float(self._scale), _DATA_SEED)
        return folder

    def reference(self, number):
        """The right outputs of a bin."""
        if number not in self._references:
            self._references[number] = reference.Reference(self.bin(number))
        return self._references[number]


def replay(name, tables, draw_of, slots_a_node=schedulers.SLOTS_A_NODE):
    """The queries that ``draw_of(repetition)`` draws, on these tables."""
    def submitted(repetition):
        cluster_dir = side_by_side.folder_of(name) / side_by_side.CLUSTER
        return [side_by_side.Job(one.bin, submission(cluster_dir, one)) for one in draw_of(repetition)]

    def prepare(cluster, repetition):
        put(cluster, tables, {one.bin for one in draw_of(repetition)})

    def check(cluster, repetition, results, folder):
        return [check_outputs(cluster, tables, draw_of(repetition), folder)]
    return side_by_side.Replay(name, submitted, check, fs="hdfs", prepare=prepare, late_s=_LATE_S, slots_a_node=slots_a_node)


def submission(cluster_dir, one):
    """A query drawn, as a job of a workload on that cluster."""
    return pig.submission(cluster_dir, one.name, one.at_s, one.query, f"{_DATA}/bin{one.bin}", f"{_OUTPUT}/{one.name}")


def put(cluster, tables, bins):
    """Copies the tables of these bins into HDFS, in place of all that an earlier run left there."""
    (cluster.dir / "pig").mkdir(exist_ok=True)
    cluster.run("hdfs", "dfs", "-rm", "-r", "-f", _DATA, _OUTPUT)
    cluster.run("hdfs", "dfs", "-mkdir", "-p", _DATA, _OUTPUT)
    cluster.run("hdfs", "dfs", "-put", *(tables.bin(number) for number in sorted(bins)), _DATA)


def check_outputs(cluster, tables, drawn, folder):
    """Compares what every query wrote with the reference. Raises ClusterError if a row is wrong, or a file missing."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        cluster.run("hdfs", "dfs", "-get", _OUTPUT, place)
        for one in drawn:
            outputs = [Path(place) / "out" / one.name / output for output in reference.OUTPUTS.get(one.query, ("",))]
            parts = [_parts(one, output) for output in outputs]
            try:
                reference.check(one.query, tables.reference(one.bin), parts)
            except ClusterError as error:
                raise ClusterError(f"{one.name}: {error}") from error
    rows = sum(len(output) for one in drawn for output in tables.reference(one.bin).outputs(one.query))
    return f"outputs of {len(drawn)} queries equal to what DuckDB says, {rows} rows"


def _parts(one, folder):
    """The files of an output, in their order."""
    parts = sorted(folder.glob("part-*"))
    wanted = len(parts) if one.query in _BY_MAPS else 1 if one.query in _ONE_FILE else pig.PARALLEL
    if not (folder / "_SUCCESS").exists() or not parts or len(parts) != wanted:
        raise ClusterError(f"{one.name}: {len(parts)} files in {folder.name}, wanted {wanted} and _SUCCESS")
    return parts
