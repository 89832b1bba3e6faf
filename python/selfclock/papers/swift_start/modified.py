"""Figures 8 and 9, and section 5: the modified Swift Start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.papers.swift_start import ambiguities, verdicts
from selfclock.papers.swift_start.figures import BY_CONSTRUCTION, names, variant
from selfclock.papers.swift_start.network import PACKET_B
from selfclock.papers.swift_start.runs import ratio, text
from selfclock.papers.swift_start.verdicts import FASTER_RULE, LINK_RATE, PAPER, PART_OF_LINK_RATE, SAME_TIME

if TYPE_CHECKING:
    from selfclock.papers.swift_start.runs import Found

#: Runs of a figure, its name, and its reading.
_FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "8": ("figure-8", ()),
    "9, 386 ms": ("figure-9", (ambiguities.TEXT_386,)),
    "9, 486 ms": ("figure-9", (ambiguities.CAPTION_486,)),
}
_SAME = f"our criterion: within {SAME_TIME:.0%}"


def findings(by: Found) -> list[Claim]:
    """Judge the figures and the conclusion."""
    claims = [claim for figure in _FIGURES for claim in _transfers(by, figure)]
    return [*claims, _fallback(by), *_unaffected(by), _absent_partner(by)]


def _transfers(by: Found, figure: str) -> list[Claim]:
    slow, swift, modified = (by[figure, label] for label in ("slow start", "Swift Start", "modified Swift Start"))
    run, (identity, readings) = modified.run, _FIGURES[figure]
    source, shown = f"section 4.3, {identity.replace('-', ' ')}", "-".join([identity, *readings])
    rounds = modified.rounds(4)
    at_rate = run.rate_mbps * 1e6 * run.rtt_ms / 1e3 / 8 / PACKET_B
    return [
        Claim(
            PAPER,
            f"{identity}-order",
            source,
            says="the modified Swift Start performs better than slow start",
            printed='"better than the traditional slow start"',
            measured=f"{text(modified.completion_s)} against {text(slow.completion_s)}",
            verdict=verdicts.faster(modified.completion_s, slow.completion_s),
            note=f"Transfer of the 10 MB file, {ratio(modified.completion_s, slow.completion_s)} of the time. The "
            "bound of the jump, which the paper does not have, costs nothing on an idle path.",
            of="paper",
            criterion=FASTER_RULE,
            variant=variant(modified, slow),
            readings=readings,
            figure=shown,
            scenarios=names(modified, slow),
        ),
        Claim(
            PAPER,
            f"{identity}-rate",
            source,
            says="it quickly estimates the path capacity",
            printed='"quickly estimates the path capacity"',
            measured=f"{rounds[2] / at_rate:.3f} of the link's rate",
            verdict=verdicts.at_link_rate(rounds[2] / at_rate),
            note=f"{rounds[2]} segments leave in the third round trip; {at_rate:.0f} are the rate of the link. First "
            f"round trips: {rounds}.",
            of="paper",
            criterion=f"our criterion: {LINK_RATE} of the link's rate in the third round trip: "
            f"reproduced; {PART_OF_LINK_RATE}: direction",
            variant=variant(modified),
            readings=readings,
            figure=shown,
            scenarios=names(modified),
        ),
        Claim(
            PAPER,
            f"{identity}-traditional",
            source,
            says="the traditional Swift Start's performance is very low",
            printed='"very low"',
            measured=f"{text(swift.completion_s)} against {text(slow.completion_s)}",
            verdict=verdicts.faster(slow.completion_s, swift.completion_s),
            note=f'{BY_CONSTRUCTION}: no_estimate = freeze was written for "its CWND remain 4 segments". '
            f"{ratio(swift.completion_s, slow.completion_s)} times slow start's time.",
            criterion="our criterion: slow start at least 5 % sooner; direction: sooner",
            variant=variant(swift, slow),
            readings=(*readings, ambiguities.FREEZE),
            figure=shown,
            scenarios=names(swift, slow),
        ),
    ]


def _fallback(by: Found) -> Claim:
    own, slow = by["5", "Swift Start, falling back"], by["8", "slow start"]
    return Claim(
        PAPER,
        "figure-8-traditional",
        "section 4.3, figure 8",
        says="the traditional Swift Start's performance is very low",
        printed='"very low"',
        measured=f"{text(own.completion_s)} against {text(slow.completion_s)}",
        verdict=verdicts.faster(slow.completion_s, own.completion_s),
        note="A sender without an estimate that goes on in slow start, the algorithm's default and what NASA's code "
        "did, is "
        'as fast as slow start: "very low" is a property of a sender that gives up.',
        of="paper",
        criterion="our criterion: slow start at least 5 % sooner; direction: sooner",
        variant=variant(own, slow),
        readings=(ambiguities.FALL_BACK,),
        figure="figures-5-and-6",
        scenarios=names(own, slow),
    )


def _unaffected(by: Found) -> list[Claim]:
    modified, without, thinned = (by[figure, "modified Swift Start"] for figure in ("8", "without delay", "thinned"))
    original = by["without delay", "Swift Start"]
    return [
        Claim(
            PAPER,
            identity,
            "section 5",
            says=f"its performance is not affected when using {what}",
            printed='"performance does not affected"',
            measured=f"{text(own.completion_s)} with, {text(without.completion_s)} without",
            verdict=verdicts.same_time(own.completion_s, without.completion_s),
            note=f"Transfer of the 10 MB file at 274 ms.{more}",
            of="paper",
            criterion=_SAME,
            variant=f"{variant(own)}{router}",
            figure="figure-8",
            scenarios=names(own, without),
        )
        for identity, what, own, more, router in (
            (
                "delayed-ack",
                "delayed acknowledgements",
                modified,
                f" The traditional one without delayed acknowledgements, alpha = 8: {text(original.completion_s)}.",
                "",
            ),
            (
                "ack-compression-modified",
                "acknowledgement compression",
                thinned,
                " A router drops the first of two acknowledgements within 5 ms; every segment is acknowledged.",
                ", ack-thinning of 5 ms",
            ),
        )
    ]


def _absent_partner(by: Found) -> Claim:
    own, plain = by["no option", "modified Swift Start"], by["8", "slow start"]
    return Claim(
        PAPER,
        "absent-partner",
        "section 3.2, what it implies",
        says="with a receiver that does not know the option it is slow start",
        printed=None,
        measured=f"{text(own.completion_s)} against {text(plain.completion_s)}",
        verdict=verdicts.same_time(own.completion_s, plain.completion_s),
        note=f"{BY_CONSTRUCTION}: without an answer the same code runs. Transfer of the 10 MB file, 274 ms, initial "
        "window 4.",
        of="own",
        criterion=_SAME,
        variant=variant(own, plain),
        figure="",
        scenarios=names(own, plain),
    )
