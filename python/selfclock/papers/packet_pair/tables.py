"""Tables of the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.packet_pair.claims import PRINTED_COUNTS
from selfclock.papers.packet_pair.ensemble import BASELINE, EXPERIMENTS, Ensemble, segments_sent
from selfclock.papers.packet_pair.spread import RUNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from selfclock.result import Result

_COLUMNS = ["figure", "printed", "mean", "least", "quarter", "median", "three quarters", "most"]


def distribution(title: str, how: str, ensemble: Ensemble, single: Mapping[int, Result] | None = None) -> Table:
    """Return the counts for every figure, and those of the runs from time 0 if given."""
    rows = []
    for experiment in EXPERIMENTS:
        figure = experiment.figure
        counts = ensemble.count(figure)
        from_time_0 = [] if single is None else [str(segments_sent(single[figure], experiment.seconds))]
        rows.append(
            [
                f"{figure}: {experiment.label}",
                str(PRINTED_COUNTS[figure]),
                f"{counts.mean:.0f}",
                *(f"{counts.quantile(share):.0f}" for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
                *from_time_0,
                ensemble.gain_percent(figure).cell() if figure in BASELINE else "-",
            ]
        )
    columns = [*_COLUMNS, *([] if single is None else ["from time 0"]), "gain"]
    caption = f"{how} Gain on Reno: median and quartiles over {RUNS} pairs of runs with the same seed, percent."
    return Table(title, caption, columns, rows)


def sensitivity(ensembles: Iterable[Ensemble]) -> Table:
    """Return counts and gains under other settings."""
    return Table(
        "Sensitivity to what the paper does not print",
        "One change each from the setting of the claims. Reno: mean segments sent. Gains: median and quartiles over "
        f"{RUNS} pairs of runs, percent.",
        [
            "setting",
            "figure 8: Reno",
            "figure 9: sender only",
            "figure 11: Reno",
            "figure 12: sender only",
            "figure 13: both sides",
        ],
        [
            [
                ensemble.setting.label,
                f"{ensemble.count(8).mean:.0f}",
                ensemble.gain_percent(9).cell(),
                f"{ensemble.count(11).mean:.0f}",
                ensemble.gain_percent(12).cell(),
                ensemble.gain_percent(13).cell(),
            ]
            for ensemble in ensembles
        ],
    )
