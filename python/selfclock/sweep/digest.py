"""Digests of a sweep's tables: Parquet as written here has no checksums, and a changed bit would be a changed result.

The digest is in a hidden file beside the table, in the form of sha256sum(1).
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def _coming(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256.partial")


def _of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put(aside: Path, path: Path) -> None:
    """Give a written table its name, and its digest; a crash at any moment leaves a table with its digest."""
    with aside.open("rb+") as file:
        os.fsync(file.fileno())
    with _coming(path).open("w", encoding="utf-8") as file:
        file.write(f"{_of(aside)}  {path.name}\n")
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    _coming(path).replace(_beside(path))
    _flush_directory(path.parent)


def _flush_directory(directory: Path) -> None:
    """Have the names on the device before anything that they replace is removed."""
    if os.name == "nt":
        return
    number = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def check(path: Path) -> None:
    """Raise `ValueError` if a table is not the one that was written. Without a digest nothing is known."""
    told = [_told(place) for place in (_beside(path), _coming(path))]
    if not any(told):
        return
    if _of(path) not in told:
        raise ValueError(f"its contents have changed since it was written; {_beside(path).name} has their digest")
    if _of(path) == told[1]:
        # Killed between the two names.
        _coming(path).replace(_beside(path))
    _coming(path).unlink(missing_ok=True)


def _told(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").partition(" ")[0] or None
    except FileNotFoundError:
        return None


def forget(path: Path) -> None:
    """Remove the digests of a table that is no longer there."""
    if not path.exists():
        _beside(path).unlink(missing_ok=True)
        _coming(path).unlink(missing_ok=True)
