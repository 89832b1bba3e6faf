"""Packet-pair TCP, feature by feature, against its competitors: Hoe's start, and Reno with the same timer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.packet_pair.ensemble import (
    ASYMMETRIC,
    BOTH_SIDES,
    HEADLINE,
    SENDER_ONLY,
    SYMMETRIC,
    Experiment,
    Setting,
    gain_percent,
    scenario,
    scenario_name,
    with_seeds,
)
from selfclock.papers.packet_pair.spread import RUNS, Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.paper_runs import Runs
    from selfclock.scenario import Scenario

#: An infinite limit, written as a value that is never reached.
_NO_LIMIT = "burst = 1e6"

#: Name, label, and start with its parameters. All have the retransmission timer of section 3.1, so
#: that it contributes nothing to a gain.
_ROWS = [
    ("reno", "Reno", ""),
    ("hoe-threshold", "Hoe: ssthresh from a pair of ACKs", f'start = "hoe", {_NO_LIMIT}'),
    ("hoe", "Hoe: ssthresh from a pair of ACKs, burst limit", 'start = "hoe"'),
    (
        "hoe-ns2",
        "Hoe as in ns-2: second and third ACK, no burst limit",
        f'start = "hoe", acks = "second-and-third", {_NO_LIMIT}',
    ),
    ("pair-only", "packet-pair: pair and leaky bucket, no safe-transmit", f"{SENDER_ONLY}, safe_transmit = false"),
    ("packet-pair", "packet-pair, sender only", SENDER_ONLY),
    ("both-sides", "packet-pair, both sides, d = 2 to 4", BOTH_SIDES),
    ("rfc4782", "packet-pair, both sides, K of RFC 4782 (2 here)", f'{BOTH_SIDES}, ack_ratio = "rfc4782"'),
]

#: Simulated time on each network, s, as in the figures.
_SECONDS = {SYMMETRIC: 10, ASYMMETRIC: 20}


def _experiment(network: str, label: str, start: str) -> Experiment:
    figure = 10 if network == ASYMMETRIC else 7
    return Experiment(figure, network, _SECONDS[network], label, start, fine_timer=True)


def _setting(name: str) -> Setting:
    return Setting(HEADLINE.label, f"baselines-{name}")


def scenarios() -> list[Scenario]:
    """Return every row on both networks with every seed."""
    return [
        run
        for network in _SECONDS
        for name, label, start in _ROWS
        for run in with_seeds(scenario(_experiment(network, label, start), _setting(name)))
    ]


def table(runs: Runs) -> Table:
    """Return counts and gains in every row."""
    counts: dict[tuple[str, str], list[int]] = {
        (network, name): runs.seeds(scenario_name(_experiment(network, label, start), _setting(name)))
        for network in _SECONDS
        for name, label, start in _ROWS
    }
    return Table(
        "Packet-pair TCP part by part, and Hoe's start",
        "Under the setting of the claims, all with a retransmission timer of 10 ms. Segments sent: mean. Gain on "
        f"Reno with the same timer: median and quartiles over {RUNS} pairs of runs, percent.",
        ["sender", "figure 7: segments", "gain", "figure 10: segments", "gain"],
        [
            [
                label,
                *(cell for network in _SECONDS for cell in _cells(counts[network, name], counts[network, "reno"])),
            ]
            for name, label, _ in _ROWS
        ],
        texts=1,
    )


def _cells(counts: Sequence[int], reno: Sequence[int]) -> list[str]:
    gain = "-" if counts is reno else gain_percent(counts, reno).cell()
    return [f"{Spread.of(counts).mean:.0f}", gain]
