"""Figures 8 and 9, and section 5: the modified Swift Start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.declared import Ran
from selfclock.papers.swift_start import ambiguities
from selfclock.papers.swift_start.declared import CLAIMS
from selfclock.papers.swift_start.figures import names, variant
from selfclock.papers.swift_start.network import PACKET_B
from selfclock.papers.swift_start.runs import part, ratio, text

if TYPE_CHECKING:
    from selfclock.claims import Claim
    from selfclock.papers.swift_start.runs import Found

#: Runs of a figure, its name, and its reading.
_FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "8": ("figure-8", ()),
    "9, 386 ms": ("figure-9", (ambiguities.TEXT_386,)),
    "9, 486 ms": ("figure-9", (ambiguities.CAPTION_486,)),
}


def findings(by: Found) -> list[Claim]:
    """Judge the figures and the conclusion."""
    claims = [claim for figure in _FIGURES for claim in _transfers(by, figure)]
    return [*claims, _fallback(by), *_unaffected(by), _absent_partner(by)]


def _transfers(by: Found, figure: str) -> list[Claim]:
    slow, swift, modified = (by[figure, label] for label in ("slow start", "Swift Start", "modified Swift Start"))
    run, (identity, readings) = modified.run, _FIGURES[figure]
    rounds = modified.rounds(4)
    at_rate = run.rate_mbps * 1e6 * run.rtt_ms / 1e3 / 8 / PACKET_B
    return [
        CLAIMS(
            f"{identity}-order",
            Ran(variant(modified, slow), names(modified, slow), readings),
            own=text(modified.completion_s),
            other=text(slow.completion_s),
            ratio=ratio(modified.completion_s, slow.completion_s),
            part=part(modified.completion_s, slow.completion_s),
        ),
        CLAIMS(
            f"{identity}-rate",
            Ran(variant(modified), names(modified), readings),
            part=rounds[2] / at_rate,
            third=rounds[2],
            at_rate=at_rate,
            rounds=rounds,
        ),
        CLAIMS(
            f"{identity}-traditional",
            Ran(variant(swift, slow), names(swift, slow), (*readings, ambiguities.FREEZE)),
            own=text(swift.completion_s),
            other=text(slow.completion_s),
            ratio=ratio(swift.completion_s, slow.completion_s),
            part=part(slow.completion_s, swift.completion_s),
        ),
    ]


def _fallback(by: Found) -> Claim:
    own, slow = by["5", "Swift Start, falling back"], by["8", "slow start"]
    return CLAIMS(
        "figure-8-traditional",
        Ran(variant(own, slow), names(own, slow), (ambiguities.FALL_BACK,)),
        own=text(own.completion_s),
        other=text(slow.completion_s),
        part=part(slow.completion_s, own.completion_s),
    )


def _unaffected(by: Found) -> list[Claim]:
    modified, without, thinned = (by[figure, "modified Swift Start"] for figure in ("8", "without delay", "thinned"))
    original = text(by["without delay", "Swift Start"].completion_s)
    return [
        CLAIMS(
            name,
            Ran(f"{variant(own)}{router}", names(own, without)),
            own=text(own.completion_s),
            other=text(without.completion_s),
            part=part(own.completion_s, without.completion_s),
            original=original,
        )
        for name, own, router in (
            ("delayed-ack", modified, ""),
            ("ack-compression-modified", thinned, ", ack-thinning of 5 ms"),
        )
    ]


def _absent_partner(by: Found) -> Claim:
    own, plain = by["no option", "modified Swift Start"], by["8", "slow start"]
    return CLAIMS(
        "absent-partner",
        Ran(variant(own, plain), names(own, plain)),
        own=text(own.completion_s),
        other=text(plain.completion_s),
        part=part(own.completion_s, plain.completion_s),
    )
