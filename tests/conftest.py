"""Real clusters for tests."""

import shutil
import tarfile

import pytest

import live
from hiatus_cluster import building, daemons, layout
from hiatus_cluster.applications import Applications
from hiatus_cluster.cluster import Cluster
from hiatus_cluster.configuration import Spec
from hiatus_cluster.release import assembly


def pytest_addoption(parser):
    """What `scripts/test --docker`, `--secure`, `--slow`, `--release` and `--frameworks` say."""
    parser.addoption("--docker", action="store_true", help="only what runs on a cluster of Docker containers, which is left out otherwise")
    parser.addoption("--secure", action="store_true", help="only what runs on a cluster with Kerberos, which is left out otherwise")
    parser.addoption("--slow", action="store_true", help="only what takes minutes and is hardly ever red, which is left out otherwise")
    parser.addoption("--release", action="store_true", help="what looks at a release for long, too, and nothing of that is skipped")
    parser.addoption("--frameworks", action="store_true", help="what is left out otherwise of the tests of Spark and Tez, too")
    parser.addoption("--nodes", type=int, default=2, help="NodeManagers of that cluster")


def pytest_collection_modifyitems(config, items):
    """Whatever uses a cluster is marked, so that `-m "not daemons"` leaves it out; likewise what builds the release.

    It gets a second try, which the summary tells as RERUN: a neighbour on the machine can starve a dozen daemons for longer than any
    time-out that would still notice a hang. What fails twice fails.
    """
    for item in items:
        if "clusters" in item.fixturenames:
            item.add_marker(pytest.mark.daemons)
            item.add_marker(pytest.mark.flaky(reruns=1))
        if "release" in item.fixturenames:
            item.add_marker(pytest.mark.builds)
            item.add_marker(pytest.mark.timeout(3600))
    others = [item for item in items
              if any(bool(item.get_closest_marker(kind)) != config.getoption(f"--{kind}") for kind in ("docker", "secure", "slow"))
              or any(item.get_closest_marker(kind) and not config.getoption(f"--{kind}") for kind in ("release", "frameworks"))]
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=others)


@pytest.fixture(scope="session")
def release(tmp_path_factory, pytestconfig):
    """The release, built and unpacked as an administrator has it; for this processor alone unless --release asks for all."""
    building.run(layout.ROOT / "scripts" / "release", *([] if pytestconfig.getoption("--release") else ["--here"]))
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(layout.BUILD / f"hiatus-{assembly.version()}.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / f"hiatus-{assembly.version()}"


@pytest.fixture(scope="module")
def clusters(request):
    """Starts clusters: ``clusters(nodes=1, scheduler="capacity", …)``, the fields of Spec. All end with the module, and leave nothing.

    ``kind`` is the class to make them of, Cluster by default.

    State and logs stay in build/tests/<module>/ until the next run.
    """
    home = layout.BUILD / "tests" / request.module.__name__
    for left in home.glob("*"):  # by a run that was killed
        Cluster(left).down()
    shutil.rmtree(home, ignore_errors=True)
    started = []

    def start(kind=Cluster, **spec):
        cluster = kind(home / str(len(started) + 1))
        started.append(cluster)
        cluster.up(Spec(**spec))
        return cluster

    yield start
    for cluster in started:
        cluster.down()
    assert [daemons.processes(cluster.dir) for cluster in started] == [[] for _ in started]


@pytest.fixture(scope="module")
def cluster(request, clusters):
    """The one cluster of a module, as its ``SPEC`` (a dictionary of Spec's fields) wants it."""
    return clusters(**getattr(request.module, "SPEC", {}))


@pytest.fixture
def hiatus(cluster):
    """The module's cluster. Afterwards nothing runs or is suspended there, and the core's books agree with the ResourceManager's."""
    yield cluster
    live.end_all(cluster)
    live.assert_books_agree(cluster)


@pytest.fixture
def applications(hiatus):
    """Starts applications that cost nothing on the module's cluster."""
    started = Applications(hiatus)
    yield started
    started.close()
