"""What jobs of the mode ``bytes`` read, and what they must have written."""

import random
import struct
import zlib

from ...errors import ClusterError
from .model import MB, RECORD_BYTES

#: Files that all jobs share, each as long as a map of an uncapped job reads.
FILES, FILE_BYTES = 48, 2 * MB
_SEED = 2009
_HEADER = struct.Struct(">iiq")  #: length, job, number
_CRC = struct.Struct(">I")


def prepare(folder):
    """Makes the input files in ``folder`` unless they are there: seeded, incompressible, records that end in their CRC."""
    if folder.exists():
        return folder
    random_of = random.Random(_SEED)
    partial = folder.with_name(folder.name + ".new")
    partial.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        with open(partial / f"input-{number:02}", "wb") as file:
            for _ in range(FILE_BYTES // RECORD_BYTES):
                body = random_of.randbytes(RECORD_BYTES - _CRC.size)
                file.write(body + _CRC.pack(zlib.crc32(body)))
    partial.rename(folder)
    return folder


def check_output(name, parts, wanted_bytes):
    """Whether these files hold each record of a job's output once and intact. Raises ClusterError if not."""
    numbers, found_bytes, own = set(), 0, _java_hash(name)
    for part in parts:
        data, at = part.read_bytes(), 0
        while at < len(data):
            length, job, number = _HEADER.unpack_from(data.ljust(at + _HEADER.size, b"\0"), at)
            body = data[at:at + length]
            if not RECORD_BYTES <= len(body) == length or _CRC.unpack_from(body, length - _CRC.size)[0] != zlib.crc32(body[:-_CRC.size]):
                raise ClusterError(f"{name}: {part.name} holds a broken record at byte {at}")
            if job != own:
                raise ClusterError(f"{name}: {part.name} holds a record of another job at byte {at}")
            if number in numbers:
                raise ClusterError(f"{name}: {part.name} holds record {number}, which was there before")
            numbers.add(number)
            at += length
        found_bytes += len(data)
    if found_bytes != wanted_bytes or numbers != set(range(wanted_bytes // RECORD_BYTES)):
        raise ClusterError(f"{name}: {found_bytes} bytes and {len(numbers)} records written, wanted {wanted_bytes} and "
                           f"{wanted_bytes // RECORD_BYTES}")


def _java_hash(text):
    """Java's hash of a string, by which a job marks its records."""
    value = 0
    for letter in text:
        value = (31 * value + ord(letter)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value
