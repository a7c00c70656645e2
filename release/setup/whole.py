"""Files written whole: whoever reads one finds the old or the new, and what lies in the way under a name that can be guessed is not followed."""

import os
import tempfile


def write(path, data, like=None):
    """Replaces the file, or the one that it links to; owner and mode are those of ``like``, another file, or else a new file's of this user."""
    path = os.path.realpath(path)
    handle, partial = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if like is None:
                os.fchmod(handle, 0o644)
            else:
                old = os.stat(like)
                if (old.st_uid, old.st_gid) != (os.fstat(handle).st_uid, os.fstat(handle).st_gid):
                    os.fchown(handle, old.st_uid, old.st_gid)
                os.fchmod(handle, old.st_mode & 0o7777)
        os.replace(partial, path)
    except BaseException:
        os.remove(partial)
        raise
