"""Nishida, Nakamura, Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.claims import Findings
from selfclock.paper_runs import Part, Study
from selfclock.papers.packet_pair import (
    baselines,
    behaviour,
    claims,
    ensemble,
    figure_05,
    figure_06,
    figures,
    ladders,
    schemes,
    tables,
)
from selfclock.papers.packet_pair.ambiguities import AMBIGUITIES
from selfclock.papers.packet_pair.spread import RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

TITLE = "Packet-pair TCP"
REFERENCE = "Y. Nishida, O. Nakamura, J. Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."


def study(*, full: bool = False) -> Study:  # noqa: ARG001
    """Return every experiment of the paper."""
    parts = [
        Part(ensemble.course_scenarios(), ensemble.course_of_run),
        Part(ensemble.scenarios(), ensemble.segments_of_run),
        Part(behaviour.scenarios(), ensemble.course_of_run),
        Part(baselines.scenarios(), ensemble.segments_of_run),
        Part(ensemble.control_scenarios(), ensemble.segments_of_run),
        Part([run for under in ensemble.READ for run in ensemble.single_scenarios(under)]),
        Part(figure_05.scenarios(), figure_05.events),
        Part(figure_06.long_scenarios(), figure_06.coverage),
    ]
    return Study(parts, _findings)


def _findings(results: Sequence[list[Any]]) -> Findings:
    runs, counts, beside, competitors, fine, alone, slow_starts, covered = results
    courses = ensemble.courses(runs)
    others = behaviour.sorted_runs(beside)
    ensembles = ensemble.ensembles(courses, counts)
    headline = next(one for one in ensembles if one.setting is ensemble.HEADLINE)
    start_only = next(one for one in ensembles if one.setting is ensemble.START_ONLY)
    first, controls = ensemble.DEFAULT, ensemble.controls(fine)
    rest = iter(alone)
    singles = {under: {experiment.figure: next(rest) for experiment in ensemble.EXPERIMENTS} for under in ensemble.READ}
    single = singles[first]
    both_sides = figure_06.ladder(single[13])
    judged = [
        claim
        for reading, own in zip(courses, ensembles, strict=False)
        for claim in (
            *claims.counts_and_gains(
                reading, own, controls[reading], singles[reading], [len(run.sent) for run in others[reading][2]]
            ),
            *behaviour.claims(reading, courses[reading], others[reading]),
        )
    ]
    return Findings(
        claims=[
            *judged,
            *(
                claim
                for readings, found in zip(figure_05.READ, slow_starts, strict=True)
                for claim in figure_05.claims(readings, found)
            ),
            *figure_06.claims(both_sides, covered),
        ],
        figures=[
            *figures.sequences(single, courses[first]),
            *figures.comparisons(courses[first]),
            figures.histograms(courses),
            figures.bursts(others[first][: len(behaviour.AGGREGATED)]),
            ladders.slow_start(slow_starts[0]),
            ladders.both_sides(both_sides),
        ],
        schemes=schemes.schemes(),
        tables=[
            tables.distribution(
                "Segments sent",
                f"Over {RUNS} runs with a random delay of every packet: the ensemble of the claims.",
                headline,
            ),
            tables.distribution(
                "Segments sent, a random start alone",
                f"Over {RUNS} random starts within a second, without a random delay of packets.",
                start_only,
                single,
            ),
            baselines.table(competitors),
            tables.sensitivity(ensembles),
        ],
    )
