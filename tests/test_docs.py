"""Documents: every command in them is run by a test, as it stands there, and every link leads somewhere.

A test runs a command if it has its words, and ``Shell.documented`` to run them. What another test or CI's own steps run is in
``_ELSEWHERE``; what takes too long for any test, or needs what CI lacks, in ``_BY_HAND``.
"""

import ast
import fnmatch
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest

from documented import DOCUMENTS, Shell, beginning, commands
from hiatus_cluster import hiatus, layout

_TESTS = Path(__file__).parent
#: Who runs a command otherwise: file, function in it, and what stands there for the command.
_ELSEWHERE = {
    "scripts/test": (".ci/run", None, "/../scripts/test"),
    "cargo fmt --all --check": ("scripts/test", "main", '"cargo", "fmt", "--all", "--check"'),
    "cargo clippy --workspace --all-targets -- -D warnings": (
        "scripts/test", "main", '"cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"'),
    "scripts/release": ("tests/conftest.py", "release", '"scripts" / "release"'),
    "scripts/build": ("scripts/test", "main", "building.hadoop(say)"),
    "scripts/build --portable": ("scripts/release", "main", "building.jars_for_old_systems(say, machines)"),
    "HIATUS_NEW_PICTURES=1 scripts/test": (
        "tests/test_web.py", "test_the_page_shows_what_runs_who_waits_and_why_and_parks_by_button", 'page.picture("jobs")'),
    "cargo run -p hiatus-core --example knobs": (
        "rust/core/tests/operations.rs", "the_table_of_knobs_is_not_stale", "cargo run -p hiatus-core --example knobs"),
    "cargo run -p hiatus-jni --bin generate-records": ("rust/jni/src/java.rs", None, "cargo run -p hiatus-jni --bin generate-records"),
    "yarn app -appId ID -updateLifetime SECONDS": (
        "tests/test_time_limits.py", "test_a_parked_job_outlives_its_tasks_time_out_and_is_billed_and_warned_of_its_lifetime",
        '"yarn", "app", "-appId", app["id"], "-updateLifetime", 3600'),
    "hiatus advise saved": (
        "rust/sim/tests/history.rs", "advise_says_what_it_tried_and_that_two_jobs_are_too_few", 'advised(&folder'),
    "hiatus flex": ("rust/sim/tests/flex_command.rs", "flex", '"flex", "--problem"'),
    "hiatus fuzz": ("rust/sim/tests/cluster_command.rs", "fuzzing_finds_no_broken_law_and_repeats_a_seed", '"fuzz --seeds 1'),
}
#: Why nobody but a human runs what begins so, and which file keeps what came of it, by what words in it.
_BY_HAND = {
    "scripts/test --hadoop": ("takes ten minutes", "docs/install.md", "| 3.5.0 | 17 | "),
    "scripts/test --java": ("takes ten minutes", "docs/install.md", "| 3.4.2 | 11 | "),
    "scripts/evidence": ("takes hours; its page is tested", "docs/evidence.md", "scripts/evidence"),
    "scripts/demo": ("takes five minutes", "docs/timeline.svg", "CapacityScheduler (stock)"),
    "scripts/test --fast": ("a part of what CI runs", "scripts/test", '"--fast", action="store_true"'),
    "scripts/test --quick": ("a part of what CI runs", "scripts/test", '"--quick", action="store_true"'),
    "scripts/test --conformance": ("takes hours", "scripts/hiatus_cluster/conformance.py", "BY_DESIGN"),
    "docker/mini-cluster": ("needs Docker", "docker/mini-cluster", "def check("),
    "scripts/test --docker": ("needs Docker", "tests/test_docker.py", "pytest.mark.docker"),
    "scripts/test --release": ("builds the release twice", "tests/test_release.py", "pytest.mark.release"),
    "scripts/test --secure": ("needs a KDC", "tests/test_secure.py", "pytest.mark.secure"),
    "scripts/test --slow": ("takes minutes, and is hardly ever red", "tests/test_speculation.py", "pytest.mark.slow"),
    "scripts/test --frameworks": ("takes minutes; some of it is run", "tests/test_frameworks.py", "pytest.mark.frameworks"),
    "hiatus fuzz --seeds 3000": ("takes a minute; with fewer seeds it is run", "docs/design/fuzzing.md", "1,740,918,941"),
    "hiatus fuzz --seeds 10000 --seed 4000000000": ("takes an hour; with fewer seeds it is run", "docs/design/fuzzing.md", "14.3 million"),
    "hiatus fuzz --seeds 10000 --seed 41000000000": ("the same, of another build", "docs/design/fuzzing.md", "17,298,391"),
    "cargo run --profile checked -p hiatus-sim -- fuzz --seeds 10000": ("takes minutes, built for that", "docs/design/fuzzing.md", "17,298,391"),
    "cargo bench -p hiatus-core --bench step": ("measures, built for that; CI's lints compile it", "docs/operations.md", "median of 50 copies"),
    "cargo bench -p hiatus-core --bench flex": ("measures, built for that; CI's lints compile it", "docs/experiments-flex.md", "--bench flex"),
    "cargo bench -p hiatus-history": ("measures, built for that; CI's lints compile it", "docs/design/boundary.md", "a million runs of 31,250 classes"),
    "cargo bench -p hiatus-background": ("measures, built for that; CI's lints compile it", "docs/operations.md", "18,181 jobs"),
    "scripts/replay gain": ("simulates for half a minute; its row is run by test_replay_swim", "docs/bench/replay-gain.md", "scripts/replay gain"),
    "scripts/replay swim": ("takes an hour", "docs/bench/replay-swim-fb-2009-2664-2671-1in50-timed.md", "scripts/replay swim"),
    "scripts/replay pigmix": ("takes an hour", "docs/bench/replay-pigmix-each-1in50-every-8s.md", "scripts/replay pigmix --workload each --scale 1/50"),
    **{f"scripts/bench {name}": ("measures for minutes", f"docs/bench/{name}.md", f"scripts/bench {name}")
       for name in ("peers", "sim", "cluster")},
    **{f"scripts/experiment {name}": ("takes an hour", f"docs/bench/{name}.md", f"scripts/experiment {name}")
       for name in ("batchmr-live", "chaos", "flex-live", "gp-live", "ha", "hfsp-live", "like-live", "mapreduce-live", "predoop-live", "simulated-nodes",
                    "small-live", "spark", "spark-sizes", "tez", "speculation", "suspend-overhead", "what-if")},
    "scripts/experiment": ("takes minutes to hours", "docs/bench/hfsp-live.md", "scripts/experiment hfsp-live"),
    "hiatus reproduce all --quick": ("takes ten minutes; in part it is run", "docs/experiments.md", "<!-- fig-3.4/"),
}
#: A command of which only the name is told; the commands themselves, longer ones, are run.
_NAMES = {"hiatus advise", "hiatus replay", "hiatus what-if"}
#: Studies of which a twentieth is done in seconds. The others take longer, together some minutes.
_SHORT = {"list", "fig-3.1", "table-3.1", "fig-3.6", "fig-3.7", "fig-3.8", "fig-3.9", "fig-3.10", "fig-4.*", "fig-5.3", "fig-5.4", "fig-5.7",
          "checks-3", "speed-3", "flex-5a", "flex-5b", "flex-larger", "predoop-bins", "distance", "remainders", "like-jobs"}
#: All tests of the Rust workspace: a step of `scripts/test` by themselves, before these.
_RUST_TESTS = "cargo test"
_HIATUS = hiatus.path()


@lru_cache(maxsize=None)
def _run_by_tests():
    """The words in functions that run words of documents, and what begins with words that they ask for."""
    words = set()
    for path in sorted(_TESTS.glob("test_*.py")):
        for function in ast.parse(path.read_text()).body:
            inside = list(ast.walk(function))
            if isinstance(function, ast.FunctionDef) and any(isinstance(node, ast.Attribute) and node.attr == "documented" for node in inside):
                words |= {node.value for node in inside if isinstance(node, ast.Constant) and isinstance(node.value, str)}
                asked = [node for node in inside if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "beginning"]
                words |= {command for call in asked for command in beginning(*(argument.value for argument in call.args))}
    return words


def _by_hand(command):
    """The entry of what only a human runs, which no test has then."""
    begins = [] if command in _run_by_tests() - set(beginning("hiatus", "reproduce")) else [begin for begin in _BY_HAND if command == begin or command.startswith(begin + " ")]
    return max(begins, key=len, default=None)


def _studies(command):
    """The studies that a command reproduces, as it names them."""
    return [word for word in shlex.split(command)[2:] if not word.startswith("--")]


def _takes_long(command):
    return command.startswith("hiatus reproduce ") and not set(_studies(command)) <= _SHORT


@pytest.mark.parametrize("command", commands())
def test_every_command_is_run(command):
    run = [place for place, is_there in {
        "a test": command in _run_by_tests() and not _takes_long(command), "_ELSEWHERE": command in _ELSEWHERE, "_BY_HAND": _by_hand(command),
        "_NAMES": command in _NAMES, "a long study": _takes_long(command) and not _by_hand(command)}.items() if is_there]
    assert len(run) == 1, f"{command!r} of {', '.join(commands()[command])}: run by {run or 'nobody: let a test run it'}"


def test_nothing_is_said_here_of_commands_that_no_document_has():
    assert not (set(_ELSEWHERE) | _NAMES) - set(commands())
    assert not set(_BY_HAND) - {_by_hand(command) for command in commands()}


@pytest.mark.parametrize("command", _ELSEWHERE)
def test_who_runs_it_otherwise_does(command):
    name, function, words = _ELSEWHERE[command]
    text = (layout.ROOT / name).read_text()
    assert words in (_function(text, function) if function else text), f"{name} {function or ''} does not run {command}"


def _function(text, name):
    """A function of Python, or of Rust: from its first line to where the next one begins in the first column."""
    found = re.search(rf"^(?:def|fn) {name}\(.*?(?=^(?:def|fn|@|#\[)|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"there is no {name}"
    return found.group()


@pytest.mark.parametrize("begin", _BY_HAND)
def test_of_what_is_run_by_hand_something_is_kept(begin):
    _, name, words = _BY_HAND[begin]
    assert words in (layout.ROOT / name).read_text()


def _with_options():
    """Commands of the repository's own programs that are not simply run: their options and sub-commands are looked at."""
    return [command for command in commands()
            if command.startswith(("scripts/", "docker/", "hiatus-")) and (command in _ELSEWHERE or _by_hand(command))]


@pytest.mark.parametrize("command", _with_options())
def test_what_is_not_simply_run_has_its_options(command):
    program, *rest = shlex.split(command)
    path = layout.ROOT / program
    options = [word.split("=")[0] for word in rest if word.startswith("--")]
    known = _help(path, *(rest[:1] if rest and not rest[0].startswith("-") and program != "scripts/bench" else []))
    assert all(option in known for option in options), f"{options}: {known}"
    assert program != "scripts/bench" or rest[0] in known


@lru_cache(maxsize=None)
def _help(path, *words):
    done = subprocess.run([path, *words, "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def shell(tmp_path):
    """A folder with the documents in it, too."""
    (tmp_path / "docs").mkdir()
    for path in (layout.ROOT / "docs").glob("*.md"):
        (tmp_path / "docs" / path.name).write_text(path.read_text())
    return Shell(tmp_path)


@pytest.fixture
def repository(tmp_path):
    """The repository itself, for Cargo."""
    return Shell(tmp_path, here=layout.ROOT)


@pytest.mark.parametrize("command", [one for one in beginning("cargo", "test") if one != _RUST_TESTS])
def test_tests_that_documents_name_are_there_and_pass(repository, command):
    assert beginning("cargo", "test")
    passed = re.findall(r"^test result: ok\. (\d+) passed", repository.documented(command), re.MULTILINE)
    assert sum(map(int, passed)) >= 1, f"{command} runs no test"


@pytest.mark.parametrize("command", ["cargo build --release -p hiatus-sim", "cargo run --release -p hiatus-sim -- simulate cluster --help"])
def test_the_simulator_is_built_and_run_by_cargo(repository, command):
    assert repository.documented(command)


@pytest.mark.parametrize("command", beginning("hiatus", "reproduce"))
def test_studies_are_there_and_the_short_ones_run(shell, command):
    ids = {line.split()[0] for line in shell.documented("hiatus reproduce list").splitlines()[2:]}
    assert all(name in ("all", "list") or fnmatch.filter(ids, name) for name in _studies(command)), command
    if not _takes_long(command) and command != "hiatus reproduce list":
        shell.documented(command, "--quick")
        for name in _studies(command):
            for found in fnmatch.filter(ids, name):
                assert (shell.folder / "build/reproduce" / found / "claims.json").is_file(), found


@pytest.mark.parametrize("command", beginning("hiatus", "document"))
def test_a_document_whose_studies_are_not_there_stays_as_it_is(shell, command):
    path = shlex.split(command)[-1]
    assert "left as it was" in shell.documented(command)
    assert (shell.folder / path).read_text() == (layout.ROOT / path).read_text()


def test_what_was_reproduced_is_put_into_its_document(shell):
    path = shell.folder / "docs/experiments.md"
    path.write_text(re.sub(r"(<!-- table-3.1/errors -->\n).*?(<!-- end -->)", r"\1\2", path.read_text(), flags=re.DOTALL))
    emptied = path.read_text()
    shell.documented("hiatus reproduce table-3.1", "--quick")
    shell.documented("hiatus document docs/experiments.md")
    assert len(path.read_text()) > len(emptied)


def test_a_replay_tells_its_options(shell):
    assert "--schedulers" in shell.documented("scripts/replay swim --help")


def _anchors(path):
    """GitHub's anchors of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if target.startswith(("http:", "https:")):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), f"{path.name}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in _anchors(file), f"{path.name}: {target}; there are {sorted(_anchors(file))}"


#: Pages for readers, which keep to short lines; the studies' pages have wide tables that programs write.
_READ = [path for path in DOCUMENTS if path.parent.name == "design" or path.stem in (
    "README", "CONTRIBUTING", "architecture", "frameworks", "glossary", "install", "operations", "write-a-policy")]


@pytest.mark.parametrize("path", _READ, ids=lambda path: path.name)
def test_lines_are_short(path):
    """But for tables of operations.md, which are written or compared by other tests."""
    lines = [line for line in path.read_text().splitlines() if not (path.stem == "operations" and line.startswith("|"))]
    assert not [line for line in lines if len(line) > 100]


def test_the_architecture_is_read_in_ten_minutes():
    assert len((layout.ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 200
