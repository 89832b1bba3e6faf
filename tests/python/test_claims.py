"""Verdicts are computed from figures alone."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from selfclock.claims import Ambiguity, Claim, Findings, Reading, reading_faults, statements
from selfclock.figure import Figure
from selfclock.page_parts import Illustration
from selfclock.reproduce import PAPERS, PaperReport, UnknownPaperError, find

if TYPE_CHECKING:
    from collections.abc import Sequence


def claim(name: str, **more: Any) -> Claim:  # noqa: ANN401
    given: dict[str, Any] = {"criterion": "our criterion: equal", "variant": "by default", **more}
    return Claim("paper", name, "1", says="says", printed=1.0, measured=2.0, verdict="direction", note="", **given)


def report(*claims: Claim, figures: Sequence[Illustration] = (), **more: Any) -> PaperReport:  # noqa: ANN401
    return PaperReport(
        "paper", "", "", "", Findings(list(claims), list(figures), []), more.pop("recorded", {}), 0.0, **more
    )


def test_a_verdict_that_is_not_on_record_is_a_difference() -> None:
    assert report(claim("a"), recorded={"a": "reproduced", "b": "direction"}).differences() == [
        "paper a: direction; on record: reproduced",
        "paper b: no such claim; on record: direction",
    ]


def ambiguity(name: str, *readings: str) -> Ambiguity:
    made = tuple(Reading(one, one, does="", allowed_by="", against="", options="") for one in readings)
    return Ambiguity(name, "1", asks="?", readings=made, default_by="")


OPEN = (ambiguity("pairs", "one", "every"), ambiguity("buffer", "packets", "bytes"))


def test_a_statement_is_judged_under_every_reading() -> None:
    claims = [
        replace(claim("a", readings=("every", "packets")), verdict="reproduced"),
        claim("b"),
        claim("a", readings=("one", "packets")),
        claim("c", readings=("bytes",)),
        replace(claim("c", readings=("packets",)), verdict="not reproduced"),
    ]
    found = statements(claims, OPEN)
    assert [statement.claim.key for statement in found] == ["a [one, packets]", "b", "c [packets]"]
    assert [statement.outcome for statement in found] == [
        "under some readings",
        "under no reading",
        "under no reading",
    ]
    assert [statement.best for statement in found] == ["reproduced", "direction", "direction"]
    assert [statement.which(OPEN) for statement in found] == ["with every", "", ""]
    assert [statement.share for statement in found] == ["1/2", "", "0/2"]
    assert reading_faults(claims, OPEN) == []
    summary = report(*claims, ambiguities=OPEN).summary()
    assert summary["statements"] == {"under every reading": 0, "under some readings": 1, "under no reading": 2}


def test_readings_that_do_not_fit_are_faults() -> None:
    claims = [
        claim("a", readings=("one",)),
        claim("a", readings=("every", "packets")),
        claim("b", readings=("other",)),
        claim("c", readings=("bytes",)),
        claim("d", readings=("one",)),
        claim("d", readings=("one",)),
    ]
    assert reading_faults(claims, [*OPEN, ambiguity("more", "unused")]) == [
        "reading 'unused' is declared, and no row is judged under it",
        "a: each verdict needs one reading of each of: buffer, pairs",
        "b: no reading 'other'",
        "c: no verdict under the default readings",
        "d: judged twice under the same readings",
    ]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_reading_of_a_paper_says_what_allows_it(paper: str) -> None:
    ambiguities = importlib.import_module(PAPERS[paper]).AMBIGUITIES
    for each in ambiguities:
        assert len(each.readings) > 1, each.id
        texts = [each.asks, each.source, each.default_by]
        texts += [text for one in each.readings for text in (one.name, one.does, one.allowed_by, one.options)]
        assert all(text.strip() for text in texts), each.id
    names = [one.id for each in ambiguities for one in each.readings]
    assert len(names) == len(set(names))


def test_a_claim_that_leads_nowhere_is_a_fault() -> None:
    there = Illustration("Figure 8", "", Figure(), id="figure-8", scenarios=("s",))
    whole = claim("whole", figure="figure-8", scenarios=("s",))
    files = {"s": {"s": "schema = 1"}}
    assert report(whole, figures=[there], scenarios=files).faults() == []
    bad = [
        claim("a", criterion=" "),
        claim("b", variant=""),
        claim("c", figure="figure-9"),
        claim("d", scenarios=("t",)),
    ]
    nameless = Illustration("Figure 9", "", Figure())
    assert report(*bad, figures=[there, there, nameless], scenarios=files).faults() == [
        "paper a: no criterion",
        "paper b: no variant",
        "paper c: no figure 'figure-9'",
        "paper d: no scenario 't'",
        "paper: figure 'Figure 9' has no id",
        "paper: two figures 'figure-8'",
    ]
    with pytest.raises(TypeError, match="criterion"):
        Claim("paper", "a", "1", says="", printed=1, measured=1, verdict="direction", note="")  # type: ignore[call-arg]


def test_papers_by_name() -> None:
    assert find([]) == list(PAPERS)
    assert find(["packet_pair", "packet-pair"]) == ["packet-pair"]
    with pytest.raises(UnknownPaperError, match="packet-pair"):
        find(["pair"])
