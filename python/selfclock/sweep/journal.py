"""The journal of a sweep: a line per finished run, on disk when `append` returns.

A line is a row's JSON, whose first key, `crc`, has the CRC-32 of the object without it. A damaged
line costs that line: its run is repeated. Lines without a checksum are of earlier versions.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import os
import re
import time
import zlib
from typing import TYPE_CHECKING, Any

from selfclock.sweep.row import column_types

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

    import polars as pl
else:
    from selfclock.lazy import pl

#: Rows are flushed to the device at least this often, if any were added: what a power failure may
#: cost.
FLUSH_S = 1.0

#: The beginning of a line. In a string of the JSON its quotes would be escaped.
_BEGINNING = re.compile(rb'\{"crc": "([0-9a-f]{8})", ')


def _open(path: Path) -> BinaryIO:
    return path.open("ab", buffering=0)


class Journal:
    """The open end of a journal."""

    def __init__(self, path: Path, opened: Callable[[Path], BinaryIO] = _open) -> None:
        self._path, self._opened = path, opened
        self._file: BinaryIO | None = None
        self._flushed_at = 0.0

    def append(self, row: dict[str, Any]) -> None:
        """Append a row, whole: otherwise `OSError` is raised, and the earlier lines are unharmed."""
        if self._file is None:
            self._file = self._opened(self._path)
        text = json.dumps(row, allow_nan=False).encode()
        line = b'{"crc": "%08x", %b\n' % (zlib.crc32(text), text[1:])
        before = self._file.seek(0, os.SEEK_END)
        try:
            _write_all(self._file, line)
            self._flush()
        except OSError:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise

    def _flush(self) -> None:
        assert self._file is not None
        if time.monotonic() - self._flushed_at > FLUSH_S:
            with contextlib.suppress(io.UnsupportedOperation):
                os.fsync(self._file.fileno())
            self._flushed_at = time.monotonic()

    def close(self) -> None:
        """Close the file; the next row opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._flushed_at = 0.0


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write everything: a file without a buffer may write a part, on a full disk for instance."""
    while data:
        written = file.write(data)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        data = data[written:]


def read(lines: bytes) -> tuple[pl.DataFrame, int]:
    """Return the rows of a journal, of equal keys the last, and the number of damaged lines.

    An incomplete last line, which a killed sweep leaves, is not damage.
    """
    *whole, last = lines.split(b"\n")
    pieces = [piece for line in whole for piece in _pieces(line)]
    rows = [_row(piece) for piece in pieces]
    rows += [_checked(piece) for piece in _pieces(last)]
    good = [row for row in rows if row is not None]
    damaged = sum(row is None for row in rows[: len(pieces)])
    if not good:
        return pl.DataFrame(schema=column_types()), damaged
    table = pl.read_ndjson(io.BytesIO(b"\n".join(good)), schema=column_types())
    return table.unique("key", keep="last", maintain_order=True), damaged


def _pieces(line: bytes) -> list[bytes]:
    """Split at the beginnings in a line: the end of one may be damaged or torn."""
    places = [found.start() for found in _BEGINNING.finditer(line)]
    cuts = [0, *places, len(line)]
    return [line[begin:end] for begin, end in itertools.pairwise(cuts) if begin < end]


def _checked(piece: bytes) -> bytes | None:
    """Return the row of an undamaged line without its checksum."""
    found = _BEGINNING.match(piece)
    if found is None:
        return None
    row = b"{" + piece[found.end() : piece.rfind(b"}") + 1]
    return row if int(found[1], 16) == zlib.crc32(row) else None


def _row(piece: bytes) -> bytes | None:
    """Return the row of a line; `None` if it is damaged."""
    if _BEGINNING.match(piece):
        return _checked(piece)
    return piece if _is_row(piece) else None


def _is_row(line: bytes) -> bool:
    """Return whether a line is a row of a version without checksums, whose first key was `key`."""
    if not line.startswith(b'{"key": '):
        return False
    try:
        table = pl.read_ndjson(io.BytesIO(line), schema=column_types())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return False
    return table.height == 1 and table["key"].null_count() == 0
