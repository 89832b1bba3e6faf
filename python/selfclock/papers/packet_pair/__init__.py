"""Nishida, Nakamura, Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.papers.packet_pair import claims, ensemble, figure_05, figures
from selfclock.reproduce import Findings
from selfclock.studies import Part, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLE = "Packet-pair TCP"
REFERENCE = "Y. Nishida, O. Nakamura, J. Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."


def study() -> Study:
    """Return every experiment of the paper."""
    parts = [
        Part(ensemble.scenarios(), ensemble.segments_of_run),
        Part(ensemble.single_scenarios()),
        Part([figure_05.scenario()], figure_05.events),
    ]
    return Study(parts, _findings)


def _findings(results: Sequence[list[Any]]) -> Findings:
    counts, alone, (slow_start,) = results
    ensembles = ensemble.ensembles(counts)
    headline, delayed = ensembles[0], ensembles[1]
    single = {experiment.figure: result for experiment, result in zip(ensemble.EXPERIMENTS, alone, strict=True)}
    return Findings(
        claims=[*claims.counts_and_gains(headline, delayed, single), *figure_05.claims(slow_start)],
        figures=[*figures.sequences(single, headline), figures.ladder(slow_start)],
        tables=[claims.distribution(headline, single), claims.sensitivity(ensembles)],
    )
