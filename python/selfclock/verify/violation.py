"""What the verifier finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from selfclock.verify.promised import SECOND


@dataclass(frozen=True)
class Violation:
    """Something in a record that cannot be."""

    #: Name of the rule that is broken.
    rule: str
    #: When, picoseconds; `None`: of the run as a whole.
    time: int | None
    #: "link bottleneck", "flow web".
    where: str
    #: Number of the packet.
    packet: int | None
    #: What the record says, and what is allowed.
    what: str

    def __str__(self) -> str:
        when = "whole run" if self.time is None else f"{self.time / SECOND:.12f} s"
        packet = "" if self.packet is None else f", packet {self.packet}"
        return f"{when}, {self.where}{packet}: {self.rule}: {self.what}"

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        fields = asdict(self)
        time = fields.pop("time")
        return {**fields, "time_s": None if time is None else time / SECOND}


@dataclass
class Findings:
    """Violations found so far, and how much was looked at."""

    violations: list[Violation] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    def add(self, rule: str, time: int | None, where: str, packet: int | None, what: str) -> None:
        """Note a violation."""
        self.violations.append(Violation(rule, time, where, packet, what))

    def count(self, rule: str, cases: int = 1) -> None:
        """So many cases of a rule were looked at."""
        self.checked[rule] = self.checked.get(rule, 0) + cases

    def verdict(self) -> str:
        """Say in one line what was looked at and found."""
        cases = sum(self.checked.values())
        rules = len({violation.rule for violation in self.violations})
        looked = f"{cases:,} checks of {len(self.checked)} rules"
        return f"{looked}: {len(self.violations):,} violations of {rules} rules" if rules else f"{looked}: no violation"

    def document(self, record: str) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "record": record,
            "checked": dict(sorted(self.checked.items())),
            "violations": [violation.document() for violation in self.violations],
        }
