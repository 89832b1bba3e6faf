"""The table of a sweep, for a terminal and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.formatting import estimate
from selfclock.sweep.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.sweep.run import PointSummary

#: Keys that several parts of a scenario have: the part says which.
VAGUE = ("probability", "delay", "jitter", "limit")


def of_point(point: PointSummary, shown: Sequence[str], *, failed: bool, who: Sequence[str] = ()) -> list[str]:
    """Return the settings of a sweep's point, optionally its number of failed runs, and these measures.

    The table also has the goodput of each of `who`.
    """
    return [
        *(str(value) for value in point["settings"].values()),
        *([f"{point['failed']} of {point['runs']}"] if failed else []),
        *(estimate(point["measures"].get(name), MEASURES[name].factor) for name in shown),
        *(estimate(point["shares"].get(name, {}).get("goodput_bps"), 1e-6) for name in who),
    ]


def sharers(points: Sequence[PointSummary]) -> list[str]:
    """Return the owners of shares at any point of a sweep."""
    return list(dict.fromkeys(name for point in points for name in point["shares"]))


def point_headings(shown: Sequence[str], who: Sequence[str] = ()) -> list[str]:
    """Return the headings of a sweep's table, shares last."""
    return [*(MEASURES[name].heading for name in shown), *(f"{name}\nMbit/s" for name in who)]


def short_paths(paths: Sequence[str]) -> list[str]:
    """Return a short name of each path, or the whole path where two are equal."""
    last = [short_path(path) for path in paths]
    return [short if last.count(short) == 1 else path for path, short in zip(paths, last, strict=True)]


def short_path(path: str) -> str:
    """Return the last key of a path, after the key above it if it says too little alone.

    >>> short_path("network.bottleneck.loss.probability"), short_path("network.bottleneck.delay")
    ('loss probability', 'bottleneck delay')
    >>> short_path("flow.*.congestion_control")
    'congestion_control'
    """
    above, _, last = path.rpartition(".")
    return f"{above.rpartition('.')[2]} {last}" if last in VAGUE and above else last
