"""The six mechanisms of figures 6 and 7."""

from __future__ import annotations

from dataclasses import dataclass

#: Marks of table 1: throughput, packet loss, parameter settings, queueing delay, responsiveness. Its row "ease of
#: process" is a judgement for which no number stands here.
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


MECHANISMS = [
    Mechanism("proposed", "lotka-volterra", {"window": "lotka-volterra"}, 0, "○○○○○"),
    Mechanism("Reno", "reno", {"window": "reno", "halved": "window"}, 0, "××○××"),
    Mechanism("HighSpeed", "highspeed", {"window": "highspeed", "slow_start_loss": "half-and-first"}, 2, "△×△×△"),
    Mechanism("Scalable", "scalable", {"window": "scalable", "slow_start_loss": "half-and-first"}, 1, "△×○×△"),
    Mechanism("FAST", "fast", {"window": "fast", "alpha": 1000}, 1, "○△×△○"),
    Mechanism("BIC", "bic", {"window": "bic"}, 3, "○×△×△"),
]
