"""What can be named in a scenario."""

from __future__ import annotations

import json
from dataclasses import dataclass

from selfclock import _core


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm."""

    name: str
    about: str
    kind: str
    unit: str
    default: str
    #: The allowed words, or the smallest and the largest value in the parameter's unit; none: no bound.
    allowed: list[str] | dict[str, float | None]
    #: Where the default comes from.
    source: str

    @property
    def allowed_text(self) -> str:
        """The allowed values for people."""
        if isinstance(self.allowed, list):
            return ", ".join(self.allowed)
        unit = f" {self.unit}" if self.unit else ""
        low, high = self.allowed["minimum"], self.allowed["maximum"]
        if low is None and high is None:
            return f"any number{unit and ' of'}{unit}"
        if high is None:
            return f"from {low:g}{unit}"
        return f"up to {high:g}{unit}" if low is None else f"{low:g} to {high:g}{unit}"


@dataclass(frozen=True)
class Algorithm:
    """A start, a window algorithm, or a model that is both."""

    name: str
    part: str
    about: str
    source: str
    parameters: list[Parameter]


def algorithms() -> list[Algorithm]:
    """Every algorithm, in the order of the registry."""
    return [
        Algorithm(**{**entry, "parameters": [Parameter(**parameter) for parameter in entry["parameters"]]})
        for entry in json.loads(_core.algorithms())
    ]
