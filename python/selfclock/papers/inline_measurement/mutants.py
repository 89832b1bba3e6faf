"""Mutants of the runs: without the mechanism, with another constant, or with another algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.papers.inline_measurement import model
from selfclock.papers.mutants import Control, Mutant, algorithm

if TYPE_CHECKING:
    from collections.abc import Callable

    from selfclock.claims import Claim

#: Of the length of the runs.
SCALE = 0.2

#: The congestion control of the thesis, whose rows the mutants are for.
OWN = "lotka-volterra"


def _own(**options: object) -> Callable[[Control], Control | None]:
    def change(control: Control) -> Control | None:
        return {**control, **options} if algorithm(control, OWN) else None

    return change


def _without(control: Control) -> Control | None:
    return {"window": "reno"} if algorithm(control, OWN) else None


def _others(control: Control) -> Control | None:
    return {"window": "vegas"} if algorithm(control, "reno", "highspeed", "scalable", "fast", "bic") else None


def _all_reno(control: Control) -> Control | None:
    return {"window": "reno"} if algorithm(control, "highspeed", "scalable", "fast", "bic") else None


def _swapped(control: Control) -> Control | None:
    return {"window": "scalable"} if algorithm(control, "reno") else None


def _computed(**constants: Any) -> Callable[[], list[Claim]]:  # noqa: ANN401 passed on
    return lambda: model.findings(**constants)[0]


MUTANTS = (
    Mutant("reno", "Reno in place of the proposed mechanism", control=_without),
    Mutant("gamma-0.3", "gamma = 0.3", control=_own(gamma=0.3)),
    Mutant("gamma-0.8", "gamma = 0.8", control=_own(gamma=0.8)),
    Mutant("epsilon-0.05", "epsilon = 0.05", control=_own(epsilon=0.05)),
    Mutant("others-vegas", "Vegas in place of the five others", control=_others),
    Mutant("others-reno", "Reno in place of the four others", control=_all_reno),
    Mutant("scalable", "Scalable in place of Reno", control=_swapped),
    Mutant("model-gamma-0.8", "the model with gamma = 0.8", computed=_computed(gamma=0.8)),
    Mutant("model-gamma-1.1", "the model with gamma = 1.1", computed=_computed(gamma=1.1)),
    Mutant("model-gamma-0", "the model without competition, gamma = 0", computed=_computed(gamma=0.0)),
)
