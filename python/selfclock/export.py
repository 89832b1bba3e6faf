"""Results for other programs: rows of numbers, CSV, LaTeX."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock.catalogue import totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from selfclock.compare.measures import Measures
    from selfclock.page_parts import Table
    from selfclock.result import Summary

#: A row of a tidy table: one observation of each measure.
Row = dict[str, str | int | float | bool | None]

#: Keys of a flow that are numbers of every flow, in base units.
FLOW = tuple(each.name for each in totals("FlowSummary") if each.kind in {"count", "real"} and each.emulated)

#: Characters with a meaning in LaTeX.
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "…": r"\dots{}", "×": r"$\times$",
    "−": r"$-$", "µ": r"\textmu{}",
}  # fmt: skip


def rows(runs: Iterable[Measures], compared: Sequence[str]) -> list[Row]:
    """Return a row for each algorithm, seed and flow of a comparison; `compared` names the flows under comparison."""
    return [
        {"algorithm": run["algorithm"], "seed": run["seed"], **flow, "compared": flow["flow"] in compared}
        for run in runs
        for flow in flows(run)
    ]


def flows(summary: Summary) -> list[Row]:
    """Return a row for each flow of a run."""
    return [
        {"flow": flow["name"], "flow_algorithm": flow["algorithm"], **{key: flow[key] for key in FLOW}}  # type: ignore[literal-required]
        for flow in summary["flows"]
    ]


def to_csv(table: Sequence[Row], path: str | PathLike[str] | None = None) -> str:
    """Return rows as CSV with a heading; what is unknown is empty.

    >>> print(to_csv([{"flow": "a,b", "goodput_bps": 1e6, "rtt_mean_s": None}]), end="")
    flow,goodput_bps,rtt_mean_s
    "a,b",1000000.0,
    """
    text = io.StringIO()
    if table:
        writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return _kept(text.getvalue(), path)


def to_latex(table: Table, path: str | PathLike[str] | None = None) -> str:
    r"""Return a table of texts as a `tabular`, numbers to the right; it needs the package booktabs.

    >>> from selfclock.page_parts import Table
    >>> print(to_latex(Table("", "", ["algorithm", "busy\n%"], [["my_own", "98 ± 1"]], texts=1)), end="")
    \begin{tabular}{lr}
    \toprule
    algorithm & busy \% \\
    \midrule
    my\_own & 98 $\pm$ 1 \\
    \bottomrule
    \end{tabular}
    """
    kinds = "".join("l" if number < table.texts else "r" for number in range(len(table.columns)))
    lines = [
        f"\\begin{{tabular}}{{{kinds}}}",
        "\\toprule",
        _line(heading.replace("\n", " ") for heading in table.columns),
        "\\midrule",
        *map(_line, table.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return _kept("\n".join(lines) + "\n", path)


def _line(cells: Iterable[str]) -> str:
    escaped = ["".join(_LATEX.get(letter, letter) for letter in cell.strip()) for cell in cells]
    return f"{' & '.join(escaped)} \\\\"


def _kept(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
