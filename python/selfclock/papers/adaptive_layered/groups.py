"""Groups of parallel A-TCP flows that share their knowledge of the path: alone, and beside TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.claims import Claim
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration
from selfclock.papers.adaptive_layered import overlap
from selfclock.papers.adaptive_layered.network import DELAYED_ACK, TCP, control, scenario, sender, throughputs_mbps
from selfclock.papers.adaptive_layered.overlap import ALONE_S, BUFFER, JITTER_S, RATE_MBPS, RTT_MS
from selfclock.papers.adaptive_layered.verdicts import MARGIN, PAPER, difference, not_less_verdict
from selfclock.papers.drawing import runs
from selfclock.papers.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
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
        name, RATE_MBPS, flows, seconds=SECONDS * scale, buffer=BUFFER, seed=seed, transport=DELAYED_ACK,
        samples_s=1.0 * scale,
    )  # fmt: skip


def _group(size: int, scale: float) -> Flow:
    return sender(control("adaptive"), RTT_MS, jitter_s=JITTER_S * scale, count=size, group="group")


def alone(scale: float = 1.0) -> list[Scenario]:
    """Return each group of several alone; the result of one A-TCP alone comes from the runs of figure 3."""
    return [
        _scenario(f"group-{size}-{seed}", [_group(size, scale)], seed, scale) for size in SIZES[1:] for seed in SEEDS
    ]


def beside_tcp(scale: float = 1.0) -> list[Scenario]:
    """Return one A-TCP and each group beside one TCP."""
    tcp = sender(TCP, RTT_MS, jitter_s=JITTER_S * scale)
    return [
        _scenario(f"group-{size}-beside-tcp-{seed}", [_group(size, scale), tcp], seed, scale)
        for size in SIZES
        for seed in SEEDS_BESIDE
    ]


def alone_findings(
    results: Sequence[Result], one_mbps: Mapping[str, Sequence[float]], scale: float = 1.0
) -> tuple[list[Claim], list[Illustration]]:
    """Compare groups with one flow; the results of A-TCP and TCP alone come from the runs of figure 3."""
    rates = [sum(throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale)) for result in results]
    groups = {size: rates[len(SEEDS) * part : len(SEEDS) * (part + 1)] for part, size in enumerate(SIZES[1:])}
    one = one_mbps["drain"]
    gain = {
        size: interval(own / max(single, 1e-9) - 1 for own, single in zip(group, one, strict=True))
        for size, group in groups.items()
    }
    worst = min(gain.values(), key=lambda held: held.low)
    claim = Claim(
        PAPER,
        "group-alone",
        "section 7",
        says="Adaptive TCP adequately adjusts the group strength k of parallel TCP flows to achieve high utilization "
        "of available bandwidth",
        printed=None,
        measured=_parts(gain, 1.0),
        verdict=not_less_verdict(worst),
        note=f"Throughput of groups of {_list(SIZES[1:])} alone over that of one A-TCP, seed by seed, {len(SEEDS)} "
        f"runs: {', '.join(f'{interval(group).mean:.0f}' for group in groups.values())} Mbit/s; one A-TCP "
        f"{interval(one).mean:.0f}, one TCP {interval(one_mbps['tcp']).mean:.0f}.",
        criterion="Our criterion, one-sided: no less than one A-TCP has. Reproduced if the 95 % t-interval of the "
        f"ratio of the worst group lies above {1 - MARGIN:.2f}, direction if it reaches above.",
        variant=VARIANT,
        figure="groups",
        scenarios=(
            *(f"group-{size}-{seed}" for size in SIZES[1:] for seed in SEEDS),
            *(f"overlap-drain-{seed}" for seed in SEEDS),
        ),
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
        runs(figure.panel, place, values, interval(values), style.look("reno" if tcp else "adaptive"),
             "TCP" if tcp else "A-TCP and its groups")  # fmt: skip
    figure.panel.x.name(*held)
    figure.panel.y.low, figure.panel.y.high = 0.0, 1.1 * RATE_MBPS
    caption = (
        f"{SECONDS:g} s without the first {SKIPPED_S:g} s: every one of {len(SEEDS)} runs with random starts, mean and "
        "95 % interval. The members of a group are together as strong as one A-TCP, and a loss of one is a loss of all."
    )
    return Illustration(
        "Groups of parallel A-TCP flows, alone", caption, figure, id="groups",
        scenarios=tuple(f"group-{size}-{seed}" for size in SIZES[1:] for seed in SEEDS),
    )  # fmt: skip


def beside_findings(results: Sequence[Result], scale: float = 1.0) -> list[Claim]:
    """Judge TCP's share beside each group."""
    rates = [throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale) for result in results]
    parts = [2 * run[-1] / max(sum(run), 1e-9) for run in rates]
    count = len(SEEDS_BESIDE)
    left = {size: interval(parts[count * part : count * (part + 1)]) for part, size in enumerate(SIZES)}
    several = {size: own for size, own in left.items() if size > 1}
    worst = min(several.values(), key=lambda held: held.low)
    one, largest = parts[:count], parts[-count:]
    apart = difference(largest, one)
    names = {size: tuple(f"group-{size}-beside-tcp-{seed}" for seed in SEEDS_BESIDE) for size in SIZES}
    uncoupled = 2 / (SIZES[-1] + 1)
    return [
        Claim(
            PAPER,
            "group-beside-tcp",
            "section 7",
            says="... while maintaining TCP-friendliness against single TCP flows",
            printed=None,
            measured=_parts(several),
            verdict=not_less_verdict(Interval(worst.mean - 1, worst.half)),
            note=f"What TCP gets beside groups of {_list(SIZES[1:])}, over half of the total: 1 is what TCP beside TCP "
            f"gets by symmetry. Means and 95 % intervals of {count} runs. Beside one A-TCP: {left[1]}.",
            criterion="Our criterion, one-sided: TCP gets no less than its fair share. Reproduced if the 95 % "
            f"t-interval of the worst group lies above {1 - MARGIN:.2f}, direction if it reaches above.",
            variant=VARIANT,
            figure="groups",
            scenarios=tuple(name for own in names.values() for name in own),
            long=True,
        ),
        Claim(
            PAPER,
            "group-decoupled",
            "abstract",
            says="The intermediate control decouples the aggregate throughput from the number of opened TCP flows in "
            "parallel",
            printed=None,
            measured=f"{interval(largest)}; beside one A-TCP {left[1]}",
            verdict=not_less_verdict(apart),
            note=f"What one TCP gets beside a group of {SIZES[-1]}, over half of the total, {count} runs; paired "
            f"difference {apart}. Beside {SIZES[-1]} TCP flows that know nothing of each other it would be "
            f"{uncoupled:.2f}.",
            criterion="Our criterion: no less than beside one A-TCP. Reproduced if the 95 % t-interval of the paired "
            f"difference lies above -{MARGIN:.2f}, direction if it reaches above.",
            variant=VARIANT,
            figure="groups",
            scenarios=(*names[1], *names[SIZES[-1]]),
            long=True,
        ),
    ]


def _parts(held: Mapping[int, Interval], offset: float = 0.0) -> str:
    return ", ".join(str(Interval(own.mean + offset, own.half)) for own in held.values())


def _list(sizes: Sequence[int]) -> str:
    return ", ".join(str(size) for size in sizes)
