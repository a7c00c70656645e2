"""The jars fit every Hadoop that they say they know: they name no class, method or field that it does not have."""

import subprocess
import zipfile

import pytest

from hiatus_cluster import distribution, layout, linkage


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
    sub = "public abstract class Sub extends Base implements Runnable {{ public void run() {{ }} {} }}"
    _jar(library, "theirs", {"Base": base.format("public int lost; public void lost(long how) { } public void hidden() { } void own() { }"),
                             "Sub": sub.format(""), "Gone": "public class Gone extends RuntimeException { }"})
    uses = "sub.kept(); sub.kept = words.clone().length; sub.run(); sub.hashCode(); sub.lost(1L); sub.lost = 2; sub.hidden(); new Gone().getMessage();"
    ours = _jar(library, "ours", {"User": f"class User {{ void use(Sub sub, String[] words) {{ {uses} }} }}",
                                  "Promise": "interface Promise { void lost(long how); void run(); default void own() { } }",
                                  "Heir": "class Heir extends Sub implements Promise { public void own() { } public void kept() { } }"})
    ours = ours.rename(tmp_path / "ours.jar")
    before = linkage.Linkage(ours, library)
    assert (before.missing(), before.overridden()) == ([], ["Heir.kept()V", "Heir.own()V"])
    _jar(library, "theirs", {"Base": base.format("public void lost(int how) { } private void hidden() { }"),
                             "Sub": sub.format("public abstract void asked();")})
    with zipfile.ZipFile(library / "theirs.jar") as jar:
        rest = {name: jar.read(name) for name in jar.namelist() if name != "Gone.class"}
    with zipfile.ZipFile(library / "theirs.jar", "w") as jar:
        for name, data in rest.items():
            jar.writestr(name, data)
    after = linkage.Linkage(ours, library)
    assert after.missing() == ["Gone", "Heir.asked()V", "Heir.lost(J)V", "Sub.hidden()V", "Sub.lost(J)V", "Sub.lostI"]
    assert after.overridden() == ["Heir.kept()V"]


@pytest.mark.parametrize("version", layout.tested_hadoops())
@pytest.mark.parametrize("module", ("scheduler", "nodemanager", "mapreduce"))
def test_the_jars_fit_every_hadoop_that_they_are_for(version, module):
    folders = {version: layout.BUILD / f"hadoop-{version}" / "lib", "compiled against": layout.BUILD / "hadoop" / "lib"}
    if list(folders["compiled against"].glob(f"hadoop-common-{version}.jar")):
        folders[version] = folders["compiled against"]
    if not all(list(folder.glob("hadoop-yarn-server-resourcemanager-*.jar")) for folder in folders.values()):
        pytest.skip("its jars are not there: `gradle hadoopDist hadoopDists` fetches those of each")
    theirs, built = (linkage.Linkage(layout.product_jar(module), folder) for folder in folders.values())
    assert theirs.missing() == []
    assert theirs.overridden() == built.overridden()


@pytest.mark.parametrize("framework, version", (("spark", "3.3.4_2.12"), ("spark", "3.5.9_2.13"), ("spark", "4.0.1_2.13"),
                                                ("tez", "0.9.2"), ("tez", "0.10.1")))
def test_one_jar_fits_every_version_of_a_framework_that_it_is_for(framework, version):
    folder = layout.BUILD / f"{framework}-{version}" / "lib"
    if not folder.exists():
        pytest.skip("its jars are not there: `gradle frameworkDists` fetches those of each")
    assert linkage.Linkage(layout.product_jar(framework), folder).missing() == []
