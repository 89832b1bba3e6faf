"""Assert that the scorecard shows known results: unmodified rows, a few minutes on two cores."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from selfclock.evaluate import evaluate_all

if TYPE_CHECKING:
    from selfclock.evaluate.judge import Judged

ALGORITHMS = ["reno", "cubic", "scalable", "bbr3", "swift-start", "packet-pair"]
ROWS = ["S2", "S3", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S19", "SW3"]


def main() -> int:
    """Print each truth; return how many fail."""
    cards = evaluate_all(ALGORITHMS, (), rows=ROWS)
    found = {(card.algorithm, line.row.id): line.found for card in cards for line in card.lines}

    def value(algorithm: str, row: str) -> float:
        number = found[algorithm, row].value
        return float("inf") if number is None else number

    def of_case(judged: Judged, name: str) -> float:
        (number,) = (each.value for each in judged.cases if each.name == name)
        return float("inf") if number is None else number

    share = "its share of the goodput, 1+1, {} BDP, with reno"
    bbr3 = found["bbr3", "S8"]
    truths = {
        # Lakshman and Madhow 1997: between 1 and 2.
        "Reno is unfair between round-trip times, by an exponent from 1 to 2": 1 < value("reno", "S6") < 2.2,
        "CUBIC's queue is longer than Reno's": value("cubic", "S2") > value("reno", "S2"),
        "BBR's queue is not": value("bbr3", "S2") < 1,
        # Chiu and Jain 1989: multiplicative increase and decrease do not converge while both lose
        # together; with a few losses of one alone they do, slowly.
        "Scalable TCP hardly converges": found["scalable", "S10"].verdict == "fail",
        "and less between round-trip times than Reno": abs(value("scalable", "S6")) > abs(value("reno", "S6")),
        "BBR takes more than its share from Reno at a shallow buffer": of_case(bbr3, share.format("0.25")) > 0.6,
        "and loses more than CUBIC allows for, or harms it": "fail" in (
            found["bbr3", "S3"].verdict, found["bbr3", "S7"].verdict
        ),
        "a frozen Swift Start is many times slower than slow start": value("swift-start", "SW3") > 5,
        "packet pair without its partner is Reno": found["packet-pair", "S19"].verdict == "pass",
    }  # fmt: skip
    for truth, holds in truths.items():
        sys.stdout.write(f"{'holds' if holds else 'DOES NOT HOLD'}: {truth}\n")
    return sum(not holds for holds in truths.values())


if __name__ == "__main__":
    sys.exit(min(1, main()))
