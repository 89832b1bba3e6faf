"""Provenance of results: version, commit and algorithms; and, separately, date and command.

The former depend only on the run. Date and command do not, so they have one place in a result: the
entry `made` of its JSON document, which the footer of its page repeats.
"""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from selfclock._core import COMMIT, ENGINE, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: JSON documents of results; each lists in `made` the files written with it.
DOCUMENTS = ("summary.json", "compare.json", "scorecard.json", "claims.json", "suite.json", "twin.json")


class Made(TypedDict):
    """How a result was made."""

    version: str
    #: Commit that the program was built from; null if built outside of git.
    commit: str | None
    #: Digest of the engine's sources.
    engine: str
    #: Digests of the user-defined algorithms.
    algorithms: dict[str, str]
    #: Time of writing, UTC.
    date: str
    #: The command line; null from Python.
    command: str | None
    #: Digest of the run: two results with the same digest have the same figures.
    run: str
    #: Names of the files written together.
    files: list[str]


_command: list[str] = []


def set_command(arguments: Sequence[str]) -> None:
    """Remember the command line of this process."""
    _command[:] = ["selfclock", *map(escaped, arguments)]


def escaped(text: str) -> str:
    r"""Return a text with the bytes that are not UTF-8, as file names may have, as "\xe9"."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def command() -> str | None:
    """Return the command line, quoted for a shell; `None` if there is none."""
    return shlex.join(_command) if _command else None


def now() -> str:
    """Return the date and time, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def version_text() -> str:
    """Return the version, with the commit if known."""
    return f"{VERSION} ({COMMIT})" if COMMIT else VERSION


def made(run: str, algorithms: Mapping[str, str], files: Iterable[str]) -> Made:
    """Return the provenance of a result made now; `algorithms` has digests by name."""
    return Made(
        version=VERSION,
        commit=COMMIT or None,
        engine=ENGINE,
        algorithms=dict(algorithms),
        date=now(),
        command=command(),
        run=run,
        files=sorted(files),
    )


def earlier(directory: Path) -> dict[str, dict[str, Any]]:
    """Return `made` of each document in a directory; other programs' documents are ignored."""
    found: dict[str, dict[str, Any]] = {}
    for name in DOCUMENTS:
        try:
            document = json.loads((directory / name).read_text(encoding="utf-8"))
            found[name] = document["made"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def files_of(entry: dict[str, Any]) -> set[str]:
    """Return the files listed in a `made`; only plain names, so that none leads out of the directory."""
    files = entry.get("files")
    names = [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
    return {name for name in names if Path(name).name == name and not name.startswith(".")}


def replaced(directory: Path, document: str, run: str) -> str | None:
    """Describe the result that a new one will replace in a directory; `None` if there is none, or the same."""
    there = earlier(directory)
    if not there or (there.keys() == {document} and there[document].get("run") == run):
        return None
    what = " and ".join(
        f"{name} of {entry.get('date', 'an unknown time')}" + (f" ({entry['command']})" if entry.get("command") else "")
        for name, entry in there.items()
    )
    return f"{directory} holds another result, which this one replaces: {what}"
