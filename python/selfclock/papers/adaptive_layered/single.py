"""Figure 2: one flow alone on 1 Gbit/s, ALTCP or TCP, with each of the two buffers that the text can mean."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration
from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.ambiguities import COMBINATIONS, DEFAULT, Altcp
from selfclock.papers.adaptive_layered.comparison import SEVERAL_ORDERS, median
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.network import control, scenario, sender, throughputs_mbps
from selfclock.papers.declared import Ran

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result
    from selfclock.scenario import Scenario

RATE_MBPS, RTT_MS = 1000.0, 120.0
LABELS = {"reno": "TCP", "altcp": "ALTCP"}

#: Where ns-2's default window of 20 ends the first slow start.
SMALL_THRESHOLD = "20 segments"
PART_OF_LINK = 0.9

#: The printed interval is 1000 s without the first 300 s. ALTCP repeats every 53 s by then: 300 s
#: suffice.
MEASURED_S = {"reno": (300.0, 1000.0), "altcp": (300.0, 600.0)}

#: Reno needs some 1100 s to grow to the BDP from a small window.
GROWTH_S = {"reno": 1200.0, "altcp": 600.0}

#: Layered TCP needs some 120 s to fill the link from a small window.
LAYERED_S = 300.0
_LAYERED = "growth-ltcp"

#: The overshoot of slow start and its RTOs are over after this.
SETTLED_S = 12.0

#: 10000 packets of 1500 B are in flight on a full path.
PRODUCT = 10_000

TCP_VARIANT = "TCP: Reno, halved = window"

#: The rate is that of ten samples: with one in 1 s, ten seconds, nearly as long as the fastest
#: growth takes.
GROWTH_SAMPLES_S = 0.25


@dataclass(frozen=True)
class Buffer:
    """A reading of "the product of bottleneck link bandwidth and delay"."""

    #: Suffix of names.
    suffix: str
    reading: str
    queue: str
    packets: int
    text: str
    #: Reno's second loss comes after some 1800 and 820 s.
    cycle_s: dict[str, float]


PATH = Buffer(
    "",
    ambiguities.PATH_PRODUCT,
    "1 bdp",
    PRODUCT,
    "1 BDP of the path, 120 ms: 10000 packets",
    {"reno": 1850.0, "altcp": 200.0},
)
LINK = Buffer(
    "-literal-buffer",
    ambiguities.LINK_PRODUCT,
    "3333 packets",
    3333,
    "bottleneck's rate times its own delay, 40 ms: 3333 packets",
    {"reno": 900.0, "altcp": 200.0},
)
BUFFERS = (PATH, LINK)


#: TCP, and ALTCP under each combination of readings.
_EVERY: tuple[Altcp | None, ...] = (None, *COMBINATIONS)


def _kind(under: Altcp | None) -> str:
    return "reno" if under is None else "altcp"


def _name(under: Altcp | None) -> str:
    return "reno" if under is None else under.name


def _growth(under: Altcp | None, buffer: Buffer) -> str:
    # TCP fills no buffer within 1200 s: its run is the same with either.
    return f"growth-{_name(under)}" + ("" if under is None else buffer.suffix)


def _cycle(under: Altcp | None, buffer: Buffer) -> str:
    return f"cycle-{_name(under)}{buffer.suffix}"


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return growth and cycle of TCP and ALTCP with each buffer; `scale` shortens them."""
    made: dict[str, Scenario] = {}
    for buffer in BUFFERS:
        for under in _EVERY:
            kind = _kind(under)
            flow = [sender(control("reno") if under is None else under.control, RTT_MS)]
            growth = scenario(
                _growth(under, buffer),
                RATE_MBPS,
                flow,
                seconds=GROWTH_S[kind] * scale,
                buffer=buffer.queue,
                transport={"initial_ssthresh": SMALL_THRESHOLD},
                samples_s=min(GROWTH_SAMPLES_S, 50 * scale),
            )
            cycle = scenario(
                _cycle(under, buffer),
                RATE_MBPS,
                flow,
                seconds=buffer.cycle_s[kind] * scale,
                buffer=buffer.queue,
                samples_s=min(1.0, 50 * scale),
            )
            made.setdefault(growth.name, growth)
            made[cycle.name] = cycle
    layered = scenario(
        _LAYERED,
        RATE_MBPS,
        [sender(control("ltcp"), RTT_MS)],
        seconds=LAYERED_S * scale,
        buffer=PATH.queue,
        transport={"initial_ssthresh": SMALL_THRESHOLD},
        samples_s=min(GROWTH_SAMPLES_S, 50 * scale),
    )
    return [*made.values(), layered]


def time_to_fill(result: Result, rate_mbps: float = RATE_MBPS, part: float = PART_OF_LINK) -> float | None:
    """Return when the acknowledged rate, over ten samples, first reached a fraction of the link."""
    frame = pl.DataFrame(result.flows)
    rate = frame["acknowledged_bytes"].cast(pl.Float64).diff(10) * 8 / frame["time_s"].diff(10) / 1e6
    reached = frame.filter(rate >= part * rate_mbps)
    return float(reached["time_s"][0]) if len(reached) else None


def _cuts(result: Result) -> pl.DataFrame:
    """Samples with a new threshold, with the window of the previous sample."""
    frame = pl.DataFrame(result.flows).with_columns(before=pl.col("cwnd_bytes").shift(1))
    finite = frame.filter(pl.col("ssthresh_bytes").is_finite())
    return finite.filter(pl.col("ssthresh_bytes").diff() != 0)


def cycle(result: Result) -> float | None:
    """Return the time from a cut of the window to the next loss, the median if there are several.

    The first cut that counts is the last one of slow start's overshoot.
    """
    cuts = _cuts(result)["time_s"].to_list()
    later = [time for time in cuts if time > SETTLED_S]
    if not later:
        return None
    first = max((time for time in cuts if time <= SETTLED_S), default=float(pl.DataFrame(result.flows)["time_s"][0]))
    return median(end - begin for begin, end in pairwise([first, *later]))


def reductions(result: Result) -> list[float]:
    """Return the fraction of the window that each loss took after the overshoot of slow start."""
    cuts = _cuts(result).filter(pl.col("time_s") > SETTLED_S)
    return (1 - cuts["ssthresh_bytes"] / cuts["before"]).to_list()


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Illustration]]:
    """Judge the runs."""
    claims = [_growth_claim(runs, under) for under in COMBINATIONS]
    for buffer in BUFFERS:
        for under in COMBINATIONS:
            claims += [_recovery(runs, buffer, under), _throughput(runs, buffer, under, scale)]
    return [*claims, _beside_layered(runs), *(_reduction(runs, under) for under in COMBINATIONS)], [_figure(runs)]


def _times(tcp: float | None, altcp: float | None) -> dict[str, Any]:
    """Return how many times faster it is, and how that is told; none if one of them does not."""
    if not tcp or not altcp:
        return {"times": None, "told": None}
    return {"times": tcp / altcp, "told": f"{tcp / altcp:.1f} times: {altcp:.1f} s against {tcp:.0f} s"}


def _growth_claim(runs: Runs, under: Altcp) -> Claim:
    names = [_growth(of, PATH) for of in (None, under)]
    ran = Ran(f"{under.variant}; {TCP_VARIANT}; initial_ssthresh = {SMALL_THRESHOLD}", tuple(names), under.readings)
    return CLAIMS("figure-2-growth", ran, **_times(*(time_to_fill(runs[run]) for run in names)))


def _recovery(runs: Runs, buffer: Buffer, under: Altcp) -> Claim:
    names = [_cycle(of, buffer) for of in (None, under)]
    ran = Ran(f"{under.variant}; {TCP_VARIANT}", tuple(names), (*under.readings, buffer.reading))
    return CLAIMS("figure-2-recovery", ran, buffer=buffer.text, **_times(*(cycle(runs[run]) for run in names)))


def _throughput(runs: Runs, buffer: Buffer, under: Altcp, scale: float) -> Claim:
    names = [_growth(of, buffer) for of in (None, under)]
    (tcp,), (altcp,) = (
        throughputs_mbps(runs[run], *(time * scale for time in MEASURED_S[_kind(of)]))
        for of, run in zip((None, under), names, strict=True)
    )
    return CLAIMS(
        "figure-2-throughput",
        Ran(
            f"{under.variant}; {TCP_VARIANT}; initial_ssthresh = {SMALL_THRESHOLD}",
            tuple(names),
            (*under.readings, buffer.reading),
        ),
        altcp=altcp,
        tcp=tcp,
        ratio=altcp / tcp,
        buffer=buffer.text,
        small=buffer is LINK,
    )


def _beside_layered(runs: Runs) -> Claim:
    names = [_LAYERED, _growth(DEFAULT, PATH)]
    layered, altcp = (time_to_fill(runs[name]) for name in names)
    ratio = layered / altcp if layered and altcp else None
    return CLAIMS(
        "figure-2-beside-layered",
        Ran(f"{DEFAULT.variant}; ltcp; initial_ssthresh = {SMALL_THRESHOLD}", tuple(names)),
        times=ratio,
        told=None if ratio is None else f"{ratio:.2f} times: {altcp:.0f} s against {layered:.0f} s",
    )


def _reduction(runs: Runs, under: Altcp) -> Claim:
    names = {_kind(of): [_cycle(of, buffer) for buffer in BUFFERS] for of in (None, under)}
    taken = {name: [part for run in own for part in reductions(runs[run])] for name, own in names.items()}
    known = all(taken.values())
    measured = "; ".join(f"{LABELS[name]} {min(own):.3f} to {max(own):.3f}" for name, own in taken.items() if own)
    return CLAIMS(
        "figure-2-reduction",
        Ran(f"{under.variant}; {TCP_VARIANT}", tuple(run for own in names.values() for run in own), under.readings),
        told=measured or None,
        altcp_losses=len(taken["altcp"]),
        tcp_losses=len(taken["reno"]),
        less=min(taken["reno"]) - max(taken["altcp"]) if known else None,
    )


def _figure(runs: Runs) -> Illustration:
    figure = Figure(3, x="time (s)", y="window (1000 segments)", height=7.0)
    shown = [
        ("slow start ended at 20 segments", PATH, _growth),
        ("no threshold, 10000 packets of buffer", PATH, _cycle),
        ("no threshold, 3333 packets of buffer", LINK, _cycle),
    ]
    drawn = []
    for panel, (what, buffer, naming) in zip(figure.column, shown, strict=True):
        panel.rule("y", PRODUCT / 1000, colour=BLACK, dash="-", width=0.6, label="path's product")
        panel.rule("y", (PRODUCT + buffer.packets) / 1000, colour=BLACK, width=0.6, label="product and buffer")
        for of, label in ((None, "TCP"), (DEFAULT, "ALTCP")):
            run = naming(of, buffer)
            drawn.append(run)
            frame, look = pl.DataFrame(runs[run].flows), style.look(_name(of))
            panel.line(frame["time_s"], frame["cwnd_bytes"] / 1.46e6, dash=look.line, colour=look.colour, label=label)
        panel.title = f"One flow, 1 Gbit/s, 120 ms: {what}"
        panel.y.low, panel.y.high = 0.0, 26.0
    tcp_s = time_to_fill(runs[_growth(None, PATH)])
    if tcp_s is not None:
        figure.panel.rule(
            "x", tcp_s / SEVERAL_ORDERS, dash="--", width=1.2, label="printed: several orders (100 times) faster"
        )
    caption = (
        "Below the first panel ALTCP runs for 200 s. The grey line: a hundredth of the time that TCP takes to 90 % of "
        'the link, where our reading of "several orders of magnitude" would have ALTCP at the path\'s product.'
    )
    return Illustration("Figure 2, ALTCP and TCP alone", caption, figure, id="figure-2", scenarios=tuple(drawn))
