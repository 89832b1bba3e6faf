"""Counts the parts of the registry that the cases of the laws reach."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

from laws.generator import OPTIONS, TOPOLOGIES, TRAFFIC, controls, names, recoveries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from laws.law import Document


def features(document: Document) -> Iterable[tuple[str, str]]:
    """Yield the kind and the name of each part of a case."""
    network = document["network"]
    yield "topology", network["topology"]
    wires = [network.get("bottleneck"), network.get("hop"), *network.get("link", [])]
    for wire in filter(None, wires):
        queue = wire.get("queue", "1 bdp")
        yield "discipline", queue.get("discipline", "drop-tail") if isinstance(queue, dict) else "drop-tail"
        yield from (("link", each) for each in _options(wire))
    if "coalescing" in network.get("access", {}):
        yield "link", "coalescing"
    for router in document.get("router", []):
        yield "mechanism", router["mechanism"]
    common = document.get("transport", {})
    for flow in document["flow"]:
        yield "traffic", _traffic(flow)
        if flow.get("protocol") != "udp":
            yield from _control(flow.get("congestion_control", "reno"))
            transport = {**common, **flow.get("transport", {})}
            yield "recovery", transport.get("recovery", "rack")
            yield from (("transport", key) for key in transport if key != "recovery")


def _options(wire: Document) -> Iterable[str]:
    yield "trace" if "delivery_trace" in wire else "plain"
    yield from (key for key in ("queue_counts", "jitter", "changes", "coalescing") if key in wire)
    if "loss" in wire:
        yield "loss" if "probability" in wire["loss"] else "burst-loss"


def _traffic(flow: Document) -> str:
    traffic = flow.get("traffic", "bulk")
    if flow.get("protocol") == "udp":
        return "udp-steps" if "steps" in traffic else "udp"
    if not isinstance(traffic, dict):
        return "stopped" if "stop" in flow else "bulk"
    if "interval" in traffic or "load" in traffic:
        return "web"
    return "writes" if "write" in traffic else "rate" if "rate" in traffic else "size"


def _control(control: Any) -> Iterable[tuple[str, str]]:  # noqa: ANN401
    if isinstance(control, str):
        kind = next((kind for kind in ("window", "model", "start", "estimate") if control in names(kind)), "window")
        yield ("algorithm" if kind in ("window", "model") else kind), control
        return
    for kind in ("window", "model"):
        if kind in control:
            yield "algorithm", control[kind]
    yield from ((kind, control[kind]) for kind in ("start", "estimate") if control.get(kind, "none") != "none")
    if "model" not in control:
        yield "start", control.get("start", "slow-start")


def pairs(document: Document) -> Iterable[tuple[str, str]]:
    """Yield the pairs that the generator walks through, as one text each, with their kind."""
    found: dict[str, set[str]] = {}
    for kind, name in features(document):
        found.setdefault(kind, set()).add(name)
    for one, other in WALKED:
        for pair in itertools.product(found.get(one, ()), found.get(other, ())):
            yield f"{one} x {other}", " x ".join(pair)


#: Pairs that the generator walks through by counting.
WALKED = (
    ("discipline", "mechanism"), ("algorithm", "recovery"), ("start", "traffic"), ("link", "topology"),
    ("algorithm", "discipline"),
)  # fmt: skip


def known() -> dict[str, tuple[str, ...]]:
    """Return everything that there is to reach, by kind."""
    return {
        "algorithm": controls(), "start": names("start"), "estimate": names("estimate"), "recovery": recoveries(),
        "discipline": names("queue"), "mechanism": names("router"), "traffic": TRAFFIC, "link": OPTIONS,
        "topology": TOPOLOGIES,
    }  # fmt: skip


class Coverage:
    """Numbers of cases that reached each part."""

    def __init__(self, counts: dict[str, dict[str, int]] | None = None) -> None:
        self.counts: dict[str, Counter[str]] = {kind: Counter(of) for kind, of in (counts or {}).items()}

    def add(self, document: Document) -> None:
        """Count a case that a law has judged."""
        for kind, name in {*features(document), *pairs(document)}:
            self.counts.setdefault(kind, Counter())[name] += 1

    def merge(self, counts: dict[str, dict[str, int]]) -> None:
        """Add the counts of others."""
        for kind, of in counts.items():
            self.counts.setdefault(kind, Counter()).update(of)

    def document(self) -> dict[str, dict[str, int]]:
        """Return the counts for JSON."""
        return {kind: dict(of) for kind, of in self.counts.items()}

    def missing(self) -> list[str]:
        """Return the names that no case has reached."""
        return [
            f"{kind} {name}"
            for kind, of in known().items()
            for name in of
            if not self.counts.get(kind, Counter())[name]
        ]

    def table(self) -> list[str]:
        """Return Markdown: parts by kind, with the fewest cases, and pairs."""
        lines = ["| part | reached | fewest cases |", "|---|---|---|"]
        sizes = {kind: len(of) for kind, of in known().items()}
        for kind, of in known().items():
            counts = self.counts.get(kind, Counter())
            reached = [name for name in of if counts[name]]
            least = min(of, key=lambda name, counts=counts: counts[name])
            lines.append(f"| {kind} | {len(reached)} of {len(of)} | {least}: {counts[least]:,} |")
        for one, other in WALKED:
            kind = f"{one} x {other}"
            counts = self.counts.get(kind, Counter())
            lines.append(f"| {one} × {other} | {len(counts)} of {sizes[one] * sizes[other]} | |")
        return lines
