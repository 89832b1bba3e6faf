"""The 10 Mbyte transfers of figures 2 to 9, and their measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.paper_runs import Part
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    FILE,
    OC1_MBPS,
    SEGMENT_B,
    THINNING,
    TRANSPORT,
    completion_s,
    data_sent,
    file_name,
    per_round_trip,
    scenario,
    sender,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from selfclock.paper_runs import Runs
    from selfclock.scenario import Scenario

#: Advertised window of figures 2 and 3.
RECEIVE_WINDOW_B = 65_535

SLOW_START = {"start": "slow-start"}
ORIGINAL = {"start": "swift-start", "no_estimate": "freeze"}
MODIFIED = {"start": "modified-swift-start"}

#: Figure 4 has bursts at the start of the second and third round trips. With alpha = 1 the second
#: reaches the capacity; 2 is the smallest integer alpha that leaves something for the third.
FIGURE_4_ALPHA = 2.0
BURSTING = {**ORIGINAL, "burst": "difference", "swift_alpha": FIGURE_4_ALPHA}


@dataclass(frozen=True)
class Run:
    """One transfer of one figure."""

    figure: str
    label: str
    look: str
    control: Mapping[str, object]
    rate_mbps: float
    rtt_ms: float
    transport: Mapping[str, object]
    seconds: float
    routers: Sequence[Mapping[str, object]] = ()

    @property
    def name(self) -> str:
        """Name of its scenario."""
        return file_name(f"figure {self.figure} {self.label}")

    def scenario(self) -> Scenario:
        """Return the scenario."""
        return scenario(
            f"figure {self.figure} {self.label}",
            self.rate_mbps,
            self.rtt_ms,
            [sender(self.control, FILE)],
            seconds=self.seconds,
            transport={**TRANSPORT, **self.transport},
            routers=self.routers,
            packets=True,
        )

    @property
    def variant(self) -> str:
        """As in `Claim.variant`: the start, the decisive settings, and the ACK policy."""
        control = dict(self.control)
        start = str(control.pop("start"))
        defaults = {
            "swift-start": {"swift_alpha": "8", "burst": "none", "no_estimate": "slow-start"},
            "modified-swift-start": {"swift_alpha": "1", "jump_bound": "ack-clock"},
        }
        told = [f"{key} = {value}" for key, value in control.items()]
        told += [f"{key} = {value} (default)" for key, value in defaults.get(start, {}).items() if key not in control]
        transport = {**TRANSPORT, **self.transport}
        told.append("every segment acknowledged" if transport["delayed_ack"] == "off" else "delayed ACK of 2 or 200 ms")
        told += [
            f"{key} = {transport[key]}"
            for key in ("receive_window", "initial_ssthresh", "peer_knows_option")
            if key in transport
        ]
        return f"{start}, {', '.join(told)}"


@dataclass(frozen=True)
class Transfer:
    """A run and its measurements."""

    run: Run
    #: Segments sent: time since the first, and number.
    sent: pl.DataFrame
    completion_s: float | None

    def rounds(self, number: int) -> list[int]:
        """Return the number of segments in each round trip."""
        return per_round_trip(self.sent, self.run.rate_mbps, self.run.rtt_ms, number)


_WINDOW = {"receive_window": f"{RECEIVE_WINDOW_B} B"}
_MANY: list[tuple[str, str, Mapping[str, object]]] = [
    ("slow start", "slow-start", SLOW_START),
    ("Swift Start", "swift-start", ORIGINAL),
    ("modified Swift Start", "modified-swift-start", MODIFIED),
]

RUNS = [
    *(Run("2", *each, OC1_MBPS, 470, _WINDOW, 100) for each in _MANY[:2]),
    Run("4", "slow start", "slow-start", SLOW_START, 1.544, 348, {}, 80),
    Run("4", "Swift Start", "swift-start", BURSTING, 1.544, 348, {}, 80),
    Run("4, RFC 2001", *_MANY[0], 1.544, 348, {"initial_ssthresh": f"{65_535 / SEGMENT_B:.3f} segments"}, 80),
    *(Run("5", *each, OC1_MBPS, 274, DELAYED_ACK, 500) for each in _MANY[:2]),
    Run("5", "Swift Start, falling back", "swift-start", {"start": "swift-start"}, OC1_MBPS, 274, DELAYED_ACK, 100),
    *(Run("8", *each, OC1_MBPS, 274, DELAYED_ACK, 500) for each in _MANY),
    *(Run("9, 386 ms", *each, OC1_MBPS, 386, DELAYED_ACK, 700) for each in _MANY),
    *(Run("9, 486 ms", *each, OC1_MBPS, 486, DELAYED_ACK, 900) for each in _MANY),
    *(Run("without delay", *each, OC1_MBPS, 274, {}, 100) for each in _MANY),
    Run("thinned", *_MANY[2], OC1_MBPS, 274, {}, 100, (THINNING,)),
    Run("no option", *_MANY[2], OC1_MBPS, 274, {**DELAYED_ACK, "peer_knows_option": False}, 100),
    *(
        Run(
            "4 by alpha",
            f"{alpha}, {burst}",
            "swift-start",
            {**ORIGINAL, "swift_alpha": float(alpha), "burst": burst},
            1.544,
            348,
            {},
            80,
        )
        for alpha in (1, 2, 4, 8)
        for burst in ("none", "difference")
    ),
]

#: Transfers by figure and label.
Found = dict[tuple[str, str], Transfer]


def parts() -> list[Part]:
    """Return every run of the figures."""
    return [Part([run.scenario() for run in RUNS], lambda result: (data_sent(result), completion_s(result)))]


def found(runs: Runs) -> Found:
    """Return the transfers by figure and label."""
    return {(run.figure, run.label): Transfer(run, *runs[run.name]) for run in RUNS}


def text(seconds: float | None) -> str:
    """Return a time as written in the claims."""
    return "not complete" if seconds is None else f"{seconds:.2f} s"


def ratio(own: float | None, other: float | None) -> str:
    """Return a ratio of two times as written in the claims."""
    return "none" if own is None or other is None else f"{own / other:.3g}"


def part(own: float | None, other: float | None) -> float | None:
    """Return a time as a part of another; none if it never ends, and 0 if the other does not."""
    return None if own is None else 0.0 if other is None else own / other


def sooner(own: float | None, other: float | None) -> float | None:
    """Return by how many seconds the first is sooner; none if one of them never ends."""
    return None if own is None or other is None else other - own
