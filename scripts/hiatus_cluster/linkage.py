"""Whether a jar finds in a folder of other jars, and in Java 8, every class, method and field that it names, and the code of
every method that its classes promise by its own interfaces.

What is missing a JVM would stumble over when it comes there, and not before.
"""

import struct
import zipfile
from functools import lru_cache

from . import distribution

#: Bytes of each constant behind its tag, by tag; JVM specification, chapter 4.4.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_UTF8, _CLASS, _NAME_AND_TYPE = 1, 7, 12
_LONG, _DOUBLE = 5, 6
_MEMBERS = (9, 10, 11)  #: fields, methods, methods of interfaces
_ABSTRACT = 0x0400  #: among the flags of classes, interfaces and methods
#: The release of Java whose classes there are.
_JAVA = "8"


class _ClassFile:
    """Names of a class file: what it refers to, what it extends, what it has."""

    def __init__(self, data):
        (count,) = struct.unpack_from(">H", data, 8)
        self._pool, at, index = [None] * count, 10, 1
        while index < count:
            tag, at = data[at], at + 1
            if tag == _UTF8:
                (length,) = struct.unpack_from(">H", data, at)
                self._pool[index] = (tag, data[at + 2:at + 2 + length].decode("utf-8", "replace"))
                at += 2 + length
            else:
                self._pool[index] = (tag, data[at:at + _SIZES[tag]])
                at += _SIZES[tag]
            index += 2 if tag in (_LONG, _DOUBLE) else 1
        flags, _, above, interfaces = struct.unpack_from(">HHHH", data, at)
        at += 8
        self.parents = [self._class(one) for one in (above, *struct.unpack_from(f">{interfaces}H", data, at)) if one]
        self.is_abstract = bool(flags & _ABSTRACT)
        self.has, self.abstract = set(), set()
        at += 2 * interfaces
        for _ in range(2):  # fields, then methods
            (members,) = struct.unpack_from(">H", data, at)
            at += 2
            for _ in range(members):
                flags, name, kind, attributes = struct.unpack_from(">HHHH", data, at)
                (self.abstract if flags & _ABSTRACT else self.has).add((self._text(name), self._text(kind)))
                at += 8
                for _ in range(attributes):
                    at += 6 + struct.unpack_from(">I", data, at + 2)[0]

    def _text(self, index):
        return self._pool[index][1]

    def _class(self, index):
        return self._text(struct.unpack(">H", self._pool[index][1])[0])

    def classes(self):
        """The classes that it names, without those of arrays of numbers."""
        names = (self._class(index) for index, entry in enumerate(self._pool) if entry and entry[0] == _CLASS)
        return {name.lstrip("[")[1:-1] if name.startswith("[") else name for name in names if not name.startswith("[") or name.endswith(";")}

    def members(self):
        """Class, name and descriptor of each field and method that it names; those of arrays are not looked for."""
        for entry in self._pool:
            if entry and entry[0] in _MEMBERS:
                owner, member = struct.unpack(">HH", entry[1])
                name, kind = struct.unpack(">HH", self._pool[member][1])
                if not self._class(owner).startswith("["):
                    yield self._class(owner), self._text(name), self._text(kind)


def missing(jar, library):
    """What the classes of ``jar`` name that neither it, nor the jars of the folder ``library``, nor Java 8 has, sorted."""
    archives = [zipfile.ZipFile(path) for path in (jar, *sorted(library.glob("*.jar")))]
    where = {name[:-len(".class")]: (archive, name) for archive in reversed(archives) for name in archive.namelist() if name.endswith(".class")}
    # A JDK has the declarations of older releases' classes, by the releases that have them and by module.
    java = zipfile.ZipFile(distribution.java_home() / "lib" / "ct.sym")
    for name in java.namelist():
        releases, *path = name.split("/", 2)
        if _JAVA in releases and name.endswith(".sig"):
            where.setdefault(path[1][:-len(".sig")], (java, name))

    @lru_cache(maxsize=None)
    def read(name):
        archive, entry = where[name]
        return _ClassFile(archive.read(entry))

    def has(owner, member, with_code=False):
        if owner not in where:
            return False
        file = read(owner)
        return member in file.has or not with_code and member in file.abstract or any(has(parent, member, with_code) for parent in file.parents)

    ours = {name[:-len(".class")] for name in archives[0].namelist()}

    def promised(owner):
        return read(owner).abstract.union(*(promised(parent) for parent in read(owner).parents if parent in ours))

    lacking = set()
    for name in archives[0].namelist():
        if name.endswith(".class"):
            file = read(name[:-len(".class")])
            lacking |= {one for one in file.classes() if one not in where}
            lacking |= {f"{owner}.{member}{kind}" for owner, member, kind in file.members() if owner in where and not has(owner, (member, kind))}
            if not file.is_abstract:
                name = name[:-len(".class")]
                lacking |= {f"{name}.{member}{kind}" for member, kind in promised(name) if not has(name, (member, kind), with_code=True)}
    for archive in (*archives, java):
        archive.close()
    return sorted(lacking)
