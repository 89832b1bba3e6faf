"""The tables of a run, for humans."""

from __future__ import annotations

import statistics
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from selfclock import formatting, tables
from selfclock.cli.layout import columns_of, print_table
from selfclock.scenario.drops import remarks
from selfclock.units import RATES, written

if TYPE_CHECKING:
    from pathlib import Path

    from selfclock.result import FlowSummary, Summary
    from selfclock.scenario import Scenario

#: Maximum number of rows; the result's files contain all.
MOST_SHOWN = 20


def print_summary(summary: Summary, scenario: Scenario, document: Path) -> None:
    """Print the tables of a run from its document."""
    what = "emulated with" if "emulation" in summary else "simulated in"
    sys.stdout.write(
        f"{summary['scenario']}, seed {summary['seed']}: {formatting.plain(summary['simulated_s'])} s {what} "
        f"{summary['cpu_s']:.3g} s of CPU\n{summary['packet_hops']:,} packet-hops, {summary['events']:,} events\n"
    )
    measured = formatting.of_measure(summary)
    sys.stdout.write(f"{measured}\n\n" if measured else "\n")
    flows, links = summary["flows"], summary["links"]
    print_table(columns_of(tables.of_flows(flows[:MOST_SHOWN])))
    say_more(len(flows), "flow", document)
    if len(flows) > MOST_SHOWN:
        sys.stdout.write(_all_flows(flows))
    failures = formatting.of_failures(flows)
    sys.stdout.write("".join(f"{said}\n" for said in failures[:MOST_SHOWN]))
    say_more(len(failures), "connection", document)
    sys.stdout.write("\n")
    # The most important of many links.
    busiest = sorted(range(len(links)), key=lambda number: -links[number]["utilization"])[:MOST_SHOWN]
    changed = scenario.network.changed_rates(summary["simulated_s"])
    print_table(columns_of(tables.of_links([links[number] for number in sorted(busiest)], changed)))
    say_more(len(links), "link", document, more="less busy")
    sys.stdout.write("".join(f"{said}\n" for said in remarks(scenario, links)[:MOST_SHOWN]))
    if (delays := tables.of_delays(summary)).rows:
        sys.stdout.write("\n")
        print_table(columns_of(replace(delays, rows=delays.rows[:MOST_SHOWN])))
        say_more(len(delays.rows), "flow or link", document)
    connected = [flow for flow in flows if flow["connections"] is not None]
    if connected:
        sys.stdout.write("\n")
        print_table(columns_of(tables.of_connections(connected[:MOST_SHOWN])))
        say_more(len(connected), "flow", document)


def say_more(count: int, what: str, where: Path, *, more: str = "more") -> None:
    """Print how many rows are omitted, and which file has them."""
    if count > MOST_SHOWN:
        sys.stdout.write(f"… {formatting.plural(count - MOST_SHOWN, f'{more} {what}')}: {where}\n")


def _all_flows(flows: list[FlowSummary]) -> str:
    rates = [flow["goodput_bps"] for flow in flows]
    least, median, most = (written(rate, RATES) for rate in (min(rates), statistics.median(rates), max(rates)))
    return f"all {len(flows):,}: {written(sum(rates), RATES)}; a flow {least} to {most}, median {median}\n"
