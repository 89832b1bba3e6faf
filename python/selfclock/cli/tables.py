"""The tables of a run, for humans."""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

from selfclock import formatting
from selfclock.cli.layout import Column, print_table
from selfclock.result import DELAYS
from selfclock.scenario.drops import remarks
from selfclock.units import RATES, fitting, written

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from selfclock.result import FlowSummary, LinkSummary, Summary
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
    print_table(flow_columns(flows[:MOST_SHOWN]))
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
    print_table(link_columns([links[number] for number in sorted(busiest)], changed))
    say_more(len(links), "link", document, more="less busy")
    sys.stdout.write("".join(f"{said}\n" for said in remarks(scenario, links)[:MOST_SHOWN]))
    if delays := formatting.of_delays(summary):
        sys.stdout.write("\n")
        print_table(delay_columns(delays[:MOST_SHOWN]))
        say_more(len(delays), "flow or link", document)
    connected = [flow for flow in flows if flow["connections"] is not None]
    if connected:
        sys.stdout.write("\n")
        print_table(connection_columns(connected[:MOST_SHOWN]))
        say_more(len(connected), "flow", document)


def say_more(count: int, what: str, where: Path, *, more: str = "more") -> None:
    """Print how many rows are omitted, and which file has them."""
    if count > MOST_SHOWN:
        sys.stdout.write(f"… {formatting.plural(count - MOST_SHOWN, f'{more} {what}')}: {where}\n")


def _all_flows(flows: list[FlowSummary]) -> str:
    rates = [flow["goodput_bps"] for flow in flows]
    least, median, most = (written(rate, RATES) for rate in (min(rates), statistics.median(rates), max(rates)))
    return f"all {len(flows):,}: {written(sum(rates), RATES)}; a flow {least} to {most}, median {median}\n"


def flow_columns(flows: list[FlowSummary]) -> list[Column]:
    """Return the columns of a table of flows."""
    rate = fitting(RATES, [[flow["goodput_bps"] for flow in flows]], usual="Mbit/s")
    columns = [
        Column("flow", [flow["name"] for flow in flows], "name"),
        Column("algorithm", [flow["algorithm"] for flow in flows], "name"),
        Column(f"goodput\n{rate.name}", [formatting.digits(flow["goodput_bps"] / rate.size) for flow in flows]),
        Column("segments\nsent", [f"{flow['sent_segments']:,}" for flow in flows], spare=1),
        Column("\nretr.", [formatting.counted(flow["retransmitted_segments"]) for flow in flows]),
        Column("\nRTOs", [formatting.counted(flow["timeouts"]) for flow in flows]),
        Column("fast\nretr.", [formatting.counted(flow["fast_retransmits"]) for flow in flows], spare=3),
        Column("RTT ms\nmean", [formatting.milliseconds(flow["rtt_mean_s"]) for flow in flows]),
        Column("\n95 %", [formatting.milliseconds(flow["rtt_p95_s"]) for flow in flows]),
        Column("\nmin", [formatting.milliseconds(flow["rtt_min_s"]) for flow in flows], spare=2),
    ]
    if senders := formatting.of_senders(flows):
        columns.insert(1, Column("data\nfrom", senders, "name"))
    if any(flow["completion_s"] is not None for flow in flows):
        done = ["-" if flow["completion_s"] is None else formatting.digits(flow["completion_s"]) for flow in flows]
        columns.append(Column("completed\nafter s", done))
    return columns


def link_columns(links: list[LinkSummary], changed: Mapping[str, tuple[int, ...]]) -> list[Column]:
    """Return the columns of a table of links."""
    columns = [
        Column("link", [link["name"] for link in links], "name"),
        Column("rate", [formatting.rate_of(link, changed, lambda rate: written(rate, RATES)) for link in links]),
        Column("busy\n%", [f"{link['utilization'] * 100:.1f}" for link in links]),
        Column("packets", [f"{link['packets']:,}" for link in links]),
        Column("drops", [f"{link['drops']:,}" for link in links]),
        Column("queue, packets\nmean", [f"{link['queue_mean_packets']:.1f}" for link in links]),
        Column("\nmax", [f"{link['queue_max_packets']:,}" for link in links], spare=1),
        Column("wait\nms", [formatting.milliseconds(link["queue_mean_s"]) for link in links]),
    ]
    if any(link["ce_marks"] for link in links):
        columns.insert(5, Column("CE\nmarks", [f"{link['ce_marks']:,}" for link in links]))
    return columns


def delay_columns(rows: list[list[str]]) -> list[Column]:
    """Return the columns of a table of delays."""
    return [
        Column(
            heading, list(column), "name" if number < 2 else "number", spare={"\nmin": 2, "\n99.9 %": 1}.get(heading, 0)
        )
        for number, (heading, column) in enumerate(zip(DELAYS, zip(*rows, strict=True), strict=True))
    ]


def connection_columns(flows: list[FlowSummary]) -> list[Column]:
    """Return the columns of a table of short connections: a row for each flow, and below it one for each size."""
    rows = [
        [flow["name"] if number == 0 else "", *row]
        for flow in flows
        for number, row in enumerate(formatting.of_connections(flow))
    ]
    times = ["time, ms\nmean", "\n50 %", "\n95 %", "\n99 %", "delivered\n50 %"]
    headings = ["short\nconnections", "size\nup to", "complete", "of", *times]
    return [
        Column(heading, list(column), "name" if number == 0 else "number", spare=int(heading == times[-1]))
        for number, (heading, column) in enumerate(zip(headings, zip(*rows, strict=True), strict=True))
    ]
