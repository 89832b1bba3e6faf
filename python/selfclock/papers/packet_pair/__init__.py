"""Nishida, Nakamura, Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.packet_pair import claims, ensemble, figure_05, figures
from selfclock.reproduce import Findings

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Packet-pair TCP"
REFERENCE = "Y. Nishida, O. Nakamura, J. Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."


def reproduce(progress: Callable[[float], None]) -> Findings:
    """Run every experiment of the paper."""
    ensembles = ensemble.measure(progress)
    headline, delayed = ensembles[0], ensembles[1]
    single = ensemble.single_runs()
    slow_start = figure_05.run()
    return Findings(
        claims=[*claims.counts_and_gains(headline, delayed, single), *figure_05.claims(slow_start)],
        figures=[*figures.sequences(single, headline), figures.ladder(slow_start)],
        tables=[claims.distribution(headline, single), claims.sensitivity(ensembles)],
    )
