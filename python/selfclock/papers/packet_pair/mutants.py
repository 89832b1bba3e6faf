"""Mutants of the runs: without the mechanism, with another constant, or with another algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.papers.mutants import Control, Mutant, algorithm

if TYPE_CHECKING:
    from collections.abc import Mapping


def _with(**options: object) -> Any:  # noqa: ANN401 a function
    def change(control: Control) -> Control | None:
        return {**control, **options} if _is_new(control) else None

    return change


def _is_new(control: Control) -> bool:
    return algorithm(control, "packet-pair")


def _without_pair(control: Control) -> Control | None:
    if not _is_new(control):
        return None
    rest = {key: value for key, value in control.items() if key in {"halved", "threshold"}}
    return {"window": "reno", **rest}


def _cubic(control: Control) -> Control | None:
    return None if _is_new(control) else {"window": "cubic"}


def _short_queue(table: Mapping[str, Any]) -> list[str]:
    return ["network.bottleneck.queue=50 packets"] if "bottleneck" in table.get("network", {}) else []


MUTANTS = (
    Mutant("no-pair", "Reno with the timer of 10 ms and no packet pair", control=_without_pair),
    Mutant("tick-20-ms", "a tick of 20 ms", control=_with(tick="20 ms")),
    Mutant("tick-1-s", "a tick of 1 s, so that nothing is spaced", control=_with(tick="1 s")),
    Mutant("d-2", "d = 2 (RFC 4782)", control=_with(ack_ratio="rfc4782")),
    Mutant("sender-only", "probing by the sender only", control=_with(probing="sender-only")),
    Mutant("cubic", "CUBIC in place of Reno", control=_cubic),
    Mutant("queue-50", "a queue of 50 packets", overrides=_short_queue),
    Mutant("undelayed", "every segment acknowledged", overrides=lambda _: ["transport.delayed_ack=off"]),
)
