"""Groups of parallel A-TCP flows that share their knowledge of the path: alone, and beside TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration
from selfclock.papers.adaptive_layered import overlap
from selfclock.papers.adaptive_layered.comparison import difference
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.network import DELAYED_ACK, TCP, control, scenario, sender, throughputs_mbps
from selfclock.papers.adaptive_layered.overlap import ALONE_S, BUFFER, JITTER_S, RATE_MBPS, RTT_MS
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import runs
from selfclock.papers.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.scenario import Scenario
    from selfclock.scenario.flow import Flow

SIZES = (1, 2, 4, 8, 16)

#: The part of figure 3 with a single flow.
SKIPPED_S, SECONDS = ALONE_S

#: Alone, as many as figure 3 has for one flow. Beside TCP shares vary widely from run to run.
SEEDS, SEEDS_BESIDE = overlap.SEEDS, range(1, 21)

VARIANT = (
    "adaptive: group, k/N for each of N members, a loss of one is a loss of all (our reconstruction); "
    "competition_hold = drain, chosen after results had been seen; delayed ACKs"
)


def _scenario(name: str, flows: list[Flow], seed: int, scale: float) -> Scenario:
    return scenario(
        name,
        RATE_MBPS,
        flows,
        seconds=SECONDS * scale,
        buffer=BUFFER,
        seed=seed,
        transport=DELAYED_ACK,
        samples_s=1.0 * scale,
    )


def _group(size: int, scale: float) -> Flow:
    return sender(control("adaptive"), RTT_MS, jitter_s=JITTER_S * scale, count=size, group="group")


def _names(size: int) -> tuple[str, ...]:
    return tuple(f"group-{size}-{seed}" for seed in SEEDS)


def _beside_names(size: int) -> tuple[str, ...]:
    return tuple(f"group-{size}-beside-tcp-{seed}" for seed in SEEDS_BESIDE)


def alone(scale: float = 1.0) -> list[Scenario]:
    """Return each group of several alone; the result of one A-TCP alone comes from the runs of figure 3."""
    return [
        _scenario(name, [_group(size, scale)], seed, scale)
        for size in SIZES[1:]
        for seed, name in zip(SEEDS, _names(size), strict=True)
    ]


def beside_tcp(scale: float = 1.0) -> list[Scenario]:
    """Return one A-TCP and each group beside one TCP."""
    tcp = sender(TCP, RTT_MS, jitter_s=JITTER_S * scale)
    return [
        _scenario(name, [_group(size, scale), tcp], seed, scale)
        for size in SIZES
        for seed, name in zip(SEEDS_BESIDE, _beside_names(size), strict=True)
    ]


def alone_findings(
    found: Runs, one_mbps: Mapping[str, Sequence[float]], scale: float = 1.0
) -> tuple[list[Claim], list[Illustration]]:
    """Compare groups with one flow; the results of A-TCP and TCP alone come from the runs of figure 3."""
    span = (SKIPPED_S * scale, SECONDS * scale)
    groups = {size: [sum(throughputs_mbps(result, *span)) for result in found.each(_names(size))] for size in SIZES[1:]}
    one = one_mbps["drain"]
    gain = {
        size: interval(own / max(single, 1e-9) - 1 for own, single in zip(group, one, strict=True))
        for size, group in groups.items()
    }
    worst = min(gain.values(), key=lambda held: held.low)
    claim = CLAIMS(
        "group-alone",
        Ran(
            VARIANT,
            (*(name for size in SIZES[1:] for name in _names(size)), *(f"overlap-drain-{seed}" for seed in SEEDS)),
        ),
        parts=_parts(gain, 1.0),
        sizes=SIZES[1:],
        rates=[interval(group).mean for group in groups.values()],
        one=interval(one).mean,
        tcp=interval(one_mbps["tcp"]).mean,
        apart=worst,
    )
    held = {
        "one A-TCP": one,
        **{f"group of {size}": group for size, group in groups.items()},
        "one TCP": one_mbps["tcp"],
    }
    return [claim], [_figure(held)]


def _figure(held: Mapping[str, Sequence[float]]) -> Illustration:
    title = f"Alone on {RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, buffer a fifth of the product"
    figure = Figure(title=title, y="throughput (Mbit/s)", height=3.4)
    figure.panel.rule("y", RATE_MBPS, colour=BLACK, dash="-", width=0.6, label="link")
    for place, (name, values) in enumerate(held.items()):
        tcp = name == "one TCP"
        runs(
            figure.panel,
            place,
            values,
            interval(values),
            style.look("reno" if tcp else "adaptive"),
            "TCP" if tcp else "A-TCP and its groups",
        )
    figure.panel.x.name(*held)
    figure.panel.y.low, figure.panel.y.high = 0.0, 1.1 * RATE_MBPS
    caption = (
        f"{SECONDS:g} s without the first {SKIPPED_S:g} s: every one of {len(SEEDS)} runs with random starts, mean and "
        "95 % interval. The members of a group are together as strong as one A-TCP, and a loss of one is a loss of all."
    )
    return Illustration(
        "Groups of parallel A-TCP flows, alone",
        caption,
        figure,
        id="groups",
        scenarios=tuple(name for size in SIZES[1:] for name in _names(size)),
    )


def beside_findings(found: Runs, scale: float = 1.0) -> list[Claim]:
    """Judge TCP's share beside each group."""
    count = len(SEEDS_BESIDE)
    parts: dict[int, list[float]] = {}
    for size in SIZES:
        rates = [
            throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale) for result in found.each(_beside_names(size))
        ]
        parts[size] = [2 * run[-1] / max(sum(run), 1e-9) for run in rates]
    left = {size: interval(own) for size, own in parts.items()}
    several = {size: own for size, own in left.items() if size > 1}
    worst = min(several.values(), key=lambda held: held.low)
    one, largest = parts[1], parts[SIZES[-1]]
    apart = difference(largest, one)
    names = {size: _beside_names(size) for size in SIZES}
    uncoupled = 2 / (SIZES[-1] + 1)
    return [
        CLAIMS(
            "group-beside-tcp",
            Ran(VARIANT, tuple(name for own in names.values() for name in own)),
            long=True,
            parts=_parts(several),
            sizes=SIZES[1:],
            count=count,
            one=left[1],
            apart=Interval(worst.mean - 1, worst.half),
        ),
        CLAIMS(
            "group-decoupled",
            Ran(VARIANT, (*names[1], *names[SIZES[-1]])),
            long=True,
            largest=interval(largest),
            one=left[1],
            count=count,
            apart=apart,
            uncoupled=uncoupled,
        ),
    ]


def _parts(held: Mapping[int, Interval], offset: float = 0.0) -> str:
    return ", ".join(str(Interval(own.mean + offset, own.half)) for own in held.values())


def _list(sizes: Sequence[int]) -> str:
    return ", ".join(str(size) for size in sizes)
