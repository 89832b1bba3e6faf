"""The verifier's findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from selfclock.formatting import plural
from selfclock.verify.specification import SECOND

#: Every rule, and its statement.
RULES = {
    "acknowledgement": "an ACK acknowledges data that has arrived in order, at most one ACK per segment",
    "application": "a flow sends no sooner, no faster and no more than its application allows",
    "clock": "the record is in order of time and ends with the run",
    "conservation": "a packet that was sent is delivered, dropped, lost, or in flight at the end",
    "delay": "a packet reaches the end of a link after its transmission, the delay, and at most the link's jitter",
    "delayed-ack": "an ACK is immediate where it must be, otherwise within the configured segments or timer",
    "drop": "a packet is dropped only if the queue is full, the discipline may drop early, or a mechanism may drop it; "
    "CoDel only after an interval above its target, and never the last packet",
    "loss": "a packet is lost only on a lossy wire, when its transmission ends",
    "mark": "only a queue marks, only ECN-capable packets, where its discipline may; receivers echo arrived marks",
    "one-end": "nothing happens to a packet after it was delivered, dropped or lost",
    "order": "links and queues are first in, first out",
    "policer": "a policer passes at most rate times time plus burst, and drops nothing less",
    "queue-limit": "a queue never exceeds its limit",
    "rate": "a transmitter sends one packet at a time, at its rate, and is never idle while one waits",
    "receive-window": "new data fits the advertised window; routers may lower it, not raise it",
    "replay": "in the simulator, the arrivals of an emulation meet the recorded events",
    "retransmission": "a segment is retransmitted only after a duplicate ACK or SACK, with RACK after the ACK of a "
    "later transmission, or after the timer's minimum",
    "route": "a packet takes the links of its route, in order, each once",
    "sack": "SACK blocks are the blocks that the receiver holds beyond a gap, after one for a segment that arrived "
    "twice (D-SACK)",
    "sent-once": "a packet is sent once, before anything happens to it",
    "sequence": "new data follows earlier data, in segments, after the handshake",
    "series": "the series follow from the packets",
    "size": "a packet has the size of its payload, headers and options",
    "summary": "the summary follows from the packets",
    "thinning": "a thinned ACK has a successor within the interval",
    "timestamp": "a timestamp is the time of sending; an echoed one has arrived, and none older follows",
    "unchanged": "headers do not change on the way, except marks, lowered windows and options that routers write",
    "window": "without a loss, the data outstanding is within the congestion window",
}

#: Grounds of each rule: a law of nature, an RFC, or the documented meaning of a key.
GROUNDS = {
    "acknowledgement": "RFC 9293, 3.4 and 3.8.6.3; RFC 5681, 4.2",
    "application": "causality; the keys of traffic",
    "clock": "causality",
    "conservation": "conservation of packets",
    "delay": "size/rate plus propagation; the key jitter is a bound",
    "delayed-ack": "RFC 9293, 3.8.6.3; RFC 5681, 4.2; the key delayed_ack",
    "drop": "the definition of a full queue; RFC 8033, 5.1; RFC 8289, 4.2: above the target for an interval",
    "loss": "the key loss: nothing else takes a packet off a wire",
    "mark": "RFC 3168, 5 and 6.1.3; RFC 8289, 4.2; RFC 9331, 5.1",
    "one-end": "conservation of packets",
    "order": "first in, first out",
    "policer": "the token bucket (RFC 2697): rate times time plus burst",
    "queue-limit": "counting what has come and not left",
    "rate": "the integral of the rate bounds what leaves; work conservation",
    "receive-window": "RFC 9293, 3.8.6; RFC 7323, 2",
    "replay": "the simulator itself, on purpose",
    "retransmission": "RFC 5681, 3.2; RFC 6675; RFC 8985, 6 and 7; RFC 6298, 2.4",
    "route": "the network of the scenario",
    "sack": "RFC 2018, 3 and 4",
    "sent-once": "causality",
    "sequence": "RFC 9293, 3.4 and 3.5",
    "series": "counting; Little's law for the mean queue",
    "size": "RFC 9293, 3.1; RFC 7323, 3; RFC 2018, 3",
    "summary": "counting; Little's law for mean queue and mean wait",
    "thinning": "the key interval of ack-thinning",
    "timestamp": "RFC 7323, 3.2 and 4",
    "unchanged": "the end-to-end fields of RFC 9293; what each mechanism is documented to write",
    "window": "RFC 5681, 2: FlightSize is within cwnd",
}


@dataclass(frozen=True)
class Violation:
    """A place in a record that breaks a rule."""

    #: Name of the broken rule.
    rule: str
    #: Time in picoseconds; `None` for the run as a whole.
    time: int | None
    #: "link bottleneck", "flow web".
    where: str
    #: Index of the packet.
    packet: int | None
    #: The record's statement, and what is allowed.
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
    """Violations found so far, and the number of cases checked."""

    violations: list[Violation] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    def add(self, rule: str, time: int | None, where: str, packet: int | None, what: str) -> None:
        """Note a violation."""
        self.violations.append(Violation(rule, time, where, packet, what))

    def count(self, rule: str, cases: int = 1) -> None:
        """Count a number of cases checked for a rule."""
        self.checked[rule] = self.checked.get(rule, 0) + cases

    def verdict(self) -> str:
        """Summarize the checks and findings in one line."""
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
