"""Verdicts are computed from figures alone."""

from __future__ import annotations

import pytest

from selfclock.papers.packet_pair.claims import PRINTED_GAINS, count_verdict, gain_verdict, order_verdict
from selfclock.reproduce import PAPERS, Claim, Findings, PaperReport, UnknownPaperError, find


def test_gains_follow_from_the_printed_counts() -> None:
    assert PRINTED_GAINS == {9: 22.5, 12: 32.1, 13: 40.6}


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(22.5, "reproduced"), (27.5, "reproduced"), (27.6, "direction"), (0.1, "direction"), (-1.0, "not reproduced")],
)
def test_gain(measured: float, verdict: str) -> None:
    assert gain_verdict(measured, 22.5) == verdict


def test_count() -> None:
    assert count_verdict(190.3, 173) == "reproduced"
    assert count_verdict(190.4, 173) == "not reproduced"


def test_order() -> None:
    assert order_verdict(both_over_sender=0.0, sender_over_reno=0.1) == "reproduced"
    assert order_verdict(both_over_sender=0.0, sender_over_reno=0.0) == "not reproduced"
    assert order_verdict(both_over_sender=-0.1, sender_over_reno=5.0) == "not reproduced"


def test_a_verdict_that_is_not_on_record_is_a_difference() -> None:
    claim = Claim("paper", "a", "section 1", "says", 1.0, 2.0, "direction", "")
    report = PaperReport("paper", "", "", "", Findings([claim], [], []), {"a": "reproduced", "b": "direction"}, 0.0)
    assert report.differences() == [
        "paper a: direction; on record: reproduced",
        "paper b: no such claim; on record: direction",
    ]


def test_papers_by_name() -> None:
    assert find([]) == list(PAPERS)
    assert find(["packet_pair", "packet-pair"]) == ["packet-pair"]
    with pytest.raises(UnknownPaperError, match="packet-pair"):
        find(["pair"])
