"""The sources of user-defined algorithms: a Python file, and its imports from its own folder."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Hexadecimal digits of a digest: 64 bits.
DIGITS = 16


@dataclass(frozen=True)
class Source:
    """An algorithm's dependencies other than the scenario."""

    #: Texts by path relative to the folder of the algorithm's file; that file comes first.
    files: dict[str, str]

    @property
    def digest(self) -> str:
        """Digest of the texts and their names."""
        return hashlib.sha256(json.dumps(sorted(self.files.items())).encode()).hexdigest()[:DIGITS]


def of_class(own: type) -> Source:
    """Return the sources of a class: its file and its imports, or the class alone if it has no file."""
    try:
        file = Path(inspect.getfile(own))
        if file.is_file():
            return of_file(file)
        return Source({own.__qualname__: inspect.getsource(own)})
    except (OSError, TypeError):
        return Source({own.__qualname__: repr(own)})


def of_file(path: Path) -> Source:
    """Return the sources of a file. Only `import` statements are followed, not computed imports."""
    folder = path.absolute().parent
    files: dict[str, str] = {}
    waiting = [path.absolute()]
    while waiting:
        file = waiting.pop(0)
        name = file.relative_to(folder).as_posix()
        if name not in files:
            files[name] = file.read_text(encoding="utf-8", errors="replace")
            waiting += _imported(files[name], file, folder)
    return Source(files)


def _imported(text: str, file: Path, folder: Path) -> Iterator[Path]:
    """Return the files of the folder that a text imports."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        # The error is reported when the file is loaded.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            # Each dot after the first is one folder up.
            base = folder if node.level == 0 else file.parents[node.level - 1]
            if base.is_relative_to(folder):
                parts = node.module.split(".") if node.module else []
                for alias in node.names:
                    yield from _modules(base, [*parts, alias.name])


def _modules(base: Path, parts: list[str]) -> Iterator[Path]:
    """Return the files that importing a.b.c runs: those of a, a.b and a.b.c."""
    if parts and parts[0] == "selfclock":
        return
    at = base
    for part in parts:
        at = at / part
        yield from (file for file in (at / "__init__.py", at.with_name(f"{part}.py")) if file.is_file())
