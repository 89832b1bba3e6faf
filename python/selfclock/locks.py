"""Locks on files, which the operating system releases when their process ends, however it ends.

Unlike process numbers they mean the same in every container, and on a file system that several
machines share.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO


def try_lock(file: BinaryIO) -> bool:
    """Lock an open file; False if another process holds it. A file system without locks raises `OSError`."""
    try:
        try:
            import fcntl  # noqa: PLC0415
        except ImportError:
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Windows reports EACCES or EDEADLK.
        if error.errno in {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}:
            return False
        raise
    return True
