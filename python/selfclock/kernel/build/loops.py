"""Loops without a constant bound: the kernel's verifier follows every turn, and refuses what does not end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selfclock.kernel.build.lower import LoweringError, Places

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNBOUNDED = re.compile(r"^Loop %(\S+): Unpredictable constant max backedge-taken count", re.MULTILINE)


def refuse_loops(module: str, analysis: str, own: Sequence[str]) -> None:
    """Refuse a module in LLVM's textual IR that has such a loop.

    `analysis` is the output of the pass `print<scalar-evolution>` for the same module; locations in
    the folders `own` are preferred.
    """
    lines = module.split("\n")
    places = Places(own)
    places.read(lines)
    for part in analysis.split("Determining loop execution counts for: @")[1:]:
        function = part.split("\n", 1)[0]
        # The panic handler is an endless loop, and every call of it is removed.
        if "panic" in function:
            continue
        for found in _UNBOUNDED.finditer(part):
            block = _block(lines, function, found[1])
            inside = [line for line in block if "!dbg" in line]
            line = next((it for it in inside if places.own_of(it)), inside[0] if inside else "")
            raise LoweringError(
                f"{places.of(line)}: a loop without a constant bound; a program in the kernel needs one, such as "
                "`for _ in 0..100` with a `break`"
            )


def _block(lines: list[str], function: str, label: str) -> list[str]:
    """The instructions of a basic block."""
    begin = next(i for i, line in enumerate(lines) if line.startswith("define") and f"@{function}(" in line)
    end = next(i for i in range(begin, len(lines)) if lines[i] == "}")
    first = next((i for i in range(begin, end) if lines[i].startswith(f"{label}:")), begin)
    last = next((i for i in range(first + 1, end) if re.match(r"\S+:", lines[i])), end)
    return lines[first:last]
