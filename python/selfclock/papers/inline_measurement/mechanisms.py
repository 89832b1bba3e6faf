"""The six mechanisms of figures 6 and 7, the two forms of ICIM, and the two readings of the buffer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from selfclock.papers.inline_measurement import ambiguities

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Rows of table 1 that are judged. Its sixth row, "ease of process", is an opinion without a
#: number.
ROWS = ("throughput", "packet loss", "parameter settings", "queueing delay", "responsiveness")


@dataclass(frozen=True)
class Mechanism:
    """A mechanism configured as in the thesis."""

    label: str
    algorithm: str
    control: dict[str, object]
    #: The number of parameters in segments, which must fit the path.
    path_parameters: int
    #: The marks in the thesis, in the order of `ROWS`.
    marks: str
    #: Options that differ from the defaults.
    options: str = ""

    @property
    def variant(self) -> str:
        """The mechanism and its options, for the text of a claim."""
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
    """One form of ICIM."""

    label: str
    #: Suffix of the names of its scenarios.
    suffix: str
    options: dict[str, object]
    text: str
    reading: str
    #: Whether the receiver's card collects nothing.
    exact: bool = False

    @property
    def cards(self) -> str:
        """For a claim."""
        return "the sender's NIC coalesces for 100 us" if self.exact else "NICs coalesce for 100 us"

    @property
    def control(self) -> dict[str, object]:
        """The proposed mechanism with this estimator."""
        return {**PROPOSED.control, **self.options}


#: ICIM with the corrections that make it work here, and ICIM as the thesis prints it.
CORRECTED = Estimator(
    "corrected",
    "",
    {},
    'ICIM corrected (defaults: span = 1/16 RTT, reading = "line", within_interrupt = true)',
    ambiguities.CORRECTED,
)
PRINTED = Estimator(
    "as printed",
    "-printed",
    {"span": 0, "reading": "edge", "within_interrupt": False},
    'ICIM as printed (span = 0, reading = "edge", within_interrupt = false)',
    ambiguities.AS_PRINTED,
)
#: The same where no card falsifies an arrival.
EXACT = Estimator(
    "as printed, exact arrivals",
    "-printed-exact",
    {**PRINTED.options, "clock": "receiver"},
    f'{PRINTED.text.removesuffix(")")}, clock = "receiver")',
    ambiguities.EXACT,
    exact=True,
)
#: Those that are drawn.
ESTIMATORS = (CORRECTED, PRINTED)
JUDGED = (*ESTIMATORS, EXACT)


@dataclass(frozen=True)
class Buffer:
    """One reading of "the buffer size is equivalent to the bandwidth-delay product"."""

    label: str
    suffix: str
    reading: str
    #: Unit of the limit, and the space that a full segment takes in it.
    unit: str
    per_packet: float

    def limit(self, packets: int) -> str:
        """The limit for this many full segments, as a scenario writes it."""
        return f"{packets * self.per_packet:.0f} {self.unit}"

    @property
    def text(self) -> str:
        """For a claim."""
        return f"buffer of {self.label}" if self is ONE_WAY else f"buffer counted in {self.label}"


#: Drop-tail queues of ns-2 count packets of any size, so a small UDP packet takes the room of a
#: segment; a buffer of exactly one BDP counts bytes.
PACKETS = Buffer("packets", "", ambiguities.PACKETS, "packets", 1)
BYTES = Buffer("bytes", "-bytes", ambiguities.BYTES, "B", 1500)
BUFFERS = (PACKETS, BYTES)
#: The product with the 30 ms from sender to receiver.
ONE_WAY = Buffer("18.75 MB, one way", "-one-way", ambiguities.ONE_WAY, "B", 750)


@dataclass(frozen=True)
class Variant:
    """A form of ICIM with one reading of the buffer."""

    estimator: Estimator
    buffer: Buffer

    @property
    def suffix(self) -> str:
        """Suffix of the names of its scenarios."""
        return self.estimator.suffix + self.buffer.suffix

    @property
    def readings(self) -> tuple[str, str]:
        """Those of its claims."""
        return self.estimator.reading, self.buffer.reading

    @property
    def text(self) -> str:
        """For a claim."""
        return f"lotka-volterra, {self.estimator.text}; {self.buffer.text}; {self.estimator.cards}"


def variants() -> Iterator[Variant]:
    """Return every form of ICIM with both units of the buffer."""
    return (Variant(estimator, buffer) for estimator, buffer in product(JUDGED, BUFFERS))
