"""Mutants of the runs: without the mechanism, with another constant, or with another algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.papers.mutants import Mutant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _router(**options: object) -> Callable[[Mapping[str, Any]], list[str]]:
    """Change FICCRD's options, where a run has it."""

    def change(table: Mapping[str, Any]) -> list[str]:
        return [
            f"router.{number}.{key}={value}"
            for number, router in enumerate(table.get("router", []))
            if router.get("mechanism") == "ficcrd"
            for key, value in options.items()
        ]

    return change


def _bottleneck(table: Mapping[str, Any], key: str, value: str) -> list[str]:
    return [
        f"network.link.{number}.{key}={value}"
        for number, link in enumerate(table["network"].get("link", []))
        if link.get("between", [link.get("from"), link.get("to")]) == ["11", "12"]
    ]


def _readable(table: Mapping[str, Any]) -> list[str]:
    return ["transport.encrypted=false"] if table.get("transport", {}).get("encrypted") else []


def _drop_tail(table: Mapping[str, Any]) -> list[str]:
    queue = table["network"].get("bottleneck", {}).get("queue")
    dualpi2 = isinstance(queue, dict) and queue.get("discipline") == "dualpi2"
    return [f'network.bottleneck.queue={{ limit = "{queue["limit"]}" }}'] if dualpi2 else []


MUTANTS = (
    Mutant("no-feedback", "no feedback to the sources: tail drop", overrides=_router(feedback="none")),
    Mutant("beta-0.9", "beta = 0.9", overrides=_router(beta=0.9)),
    Mutant("alpha-1", "alpha = 1: an empty queue raises no rate", overrides=_router(alpha=1.0)),
    Mutant("target-0.05", "a target of a twentieth of the buffer", overrides=_router(utilization=0.05)),
    Mutant("literal", "table 1 literally", overrides=_router(rule="literal")),
    Mutant("one-in-2", "an RD packet for 2 data packets", overrides=_router(packets_per_discovery=2)),
    Mutant("one-in-64", "an RD packet for 64 data packets", overrides=_router(packets_per_discovery=64)),
    Mutant(
        "buffer-2000",
        "a buffer of 2000 packets",
        overrides=lambda table: _bottleneck(table, "queue", "2000 packets"),
    ),
    Mutant("rate-5", "a bottleneck of 5 Mbit/s", overrides=lambda table: _bottleneck(table, "rate", "5 Mbps")),
    Mutant(
        "window-4",
        "a receive window of 4 segments",
        overrides=lambda _: ["transport.receive_window=4 segments"],
    ),
    Mutant("readable", "transport headers that routers can read", overrides=_readable),
    Mutant("drop-tail", "drop-tail in place of DualPI2", overrides=_drop_tail),
)
