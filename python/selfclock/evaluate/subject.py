"""What is evaluated: an algorithm, with the partners that it needs on its path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfclock.algorithms import label_parts

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Subject:
    """An algorithm under test."""

    #: As it was named.
    label: str
    control: Mapping[str, object]
    #: Settings of its senders and receivers beyond the profile `modern`.
    transport: Mapping[str, object] = field(default_factory=dict)
    #: Mechanisms that it needs in routers.
    routers: tuple[Mapping[str, object], ...] = ()

    @classmethod
    def named(cls, label: str) -> Subject:
        """Return the algorithm of a name, as `selfclock compare` takes it.

        Partners are there: what an algorithm does without them is a row of its own.
        """
        control = label_parts(label)
        parts = set(control.values())
        routers: list[Mapping[str, object]] = []
        if "xcp" in parts:
            routers.append({"mechanism": "xcp", "links": ["bottleneck"]})
        if "quick-start" in parts:
            routers.append({"mechanism": "quick-start"})
        return cls(label, control, {"ecn": "accurate"} if "prague" in parts else {}, tuple(routers))

    def part(self, part: str, usual: str = "") -> str:
        """Return the name of a part: "window", "start", "model", "estimate"."""
        return str(self.control.get(part, usual))

    @property
    def needs_partner(self) -> bool:
        """Something at the receiver or in routers must know the algorithm."""
        return self.absent() is not None

    def absent(self) -> Subject | None:
        """Return the same algorithm where nobody but the sender knows of it; none if nobody needs to."""
        if self.part("start") in {"packet-pair", "modified-swift-start"}:
            return Subject(self.label, self.control, {**self.transport, "peer_knows_option": False}, self.routers)
        if self.routers or self.transport:
            return Subject(self.label, self.control)
        return None

    def plain(self) -> Subject:
        """Return what the algorithm should be without its partner: its window after slow start, Reno for a model."""
        return Subject("plain", {"window": self.part("window", "reno"), "start": "slow-start"})

    def with_parameters(self, **parameters: object) -> Subject:
        """Return the same algorithm with other parameters."""
        return Subject(self.label, {**self.control, **parameters}, self.transport, self.routers)
