"""Figures 2 to 6: slow start and the original Swift Start."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.declared import Ran
from selfclock.papers.swift_start import ambiguities
from selfclock.papers.swift_start.declared import CLAIMS
from selfclock.papers.swift_start.network import OC1_MBPS, PACKET_B, SEGMENT_B, per_round_trip
from selfclock.papers.swift_start.runs import RECEIVE_WINDOW_B, ratio, sooner, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.papers.swift_start.runs import Found, Transfer

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
    ran = Ran(variant(*both), names(*both))
    return [
        CLAIMS(
            "figure-3-point-A",
            ran,
            slow=slow_rounds[0],
            swift=swift_rounds[0],
        ),
        CLAIMS(
            "figure-3-second-round-trip",
            ran,
            slow=slow_rounds[1],
            swift=swift_rounds[1],
        ),
        CLAIMS(
            "figure-3-meet",
            ran,
            meets=meets,
            least=min(leads[meets:], default=0),
            most=max(leads[meets:], default=0),
            slow=slow_rounds[:8],
            swift=swift_rounds[:8],
            leads=leads[:8],
            grows=grows,
            stays=stays,
        ),
        CLAIMS(
            "figure-3-start-up",
            ran,
            swift=ahead[0],
            slow=ahead[1],
            part=ahead[0] / ahead[1],
        ),
        CLAIMS(
            "figure-2-transfer",
            ran,
            own=text(times[0]),
            other=text(times[1]),
            part=ratio(*times),
            sooner_s=sooner(*times),
        ),
    ]


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


def _figure_4(by: Found) -> list[Claim]:
    both = slow, swift = by["4", "slow start"], by["4", "Swift Start"]
    early = by["4, RFC 2001", "slow start"]
    slow_rounds = slow.rounds(6)
    ahead = sum(swift.rounds(3)), sum(slow.rounds(3))
    claims = [
        CLAIMS(
            "figure-4-start-up",
            Ran(variant(*both), names(*both)),
            swift=ahead[0],
            slow=ahead[1],
            own=text(swift.completion_s),
            other=text(slow.completion_s),
            part=ahead[0] / ahead[1],
        ),
    ]
    claims += [
        _point(by["4 by alpha", f"{value}, {burst}"], name, number, (reading, ambiguities.alpha(value)))
        for name, number in (("A", 2), ("B", 3))
        for value in ambiguities.ALPHAS
        for reading, burst in ((ambiguities.DIFFERENCE, "difference"), (ambiguities.SPREAD, "none"))
    ]
    claims += [
        CLAIMS("figure-4-point-C", Ran(variant(one), names(one), (reading,)), times=_fall(one), rounds=slow_rounds)
        for reading, one in ((ambiguities.NO_THRESHOLD, slow), (ambiguities.RFC_2001, early))
    ]
    return claims


def _point(transfer: Transfer, name: str, number: int, readings: tuple[str, str]) -> Claim:
    ratio_of_rates = _burstiness(_rates_within(transfer, number))
    return CLAIMS(
        f"figure-4-point-{name}",
        Ran(variant(transfer), names(transfer), readings),
        times=ratio_of_rates,
        rounds=transfer.rounds(5),
        prescribed=readings[0] == ambiguities.DIFFERENCE,
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
    times = text(swift.completion_s), text(slow.completion_s)
    return [
        CLAIMS(
            "figure-5-no-estimate",
            Ran(variant(fallback), names(fallback, undelayed)),
            second=falling[1],
            eighth=at_rate / 8,
            estimated=estimated,
        ),
        *(
            CLAIMS(
                "figure-5-four-segments",
                Ran(variant(one), names(one), (reading,)),
                rounds=rounds,
                shown=f"{min(rounds)}" if min(rounds) == max(rounds) else f"{rounds}",
                count=len(rounds),
                own=times[0],
                other=times[1],
            )
            for reading, one, rounds in (
                (ambiguities.FREEZE, swift, counts),
                (ambiguities.FALL_BACK, fallback, falling),
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
