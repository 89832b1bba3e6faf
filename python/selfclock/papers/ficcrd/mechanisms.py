"""The compared mechanisms: tail drop, and FICCRD by feedback and by the trigger of its RD packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfclock import style
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

    def scenario(self, suffix: str = "", **keys: Any) -> Scenario:  # noqa: ANN401 passed on
        """Return a run with it, named after it."""
        return scenario(f"ficcrd-{self.name}{suffix}", self.router, **keys)


TAIL_DROP = Mechanism("tail-drop", "tail drop", None, style.LOOKS["udp"].colour, "-", f"tail drop; {SENDERS}")

_BLUE, _VERMILLION = style.LOOKS["reno"].colour, style.LOOKS["packet-pair"].colour

CONTROLLED = [
    Mechanism("window", "window, RD packets by number", BY_NUMBER, _BLUE, "-",
              f"FICCRD, feedback = window, discovery_interval = off; {SENDERS}"),
    Mechanism("window-timed", "window, RD packets timed too", WINDOW, _BLUE, "--",
              f"FICCRD, defaults: feedback = window, discovery_interval = 100 ms; {SENDERS}"),
    Mechanism("ack-bucket", "ACK bucket, RD packets by number", BUCKET, _VERMILLION, "-",
              f"FICCRD, feedback = ack-bucket, longest_hold = 1 s, discovery_interval = off; {SENDERS}"),
    Mechanism("ack-bucket-timed", "ACK bucket, RD packets timed too", BUCKET_TIMED, _VERMILLION, "--",
              f"FICCRD, feedback = ack-bucket, longest_hold = 1 s, discovery_interval = 100 ms; {SENDERS}"),
]  # fmt: skip
ALL = [TAIL_DROP, *CONTROLLED]

#: The paper's words with the fewest additions of ours.
PRINTED = CONTROLLED[0]

#: Every row about chance uses these seeds, with each packet of a source delayed at random below 10
#: ms.
SEEDS = range(1, 11)
SEND_DELAY_MS = 10.0


def random_runs(mechanism: Mechanism, scale: float, suffix: str = "", **keys: Any) -> list[Scenario]:  # noqa: ANN401
    """Return a run for every seed, with random send delays."""
    return [
        mechanism.scenario(
            f"{suffix}-random-{seed}", seed=seed, send_delay_ms=SEND_DELAY_MS, seconds=SECONDS * scale, **keys
        )
        for seed in SEEDS
    ]


def names(scenarios: list[Scenario]) -> tuple[str, ...]:
    """Return the names of scenarios, as a claim lists them."""
    return tuple(one.name for one in scenarios)
