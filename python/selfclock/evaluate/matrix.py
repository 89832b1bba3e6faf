"""The scorecards of all algorithms, or of some, in one table: `python -m selfclock.evaluate.matrix FILE.md`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock._core import VERSION
from selfclock.algorithms import algorithms
from selfclock.evaluate.scorecard import evaluate_all
from selfclock.formatting import number
from selfclock.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.evaluate.judge import Judged
    from selfclock.evaluate.row import Row
    from selfclock.evaluate.scorecard import Scorecard

STARTS = ("packet-pair", "swift-start", "modified-swift-start", "quick-start")

#: Prefix of a number.
SIGNS = {"pass": "", "warn": "! ", "fail": "✗ ", "report": "· ", "not applicable": ""}

HEAD = """\
# {title}

The results of every row for each algorithm, by `make {target}` with selfclock {version} and the seeds of each row.
[Evaluation](evaluation.md) describes the rows and the origin of their thresholds.

A number alone passes; **✗** fails, **!** warns, **·** has no threshold, - is not applicable.
A fail without a number did not reach its goal within the run.
A start's name stands for that start with Reno.

"""

#: Titles of the page and the commands that make it: for all algorithms, and for named ones.
ALL = ("Scorecards of the built-in algorithms", "scorecards")
SOME = ("Scorecards of QUIC stacks", "quic-scorecards")


def names() -> list[str]:
    """Every window and model, and the starts of the papers."""
    known = algorithms()
    parts = [each.name for part in ("window", "model") for each in known if each.part == part]
    return [*parts, *STARTS]


def write(cards: Sequence[Scorecard], called: tuple[str, str] = ALL) -> str:
    """Return the matrix as Markdown: one table of the rows that concern all, one of those of single mechanisms."""
    every = [line.row for line in cards[0].lines]
    general = [row.id for row in every if row.id.startswith("S") and row.id[1:].isdigit()]
    special = [row.id for row in every if row.id not in general]
    title, target = called
    text = HEAD.format(version=VERSION, title=title, target=target) + _table(cards, general)
    text += _legend([line.row for line in cards[0].lines if line.row.id in general])
    if any(_concerns(card, row) for card in cards for row in special):
        text += "\n## Single mechanisms\n\n" + _special(cards, special)
    return text + _failed(cards)


def _failed(cards: Sequence[Scorecard]) -> str:
    """List the connections that failed, with the rows that have them."""
    failed = [
        f"* `{card.algorithm}`, {line.row.id}: {said}\n"
        for card in cards
        for line in card.lines
        for said in card.failures(line.row)
    ]
    return "\n## Connections that failed\n\n" + "".join(failed) if failed else ""


def _concerns(card: Scorecard, row: str) -> bool:
    return any(line.row.id == row and line.found.verdict != "not applicable" for line in card.lines)


def _cell(found: Judged) -> str:
    if found.verdict == "not applicable":
        return "-"
    value = "" if found.value is None else number(found.value)
    return (SIGNS[found.verdict] + value).strip()


def _table(cards: Sequence[Scorecard], rows: Sequence[str]) -> str:
    head = f"| algorithm | {' | '.join(rows)} |\n|---|{'---:|' * len(rows)}\n"
    lines = []
    for card in cards:
        found = {line.row.id: line.found for line in card.lines}
        lines.append(f"| `{card.algorithm}` | {' | '.join(_cell(found[row]) for row in rows)} |")
    return head + "\n".join(lines) + "\n"


def _legend(rows: Sequence[Row]) -> str:
    """Return what each row tests and measures, and which values pass."""
    lines = [
        f"| {row.id} | {row.title} | {row.measure}{f', {row.unit}' if row.unit else ''} | {row.passes or '-'} |"
        for row in rows
    ]
    return "\n## The rows\n\n| row | test | value | passes |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"


def _special(cards: Sequence[Scorecard], rows: Sequence[str]) -> str:
    lines = []
    for row in rows:
        for card in cards:
            (line,) = (each for each in card.lines if each.row.id == row)
            if line.found.verdict != "not applicable":
                lines.append(f"| {row} | `{card.algorithm}` | {line.row.title} | {_cell(line.found)} |")
    return "| row | algorithm | test | value |\n|---|---|---|---:|\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Write the matrix to the named file, of the algorithms named after it, or of all.

    `--rows S1,S2` before the algorithms limits it to these rows.
    """
    if len(sys.argv) < 2:
        sys.exit("selfclock.evaluate.matrix: name the file to write, such as docs/scorecards.md")
    some, rows = sys.argv[2:], []
    if some[:1] == ["--rows"]:
        rows, some = some[1].split(","), some[2:]
    with progress_bar("scorecards") as progress:
        cards = evaluate_all(some or names(), (), rows=rows, progress=progress)
    title, target = SOME if some else ALL
    made_by = f"{target} ROWS={','.join(rows)}" if rows else target
    Path(sys.argv[1]).write_text(write(cards, (title, made_by)), encoding="utf-8")


if __name__ == "__main__":
    main()
