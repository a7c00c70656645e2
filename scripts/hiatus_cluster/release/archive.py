"""A tar.gz in which nothing depends on who packs it, where and when: owner, order, modes and times are fixed."""

import gzip
import hashlib
import tarfile


def pack(folder, target, time_s):
    """Packs the folder, under its own name, into ``target``; every entry is dated ``time_s``, in seconds since 1970."""
    def settled(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = time_s
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    partial = target.with_name(target.name + ".new")
    with open(partial, "wb") as file, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=time_s) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path in [folder, *sorted(folder.rglob("*"))]:
                tar.add(path, str(path.relative_to(folder.parent)), recursive=False, filter=settled)
    partial.replace(target)


def sha256(path):
    """The checksum of a file, as ``sha256sum`` prints it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sums(folder):
    """The text of SHA256SUMS over all files below the folder, for ``sha256sum --check``."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(f"{sha256(path)}  {path.relative_to(folder)}\n" for path in files)
