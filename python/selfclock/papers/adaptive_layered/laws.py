"""Claims on exponents: RTT fairness of ALTCP, of K_R always on, and of more random losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style
from selfclock.figure import BLACK, Figure
from selfclock.page_parts import Illustration, Table
from selfclock.papers.adaptive_layered import ambiguities
from selfclock.papers.adaptive_layered.ambiguities import DEFAULT, Altcp
from selfclock.papers.adaptive_layered.comparison import MARGIN, median
from selfclock.papers.adaptive_layered.declared import CLAIMS
from selfclock.papers.adaptive_layered.exponents import (
    ALWAYS,
    COMPARED_SEEDS,
    EPOCHS,
    JITTER_S,
    LOSS,
    PERIODS_S,
    RANDOM_SECONDS,
    RANDOM_SEEDS,
    RANDOM_SKIPPED_S,
    RATE_MBPS,
    RATIOS,
    READINGS,
    RTT_MS,
    SECONDS,
    SEEDS,
    SKIPPED_S,
    UNFILLED_MBPS,
    USUAL_PERIOD_S,
    Measured,
    at_random,
    late,
    lossy,
    measure,
    names,
    queue_name,
    random_name,
    same_times_name,
    seeds,
)
from selfclock.papers.declared import Ran
from selfclock.papers.drawing import mean
from selfclock.papers.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs

#: The exponent with simultaneous losses, and with independent ones.
THEORY = {
    "reno": ("2", "1"),
    "highspeed": ("up to 6.1", "1"),
    "scalable": ("unbounded", "1"),
    "bic": ("2 to unbounded", "1"),
    "cubic": ("1, 2 where it follows Reno", "0.25, 1 where it follows Reno"),
    "ltcp": ("2.5", "1"),
    "altcp": ("2.5, with K_R = 1", "0.8 with K_R, 1 without"),
    ALWAYS: ("2", "0.8"),
    "adaptive": ("2 at k = 1", "1 at k = 1"),
}

PAPERS_HANDLER, ALWAYS_ON = "compensation = paper, as printed", "compensation = always, ours"
LAYERED = "altcp: beta = 0.15, W_T = 50 (Layered TCP's)"
FIGURE = "rtt-exponents"

#: Throughput relative to the other's below which a flow is starved.
STARVED = 0.05


def findings(
    runs: Runs, random: Mapping[str, list[float]], scale: float = 1.0, *, full: bool = False
) -> tuple[list[Claim], list[Illustration], list[Table]]:
    """Judge the exponents; those with losses at random are given, and judged only with `full`."""
    measured = measure(runs, random, scale)
    claims = [
        *(_beside_a_queue(measured, name) for name in _OF_ALTCP),
        *(_at_the_same_times(measured, name) for name in _OF_ALTCP),
        _drop_rate(measured),
        *([_randomness(measured)] if full else []),
    ]
    return claims, [_figure(measured)], [_grid(measured)]


#: ALTCP under each reading, and K_R always on, which is ours.
_UNDER: dict[str, Altcp] = {"altcp": DEFAULT, **READINGS}
_OF_ALTCP = (*_UNDER, ALWAYS)


def _variant(name: str) -> str:
    own = _UNDER[name].variant if name in _UNDER else f"{LAYERED}, {ALWAYS_ON}"
    return f"{own}; reno: halved = window; ltcp"


def _readings(name: str) -> tuple[str, ...]:
    return _UNDER[name].readings if name in _UNDER else ()


def _apart(own: Sequence[float], other: Sequence[float]) -> list[float]:
    return [one - two for one, two in zip(own, other, strict=True)]


def _beside_a_queue(measured: dict[str, Measured], name: str) -> Claim:
    own, tcp, parent = (measured[held].queue for held in (name, "reno", "ltcp"))
    apart, of_parent = _apart(own, tcp), _apart(parent, tcp)
    far = measured[name].ratios[max(RATIOS)]
    runs = tuple(
        queue_name(held, ratio, seed) for held in (name, "reno", "ltcp") for ratio in RATIOS for seed in COMPARED_SEEDS
    )
    return CLAIMS(
        _identity(name),
        Ran(_variant(name), runs, (ambiguities.AT_A_QUEUE, *_readings(name))),
        apart=interval(apart),
        # How much closer to TCP's it is than the parent's.
        nearer=interval(abs(two) - abs(one) for one, two in zip(apart, of_parent, strict=True)),
        own=interval(own),
        tcp=interval(tcp),
        parent=interval(parent),
        read=name in _UNDER,
        default=name == "altcp",
        always_on=name == ALWAYS,
        starved=sum(ratio < STARVED for ratio in far),
        far=len(far),
    )


def _identity(name: str) -> str:
    return "rtt-exponent-altcp" if name in _UNDER else "rtt-exponent-k-r-on"


def _at_the_same_times(measured: dict[str, Measured], name: str) -> Claim:
    own, tcp, parent = (late(measured[held]) for held in (name, "reno", "ltcp"))
    runs = tuple(same_times_name(held, ratio) for held in (name, "reno", "ltcp") for ratio in RATIOS)
    return CLAIMS(
        _identity(name),
        Ran(_variant(name), runs, (ambiguities.AT_THE_SAME_TIMES, *_readings(name))),
        apart=own - tcp,
        nearer=abs(parent - tcp) - abs(own - tcp),
        own=own,
        tcp=tcp,
        parent=parent,
        period=PERIODS_S.get(name, USUAL_PERIOD_S),
        read=name in _UNDER,
    )


def _drop_rate(measured: dict[str, Measured]) -> Claim:
    off, on, tcp = (measured[name].dropped for name in ("altcp", ALWAYS, "reno"))
    runs = tuple(
        queue_name(held, ratio, seed)
        for held in ("altcp", ALWAYS, "reno")
        for ratio in RATIOS
        for seed in COMPARED_SEEDS
    )
    return CLAIMS(
        "rtt-k-r-off-drops",
        Ran(f"{LAYERED}; {PAPERS_HANDLER}, and {ALWAYS_ON}", runs),
        ratio=interval(one / max(other, 1e-12) for one, other in zip(off, on, strict=True)),
        off=_percent(off),
        on=_percent(on),
        tcp=_percent(tcp),
    )


def _percent(parts: Sequence[float]) -> str:
    return f"{sum(parts) / len(parts):.3%}"


def _randomness(measured: dict[str, Measured]) -> Claim:
    every = lossy()
    # The reduction of the exponent by random losses is significant.
    gain = {
        name: (late(measured[name]) - at_random(measured[name]).mean, at_random(measured[name]).half) for name in every
    }
    between = [
        name
        for name in every
        if at_random(measured[name]).mean < interval(measured[name].queue).mean < late(measured[name])
    ]
    variant = (
        "every window algorithm that follows losses, defaults of the exponent table; adaptive: maximum_k = 1 without a "
        f"queue; {ALWAYS}: {ALWAYS_ON}"
    )
    runs = (
        *(same_times_name(name, ratio) for name in every for ratio in RATIOS),
        *(random_name(name, ratio, seed) for name in every for ratio in RATIOS for seed in RANDOM_SEEDS),
    )
    return CLAIMS(
        "more-random-fairer",
        Ran(variant, runs),
        long=True,
        fairer=sum(mean > MARGIN and mean - half > 0 for mean, half in gain.values()),
        count=len(every),
        half=len(every) / 2,
        each="; ".join(
            f"{name} {late(measured[name]):.2f}, {interval(measured[name].queue)}, {at_random(measured[name])}"
            for name in every
        ),
        between=len(between),
    )


def _grid(measured: dict[str, Measured]) -> Table:
    rows = [
        [
            name,
            *(f"{median(own.ratios[ratio]):.3f}" for ratio in RATIOS),
            str(interval(own.queue)),
            *_made(own),
            *THEORY.get(name, ("-", "-")),
        ]
        for name, own in measured.items()
    ]
    return Table(
        "How throughput depends on the round-trip time",
        f"Beside a queue: throughput of the flow with the longer round-trip time over the other's, medians of "
        f"{len(SEEDS)} runs ({len(COMPARED_SEEDS)} of TCP, LTCP and ALTCP) of {SECONDS:g} s without the first "
        f"{SKIPPED_S:g} s with random starts within {JITTER_S:g} s; {RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, "
        "buffer a fifth of the product. The exponent x of (RTT ratio)^-x is fitted to the measured mean "
        "round-trip times, the queue included, seed by seed: mean and 95 % interval. "
        f"Same times: a burst of UDP every {USUAL_PERIOD_S:g} s "
        f"({', '.join(f'{n} {p:g} s' for n, p in PERIODS_S.items())}) on {UNFILLED_MBPS:g} Mbit/s that the flows do "
        f"not fill themselves; exponents of the second and of the last quarter of {EPOCHS} periods. Where the two "
        "differ there is no law: the ratio goes on growing until a limit of the window ends it. Losses: of one flow, "
        f"at most; more than the {EPOCHS - 1} bursts would be a flow that fills the link by itself. Random: each "
        f"packet is lost with probability {LOSS:g} on the same link, {len(RANDOM_SEEDS)} runs of {RANDOM_SECONDS:g} s "
        f"without the first {RANDOM_SKIPPED_S:g} s. Last, what follows from the algorithms in these two cases.",
        [
            "algorithm",
            *(f"{ratio} times" for ratio in RATIOS),
            "beside a queue",
            "same times",
            "losses",
            "random",
            "law: same times",
            "law: random",
        ],
        rows,
    )


def _made(own: Measured) -> tuple[str, str, str]:
    if own.same_times is None or own.random is None:
        return "-", "-", "-"
    early, last, most = own.same_times
    return f"{early:.2f} to {last:.2f}", str(most), str(at_random(own))


def _figure(measured: dict[str, Measured]) -> Illustration:
    figure = Figure(
        title="Throughput falls with RTT to this power: two flows of one algorithm",
        y="exponent of the round-trip time",
        height=4.2,
    )
    held = {name: own for name, own in measured.items() if own.random is not None}
    places, panel = range(len(held)), figure.panel
    for value, dash, law in ((2, "--", "same times: 2"), (1, ":", "random: 1")):
        panel.rule("y", value, colour=BLACK, dash=dash, width=0.6, label=f"TCP's law, {law}")
    mean(
        panel,
        places,
        [at_random(own) for own in held.values()],
        style.look("cubic"),
        f"each packet lost with probability {LOSS:g}",
    )
    mean(
        panel,
        [place + 0.12 for place in places],
        [interval(own.queue) for own in held.values()],
        style.look("reno"),
        "beside a drop-tail queue",
    )
    look = style.look("highspeed")
    panel.points(
        [place + 0.24 for place in places],
        [late(own) for own in held.values()],
        marker=look.marker,
        size=6,
        colour=look.colour,
        label="losses at the same times",
    )
    panel.x.names = {place + 0.12: name.replace(", ", ",\n") for place, name in zip(places, held, strict=True)}
    panel.y.low = 0.0
    caption = "Means and 95 % intervals over the seeds; with losses at the same times nothing is random."
    scenarios = (
        *(same_times_name(name, ratio) for name in held for ratio in RATIOS),
        *(queue_name(name, ratio, seed) for name in names() for ratio in RATIOS for seed in seeds(name)),
        *(random_name(name, ratio, seed) for name in held for ratio in RATIOS for seed in RANDOM_SEEDS),
    )
    return Illustration(
        "Throughput and round-trip time, more and less random", caption, figure, id=FIGURE, scenarios=scenarios
    )
