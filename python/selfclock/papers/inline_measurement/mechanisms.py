"""The six mechanisms of figures 6 and 7, the two forms of ICIM, and the two readings of the buffer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Rows of table 1 that are judged. Its sixth row, "ease of process", is a judgement for which no
#: number stands here.
ROWS = ("throughput", "packet loss", "parameter settings", "queueing delay", "responsiveness")


@dataclass(frozen=True)
class Mechanism:
    """A mechanism as the thesis sets it."""

    label: str
    algorithm: str
    control: dict[str, object]
    #: Parameters in segments, which have to fit the path.
    path_parameters: int
    #: The thesis's marks, in the order of `ROWS`.
    marks: str
    #: Its options that are not the defaults.
    options: str = ""

    @property
    def variant(self) -> str:
        """The mechanism and its options, for a claim."""
        return f"{self.algorithm}{f' ({self.options})' if self.options else ''}"


_HALF_FIRST = 'slow_start_loss = "half-and-first"'

PROPOSED = Mechanism("proposed", "lotka-volterra", {"window": "lotka-volterra"}, 0, "○○○○○")
RENO = Mechanism("Reno", "reno", {"window": "reno", "halved": "window"}, 0, "××○××", 'halved = "window"')
HIGHSPEED = Mechanism(
    "HighSpeed", "highspeed", {"window": "highspeed", "slow_start_loss": "half-and-first"}, 2, "△×△×△", _HALF_FIRST
)
SCALABLE = Mechanism(
    "Scalable", "scalable", {"window": "scalable", "slow_start_loss": "half-and-first"}, 1, "△×○×△", _HALF_FIRST
)
FAST = Mechanism("FAST", "fast", {"window": "fast", "alpha": 1000}, 1, "○△×△○", "alpha = 1000")
BIC = Mechanism("BIC", "bic", {"window": "bic"}, 3, "○×△×△")

MECHANISMS = [PROPOSED, RENO, HIGHSPEED, SCALABLE, FAST, BIC]


@dataclass(frozen=True)
class Estimator:
    """A form of ICIM."""

    label: str
    #: Ends the names of its scenarios and claims.
    suffix: str
    options: dict[str, object]
    text: str

    @property
    def control(self) -> dict[str, object]:
        """The proposed mechanism with this estimator."""
        return {**PROPOSED.control, **self.options}


#: The corrections that make ICIM work here, and ICIM as the thesis prints it.
REPAIRED = Estimator(
    "repaired", "", {}, 'ICIM repaired (defaults: span = 1/16 RTT, reading = "line", within_interrupt = true)'
)
PRINTED = Estimator(
    "as printed",
    "-printed",
    {"span": 0, "reading": "edge", "within_interrupt": False},
    'ICIM as printed (span = 0, reading = "edge", within_interrupt = false)',
)
ESTIMATORS = (REPAIRED, PRINTED)


@dataclass(frozen=True)
class Buffer:
    """A reading of "the buffer size is equivalent to the bandwidth-delay product"."""

    label: str
    suffix: str
    #: Unit of the limit, and how much of it a full segment takes.
    unit: str
    per_packet: int

    def limit(self, packets: int) -> str:
        """Room for this many full segments, as a scenario has it."""
        return f"{packets * self.per_packet} {self.unit}"

    @property
    def text(self) -> str:
        """For a claim."""
        return f"buffer counted in {self.label}"


#: ns-2's drop-tail counts packets of whatever size, so a small UDP packet takes as much room as a
#: segment; a buffer of the product literally is in bytes.
PACKETS = Buffer("packets", "", "packets", 1)
BYTES = Buffer("bytes", "-bytes", "B", 1500)
BUFFERS = (PACKETS, BYTES)


@dataclass(frozen=True)
class Variant:
    """A form of ICIM before a buffer."""

    estimator: Estimator
    buffer: Buffer

    @property
    def suffix(self) -> str:
        """Ends the names of its scenarios and claims."""
        return self.estimator.suffix + self.buffer.suffix

    @property
    def text(self) -> str:
        """For a claim."""
        return f"lotka-volterra, {self.estimator.text}; {self.buffer.text}; cards coalesce for 100 us"


def variants() -> Iterator[Variant]:
    """Return every form of ICIM before every buffer."""
    return (Variant(estimator, buffer) for estimator, buffer in product(ESTIMATORS, BUFFERS))
