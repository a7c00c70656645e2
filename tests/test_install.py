"""``install`` and ``uninstall`` on folders that look like a Hadoop, without daemons."""

import ast
import contextlib
import http.server
import json
import os
import re
import subprocess
import threading

import pytest

import tarball
from hiatus_cluster import distribution, layout
from hiatus_cluster.release import assembly

_STOCK = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
_LINUX = "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor"
_SITE = f"""<?xml version="1.0"?>
<!-- Ours since 2019; ask Mia before you change anything. -->
<configuration>
  <property>
    <name>yarn.resourcemanager.scheduler.class</name>
    <value>{_STOCK}</value> <!-- never Fair again -->
  </property>

  <property><name>yarn.nodemanager.container-executor.class</name><value>{_LINUX}</value></property>
  <!-- <property><name>yarn.scheduler.hiatus.mode</name><value>kill</value></property> -->
  <property><name>yarn.empty</name><value/></property>
</configuration>
"""


@pytest.fixture
def machine(tmp_path):
    """A machine's Hadoop with a configuration that somebody wrote by hand."""
    jar = tmp_path / "hadoop-yarn-server-resourcemanager-3.4.2.jar"
    jar.touch()
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "yarn-site.xml").write_text(_SITE)
    return tarball.make(tmp_path / "hadoop", conf, [jar])


def _run(program, machine, *words, code=0, **more):
    done = subprocess.run([program, "--hadoop", machine, *words], capture_output=True, text=True, **more)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def _site(machine):
    return (machine / "etc" / "hadoop" / "yarn-site.xml").read_text()


def _files(machine):
    """Everything below the folder and its configuration, with what is in it."""
    return {path: path.read_bytes() for root in (machine, machine.parent / "conf") for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_dry_run_tells_everything_and_does_nothing(release, machine):
    before = _files(machine)
    said = _run(release / "install", machine, "--dry-run")
    assert _files(machine) == before
    for what in ("hiatus-scheduler", "hiatus-nodemanager", "hiatus-mapreduce", "HiatusScheduler", "HiatusLinuxContainerExecutor", "observe"):
        assert what in said, said
    assert all(line.startswith("would ") for line in said.splitlines()), said


def test_installing_changes_what_it_must_and_a_second_time_nothing(release, machine):
    said = _run(release / "install", machine)
    assert "every other machine" in said and "refreshQueues" in said
    version = assembly.version()
    assert sorted(path.name for path in (machine / "share/hadoop/yarn/lib").iterdir()) == [
        f"hiatus-nodemanager-{version}.jar", f"hiatus-scheduler-{version}.jar"]
    wanted = _SITE.replace(_STOCK, "io.hiatus.scheduler.HiatusScheduler").replace(_LINUX, "io.hiatus.nodemanager.HiatusLinuxContainerExecutor")
    added = "  <property>\n    <name>yarn.scheduler.hiatus.mode</name>\n    <value>observe</value>\n  </property>\n"
    assert _site(machine) == wanted.replace("</configuration>", added + "</configuration>")
    assert (machine / "etc/hadoop/yarn-site.xml.before-hiatus").read_text() == _SITE

    after = _files(machine)
    assert "nothing to do" in _run(release / "install", machine)
    assert _files(machine) == after


def test_yarn_hiatus_is_a_command_of_hadoops_own_then(release, machine):
    def hiatus(*words):
        return subprocess.run([machine / "bin" / "yarn", "hiatus", *words], capture_output=True, text=True, env={
            "PATH": os.environ["PATH"], "JAVA_HOME": str(distribution.java_home()), "HADOOP_CLASSPATH": f"{layout.HADOOP_LIB}/*"})

    assert hiatus().returncode == 2
    _run(release / "install", machine)
    said = hiatus()
    assert said.returncode == 2 and "explain [APPLICATION]" in said.stderr, said
    commands = re.findall(r"^([a-z][a-z-]*) ", said.stderr, re.MULTILINE)
    assert len(commands) == 9
    assert sorted(_completed(release, "yarn", "hiatus", "")) == sorted(commands)
    _run(release / "uninstall", machine, "--force")
    assert "not among the commands" in hiatus().stderr


def _completed(release, *words):
    """What bash offers for the last word."""
    done = subprocess.run(["bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _yarn_hiatus; echo "${COMPREPLY[@]}"',
                           "bash", release / "completion.bash", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("typed, offered", [
    (["hi"], ["hiatus"]), (["hiatus", "s"], ["status", "suspend"]), (["hiatus", "jobs", ""], ["--json"]), (["hiatus", "suspend", ""], []),
    (["node", "-"], []),
])
def test_bash_completes_it(release, typed, offered):
    assert _completed(release, "yarn", *typed) == offered


def test_an_older_version_makes_room(release, machine):
    old = machine / "share/hadoop/yarn/lib/hiatus-scheduler-0.0.1.jar"
    old.touch()
    assert f"remove {old}" in _run(release / "install", machine)
    assert not old.exists()


def test_uninstalling_leaves_everything_as_it_was(release, machine):
    before = _files(machine)
    _run(release / "install", machine)
    site = machine / "etc/hadoop/yarn-site.xml"
    site.write_text(_site(machine).replace("observe", "off"))
    _run(release / "uninstall", machine, "--force")
    assert _files(machine) == before
    assert "nothing to do" in _run(release / "uninstall", machine)


def test_uninstalling_keeps_what_was_changed_since(release, machine):
    _run(release / "install", machine)
    site = machine / "etc/hadoop/yarn-site.xml"
    own = "<property><name>yarn.scheduler.hiatus.policy</name><value>las</value></property>\n</configuration>"
    site.write_text(_site(machine).replace("</configuration>", own))
    said = _run(release / "uninstall", machine, "--force")
    assert _site(machine) == _SITE.replace("</configuration>", own)
    assert "left, without any effect" in said and (machine / "etc/hadoop/yarn-site.xml.before-hiatus").exists()


def test_without_its_record_it_still_leaves_classes_that_exist(release, machine):
    _run(release / "install", machine)
    (machine / "etc/hadoop/hiatus-installed.json").unlink()
    _run(release / "uninstall", machine, "--force")
    assert _STOCK in _site(machine) and _LINUX in _site(machine) and "io.hiatus" not in _site(machine)


@pytest.mark.parametrize("change, complaint", [
    (lambda m: (m / "share/hadoop/yarn/hadoop-yarn-server-resourcemanager-3.4.2.jar").rename(
        m / "share/hadoop/yarn/hadoop-yarn-server-resourcemanager-9.9.9.jar"), "Hadoop 9.9.9 in .* is unknown to this release, which was tested with 3.3.6, 3.4.0"),
    (lambda m: (m / "share/hadoop/yarn/hadoop-yarn-server-resourcemanager-3.4.2.jar").unlink(), "no Hadoop from a tarball"),
    (lambda m: _write(m, _SITE.replace("capacity.CapacityScheduler", "fair.FairScheduler")), "is .*FairScheduler. Hiatus is CapacityScheduler"),
    (lambda m: _write(m, _SITE.replace(_LINUX, "org.example.Executor")), "is org.example.Executor"),
    (lambda m: _write(m, _SITE.replace("<!-- never", '<xi:include xmlns:xi="x" href="more.xml"/><!-- never')), "includes another file"),
    (lambda m: _write(m, _SITE.replace("?>", '?><!DOCTYPE configuration [<!ENTITY more SYSTEM "more.xml">]>')), "declarations in its DOCTYPE"),
    (lambda m: _write(m, _SITE.replace(f"<value>{_STOCK}</value>", "")), "scheduler.class has no <value>"),
    (lambda m: _write(m, _SITE[:-5]), "is no XML"),
    (lambda m: (m / "etc/hadoop/yarn-site.xml").unlink(), "cannot be read"),
])
def test_what_it_does_not_know_it_refuses_in_a_line_and_changes_nothing(release, machine, change, complaint):
    change(machine)
    before = _files(machine)
    said = _run(release / "install", machine, code=1)
    assert _files(machine) == before
    assert said.count("\n") == 1 and re.search(complaint, said), said


_JUDGED = [line.split() for line in (layout.ROOT / "java/scheduler/src/test/resources/hadoop-versions-judged").read_text().split("\n")
           if line and line[0] != "#"]


@pytest.mark.parametrize("version, verdict", _JUDGED)
def test_it_knows_the_versions_that_the_scheduler_knows(release, machine, version, verdict):
    jar = machine / "share/hadoop/yarn/hadoop-yarn-server-resourcemanager-3.4.2.jar"
    jar.rename(jar.with_name(f"hadoop-yarn-server-resourcemanager-{version}.jar"))
    said = _run(release / "install", machine, "--dry-run", code=verdict == "unknown")
    assert ("is unknown to this release" in said, "WARNING: Hiatus was not tested" in said) == (verdict == "unknown", verdict == "tried")


def _write(machine, text):
    (machine / "etc/hadoop/yarn-site.xml").write_text(text)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_without_permission_it_refuses(release, machine):
    for folder in (release, *release.parents, machine, *machine.parents):  # so that somebody else may look
        if folder.stat().st_uid == os.geteuid() and str(folder) not in ("/", "/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    said = _run(release / "install", machine, code=1, user="nobody")
    assert "no permission to write" in said


@contextlib.contextmanager
def _manager(code, **said):
    """A ResourceManager that gives one answer; its web address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802
            self.send_response(code if self.path == "/ws/v1/hiatus" else 500)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("code, answer, complaint", [
    (200, {"mode": "suspend", "suspended_now": 0}, "Hiatus is in mode suspend: set yarn.scheduler.hiatus.mode to off"),
    (200, {"mode": "off", "suspended_now": 3}, "3 containers are still suspended"),
    (503, {}, "nobody tells whether containers are suspended"),
])
def test_uninstalling_waits_for_the_cluster(release, machine, code, answer, complaint):
    _run(release / "install", machine)
    before = _files(machine)
    with _manager(code, **answer) as address:
        assert complaint in _run(release / "uninstall", machine, "--rm", address, code=1)
    assert _files(machine) == before


@pytest.mark.parametrize("said, code, complaint", [
    ('{"mode": "off", "suspended_now": 0}', 0, ""),
    ('{"mode": "off", "suspended_now": 3}', 0, "3 containers are still suspended"),
    ("Get a ticket with kinit", 1, "`yarn hiatus status` says: Get a ticket with kinit"),
])
def test_where_kerberos_is_on_it_asks_by_the_command_that_has_a_ticket(release, machine, said, code, complaint):
    _run(release / "install", machine)
    yarn = machine / "bin" / "yarn"
    yarn.write_text(f"#!/bin/sh\n[ \"$*\" = '--config {machine}/etc/hadoop hiatus status --json' ] || exit 9\n"
                    f"echo '{said}' >&{2 if code else 1}; exit {code}\n")
    with _manager(401) as address:
        assert complaint in _run(release / "uninstall", machine, "--rm", address, "--dry-run", code=1 if complaint else 0)


def test_hiatus_stays_off_until_the_resource_manager_runs_without_it(release, machine):
    before = _files(machine)
    _run(release / "install", machine)
    site = machine / "etc/hadoop/yarn-site.xml"
    site.write_text(_site(machine).replace("observe", "off"))
    with _manager(200, mode="off", suspended_now=0) as address:
        for _ in range(2):  # without the mode the next refresh would have Hiatus suspend
            said = _run(release / "uninstall", machine, "--rm", address)
            assert "io.hiatus" not in _site(machine) and "<value>off</value>" in _site(machine)
            assert "once more here" in said
    with _manager(404) as address:
        _run(release / "uninstall", machine, "--rm", address)
    assert _files(machine) == before


def test_it_stays_off_until_the_last_of_several_resource_managers_runs_without_it(release, machine):
    _run(release / "install", machine)
    site = machine / "etc/hadoop/yarn-site.xml"
    with _manager(404) as first, _manager(200, mode="off", suspended_now=0) as second:
        addresses = "".join(f"<property><name>yarn.resourcemanager.webapp.address.{name}</name><value>{address[7:]}</value></property>"
                            for name, address in (("a", first), ("b", second)))
        both = f"<property><name>yarn.resourcemanager.ha.rm-ids</name><value>a,b</value></property>{addresses}</configuration>"
        site.write_text(_site(machine).replace("observe", "off").replace("</configuration>", both))
        _run(release / "uninstall", machine)
    assert "<value>off</value>" in _site(machine)


@pytest.mark.parametrize("site, complaint", [
    ("<configuration><property><name>yarn.app.mapreduce.am.{}</name><value>io.hiatus.mapreduce.{}</value></property></configuration>",
     "yarn.app.mapreduce.am.{} = io.hiatus.mapreduce.{}: jobs that begin without that class fail"),
    ("<configuration><xi:include xmlns:xi='x' href='more.xml'/><!-- {} io.hiatus.mapreduce.{} --></configuration>",
     "has io.hiatus.…: jobs that begin without that class fail"),
])
@pytest.mark.parametrize("what", [("job.task.estimator.class", "BatchMRTaskRuntimeEstimator"), ("preemption.policy", "ReportingPreemptionPolicy")])
def test_uninstalling_is_refused_while_jobs_are_told_to_load_our_class(release, machine, site, complaint, what):
    _run(release / "install", machine)
    (machine / "etc/hadoop/mapred-site.xml").write_text(site.format(*what))
    assert complaint.format(*what) in _run(release / "uninstall", machine, "--force", code=1)


def test_what_else_jobs_are_told_is_nobodys_business(release, machine):
    _run(release / "install", machine)
    (machine / "etc/hadoop/mapred-site.xml").write_text("<configuration><xi:include xmlns:xi='x' href='more.xml'/></configuration>")
    _run(release / "uninstall", machine, "--force")
    assert "io.hiatus" not in _site(machine)


def test_with_another_configuration_uninstalling_leaves_the_jars_that_the_right_one_needs(release, machine):
    _run(release / "install", machine)
    other = machine.parent / "other"
    other.mkdir()
    (other / "yarn-site.xml").write_text(_SITE)
    before = _files(machine)
    with _manager(404) as address:
        assert "name that by --conf" in _run(release / "uninstall", machine, "--conf", other, "--rm", address, code=1)
    assert _files(machine) == before
    _run(release / "uninstall", machine, "--conf", other, "--force")
    assert not list((machine / "share/hadoop/yarn/lib").iterdir())


def test_a_file_that_is_a_link_stays_one(release, machine):
    link = machine / "etc/hadoop/yarn-site.xml"
    shared = machine.parent / "shared.xml"
    shared.write_text(_SITE)
    shared.chmod(0o640)
    link.unlink()
    link.symlink_to(shared)
    _run(release / "install", machine)
    assert link.is_symlink() and "HiatusScheduler" in shared.read_text() and shared.stat().st_mode & 0o777 == 0o640
    _run(release / "uninstall", machine, "--force")
    assert link.is_symlink() and shared.read_text() == _SITE
    assert sorted(path.name for path in machine.parent.iterdir() if "shared" in path.name) == ["shared.xml"]


def test_of_several_installations_the_last_ones_before_is_kept(release, machine):
    _run(release / "install", machine)
    edited = _site(machine).replace("2019", "2020")
    (machine / "etc/hadoop/yarn-site.xml").write_text(edited)
    _run(release / "uninstall", machine, "--force")
    assert (machine / "etc/hadoop/yarn-site.xml.before-hiatus").read_text() == _SITE
    _run(release / "install", machine)
    assert (machine / "etc/hadoop/yarn-site.xml.before-hiatus").read_text() == _SITE.replace("2019", "2020")
    _run(release / "uninstall", machine, "--force")
    assert not (machine / "etc/hadoop/yarn-site.xml.before-hiatus").exists()


def test_a_damaged_record_is_told(release, machine):
    _run(release / "install", machine)
    record = machine / "etc/hadoop/hiatus-installed.json"
    record.write_text(record.read_text()[:20])
    assert re.search("hiatus-installed.json is damaged", _run(release / "uninstall", machine, "--force", code=1))
    record.unlink()
    _run(release / "uninstall", machine, "--force")
    assert "io.hiatus" not in _site(machine)


def test_the_scripts_run_with_an_old_python():
    for script in [assembly.SCRIPTS / "install", assembly.SCRIPTS / "uninstall", *(assembly.SCRIPTS / "setup").glob("*.py")]:
        ast.parse(script.read_text(), feature_version=(3, 6))
