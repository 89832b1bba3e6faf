"""`selfclock bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from selfclock.bench import CASES, bench, bench_mechanisms
from selfclock.cli.layout import Column, print_table
from selfclock.cli.messages import UsageError, print_json
from selfclock.cli.options import completing, json_option
from selfclock.names import unknown
from selfclock.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence


def _whole_or_nothing(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


#: Lines for the end of the help.
EXAMPLES = (
    "selfclock bench",
    "selfclock bench A1 B1 --json",
)


@click.argument(
    "cases",
    nargs=-1,
    metavar="[CASE]...",
    help=f"Cases: {', '.join(CASES)}.  [default: all]",
    shell_complete=completing(lambda: CASES),
)
@json_option
def command(cases: Sequence[str], as_json: bool) -> None:
    """Each case runs in its own process; all take about half a minute."""
    for case in cases:
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
    print_table(
        [
            Column("case", [row["case"] for row in measured], "name"),
            Column("million\nhops", [f"{row['packet_hops'] / 1e6:.1f}" for row in measured]),
            Column("events\na packet", [f"{row['events_per_packet']:.2f}" for row in measured]),
            Column("CPU s", [f"{row['cpu_s']:.2f}" for row in measured]),
            Column("million\nhops/s", [f"{row['packet_hops_per_cpu_s'] / 1e6:.1f}" for row in measured]),
            Column("of bare\nloop", [f"{row['of_bare_loop']:.0%}" for row in measured]),
            Column("peak\nMB", [f"{row['peak_rss_bytes'] / 1e6:.0f}" for row in measured]),
            Column("bytes\na flow", [_whole_or_nothing(row["bytes_per_flow"]) for row in measured]),
            Column(
                "bytes a packet\nin flight", [_whole_or_nothing(row["bytes_per_packet_in_flight"]) for row in measured]
            ),
        ]
    )
    if mechanisms:
        print_table(
            [
                Column("mechanism", [each["mechanism"] for each in mechanisms], "name"),
                Column("ns a packet", [f"{each['cpu_s_per_packet'] * 1e9:.0f}" for each in mechanisms]),
                Column("of drop-tail", [f"{each['of_drop_tail']:.2f}" for each in mechanisms]),
                Column("bytes\na flow", [_whole_or_nothing(each["bytes_per_flow"]) for each in mechanisms]),
            ]
        )
