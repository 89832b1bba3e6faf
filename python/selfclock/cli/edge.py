"""`selfclock kernel edge`."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from typing import TYPE_CHECKING

import click

from selfclock.cli.layout import Column, console, print_table
from selfclock.cli.messages import UsageError, print_document
from selfclock.cli.options import json_option
from selfclock.kernel.edge import Edge, router
from selfclock.scenario.quantity import Time, one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.kernel.edge import EdgeStatus

#: Interval at which the table of flows is redrawn, s.
REDRAW_S = 0.5


@click.argument("device", metavar="DEVICE", help="Network device that faces the sources.")
@click.option("--rate", required=True, metavar="RATE", help='Rate of the bottleneck, such as "20 Mbps".')
@click.option("--buffer", required=True, metavar="SIZE", help='Buffer of the bottleneck, such as "100 kB".')
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of ficcrd; may be repeated."
)
@click.option("--only-watch", is_flag=True, help="Lower no window; only report the allowed rates.")
@click.option("--for", "lasts", metavar="TIME", help="End after this time.  [default: at Ctrl-C]")
@json_option
def edge_command(
    device: str, rate: str, buffer: str, settings: Sequence[str], only_watch: bool, lasts: str | None, as_json: bool
) -> None:
    """Limit the sources behind a device to fair rates.

    FICCRD lowers the receive window in their ACKs.
    """
    until = None if lasts is None else time.monotonic() + _seconds(lasts)
    scenario = router(rate, buffer, settings)
    with Edge(scenario, device, limits=not only_watch) as edge:
        sys.stderr.write(f"ficcrd is at {device}; Ctrl-C ends it\n")
        sys.stderr.flush()
        with contextlib.suppress(KeyboardInterrupt):
            _watch(edge, until, live=not as_json and sys.stdout.isatty())
        status = edge.stop()
    if as_json:
        print_document(dataclasses.asdict(status))
    else:
        print_table(columns(status))


def _seconds(text: str) -> float:
    seconds = one(text, Time, "--for").seconds
    if seconds <= 0:
        raise UsageError(f"--for: {text} is not above zero")
    return seconds


def _watch(edge: Edge, until: float | None, *, live: bool) -> None:
    """Wait for the end, with a table of the flows on a terminal."""
    if not live:
        while edge.is_running and (until is None or time.monotonic() < until):
            time.sleep(0.1)
        return
    from rich.live import Live  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    with Live(console=console(), auto_refresh=False, transient=True) as screen:
        while edge.is_running and (until is None or time.monotonic() < until):
            table = Table(box=None, pad_edge=False)
            shown = columns(edge.status())
            for column in shown:
                table.add_column(column.heading)
            for row in zip(*(column.cells for column in shown), strict=True):
                table.add_row(*row)
            screen.update(table, refresh=True)
            time.sleep(REDRAW_S)


def columns(status: EdgeStatus) -> list[Column]:
    """Return the flows as a table."""
    flows = status.flows
    return [
        Column("flow", [f"{each.source}:{each.port} > {each.receiver}:{each.receiver_port}" for each in flows], "name"),
        Column("Mbit/s", [_megabits(each.rate_bps) for each in flows]),
        Column("allowed", [_megabits(each.allowed_bps) for each in flows]),
        Column("RTT ms", ["-" if each.rtt_s is None else f"{each.rtt_s * 1e3:.1f}" for each in flows]),
        Column("window", [f"{each.window_bytes}" for each in flows]),
        Column("lowered", [f"{each.acks_lowered} of {each.acks}" for each in flows]),
    ]


def _megabits(bits: float | None) -> str:
    return "-" if bits is None else f"{bits * 1e-6:.2f}"
