"""The names that a scenario can use."""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import dataclass
from typing import Any

from selfclock import _core

#: Units of time, the longest first.
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def _time(seconds: float) -> str:
    """Write a time in the unit that makes it a plain number."""
    size, unit = next((each for each in _TIMES if seconds >= each[0]), _TIMES[0])
    return f"{seconds / size:g} {unit}"


def _number(value: float) -> str:
    """Write a number without an exponent where legible."""
    return f"{value:,.0f}" if 1e4 <= value < 1e10 else f"{value:g}"


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm."""

    name: str
    about: str
    kind: str
    unit: str
    #: The default; empty if a value is required.
    default: str
    #: The allowed words, or the smallest and the largest value in the parameter's unit; None
    #: without a bound.
    allowed: list[str] | dict[str, float | None]
    #: Source of the default.
    source: str
    #: Companion without which it has no effect: 'abe = true'.
    requires: str | None = None

    @property
    def allowed_text(self) -> str:
        """The allowed values, for display."""
        if isinstance(self.allowed, list):
            return ", ".join(self.allowed)
        low, high = self.allowed["minimum"], self.allowed["maximum"]
        if low == sys.float_info.min and high is None:
            return "above 0"
        shown, unit = (_time, "") if self.unit == "s" else (_number, f" {self.unit}".rstrip())
        if low is None and high is None:
            return f"any number of{unit}" if unit else "any number"
        if high is None:
            return f"from {shown(low or 0)}{unit}"
        return f"up to {shown(high)}{unit}" if low is None else f"{shown(low)} to {shown(high)}{unit}"


@dataclass(frozen=True)
class RouterPartner:
    """A router mechanism that an algorithm depends on."""

    mechanism: str
    #: Every router on the path must have it, not the bottleneck alone.
    everywhere: bool
    #: The algorithm without it: "it is slow start".
    without: str


@dataclass(frozen=True)
class Algorithm:
    """A start, a window algorithm, a model that is both, an estimator, a queue discipline, or a router mechanism."""

    name: str
    part: str
    about: str
    source: str
    parameters: list[Parameter]
    #: Response to CE marks: "ignored", "once" per window, or "in proportion" to their number
    #: (accurate ECN).
    marks: str = "ignored"
    #: Who sets the window in fast recovery, and what a pause longer than the retransmission timeout
    #: does to it, in words; empty for what sets no window.
    recovery: str = ""
    after_idle: str = ""
    #: The router mechanism that it depends on.
    router: RouterPartner | None = None
    #: Whether it has a partner at the receiver.
    peer: bool = False


def algorithms() -> list[Algorithm]:
    """Every algorithm, in the order of the registry."""
    return _entries(_core.algorithms())


def queues() -> list[Algorithm]:
    """Every queue discipline; their part is "queue"."""
    return _entries(_core.queues())


def routers() -> list[Algorithm]:
    """Every router mechanism; their part is "router"."""
    return _entries(_core.routers())


def control(label: str) -> dict[str, object]:
    """Return the table of an algorithm that is named in one word, with parameters behind a colon.

    The word is a window, a start, a model, an estimator, or parts joined by "+": "reno+icim".

    >>> control("cubic+hystart++:beta=0.8")
    {'window': 'cubic', 'start': 'hystart++', 'beta': 0.8}
    """
    if label.endswith(".py") or "/" in label:
        message = f"{label!r} is a file: give it with --algorithm {label}, and name the algorithm that it registers"
        raise _core.ScenarioError(message)
    return _table(_core.control_table(label))


def queue(label: str) -> dict[str, object]:
    """Return the table of a queue discipline that is named in one word, with settings behind a colon.

    >>> queue("codel:target=10ms,interval=200ms")
    {'discipline': 'codel', 'target': '10ms', 'interval': '200ms'}
    """
    return _table(_core.queue_table(label))


def _table(inline: str) -> dict[str, object]:
    table: dict[str, object] = tomllib.loads(f"it = {inline}")["it"]
    return table


def _entries(document: str) -> list[Algorithm]:
    def entry(row: dict[str, Any]) -> Algorithm:
        parameters = [Parameter(**parameter) for parameter in row["parameters"]]
        router = RouterPartner(**row["router"]) if row.get("router") else None
        return Algorithm(**{**row, "parameters": parameters, "router": router})

    return [entry(row) for row in json.loads(document)]
