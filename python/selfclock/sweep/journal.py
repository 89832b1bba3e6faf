"""The journal of a sweep: a line per finished run, on disk when `append` returns.

A line is the CRC-32 of a row's JSON in eight hexadecimal digits, a space, and the JSON. A damaged
line costs that line: its run is repeated. An empty line goes before each, so that neither a torn
line nor a damaged line end costs the next one. Lines without a checksum are of earlier versions.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import time
import zlib
from typing import TYPE_CHECKING, Any

from selfclock.sweep.row import column_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    import polars as pl
else:
    from selfclock.lazy import pl

#: Rows are flushed to the device at least this often, if any were added: what a power failure may cost.
FLUSH_S = 1.0

_CHECKED = re.compile(rb"([0-9a-f]{8}) (\{.*\})", re.DOTALL)


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
        line = b"\n%08x %b\n" % (zlib.crc32(text), text)
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
    *whole, _ = lines.split(b"\n")
    filled = [line for line in whole if line]
    rows = list(_rows(filled))
    if not rows:
        return pl.DataFrame(schema=column_types()), len(filled)
    table = pl.read_ndjson(io.BytesIO(b"\n".join(rows)), schema=column_types())
    return table.unique("key", keep="last", maintain_order=True), len(filled) - len(rows)


def _rows(lines: list[bytes]) -> Iterator[bytes]:
    """Yield the undamaged rows as JSON."""
    for line in lines:
        found = _CHECKED.fullmatch(line)
        if found is not None:
            if int(found[1], 16) == zlib.crc32(found[2]):
                yield found[2]
        elif _is_row(line):
            yield line


def _is_row(line: bytes) -> bool:
    """Return whether a line without a checksum is a row."""
    try:
        table = pl.read_ndjson(io.BytesIO(line), schema=column_types())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return False
    return table.height == 1 and table["key"].null_count() == 0
