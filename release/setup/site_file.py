"""One of Hadoop's ``*-site.xml`` files, changed as an editor would: what is not touched, comments included, stays byte by byte."""

import re
from xml.parsers import expat
from xml.sax.saxutils import escape

from . import whole
from .refusal import Refusal

_NAMES = ("name", "value")
_INCLUDE = "include"


class SiteFile:
    """A file of properties, read; ``set`` and ``remove`` change what was read, ``write`` the file."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.data = file.read()
        except OSError as error:
            raise Refusal("{} cannot be read: {}".format(path, error.strerror))
        self._parse()

    def get(self, name):
        """The value of a property, as it stands there; None if it is not set. Of several the last counts, as for Hadoop."""
        place = self._places.get(name)
        return place.value if place else None

    def names(self):
        """Names of all properties."""
        return list(self._places)

    def set(self, name, value):
        """Gives a property a value: where it stands already, or else at the end of the file."""
        text = escape(value).encode()
        place = self._places.get(name)
        if place:
            begin, end = place.of_value
            if begin == place.end:
                raise Refusal("{}: {} has no <value>: give it one, or take it out".format(self.path, name))
            if self.data[begin:end].endswith(b"/>"):
                text = b"<value>" + text + b"</value>"
        else:
            # Before the line of the last tag, or before that tag if its line has more.
            begin = end = _line_begin(self.data, self._end)
            text = b"  <property>\n    <name>" + name.encode() + b"</name>\n    <value>" + text + b"</value>\n  </property>\n"
        self._replace(begin, end, text)

    def remove(self, name):
        """Takes a property out, with its line."""
        place = self._places.get(name)
        if place:
            begin, end = _line_begin(self.data, place.begin), place.end
            if begin == 0 or self.data[begin - 1:begin] == b"\n":
                end += len(re.match(rb"[ \t]*\r?\n?", self.data[end:]).group())
            self._replace(begin, end, b"")
            self.remove(name)  # one before it would count now

    def write(self):
        """Replaces the file, which keeps its owner and mode."""
        whole.write(self.path, self.data, like=self.path)

    def _replace(self, begin, end, text):
        self.data = self.data[:begin] + text + self.data[end:]
        self._parse()

    def _parse(self):
        self._places = {}
        self._end = None
        parser = expat.ParserCreate()
        path, reading = [], {}

        def begins(tag, attributes):
            path.append(tag)
            if path == ["configuration", "property"]:
                reading.clear()
                reading["begin"] = parser.CurrentByteIndex
                if attributes:
                    raise Refusal("{}: properties written as attributes are beyond this program; change the file by hand, as "
                                  "docs/install.md says".format(self.path))
            elif tag.rsplit(":", 1)[-1] == _INCLUDE:
                raise Refusal("{} includes another file, which this program does not follow; change them by hand, as docs/install.md "
                              "says".format(self.path))
            elif len(path) == 3 and tag in _NAMES:
                reading[tag] = ""
                reading[tag + "-begin"] = parser.CurrentByteIndex

        def declares(_name, system, _public, has_declarations):
            if system or has_declarations:
                raise Refusal("{} has declarations in its DOCTYPE, by which it may include another file; this program does not follow "
                              "them: change it by hand, as docs/install.md says".format(self.path))

        def text(piece):
            if len(path) == 3 and path[-1] in _NAMES:
                reading[path[-1]] += piece

        def ends(tag):
            here = parser.CurrentByteIndex
            if path == ["configuration", "property"]:
                end = self.data.index(b">", here) + 1
                if "name" in reading:
                    self._places[reading["name"].strip()] = _Place(reading, end)
            elif len(path) == 3 and tag in _NAMES:
                reading[tag + "-end"] = here
            elif path == ["configuration"]:
                self._end = here
            path.pop()

        parser.StartDoctypeDeclHandler = declares
        parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = begins, text, ends
        try:
            parser.Parse(self.data, True)
        except expat.ExpatError as error:
            raise Refusal("{} is no XML: {}".format(self.path, error))
        if self._end is None or b"</configuration" not in self.data[self._end:]:
            raise Refusal("{} has no <configuration>…</configuration>".format(self.path))
        for place in self._places.values():
            place.find_value(self.data)


class _Place:
    """Where a property stands in the file's bytes."""

    def __init__(self, reading, end):
        self.begin, self.end = reading["begin"], end
        self.value = reading.get("value", "").strip()
        self.of_value = (reading.get("value-begin", end), reading.get("value-end", end))

    def find_value(self, data):
        """What lies between the tags of the value; the whole tag, if it is an empty one."""
        begin, end = self.of_value
        tag_end = data.find(b">", begin) + 1
        if begin < self.end:
            self.of_value = (begin, tag_end) if data[:tag_end].endswith(b"/>") else (tag_end, end)


def _line_begin(data, index):
    """The begin of the line if there is nothing but space before the index, else the index."""
    begin = data.rfind(b"\n", 0, index) + 1
    return begin if not data[begin:index].strip() else index
