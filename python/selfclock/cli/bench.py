"""`selfclock bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from selfclock.bench import CASES, bench, bench_mechanisms
from selfclock.cli import tables
from selfclock.cli.messages import UsageError, print_json
from selfclock.cli.options import Json, completed_from
from selfclock.names import unknown
from selfclock.progress import progress_bar


def _whole_or_nothing(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


#: Lines for the end of the help.
EXAMPLES = (
    "selfclock bench",
    "selfclock bench A1 B1 --json",
)


def _complete(incomplete: str) -> list[str]:
    return completed_from(CASES, incomplete)


def command(
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Cases: {', '.join(CASES)}; all if none is named.", show_default=False, autocompletion=_complete
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Each case runs in a process of its own; all of them take about half a minute."""
    for case in cases or []:
        if case not in CASES:
            raise UsageError(unknown("case", case, CASES))
    with progress_bar("bench") as progress:
        measured = bench(cases or CASES, progress)
    if not cases:
        with progress_bar("bench: mechanisms") as progress:
            mechanisms = bench_mechanisms(progress)
    else:
        mechanisms = []
    if as_json:
        print_json({"cases": measured, "mechanisms": mechanisms})
        return
    table = tables.table(
        "case",
        "million\nhops",
        "events\na packet",
        "CPU s",
        "million\nhops/s",
        "of bare\nloop",
        "peak\nMB",
        "bytes\na flow",
        "bytes a packet\nin flight",
        left=1,
    )
    for row in measured:
        table.add_row(
            row["case"],
            f"{row['packet_hops'] / 1e6:.1f}",
            f"{row['events_per_packet']:.2f}",
            f"{row['cpu_s']:.2f}",
            f"{row['packet_hops_per_cpu_s'] / 1e6:.1f}",
            f"{row['of_bare_loop']:.0%}",
            f"{row['peak_rss_bytes'] / 1e6:.0f}",
            _whole_or_nothing(row["bytes_per_flow"]),
            _whole_or_nothing(row["bytes_per_packet_in_flight"]),
        )
    tables.console().print(table)
    if mechanisms:
        table = tables.table("mechanism", "ns a packet", "of drop-tail", "bytes\na flow", left=1)
        for each in mechanisms:
            table.add_row(
                each["mechanism"],
                f"{each['cpu_s_per_packet'] * 1e9:.0f}",
                f"{each['of_drop_tail']:.2f}",
                _whole_or_nothing(each["bytes_per_flow"]),
            )
        tables.console().print(table)
