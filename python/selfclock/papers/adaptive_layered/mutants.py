"""Mutants of the runs: without the mechanism, with another constant, or with another algorithm."""

from __future__ import annotations

from selfclock.papers.mutants import Control, Mutant, algorithm

#: Of the length of the runs.
SCALE = 0.1


def _tcp(control: Control) -> Control | None:
    return {"window": "reno", "halved": "window"} if algorithm(control, "altcp", "adaptive") else None


def _layered(control: Control) -> Control | None:
    return {"window": "ltcp"} if algorithm(control, "altcp", "adaptive") else None


def _scalable(control: Control) -> Control | None:
    own = algorithm(control, "altcp", "adaptive")
    return {"window": "scalable", "slow_start_loss": "half"} if own else None


def _highspeed(control: Control) -> Control | None:
    own = algorithm(control, "altcp", "adaptive")
    return {"window": "highspeed", "slow_start_loss": "half"} if own else None


def _no_k_r(control: Control) -> Control | None:
    # K_R is at least 1.
    return {**control, "rtt_factor": 0} if algorithm(control, "altcp") else None


def _fast_tcp(control: Control) -> Control | None:
    return {"window": "scalable", "slow_start_loss": "half"} if algorithm(control, "reno") else None


def _even(control: Control) -> Control | None:
    others = algorithm(control, "highspeed", "scalable", "fast", "bic", "cubic", "ltcp")
    return {"window": "reno", "halved": "window"} if others else None


def _weak(control: Control) -> Control | None:
    return {**control, "maximum_k": 1} if algorithm(control, "adaptive") else None


MUTANTS = (
    Mutant("tcp", "TCP in place of ALTCP and A-TCP", control=_tcp),
    Mutant("k-1", "A-TCP with k = 1 always", control=_weak),
    Mutant("ltcp", "Layered TCP in place of ALTCP and A-TCP", control=_layered),
    Mutant("k-r-1", "ALTCP with K_R = 1 always", control=_no_k_r),
    Mutant("highspeed", "HighSpeed in place of ALTCP and A-TCP", control=_highspeed),
    Mutant("scalable", "Scalable in place of ALTCP and A-TCP", control=_scalable),
    Mutant("tcp-scalable", "Scalable in place of TCP", control=_fast_tcp),
    Mutant("others-tcp", "TCP in place of the algorithms that they are compared with", control=_even),
)
