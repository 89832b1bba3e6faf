"""What the verifier finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from selfclock.cells import plural
from selfclock.verify.promised import SECOND

#: Every rule, and what it says.
RULES = {
    "acknowledgement": "an acknowledgement tells of what has arrived in order, and there is no more than one "
    "for each segment",
    "application": "a flow sends no sooner, no faster and no more than its application lets it",
    "clock": "the record is in the order of time and ends with the run",
    "conservation": "a packet that was sent is delivered, dropped, lost, or still on its way at the end",
    "delay": "a packet is at the end of a link after its transmission, the delay, and no more jitter than there is",
    "delayed-ack": "an acknowledgement comes at once where it must, and after so many segments or so much "
    "time at the latest",
    "drop": "a packet is dropped only where the queue has no room, the discipline may drop early, or a "
    "mechanism may drop it",
    "loss": "a packet is lost only on a wire that loses, when its transmission ends",
    "mark": "only a queue marks, only what understands marks, where its discipline may; receivers echo what "
    "has arrived marked",
    "one-end": "nothing happens to a packet after it was delivered, dropped or lost",
    "order": "a link and each queue is first in, first out",
    "policer": "no more passes a policer than rate times time plus burst, and nothing less is dropped",
    "queue-limit": "no more waits in a queue than its limit",
    "rate": "a transmitter sends one packet at a time, at its rate, and does not stand idle while one waits",
    "receive-window": "new data is within the advertised window; routers may lower it, not raise it",
    "replay": "the simulator does with the arrivals of an emulation what the record says",
    "retransmission": "a segment is sent again only after a duplicate or selective acknowledgement, with RACK after "
    "the acknowledgement of what was sent later, or after the patience of a timer",
    "route": "a packet takes the links of its route, in order, each once",
    "sack": "SACK blocks are the runs that the receiver holds beyond a gap",
    "sent-once": "a packet is sent once, before anything happens to it",
    "sequence": "new data follows on what was sent before, in segments, after the handshake",
    "series": "the series are what the packets make them",
    "size": "a packet has the size of its payload, headers and options",
    "summary": "the summary is what the packets make it",
    "thinning": "an acknowledgement that is thinned has a successor, and waits for it no longer than the interval",
    "timestamp": "a timestamp is the time of sending, and one that is echoed has arrived; none older follows",
    "unchanged": "headers do not change on the way, but for marks, lowered windows and options that routers write",
    "window": "what is outstanding without a loss is within the congestion window",
}


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
        looked = f"{plural(cases, 'check')} of {plural(len(self.checked), 'rule')}"
        found = f"{plural(len(self.violations), 'violation')} of {plural(rules, 'rule')}"
        return f"{looked}: {found}" if rules else f"{looked}: no violation"

    def document(self, record: str) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "record": record,
            "checked": dict(sorted(self.checked.items())),
            "violations": [violation.document() for violation in self.violations],
        }
