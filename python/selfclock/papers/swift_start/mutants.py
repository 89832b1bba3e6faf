"""Mutants of the runs: without the mechanism, with another constant, or with another algorithm."""

from __future__ import annotations

from selfclock.papers.mutants import Control, Mutant, algorithm


def _slow_start(control: Control) -> Control | None:
    return {"start": "slow-start"} if algorithm(control, "swift-start", "modified-swift-start") else None


def _original(control: Control) -> Control | None:
    return {"start": "swift-start"} if algorithm(control, "modified-swift-start") else None


def _modified(control: Control) -> Control | None:
    return {"start": "modified-swift-start"} if algorithm(control, "swift-start") else None


def _alpha(control: Control) -> Control | None:
    new = algorithm(control, "swift-start", "modified-swift-start")
    return {**control, "swift_alpha": 8.0} if new else None


MUTANTS = (
    Mutant("slow-start", "slow start in place of both Swift Starts", control=_slow_start),
    Mutant("original", "the original in place of the modified Swift Start", control=_original),
    Mutant("modified", "the modified in place of the original Swift Start", control=_modified),
    Mutant("alpha-8", "alpha = 8", control=_alpha),
    Mutant("iw-10", "an initial window of 10 segments", overrides=lambda _: ["transport.initial_window=10 segments"]),
    Mutant(
        "wait-100-ms",
        "ACKs delayed by 100 ms",
        overrides=lambda _: ["transport.delayed_ack={ every = 2, timer = '100 ms', quick = false }"],
    ),
    Mutant(
        "small-window",
        "a receive window of 16 segments",
        overrides=lambda _: ["transport.receive_window=16 segments"],
    ),
)
