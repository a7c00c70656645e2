"""Whether a jar finds in a folder of other jars, and in Java 8, every class, method and field that it names, where it may use
them, and the code of every method that its classes promise; and which methods of those jars its classes override.

What is missing a JVM would stumble over when it comes there, and not before.
"""

import struct
import zipfile

from . import distribution

#: Bytes of each constant behind its tag, by tag; JVM specification, chapter 4.4.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_UTF8, _CLASS, _NAME_AND_TYPE = 1, 7, 12
_LONG, _DOUBLE = 5, 6
_MEMBERS = (9, 10, 11)  #: fields, methods, methods of interfaces
_PUBLIC, _PRIVATE, _PROTECTED, _STATIC, _FINAL, _ABSTRACT = 1, 2, 4, 8, 0x10, 0x400  #: flags of classes, interfaces and methods
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
        flags, this, above, interfaces = struct.unpack_from(">HHHH", data, at)
        at += 8
        self.parents = [self._class(one) for one in (above, *struct.unpack_from(f">{interfaces}H", data, at)) if one]
        self.name = self._class(this)
        self.is_abstract = bool(flags & _ABSTRACT)
        self.has = {}  #: flags by name and descriptor
        at += 2 * interfaces
        for _ in range(2):  # fields, then methods
            (members,) = struct.unpack_from(">H", data, at)
            at += 2
            for _ in range(members):
                flags, name, kind, attributes = struct.unpack_from(">HHHH", data, at)
                self.has[self._text(name), self._text(kind)] = flags
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


class Linkage:
    """The classes of a jar among those of the jars of the folder ``library`` and of Java 8."""

    def __init__(self, jar, library):
        archives = [zipfile.ZipFile(path) for path in (jar, *sorted(library.glob("*.jar")))]
        self._where = {name[:-len(".class")]: (archive, name) for archive in reversed(archives) for name in archive.namelist()
                       if name.endswith(".class")}
        # A JDK has the declarations of older releases' classes, by the releases that have them and by module.
        java = zipfile.ZipFile(distribution.java_home() / "lib" / "ct.sym")
        for name in java.namelist():
            releases, *path = name.split("/", 2)
            if _JAVA in releases and name.endswith(".sig"):
                self._where.setdefault(path[1][:-len(".sig")], (java, name))
        self._read = {}
        self._ours = [self._file(name[:-len(".class")]) for name in archives[0].namelist() if name.endswith(".class")]

    def missing(self):
        """What the jar's classes name and may not use or is not there, and what they promise without code; sorted."""
        lacking = set()
        for file in self._ours:
            lacking |= {name for name in file.classes() if name not in self._where}
            lacking |= {f"{owner}.{member}{kind}" for owner, member, kind in file.members()
                        if owner in self._where and not any(_may_use(file.name, *found) for found in self._find(owner, (member, kind)))}
            if not file.is_abstract:
                lacking |= {f"{file.name}.{member}{kind}" for member, kind in self._promised(file.name)
                            if all(flags & _ABSTRACT for flags, _ in self._find(file.name, (member, kind)))}
        return sorted(lacking)

    def overridden(self):
        """The methods of the jar's classes that take the place of a method of the library's, or carry out an abstract one; sorted."""
        names = {file.name for file in self._ours}
        return sorted(f"{file.name}.{member[0]}{member[1]}" for file in self._ours for member, own in file.has.items()
                      if not own & (_PRIVATE | _STATIC) and member[0] != "<init>"
                      and any(not flags & (_PRIVATE | _STATIC | _FINAL) and _may_use(file.name, flags, owner) and owner not in names
                              for flags, owner in self._find(file.name, member)))

    def _file(self, name):
        if name not in self._read:
            archive, entry = self._where[name]
            self._read[name] = _ClassFile(archive.read(entry))
        return self._read[name]

    def _find(self, owner, member):
        """Flags and class of each declaration of a member in a class and what it extends."""
        if owner in self._where:
            file = self._file(owner)
            if member in file.has:
                yield file.has[member], owner
            for parent in file.parents:
                yield from self._find(parent, member)

    def _promised(self, name):
        """The methods without code of a class and what it extends."""
        if name not in self._where:
            return set()
        file = self._file(name)
        return {member for member, flags in file.has.items() if flags & _ABSTRACT}.union(*map(self._promised, file.parents))


def _may_use(user, flags, owner):
    """Whether a class may use another's member. One that is protected it may: the compiler has seen that it extends the other."""
    beside = user.rpartition("/")[0] == owner.rpartition("/")[0]
    return bool(flags & (_PUBLIC | _PROTECTED)) or user == owner or beside and not flags & _PRIVATE
