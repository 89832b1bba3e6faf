"""What commands print for people: tables as wide as the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from selfclock import cells
from selfclock.cells import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Summary

#: Flows and links in the tables of a run; all of them stand in its files.
MOST_SHOWN = 50

#: Tables are not folded into narrower terminals: letters under each other tell nobody anything.
NARROWEST, WIDTH_OF_TABLES = 60, 90


def console(*, width: int | None = None) -> Console:
    """Return the terminal as `rich` writes to it: this wide, or as wide as it is."""
    found = Console(width=width)
    return found if found.width >= NARROWEST else Console(width=WIDTH_OF_TABLES)


def print_summary(summary: Summary) -> None:
    """Print the tables of a run."""
    screen = console()
    screen.print(
        f"{summary['scenario']}, seed {summary['seed']}: {summary['simulated_s']:g} s simulated, "
        f"{summary['packet_hops']:,} packet-hops and {summary['events']:,} events in {summary['cpu_s']:.3g} s of CPU",
        highlight=False,
    )
    flows = table(
        "flow", "algorithm", "goodput\nMbit/s", "segments\nsent", "again", "time-\nouts", "fast\nretr.",
        "RTT ms\nmin", "\nmean", "\n95 %", left=2,
    )  # fmt: skip
    for flow in summary["flows"][:MOST_SHOWN]:
        flows.add_row(*cells.of_flow(flow))
    links = table(
        "link", "rate\nMbit/s", "busy\n%", "packets", "drops", "queue, packets\nmean", "\nmax", "wait\nms", left=1,
    )  # fmt: skip
    for link in summary["links"][:MOST_SHOWN]:
        links.add_row(*cells.of_link(link))
    screen.print("", flows, *_more("flow", summary["flows"]), "", links, *_more("link", summary["links"]), sep="\n")
    if any(flow["connections"] for flow in summary["flows"]):
        screen.print("", _connections(summary), sep="\n")


def _more(what: str, rows: Sequence[object]) -> list[str]:
    """Say how many rows a table has not."""
    more = len(rows) - MOST_SHOWN
    return [f"and {plural(more, f'more {what}')}: summary.json"] if more > 0 else []


def _connections(summary: Summary) -> Table:
    shown = table(
        "short\nconnections", "size\nup to", "complete", "of", "time, ms\nmean", "\n50 %", "\n95 %", "\n99 %", left=2,
    )  # fmt: skip
    for flow in summary["flows"][:MOST_SHOWN]:
        connections = flow["connections"]
        if connections is None:
            continue
        shown.add_row(flow["name"], "", f"{connections['completed']:,}", f"{connections['started']:,}", "", "", "", "")
        for size in connections["by_size"]:
            largest = size["up_to_bytes"]
            shown.add_row(
                "",
                "any" if largest is None else f"{largest / 1e3:,.0f} kB",
                f"{size['completed']:,}",
                "",
                *(cells.milliseconds(size[key]) for key in ("mean_s", "p50_s", "p95_s", "p99_s")),
            )
    return shown


def table(*headings: str, left: int) -> Table:
    """Return an empty table with these columns, so many of them texts from the left, the others numbers."""
    empty = Table(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(headings):
        text = number < left
        empty.add_column(heading, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return empty
