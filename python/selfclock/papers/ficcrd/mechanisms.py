"""The compared mechanisms: tail drop, and FICCRD by feedback and by the trigger of its RD packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock import style
from selfclock.papers.ficcrd import ambiguities
from selfclock.papers.ficcrd.network import ACK_BUCKET, SECONDS, WINDOW, scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.scenario import Scenario

#: The paper: RD packets are "generated for each flow proportionally based on the packet arrival
#: rate", and no others. The default sends one in 100 ms at least.
BY_NUMBER: dict[str, object] = {**WINDOW, "discovery_interval": "off"}

#: 32 segments in flight, ten of them in the network: a bucket holds the other 22 for 0.7 s.
BUCKET_TIMED: dict[str, object] = {**ACK_BUCKET, "longest_hold": "1 s"}
BUCKET: dict[str, object] = {**BUCKET_TIMED, "discovery_interval": "off"}

#: Settings of every flow, whatever the routers do.
SENDERS = "Reno of ns-2 (halved = window), classic profile"


@dataclass(frozen=True)
class Mechanism:
    """The routers' configuration, its name and its look."""

    name: str
    label: str
    router: Mapping[str, object] | None
    colour: str
    line: str
    #: Text of `Claim.variant`.
    variant: str
    #: The readings of its feedback and of the proportion of RD packets.
    readings: tuple[str, ...] = ()
    #: Those of what the text leaves open in the routers' rules.
    settled: tuple[str, str, str] = ambiguities.SETTLED

    def run_name(self, suffix: str = "") -> str:
        """Return the name of a run with it."""
        return f"ficcrd-{self.name}{suffix}"

    def scenario(self, suffix: str = "", **keys: Any) -> Scenario:  # noqa: ANN401 passed on
        """Return a run with it, named after it."""
        return scenario(self.run_name(suffix), self.router, **keys)


TAIL_DROP = Mechanism("tail-drop", "tail drop", None, style.LOOKS["udp"].colour, "-", f"tail drop; {SENDERS}")

_BLUE, _VERMILLION = style.LOOKS["reno"].colour, style.LOOKS["packet-pair"].colour

#: Names of scenarios have the feedback, and what differs from an RD packet for 32.
_FEEDBACK = (
    (ambiguities.WINDOW, "window", BY_NUMBER, WINDOW, "feedback = window", _BLUE),
    (
        ambiguities.ACK_BUCKET,
        "ACK bucket",
        BUCKET,
        BUCKET_TIMED,
        "feedback = ack-bucket, longest_hold = 1 s",
        _VERMILLION,
    ),
)


def _by_number(number: int) -> list[Mechanism]:
    suffix = "" if number == ambiguities.PROPORTIONS[0] else f"-1-in-{number}"
    return [
        Mechanism(
            f"{feedback}{suffix}",
            f"{label}, an RD packet for {number}",
            {**router, "packets_per_discovery": number},
            colour,
            "-",
            f"FICCRD, {options}, packets_per_discovery = {number}, discovery_interval = off; {SENDERS}",
            (feedback, ambiguities.one_in(number), ambiguities.COUNTED),
        )
        for feedback, label, router, _, options, colour in _FEEDBACK
    ]


_NUMBERED = {number: _by_number(number) for number in ambiguities.PROPORTIONS}
_TIMED = [
    Mechanism(
        f"{feedback}-timed",
        f"{label}, timed RD packets, too",
        router,
        colour,
        "--",
        f"FICCRD, {options}, discovery_interval = 100 ms; {SENDERS}",
        (feedback, ambiguities.TIMED, ambiguities.COUNTED),
    )
    for feedback, label, _, router, options, colour in _FEEDBACK
]


def _changed(name: str, label: str, options: dict[str, object], *readings: str) -> list[Mechanism]:
    """Return both kinds of feedback with other options than those of an RD packet for 32."""
    text = ", ".join(f"{key} = {value}" for key, value in options.items())
    return [
        Mechanism(
            f"{feedback}-{name}",
            f"{feedback_label}, {label}",
            {**router, **options},
            colour,
            "-",
            f"FICCRD, {feedback_options}, {text}, discovery_interval = off; {SENDERS}",
            (feedback, *readings),
        )
        for feedback, feedback_label, router, _, feedback_options, colour in _FEEDBACK
    ]


_OTHERS = [
    *_changed(
        "by-bytes",
        "an RD packet for 1696 B",
        {"bytes_per_discovery": "1696 B"},
        ambiguities.BY_BYTES,
        ambiguities.COUNTED,
    ),
    *(
        mechanism
        for first in (ambiguities.FIRST_DATA, ambiguities.FIRST_RATE)
        for mechanism in _changed(
            first, f"an RD packet for 32, {first}", {"first_discovery": first}, ambiguities.one_in(32), first
        )
    ),
]

#: Those that are drawn: each feedback with the proportions at both ends of the readings.
CONTROLLED = [each for pair in zip(_NUMBERED[32], _TIMED, strict=True) for each in pair]
ALL = [TAIL_DROP, *CONTROLLED]

#: The other proportions: judged, and not drawn.
PROPORTIONED = [*(each for number in ambiguities.PROPORTIONS[1:] for each in _NUMBERED[number]), *_OTHERS]

#: Both default readings.
USUAL = CONTROLLED[0]

#: The routers' rules read otherwise, one at a time: judged with all sources at once, and not drawn.
_OTHERWISE: tuple[tuple[str, str, dict[str, object], tuple[str, str, str]], ...] = (
    ("literal", "Table 1 literally", {"rule": "literal"}, (ambiguities.LITERAL, *ambiguities.SETTLED[1:])),
    ("icc", "Table 1 as ICC", {"rule": "icc"}, (ambiguities.AS_ICC, *ambiguities.SETTLED[1:])),
    ("k-1s", "K = 1 s", {"rate_constant": "1 s"}, (ambiguities.OUTER_ELSE, ambiguities.K_1_S, ambiguities.SMOOTHED)),
    ("base-rtt", "window of the base round-trip time", {"rtt": "base"}, (*ambiguities.SETTLED[:2], ambiguities.BASE)),
)
READ_OTHERWISE = [
    Mechanism(
        f"window-{name}",
        f"window, an RD packet for 32, {label}",
        {**BY_NUMBER, **options},
        _BLUE,
        "-",
        USUAL.variant.replace("; ", f", {', '.join(f'{key} = {value}' for key, value in options.items())}; ", 1),
        USUAL.readings,
        settled,
    )
    for name, label, options, settled in _OTHERWISE
]

#: Every row about chance uses these seeds, with each packet of a source delayed at random below 10
#: ms.
SEEDS = range(1, 11)
SEND_DELAY_MS = 10.0


def random_names(mechanism: Mechanism, suffix: str = "") -> tuple[str, ...]:
    """Return the names of its runs with random send delays."""
    return tuple(mechanism.run_name(f"{suffix}-random-{seed}") for seed in SEEDS)


def random_runs(mechanism: Mechanism, scale: float, suffix: str = "", **keys: Any) -> list[Scenario]:  # noqa: ANN401
    """Return a run for every seed, with random send delays."""
    return [
        scenario(name, mechanism.router, seed=seed, send_delay_ms=SEND_DELAY_MS, seconds=SECONDS * scale, **keys)
        for seed, name in zip(SEEDS, random_names(mechanism, suffix), strict=True)
    ]


def names(scenarios: list[Scenario]) -> tuple[str, ...]:
    """Return the names of scenarios, as a claim lists them."""
    return tuple(one.name for one in scenarios)
