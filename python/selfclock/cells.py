"""Figures of a run or a comparison as the cells of a table, on a terminal or a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfclock.compare import Measures
    from selfclock.result import FlowSummary, LinkSummary


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds, "-" if there is none."""
    return "-" if seconds is None else f"{seconds * 1e3:.4g}"


def of_flow(flow: FlowSummary) -> list[str]:
    """Return name, algorithm, goodput in Mbit/s, segments sent and again, timeouts, fast retransmits, RTTs in ms."""
    return [
        flow["name"],
        flow["algorithm"],
        f"{flow['goodput_bps'] / 1e6:.4g}",
        f"{flow['sent_segments']:,}",
        f"{flow['retransmitted_segments']:,}",
        f"{flow['timeouts']}",
        f"{flow['fast_retransmits']}",
        *(milliseconds(seconds) for seconds in (flow["rtt_min_s"], flow["rtt_mean_s"], flow["rtt_p95_s"])),
    ]


def of_link(link: LinkSummary) -> list[str]:
    """Return name, rate in Mbit/s, use in percent, packets, drops, mean and longest queue in packets, wait in ms."""
    return [
        link["name"],
        f"{link['rate_bps'] / 1e6:.4g}",
        f"{link['utilization'] * 100:.1f}",
        f"{link['packets']:,}",
        f"{link['drops']:,}",
        f"{link['queue_mean_packets']:.1f}",
        f"{link['queue_max_packets']:,}",
        milliseconds(link["queue_mean_s"]),
    ]


def of_algorithm(row: Measures) -> list[str]:
    """Return name, goodput in Mbit/s, use in percent, Jain's index, RTTs in ms, segments again, timeouts, queue."""
    return [
        row["algorithm"],
        f"{row['goodput_bps'] / 1e6:.4g}",
        f"{row['utilization'] * 100:.1f}",
        "-" if row["jain"] is None else f"{row['jain']:.3f}",
        milliseconds(row["rtt_mean_s"]),
        milliseconds(row["rtt_p95_s"]),
        f"{row['retransmitted_segments']:,}",
        f"{row['timeouts']}",
        f"{row['queue_mean_packets']:.1f}",
    ]


def number(value: float | None, unit: str = "") -> str:
    """Return a number to three digits with its unit, "-" if there is none."""
    return "-" if value is None else f"{value:.3g} {unit}".rstrip()
