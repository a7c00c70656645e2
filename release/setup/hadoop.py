"""A Hadoop unpacked from its tarball, and this release beside it."""

import glob
import os
import re
import zipfile

from .refusal import Refusal

#: This release: where it was unpacked.
RELEASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Which Hadoops it was tested with: a file in the scheduler's jar, which looks there too when a ResourceManager starts.
_VERSIONS = "hadoop-versions"
#: One of Apache's releases: nobody knows what else is in other builds.
_RELEASE = re.compile(r"\d+\.\d+\.\d+$", re.ASCII)
#: Where each of our jars goes, below Hadoop's folder: both are on the class paths that Hadoop's scripts make.
_FOLDERS = {"scheduler": "share/hadoop/yarn/lib", "nodemanager": "share/hadoop/yarn/lib", "mapreduce": "share/hadoop/mapreduce"}

#: What makes `yarn hiatus` a command; Hadoop's scripts look for such files in the folder of this name of their configuration.
_PROFILE = os.path.join("shellprofile.d", "hiatus.sh")


class Hadoop:
    """One machine's Hadoop: its folder and its configuration."""

    def __init__(self, home, conf=None):
        self.home = os.path.abspath(home)
        self.conf = os.path.abspath(conf or os.path.join(home, "etc", "hadoop"))
        self.version = self._version()

    def _version(self):
        where = os.path.join(self.home, "share", "hadoop", "yarn")
        pattern = re.compile(r"hadoop-yarn-server-resourcemanager-(\d.*)\.jar$")
        found = [match.group(1) for match in map(pattern.match, sorted(_list(where))) if match and not match.group(1).endswith("-tests")]
        if len(found) != 1:
            raise Refusal("{} is no Hadoop from a tarball: {} has {} jars of a ResourceManager, one expected".format(
                self.home, where, len(found)))
        return found[0]

    def require_known(self):
        """Raises Refusal unless this release was tested with the version, or with an older and a newer one: then it is tried, and the
        answer says so. None if it was tested.
        """
        tested = tested_versions()
        if self.version in tested:
            return None
        if _RELEASE.match(self.version) and min(map(_parts, tested)) < _parts(self.version) < max(map(_parts, tested)):
            return "WARNING: Hiatus was not tested with Hadoop {}, and is tried because it was with older and newer ones: {}".format(
                self.version, ", ".join(tested))
        raise Refusal("Hadoop {} in {} is unknown to this release, which was tested with {}: Hiatus would leave everything to "
                      "CapacityScheduler".format(self.version, self.home, ", ".join(tested)))

    def require_writable(self, *files):
        """Raises Refusal if this user may not write what is going to change."""
        folders = [os.path.join(self.home, folder) for folder in sorted(set(_FOLDERS.values()))]
        profiles = os.path.dirname(self.file(_PROFILE))
        beside = [os.path.dirname(os.path.realpath(path)) for path in files]
        for path in folders + [self.conf] + [profiles] * os.path.isdir(profiles) + beside + list(files):
            if not os.access(path, os.W_OK):
                raise Refusal("no permission to write {}: run this as the user it belongs to".format(path))
        for path in files:
            if os.geteuid() not in (0, os.stat(path).st_uid):
                raise Refusal("{} belongs to somebody else, and would not any more: run this as the user it belongs to".format(path))

    def file(self, name):
        """A file of the configuration."""
        return os.path.join(self.conf, name)

    def places(self):
        """Where each of the release's files goes: {file: place}."""
        places = {jar: os.path.join(self.home, _FOLDERS[os.path.basename(jar).split("-")[1]], os.path.basename(jar)) for jar in jars()}
        places[os.path.join(RELEASE, _PROFILE)] = self.file(_PROFILE)
        return places

    def is_ours(self):
        """Whether this configuration has the command that comes with an installation."""
        return os.path.exists(self.file(_PROFILE))

    def installed(self):
        """Our files that lie in this Hadoop, of whatever version."""
        found = [jar for module, folder in _FOLDERS.items()
                 for jar in glob.glob(os.path.join(glob.escape(self.home), folder, "hiatus-{}-*.jar".format(module)))]
        return sorted(found + [self.file(_PROFILE)] if self.is_ours() else found)


def jars():
    """The release's own jars. Raises Refusal if there are not as many as there should be."""
    found = sorted(glob.glob(os.path.join(glob.escape(RELEASE), "jars", "hiatus-*.jar")))
    if len(found) != len(_FOLDERS):
        raise Refusal("{}/jars should have {} jars and has {}: unpack the release again".format(RELEASE, len(_FOLDERS), len(found)))
    return found


def tested_versions():
    """The versions of Hadoop that this release was tested with."""
    scheduler = next(jar for jar in jars() if os.path.basename(jar).startswith("hiatus-scheduler-"))
    with zipfile.ZipFile(scheduler) as jar:
        lines = jar.read(_VERSIONS).decode().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _parts(release):
    return tuple(map(int, release.split(".")))


def _list(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []
