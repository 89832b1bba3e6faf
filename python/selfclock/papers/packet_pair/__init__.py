"""Nishida, Nakamura, Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from selfclock.papers.packet_pair.declared import CLAIMS
from selfclock.papers.packet_pair.spread import RUNS

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs

__all__ = ["AMBIGUITIES", "REFERENCE", "TITLE", "study"]

AMBIGUITIES = CLAIMS.ambiguities
TITLE = "Packet-pair TCP"
REFERENCE = "Y. Nishida, O. Nakamura, J. Murai: New Congestion Control mechanism for TCP with Packet Pair scheme."


def study(*, full: bool = False) -> Study:  # noqa: ARG001
    """Return every experiment of the paper."""
    # Readings that bear on nothing in a run from time 0 share it.
    alone = {run.name: run for under in ensemble.READ for run in ensemble.single_scenarios(under)}
    parts = [
        Part([*ensemble.course_scenarios(), *behaviour.scenarios()], ensemble.course_of_run),
        Part([*ensemble.scenarios(), *baselines.scenarios(), *ensemble.control_scenarios()], ensemble.segments_of_run),
        Part(list(alone.values())),
        Part(figure_05.scenarios(), figure_05.events),
        Part(figure_06.long_scenarios(), figure_06.coverage),
    ]
    return Study(parts, _findings)


def _findings(runs: Runs) -> Findings:
    courses = {reading: ensemble.courses(runs, reading) for reading in ensemble.READ}
    ensembles = ensemble.ensembles(runs)
    first = ensemble.DEFAULT
    single = ensemble.singles(runs, first)
    both_sides = figure_06.ladder(single[13])
    judged = [
        claim for reading in ensemble.READ for claim in (*_section_5(reading, runs), *behaviour.claims(reading, runs))
    ]
    return Findings(
        claims=[
            *judged,
            *(claim for readings in figure_05.READ for claim in figure_05.claims(readings, runs)),
            *figure_06.claims(both_sides, runs),
        ],
        figures=[
            *figures.sequences(single, courses[first]),
            *figures.comparisons(courses[first]),
            figures.histograms(courses),
            figures.bursts(runs),
            ladders.slow_start(figure_05.default(runs)),
            ladders.both_sides(both_sides),
        ],
        schemes=schemes.schemes(),
        tables=[
            tables.distribution(
                "Segments sent",
                f"Over {RUNS} runs with a random delay of every packet: the ensemble of the claims.",
                ensembles[ensemble.HEADLINE.name],
            ),
            tables.distribution(
                "Segments sent, a random start alone",
                f"Over {RUNS} random starts within a second, without a random delay of packets.",
                ensembles[ensemble.START_ONLY.name],
                single,
            ),
            baselines.table(runs),
            tables.sensitivity(ensembles.values()),
        ],
    )


def _section_5(reading: ensemble.Under, runs: Runs) -> list[Claim]:
    unthinned: list[ensemble.Run] = runs.seeds(behaviour.aggregated_name(reading, behaviour.WITHOUT_D))
    return claims.Section5(
        reading,
        ensemble.of_reading(runs, reading),
        ensemble.controls(runs, reading),
        ensemble.singles(runs, reading),
        [len(run.sent) for run in unthinned],
    ).claims()
