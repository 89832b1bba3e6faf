"""The algorithm under test, with its partners on the path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfclock.algorithms import algorithms, control

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.algorithms import Algorithm


@dataclass(frozen=True)
class Subject:
    """An algorithm under test."""

    #: As it was named.
    label: str
    control: Mapping[str, object]
    #: Settings of its senders and receivers beyond the profile `modern`.
    transport: Mapping[str, object] = field(default_factory=dict)
    #: Router mechanisms that it needs.
    routers: tuple[Mapping[str, object], ...] = ()

    @classmethod
    def named(cls, label: str) -> Subject:
        """Return the algorithm of a name, as `selfclock compare` takes it.

        Its partners are present: its behaviour without them is a separate row.
        """
        subject = cls(label, control(label))
        parts = subject._algorithms()
        routers = [part.router for part in parts if part.router is not None]
        return cls(
            label,
            subject.control,
            {"ecn": "accurate"} if any(part.marks == "in proportion" for part in parts) else {},
            tuple(
                {"mechanism": router.mechanism} | ({} if router.everywhere else {"links": ["bottleneck"]})
                for router in routers
            ),
        )

    def _algorithms(self) -> list[Algorithm]:
        return [algorithm for algorithm in algorithms() if self.control.get(algorithm.part) == algorithm.name]

    def part(self, part: str, usual: str = "") -> str:
        """Return the name of a part: "window", "start", "model", "estimate"."""
        return str(self.control.get(part, usual))

    @property
    def in_stack(self) -> bool:
        """Whether it runs in a real QUIC stack."""
        return "stack" in self.control

    @property
    def needs_partner(self) -> bool:
        """Whether the receiver or routers must support the algorithm."""
        return self.absent() is not None

    def absent(self) -> Subject | None:
        """Return the same algorithm without its partner; None if it needs none."""
        if any(part.peer and part.router is None for part in self._algorithms()):
            return Subject(self.label, self.control, {**self.transport, "peer_knows_option": False}, self.routers)
        if self.routers or self.transport:
            return Subject(self.label, self.control)
        return None

    def plain(self) -> Subject:
        """Return the algorithm's baseline without a partner: its window after slow start, Reno for a model."""
        return Subject("plain", {"window": self.part("window", "reno"), "start": "slow-start"})

    def with_parameters(self, **parameters: object) -> Subject:
        """Return the same algorithm with other parameters."""
        return Subject(self.label, {**self.control, **parameters}, self.transport, self.routers)
