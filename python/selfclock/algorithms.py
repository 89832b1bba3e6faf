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
    #: The allowed words, or the smallest and the largest value in the parameter's unit.
    allowed: list[str] | dict[str, float]
    #: Where the default comes from.
    source: str

    @property
    def allowed_text(self) -> str:
        """The allowed values for people."""
        if isinstance(self.allowed, list):
            return ", ".join(self.allowed)
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.allowed['minimum']:g} to {self.allowed['maximum']:g}{unit}"


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
