"""Figures 2 to 6: slow start and the original Swift Start."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.claims import Claim
from selfclock.page_parts import Table
from selfclock.papers.swift_start import ambiguities, verdicts
from selfclock.papers.swift_start.network import OC1_MBPS, PACKET_B, SEGMENT_B, per_round_trip
from selfclock.papers.swift_start.runs import RECEIVE_WINDOW_B, ratio, text
from selfclock.papers.swift_start.verdicts import BURST_RULE, MARGIN, PAPER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Verdict
    from selfclock.papers.swift_start.runs import Found, Transfer

#: Such a row explains the settings; it does not count as a result of the paper.
BY_CONSTRUCTION = "By construction"

FIGURE_2_RTT_S = 0.47

#: The fifth window of slow start has 64 segments after 60 in the first four.
FIFTH = (60, 124)


def findings(by: Found) -> tuple[list[Claim], list[Table]]:
    """Judge the figures."""
    return [*_figures_2_and_3(by), *_figure_4(by), *_figures_5_and_6(by)], [_by_alpha(by)]


def variant(*transfers: Transfer) -> str:
    """Return each variant that ran, once."""
    return "; ".join(dict.fromkeys(one.run.variant for one in transfers))


def names(*transfers: Transfer) -> tuple[str, ...]:
    """Return the names of the scenarios."""
    return tuple(one.run.name for one in transfers)


def _figures_2_and_3(by: Found) -> list[Claim]:
    both = slow, swift = by["2", "slow start"], by["2", "Swift Start"]
    slow_rounds, swift_rounds = slow.rounds(100), swift.rounds(100)
    window = RECEIVE_WINDOW_B // SEGMENT_B
    times = swift.completion_s, slow.completion_s
    ahead = sum(swift_rounds[:5]), sum(slow_rounds[:5])
    # Round trips until slow start sends a full receive window.
    meets = next((number for number, count in enumerate(slow_rounds) if count >= window), len(slow_rounds))
    leads = [sum(swift_rounds[:number]) - sum(slow_rounds[:number]) for number in range(1, 61)]
    grows = all(later > earlier for earlier, later in pairwise(leads[:meets]))
    stays = max(leads[meets:], default=0) - min(leads[meets:], default=0) <= 1
    source, ran, shown = "section 3, figure 3", variant(*both), names(*both)
    return [
        Claim(
            PAPER,
            "figure-3-point-A",
            source,
            says="both algorithms start at the same time, with IW of 4 segments",
            printed='"IW of 4 segments"',
            measured=f"{slow_rounds[0]} and {swift_rounds[0]}",
            verdict=verdicts.exact([slow_rounds[0], swift_rounds[0]], [4, 4]),
            note=f"{BY_CONSTRUCTION}: the initial window is set. Segments that leave in the first round trip.",
            of="own",
            criterion="exactly",
            variant=ran,
            figure="figure-3",
            scenarios=shown,
        ),
        Claim(
            PAPER,
            "figure-3-second-round-trip",
            source,
            says="in the next RTT the window of slow start is very small, and Swift Start can not send more than RWND",
            printed='"can not send more than" RWND, 65535 B',
            measured=f"{slow_rounds[1]} and {swift_rounds[1]} segments",
            verdict=verdicts.exact([slow_rounds[1], swift_rounds[1]], [8, window]),
            note=f"{RECEIVE_WINDOW_B} B are {window} whole segments of {SEGMENT_B} B; a capacity of 1939 segments over "
            f"alpha = 8 is above it, so the estimate decides nothing here.",
            of="paper",
            criterion=f"our criterion: exactly twice 4, and the {window} segments of RWND",
            variant=ran,
            figure="figure-3",
            scenarios=shown,
        ),
        Claim(
            PAPER,
            "figure-3-meet",
            source,
            says="the difference increases until slow start reaches its RWND; then both send RWND bytes every RTT",
            printed='"the difference will continue increasing until"',
            measured=f"grows until round trip {meets}, then "
            f"{min(leads[meets:], default=0)} to {max(leads[meets:], default=0)} segments",
            verdict=_both(grows, stays),
            note=f"Slow start sends {slow_rounds[:8]} in its first round trips, Swift Start {swift_rounds[:8]}; the "
            f"lead after each is {leads[:8]}.",
            of="paper",
            criterion="our criterion: the lead grows in every round trip before slow start sends a whole "
            "RWND, and is constant within one segment from then to the 60th: reproduced; one of the two: direction",
            variant=ran,
            figure="figure-3",
            scenarios=shown,
        ),
        Claim(
            PAPER,
            "figure-3-start-up",
            "section 3, figures 2 and 3",
            says="Swift Start improves the start up of the connection",
            printed='"improves the start up"',
            measured=f"{ahead[0]} against {ahead[1]} segments",
            verdict=verdicts.more(*ahead),
            note="In the first five round trips, after which both send RWND.",
            of="paper",
            criterion=f"our criterion: at least {MARGIN:.0%} more: reproduced; more: direction",
            variant=ran,
            figure="figure-3",
            scenarios=shown,
        ),
        Claim(
            PAPER,
            "figure-2-transfer",
            "section 3, figure 2",
            says="Swift Start transfers the 10 MB file sooner",
            printed=None,
            measured=f"{text(times[0])} against {text(times[1])}",
            verdict=_sooner(*times),
            note=f"{ratio(*times)} of the time. Not a statement of the paper, which says that the start up improves: "
            "slow start lacks 1.7 round trips of the 160 that the receive window takes, so no start can be 5 % sooner.",
            of="own",
            criterion="sooner by a round trip or more: reproduced; sooner: direction",
            variant=ran,
            figure="figure-2",
            scenarios=shown,
        ),
    ]


def _sooner(own: float | None, other: float | None) -> Verdict:
    """Sooner by a round trip of figure 2; sooner; or not."""
    if own is None or other is None or own >= other:
        return "not reproduced"
    return "reproduced" if own <= other - FIGURE_2_RTT_S else "direction"


def _both(first: bool, second: bool) -> Verdict:
    """Both hold; one of them; neither."""
    return "reproduced" if first and second else "direction" if first or second else "not reproduced"


def _rates_within(transfer: Transfer, number: int, parts: int = 10) -> list[int]:
    """Segments sent in each part of round trip `number`."""
    run = transfer.run
    counts = per_round_trip(transfer.sent, run.rate_mbps * 1e9, run.rtt_ms / parts, parts * (number + 1))
    return counts[parts * (number - 1) : parts * number]


def _burstiness(counts: Sequence[int]) -> float:
    """Rate in the first tenth of the round trip with a transmission, divided by the mean of the rest."""
    first = next((position for position, count in enumerate(counts) if count > 0), 0)
    rest = counts[first + 1 :]
    mean = sum(rest) / len(rest) if rest else 0.0
    return counts[first] / mean if mean > 0 else float("inf")


_SAYS = {
    "A": "at the second RTT Swift Start starts sending with a high rate, and then decreases this rate",
    "B": "this action also happened at the beginning of the third RTT",
}


def _figure_4(by: Found) -> list[Claim]:
    both = slow, swift = by["4", "slow start"], by["4", "Swift Start"]
    early = by["4, RFC 2001", "slow start"]
    slow_rounds = slow.rounds(6)
    ahead = sum(swift.rounds(3)), sum(slow.rounds(3))
    source = "section 4.1, figure 4"
    claims = [
        Claim(
            PAPER,
            "figure-4-start-up",
            source,
            says="the start up of Swift Start is better although the bandwidth is small",
            printed='"better than Slow start although the small bandwidth"',
            measured=f"{ahead[0]} against {ahead[1]} segments",
            verdict=verdicts.more(*ahead),
            note=f"In the first three round trips of 348 ms. Transfer of the file: {text(swift.completion_s)} against "
            f"{text(slow.completion_s)}.",
            of="paper",
            criterion=f"our criterion: at least {MARGIN:.0%} more: reproduced; more: direction",
            variant=variant(*both),
            figure="figure-4",
            scenarios=names(*both),
        ),
    ]
    claims += [
        _point(by["4 by alpha", f"{value}, {burst}"], name, number, (reading, ambiguities.alpha(value)))
        for name, number in (("A", 2), ("B", 3))
        for value in ambiguities.ALPHAS
        for reading, burst in ((ambiguities.DIFFERENCE, "difference"), (ambiguities.SPREAD, "none"))
    ]
    for reading, one, note in (
        (
            ambiguities.NO_THRESHOLD,
            slow,
            f"The round trips have {slow_rounds} segments; from the second on the acknowledgements are a packet "
            f"time of the link apart, so each window leaves evenly: the queue that the paper blames does not do it. "
            f"The paper prints no threshold.",
        ),
        (
            ambiguities.RFC_2001,
            early,
            "With the initial ssthresh of RFC 2001, 65535 B, slow start ends within the fifth window, after 44.9 "
            "segments, and the rate halves. Added after the row without a threshold was seen.",
        ),
    ):
        fall = _fall(one)
        claims.append(
            Claim(
                PAPER,
                "figure-4-point-C",
                source,
                says="in the fifth RTT the sending rate of slow start is high and then decreases suddenly",
                printed='"high and then it is decreases suddenly"',
                measured=f"{fall:.2f} times",
                verdict=verdicts.burst(fall),
                note=f"Rate of the first quarter of the segments of the fifth window over that of the last. {note}",
                of="paper",
                criterion=BURST_RULE,
                variant=variant(one),
                readings=(reading,),
                figure="figure-4",
                scenarios=names(one),
            )
        )
    return claims


def _point(transfer: Transfer, name: str, number: int, readings: tuple[str, str]) -> Claim:
    ratio_of_rates = _burstiness(_rates_within(transfer, number))
    own = f"{BY_CONSTRUCTION}: section 4.1 prescribes this burst. " if readings[0] == ambiguities.DIFFERENCE else ""
    return Claim(
        PAPER,
        f"figure-4-point-{name}",
        "section 4.1, figure 4",
        says=_SAYS[name],
        printed='"high rate ... and then decreases"',
        measured=f"{ratio_of_rates:.1f} times",
        verdict=verdicts.burst(ratio_of_rates),
        note=f"{own}Segments in the first tenth of the round trip with one over the mean of the tenths after it; the "
        f"round trips have {transfer.rounds(5)} segments.",
        criterion=BURST_RULE,
        variant=variant(transfer),
        readings=readings,
        figure="figure-4",
        scenarios=names(transfer),
    )


def _fall(transfer: Transfer) -> float:
    """Rate of the first quarter of the fifth window's segments, divided by that of the last."""
    first, last = FIFTH
    rows = transfer.sent
    times: list[float] = rows.filter(rows["segment"].is_between(first - 0.5, last - 0.5))["time_s"].to_list()
    quarter = len(times) // 4
    return (times[-1] - times[-1 - quarter]) / (times[quarter] - times[0])


def _figures_5_and_6(by: Found) -> list[Claim]:
    slow, swift = by["5", "slow start"], by["5", "Swift Start"]
    fallback, undelayed = by["5", "Swift Start, falling back"], by["without delay", "Swift Start"]
    counts = swift.rounds(400)
    falling, estimated = fallback.rounds(6), undelayed.rounds(2)[1]
    at_rate = OC1_MBPS * 1e6 * slow.run.rtt_ms / 1e3 / 8 / PACKET_B
    source = "section 4.2, figures 5 and 6"
    return [
        Claim(
            PAPER,
            "figure-5-no-estimate",
            source,
            says="with delayed acknowledgements the sender cannot find the interval between the segments of the pair",
            printed='"it can not find the interval between these segments"',
            measured=f"{falling[1]} segments in the second round trip",
            verdict="reproduced" if falling[1] <= 8 else "not reproduced",
            note=f"An estimate would send {at_rate / 8:.0f}, an eighth of the BDP, or more; without "
            f"delayed acknowledgements it is {estimated}.",
            of="paper",
            criterion="our criterion: at most the 8 segments of slow start, with the fallback that "
            "leaves the window to it",
            variant=variant(fallback),
            figure="figures-5-and-6",
            scenarios=names(fallback, undelayed),
        ),
        *(
            Claim(
                PAPER,
                "figure-5-four-segments",
                source,
                says="with delayed acknowledgements Swift Start sends only 4 segments each RTT",
                printed='"only 4 segments each RTT"',
                measured=f"{min(rounds)}" if min(rounds) == max(rounds) else f"{rounds}",
                verdict=verdicts.exact(rounds, [4] * len(rounds)),
                note=f"First {len(rounds)} round trips. {note}",
                criterion="exactly 4 in each",
                variant=variant(one),
                readings=(reading,),
                figure="figures-5-and-6",
                scenarios=names(one),
            )
            for reading, one, rounds, note in (
                (
                    ambiguities.FREEZE,
                    swift,
                    counts,
                    f"{BY_CONSTRUCTION}: no_estimate = freeze was written for this sentence. Transfer of the file "
                    f"{text(swift.completion_s)} against {text(slow.completion_s)}.",
                ),
                (ambiguities.FALL_BACK, fallback, falling, "As the code did that NASA measured."),
            )
        ),
    ]


def _by_alpha(by: Found) -> Table:
    rows = []
    for (figure, label), transfer in by.items():
        if figure == "4 by alpha":
            points = [f"{_burstiness(_rates_within(transfer, number)):.1f}" for number in (2, 3)]
            rows.append([label, *map(str, transfer.rounds(5)), *points, text(transfer.completion_s)])
    return Table(
        "Figure 4 by alpha and burst",
        "Segments in each round trip, burstiness of the second and the third as in the claims, and transfer time; the "
        "path holds 46 segments.",
        ["alpha, burst", "1", "2", "3", "4", "5", "burst at A", "burst at B", "transfer"],
        rows,
    )
