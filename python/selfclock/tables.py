"""The tables of a run, for a terminal, a notebook and a page, with the headings and units that the engine declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from selfclock import catalogue, formatting
from selfclock.page_parts import Table
from selfclock.units import RATES, SIZES, fitting, named, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.catalogue import Total
    from selfclock.result import FlowSummary, LinkSummary, Summary
    from selfclock.units import Unit


def text(total: Total, value: float | None, unit: Unit) -> str:
    """Return a total's value in a unit; "-" if unknown."""
    if value is None:
        return "-"
    if total.decimals is not None:
        return f"{unit.of(value):,.{total.decimals}f}"
    if unit.name == "ms":
        return formatting.milliseconds(value)
    return f"{value:,}" if total.kind == "count" and unit.size == 1.0 else formatting.digits(unit.of(value))


class _Column(NamedTuple):
    heading: str
    cells: Sequence[str]
    spare: int = 0


def _columns(table: str, rows: Sequence[Mapping[str, Any]], most: int | None, *, whole: bool) -> list[_Column]:
    """Return a column of each total that tables show; one that is sparse if any row has it."""
    columns = []
    for total in catalogue.totals(table):
        if not total.heading or (total.sparse and not any(row.get(total.name) for row in rows)):
            continue
        shown = rows[:most]
        unit = named(total.unit)
        if unit in RATES and not whole:
            unit = fitting(RATES, [[row[total.name] for row in shown]], usual=unit.name)
        cells = [
            "-" if not total.udp and row["algorithm"] == "udp" else text(total, row.get(total.name), unit)
            for row in shown
        ]
        columns.append(_Column(total.titled(unit, whole=whole), cells, total.spare))
    return columns


def _table(
    title: str, names: Sequence[tuple[str, str, Sequence[str]]], columns: Sequence[_Column], *, whole: bool
) -> Table:
    every = [*(_Column(long if whole else short, cells) for short, long, cells in names), *columns]
    rows = [list(row) for row in zip(*(column.cells for column in every), strict=True)]
    return Table(
        title, "", [column.heading for column in every], rows, texts=len(names),
        spare=tuple(column.spare for column in every),
    )  # fmt: skip


def of_flows(flows: Sequence[FlowSummary], most: int | None = None, *, whole: bool = False) -> Table:
    """Return the totals of the first flows.

    With `whole`, as on a page, headings are long and rates in Mbit/s; otherwise a rate's unit fits.
    """
    names = [("flow", "Flow", [flow["name"] for flow in flows[:most]])]
    if senders := formatting.of_senders(flows):
        names.append(("data\nfrom", "Data from", senders[:most]))
    names.append(("algorithm", "Algorithm", [flow["algorithm"] for flow in flows[:most]]))
    return _table("Flows", names, _columns("FlowSummary", flows, most, whole=whole), whole=whole)


def of_links(
    links: Sequence[LinkSummary],
    changed: Mapping[str, tuple[int, ...]],
    most: int | None = None,
    *,
    whole: bool = False,
) -> Table:
    """Return the totals of the first links; `changed` has the rates of those whose rate changes."""
    columns = _columns("LinkSummary", links, most, whole=whole)

    def write(rate: float) -> str:
        return formatting.digits(rate / 1e6) if whole else written(rate, RATES)

    rates = [formatting.rate_of(link, changed, write) for link in links[:most]]
    place = next(number for number, column in enumerate(columns) if column.heading.lower().startswith("rate"))
    columns[place] = columns[place]._replace(cells=rates)
    return _table("Links", [("link", "Link", [link["name"] for link in links[:most]])], columns, whole=whole)


def of_delays(summary: Summary, *, whole: bool = False) -> Table:
    """Return each flow's one-way delays and each link's waits; without a row if the run did not measure them."""
    measured = [(flow["name"], "one-way delay", flow.get("delays")) for flow in summary["flows"]]
    measured += [(link["name"], "wait", link.get("waits")) for link in summary["links"]]
    rows = [(name, what, found) for name, what, found in measured if found is not None]
    names = [("of", "Of", [name for name, _, _ in rows]), ("", "", [what for _, what, _ in rows])]
    columns = _columns("DelaySummary", [found for _, _, found in rows], None, whole=whole)
    return _table("Delays", names, columns, whole=whole)


def of_connections(flows: Sequence[FlowSummary], most: int | None = None, *, whole: bool = False) -> Table:
    """Return the times of each flow's short connections: a row of all, and one of each size.

    A page repeats the name in every row, so that the rows may be sorted.
    """
    classes: list[tuple[list[str], Mapping[str, Any]]] = []
    for flow in flows:
        if (own := flow["connections"]) is None:
            continue
        classes.append(([flow["name"], "all", f"{own['completed']:,}", f"{own['started']:,}"], {}))
        for size in own["by_size"]:
            largest = size["up_to_bytes"]
            upto = "larger" if largest is None else written(largest, SIZES)
            classes.append(([flow["name"] if whole else "", upto, f"{size['completed']:,}", ""], size))
    shown = classes[:most]
    names, sizes, complete, started = ([texts[number] for texts, _ in shown] for number in range(4))
    columns = [
        _Column("Complete" if whole else "complete", complete),
        _Column("Started" if whole else "of", started),
    ]
    for total in catalogue.totals("SizeClass"):
        if total.heading:
            unit = named(total.unit)
            cells = [text(total, own.get(total.name), unit) if own else "" for _, own in shown]
            columns.append(_Column(total.titled(unit, whole=whole), cells, total.spare))
    heads = [("short\nconnections", "Flow", names), ("size\nup to", "Size up to", sizes)]
    return _table("Short connections", heads, columns, whole=whole)
