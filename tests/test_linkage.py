"""The jars fit every Hadoop that they say they know: they name no class, method or field that it does not have."""

import subprocess
import zipfile

import pytest

from hiatus_cluster import distribution, layout, linkage

_MODULES = ("scheduler", "nodemanager", "mapreduce")
_KNOWN = [line for line in (layout.ROOT / "java/scheduler/src/main/resources/hadoop-versions").read_text().split("\n") if line and line[0] != "#"]


def _jar(folder, name, sources):
    """Compiles classes (name and text) into a jar of that folder, against the other jars in it."""
    made = folder.parent / f"{name}-classes"
    made.mkdir(exist_ok=True)
    for file, text in sources.items():
        (made / f"{file}.java").write_text(text)
    subprocess.run([distribution.java_home() / "bin" / "javac", "-cp", f"{folder}/*", "-d", made, *made.glob("*.java")], check=True)
    with zipfile.ZipFile(folder / f"{name}.jar", "w") as jar:
        for path in made.glob("*.class"):
            jar.write(path, path.name)
    return folder / f"{name}.jar"


def test_what_a_library_lost_is_told_and_nothing_else(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    base = "public class Base {{ public int kept; public void kept() {{ }} {} }}"
    more = {"Sub": "public class Sub extends Base implements Runnable { public void run() { } }"}
    _jar(library, "theirs", {"Base": base.format("public int lost; public void lost(long how) { }"), **more,
                             "Gone": "public class Gone extends RuntimeException { }"})
    user = "class User { void use(Sub sub, String[] words) { sub.kept(); sub.kept = words.clone().length; sub.run(); sub.hashCode(); %s } }"
    promising = {"Promise": "interface Promise { void lost(long how); void run(); default void own() { } }",
                 "Heir": "class Heir extends Sub implements Promise { }"}
    ours = _jar(library, "ours", {"User": user % "sub.lost(1L); sub.lost = 2; new Gone().getMessage();", **promising}).rename(tmp_path / "ours.jar")
    assert linkage.missing(ours, library) == []
    _jar(library, "theirs", {"Base": base.format("public void lost(int how) { }"), **more})
    with zipfile.ZipFile(library / "theirs.jar") as jar:
        rest = {name: jar.read(name) for name in jar.namelist() if name != "Gone.class"}
    with zipfile.ZipFile(library / "theirs.jar", "w") as jar:
        for name, data in rest.items():
            jar.writestr(name, data)
    assert linkage.missing(ours, library) == ["Gone", "Heir.lost(J)V", "Sub.lost(J)V", "Sub.lostI"]


@pytest.mark.parametrize("version", _KNOWN)
def test_the_jars_find_all_that_they_name(version):
    folder = layout.HADOOP_LIB if version == layout.HADOOP else layout.BUILD / f"hadoop-{version}" / "lib"
    if not folder.exists():
        folder = layout.BUILD / "hadoop" / "lib"
    if not list(folder.glob(f"hadoop-yarn-server-resourcemanager-{version}.jar")):
        pytest.skip(f"its jars are not there: HIATUS_HADOOP={version} scripts/build fetches them")
    assert {module: linkage.missing(layout.product_jar(module), folder) for module in _MODULES} == dict.fromkeys(_MODULES, [])
