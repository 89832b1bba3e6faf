"""The path of an episode."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfclock._core import ScenarioError
from selfclock.scenario.build import dumbbell
from selfclock.scenario.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from selfclock.scenario import Scenario
    from selfclock.scenario.build import AnyFlow
    from selfclock.scenario.quantity import Quantity

    #: A quantity, or two between which each episode draws.
    Drawn = Quantity | str | tuple[Quantity | str, Quantity | str]

#: One more than the largest seed of a scenario.
SEEDS = 2**63


@dataclass(frozen=True)
class Path:
    """A dumbbell, or any scenario, with one flow controlled by the agent.

    A pair of quantities, such as `rate=("5 Mbps", "50 Mbps")`, is a range from which each episode
    draws log-uniformly; a pair of numbers, such as `loss=(0, 0.01)`, is drawn from uniformly.
    """

    #: Rate of the bottleneck.
    rate: Drawn = "20 Mbps"
    #: Round-trip time of the empty network.
    rtt: Drawn = "40 ms"
    #: Queue of the bottleneck.
    buffer: Drawn = "1 bdp"
    #: Probability of random loss at the bottleneck.
    loss: float | tuple[float, float] = 0.0
    #: The competing flows: names of congestion controls, flows, or tables with the keys of
    #: `[[flow]]`.
    competitors: Sequence[AnyFlow] = ()
    #: Start of the agent's flow; the run is under way before it.
    start: str = "0 s"
    #: End of the run and of the episode.
    duration: str = "30 s"
    #: Named set of transport settings; `transport` adds single ones.
    profile: str = "modern"
    transport: Mapping[str, object] = field(default_factory=dict)
    #: A scenario, whose network, flows and duration replace all of the above.
    scenario: Scenario | None = None
    #: The flow that the agent controls; the first by default.
    flow: str | None = None

    def draw(self, random: np.random.Generator) -> tuple[Scenario, str]:
        """Return the scenario of an episode, and the name of the agent's flow in it."""
        seed = int(random.integers(SEEDS))
        if self.scenario is not None:
            return self.scenario.with_seed(seed), self.flow or self.scenario.flow_names[0]
        scenario = dumbbell(
            _drawn("rate", self.rate, random),
            _drawn("rtt", self.rtt, random),
            _drawn("buffer", self.buffer, random),
            # The agent replaces whatever algorithm is given here.
            [Flow("reno", name="agent", start=self.start), *self.competitors],
            loss=_drawn_number("loss", self.loss, random),
            duration=self.duration,
            seed=seed,
            profile=self.profile,
            transport=self.transport,
            name="episode",
        )
        return scenario, "agent"


def _drawn(name: str, quantity: Drawn, random: np.random.Generator) -> str:
    if not isinstance(quantity, tuple):
        return str(quantity)
    parts = [re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(\D.*?)\s*", str(one)) for one in quantity]
    low, high = parts if len(parts) == 2 else (None, None)
    if low is None or high is None or low[2] != high[2] or not 0 < float(low[1]) <= float(high[1]):
        raise ScenarioError(
            f'{name}: {quantity!r}; allowed: a quantity such as "20 Mbps", or two from above 0 with one unit, the '
            "smaller first"
        )
    drawn = math.exp(random.uniform(math.log(float(low[1])), math.log(float(high[1]))))
    # Six digits: more than matter, and no exponent.
    return f"{drawn:.6f} {low[2]}"


def _drawn_number(name: str, number: float | tuple[float, float], random: np.random.Generator) -> float:
    low, high = number if isinstance(number, tuple) else (number, number)
    if not 0 <= low <= high <= 1:
        raise ScenarioError(f"{name}: {number!r}; allowed: 0 to 1, or two of these, the smaller first")
    return float(random.uniform(low, high)) if low < high else low
