"""Rules and texts of the papers' statements as `claims.toml` has them: the grammar, and every kind of rule."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from selfclock.papers.declared import Declared, Ran, claims_of, written
from selfclock.papers.intervals import Interval
from selfclock.papers.on_record import by_readings, on_record
from selfclock.papers.packet_pair.spread import RUNS, Spread
from selfclock.papers.rules import Rule, RuleError, holds
from selfclock.reproduce import MEASURED_HEADING, PAPERS, section

if TYPE_CHECKING:
    from selfclock.claims import Verdict

REPRODUCED, DIRECTION, NOT = "reproduced", "direction", "not reproduced"


def verdict(paper: str, statement: str, *readings: str, **values: Any) -> Verdict:  # noqa: ANN401
    """Judge values by the rule on record."""
    declared = claims_of(PAPERS[paper]).declared[statement].reading(readings)
    return declared.rule.judge({"printed": declared.printed, **dict(declared.given), **values})


@dataclass(frozen=True)
class Run:
    share: float
    drops: int


@pytest.mark.parametrize(
    ("condition", "true", "false"),
    [
        ("x >= 0.95", 0.95, 0.949),
        ("x <= 2", 2, 2.01),
        ("x < 10", 9, 10),
        ("x > limit", 6, 5),
        ("x == 4", 4, 5),
        ("x within 5 % of limit", 5.25, 5.3),
        ("x within 0.01 of 0", -0.01, 0.011),
        # A part of nothing is nothing.
        ("x within 5 % of 0", 0.05, 0.06),
        ("x between 0.5 and 2", 0.5, 2.1),
        ("x", True, False),
        ("x.low > 1", Interval(1.2, 0.1), Interval(1.2, 0.2)),
        ("x >= 0.95", [0.95, 1.0], [0.94, 1.0]),
        ("some x >= 0.95", [0.2, 0.95], [0.2, 0.94]),
        ("some x", [False, True], [False, False]),
        # 4 % are within a margin of 5 %, and equal values have no order.
        ("x rises by 5 %", [1, 1.05, 1.2], [1, 1.04, 1.2]),
        ("x falls by 5 %", [3, 2, 1], [0, 0, 0]),
        ("x ends higher by 5 %", [1, 3, 2], [2, 3, 1]),
        ("x ends lower by 5 %", [3, 4, 2], [2, 1, 3]),
    ],
)
def test_conditions(condition: str, true: object, false: object) -> None:
    assert holds(condition, {"x": true, "limit": 5})
    assert not holds(condition, {"x": false, "limit": 5})


@pytest.mark.parametrize("condition", ["x > 1", "x within 1 of 2", "x between 0 and 1", "1 < x", "x.low > 1"])
def test_what_was_not_measured_fulfils_nothing(condition: str) -> None:
    assert not holds(condition, {"x": None})


@pytest.mark.parametrize("condition", ["y > 1", "x is large", "x >", "x within 5", "all of them", ""])
def test_conditions_that_say_nothing_are_refused(condition: str) -> None:
    with pytest.raises(RuleError):
        holds(condition, {"x": 1})


def test_a_rule_has_three_outcomes_and_a_condition_before_them() -> None:
    rule = Rule.read({"only_if": "part >= 0.98", "reproduced": "loss <= 1e-4", "direction": "loss <= 2e-4"})
    assert [rule.judge({"part": 1, "loss": loss}) for loss in (0, 2e-4, 3e-4)] == [REPRODUCED, DIRECTION, NOT]
    # No loss on a link that is idle says nothing.
    assert rule.judge({"part": 0.9, "loss": 0}) == NOT
    several = Rule.read({"reproduced": ["a", "b", "c"], "direction": "2 of them"})
    assert [several.judge({"a": True, "b": b, "c": c}) for b, c in ((1, 1), (1, 0), (0, 0))] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    assert Rule.read({"reproduced": "a"}).judge({"a": False}) == NOT
    with pytest.raises(RuleError, match="tolerance"):
        Rule.read({"reproduced": "a", "tolerance": 1})


def test_texts() -> None:
    values = {"many": True, "times": [1.0, 2.5], "peaks": [3.2, 4.0], "gain": Interval(1.02, 0.014), "run": Run(0.5, 3)}
    assert written("at {times:.1f| s}, {peaks:and .0f}; {gain:.2f}", values) == "at 1.0 s, 2.5 s, 3 and 4; 1.02 ± 0.01"
    assert written("{times:/ g}; {run.share:.0%}", values) == "1 / 2.5; 50%"
    parts = ["found", {"when": "many", "text": " often"}, {"when": "gain.low > 1.5", "text": "!", "otherwise": "."}]
    assert written(parts, values) == "found often."


def test_a_family_and_a_reading() -> None:
    table = {
        "each": [{"id": "pair-0.3", "printed": 0.3}, {"id": "pair-0.5", "printed": 0.5}],
        "source": "figure 5",
        "says": "at {printed:.2f} s a pair is sent",
        "criterion": "within {near:g} s",
        "measured": "{time:.3f}",
        "unit": "s",
        "rule": {"reproduced": "time within near of printed"},
        "under": {"literal": {"measured": "{time:.1f} s", "rule": {"reproduced": "time == printed"}}},
    }
    first, second = Declared.read("pair", table, {"near": 0.01})
    assert (first.id, second.says, second.criterion) == ("pair-0.3", "at 0.50 s a pair is sent", "within 0.01 s")
    claim = first.claim("paper", Ran("own", ("run",)), {"time": 0.3061}, long=False)
    assert (claim.measured, claim.measured_text, claim.verdict) == (0.306, "0.306 s", REPRODUCED)
    other = first.claim("paper", Ran("own", ("run",), ("literal",)), {"time": 0.3061}, long=False)
    assert (other.measured, other.verdict) == ("0.3 s", NOT)
    with pytest.raises(ValueError, match="colour"):
        Declared.read("pair", {**table, "colour": "red"}, {})


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_on_record_is_declared(paper: str) -> None:
    rows = on_record(PAPERS[paper])
    assert rows
    assert {row.declared.id for row in rows} == set(claims_of(PAPERS[paper]).declared)
    assert all(row.declared.criterion.strip() and row.declared.says.strip() for row in rows)


# The papers' rules, each at its bounds.


def test_ficcrd() -> None:
    assert [verdict("ficcrd", "figure-6", drops=drops, tenth_of_tail_drop=20) for drops in (0, 19, 20)] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    assert [verdict("ficcrd", "figure-5", near=near) for near in (0.95, 0.94, 0.7)] == [REPRODUCED, DIRECTION, NOT]
    assert [verdict("ficcrd", "figure-3", index=index, tail_drop=0.9) for index in (0.995, 0.95, 0.9)] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    assert [verdict("ficcrd", "figure-5-tail-drop", lossy_seconds=seconds) for seconds in (10, 9, 1)] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    use = [verdict("ficcrd", "limited-elsewhere-literal-timed", use=use) for use in (0.704, 0.604, 0.6)]
    assert use == [REPRODUCED, DIRECTION, NOT]


def test_ficcrd_rules_about_means_need_the_whole_interval() -> None:
    gains = [Interval(1.06, half) for half in (0.01, 0.02, 0.07)]
    assert [verdict("ficcrd", "figure-3-gain", gain=gain) for gain in gains] == [REPRODUCED, DIRECTION, NOT]
    assert [verdict("ficcrd", "figure-4", roughness=Interval(0.4, half)) for half in (0.05, 0.2)] == [
        REPRODUCED,
        DIRECTION,
    ]
    # Neither twice nor half tail drop's drops are like tail drop.
    ratios = [Interval(mean, 0.05) for mean in (1.1, 1.24, 2.0, 0.5)]
    assert [verdict("ficcrd", "encrypted-timed", ratio=ratio) for ratio in ratios] == [REPRODUCED, DIRECTION, NOT, NOT]
    unfair = [Interval(0.97, 0.01), Interval(0.985, 0.01), Interval(0.995, 0.001)]
    assert [verdict("ficcrd", "figure-3-tail-drop", index=index) for index in unfair] == [REPRODUCED, DIRECTION, NOT]


def test_inline_measurement() -> None:
    paper = "inline-measurement"
    windows = [verdict(paper, "figure-6-window", window=window) for window in (25500, 26000, 26001)]
    assert windows == [REPRODUCED, DIRECTION, NOT]
    assert [verdict(paper, "figure-6-reno", part=part) for part in (0.99, 0.981, 0.97)] == [REPRODUCED, DIRECTION, NOT]
    assert [verdict(paper, "estimate-a", worst=worst) for worst in (0.1, 0.2, 0.3)] == [REPRODUCED, DIRECTION, NOT]
    # One that does not recover within the run needs long; one that is never cut needs nothing.
    needed = [verdict(paper, "figure-7-reno-recovery", cut=True, needed=needed) for needed in (float("inf"), 5, 4)]
    assert needed == [REPRODUCED, DIRECTION, NOT]
    assert verdict(paper, "figure-7-reno-recovery", cut=False, needed=None) == NOT
    assert verdict(paper, "figure-7-drained", drained=[2.9, None]) == DIRECTION


def test_swift_start() -> None:
    paper = "swift-start"
    assert [verdict(paper, "figure-4-point-A", times=times) for times in (2.0, 1.9, 1.1)] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    assert [verdict(paper, "figure-8-rate", part=part) for part in (0.95, 0.94, 0.4)] == [REPRODUCED, DIRECTION, NOT]
    errors = [verdict(paper, "estimate-idle", error=error) for error in (0.01, -0.01, 0.011, None)]
    assert errors == [REPRODUCED, REPRODUCED, NOT, NOT]
    assert [verdict(paper, "delayed-ack", part=part) for part in (1.05, 0.94, None)] == [REPRODUCED, NOT, NOT]
    wrong = [verdict(paper, "estimate-forward-1-gbps", wrong=wrong) for wrong in (0.01, 0.05, 0.06)]
    assert wrong == [REPRODUCED, DIRECTION, NOT]
    parts = [verdict(paper, "figure-8-order", part=part) for part in (0.95, 0.0, 0.99, 1.0, None)]
    assert parts == [REPRODUCED, REPRODUCED, DIRECTION, NOT, NOT]


def around(median: float, width: float = 1.0) -> Spread:
    """Return fifty values evenly spaced within `width` on both sides of a median."""
    return Spread.of(median + width * (2 * place / (RUNS - 1) - 1) for place in range(RUNS))


def test_packet_pair_counts() -> None:
    assert [verdict("packet-pair", "figure-8-count", mean=mean) for mean in (190.3, 190.4)] == [REPRODUCED, NOT]


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        (around(22.5), REPRODUCED),
        (around(27.5, 50), REPRODUCED),
        (around(27.6), DIRECTION),
        (around(3), DIRECTION),
        # The interval extends from 9 to 21, and from -3 to 21.
        (around(15, 20), DIRECTION),
        (around(9, 40), NOT),
        (around(-1), NOT),
    ],
)
def test_packet_pair_gain(gain: Spread, expected: Verdict) -> None:
    assert verdict("packet-pair", "figure-9-gain", gains=gain, control=gain) == expected


def test_a_gain_that_the_timer_has_alone_is_none() -> None:
    found = [verdict("packet-pair", "figure-9-gain", gains=around(12), control=around(own)) for own in (0.5, 4)]
    assert found == [NOT, DIRECTION]


@pytest.mark.parametrize(
    ("both", "sender", "expected"),
    [
        (around(6), around(32), REPRODUCED),
        (around(6, 40), around(32), DIRECTION),
        (around(1.9), around(32), NOT),
        (around(-21), around(32), NOT),
        (around(6), around(1), NOT),
    ],
)
def test_packet_pair_order(both: Spread, sender: Spread, expected: Verdict) -> None:
    assert verdict("packet-pair", "order", both=both, sender=sender) == expected


def test_packet_pair_over_20_30_40() -> None:
    gains = [(21, 31, 41), (19, 31, 41), (21, 31, -2)]
    names = ("sender_symmetric", "sender", "both")
    found = [
        verdict("packet-pair", "over-20-30-40", **{name: around(one) for name, one in zip(names, own, strict=True)})
        for own in gains
    ]
    assert found == [REPRODUCED, DIRECTION, NOT]


def test_packet_pair_behaviour() -> None:
    slower = [around(-6, 0.5), around(-3, 0.5), around(0, 0)]
    assert [verdict("packet-pair", "slow-start-slower", difference=one) for one in slower] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    smooth = [(26, 21), (10, 5), (26, 22)]
    assert [verdict("packet-pair", "smooth-transition", new=new, more=new - reno) for new, reno in smooth] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    bursts = [(0.05, 0.9), (0.4, 0.9), (0.5, 0.9), (0.0, 0.05)]
    found = [
        verdict("packet-pair", "aggregated-ack-bursts", new=around(new, 0), reno=around(reno, 0), half=reno / 2)
        for new, reno in bursts
    ]
    assert found == [REPRODUCED, DIRECTION, NOT, NOT]
    unaffected = [around(-4, 0.5), around(-5, 3), around(-16)]
    assert [verdict("packet-pair", "aggregated-ack-segments", difference=one) for one in unaffected] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]


def test_adaptive_layered() -> None:
    paper = "adaptive-layered"
    times = [verdict(paper, "figure-2-growth", times=times) for times in (None, 1.0, 1.05, 1.1, 99.9, 100.0)]
    assert times == [NOT, NOT, NOT, DIRECTION, DIRECTION, REPRODUCED]
    same = [verdict(paper, "figure-5-tcp", worst=worst) for worst in (0.95, 0.94, 0.5, 0.49)]
    assert same == [REPRODUCED, DIRECTION, DIRECTION, NOT]
    apart = [verdict(paper, "figure-3-shares", apart=Interval(mean, 0.03)) for mean in (0.0, -0.05, -0.2)]
    assert apart == [REPRODUCED, DIRECTION, NOT]
    distances = [verdict(paper, "figure-5-cross-traffic", distance=Interval(mean, 0.03)) for mean in (0.1, 0.15, 0.2)]
    assert distances == [REPRODUCED, DIRECTION, NOT]
    nearer, no_nearer = Interval(0.2, 0.1), Interval(0.04, 0.01)
    exponents = [(Interval(0.2, 0.05), no_nearer), (Interval(0.5, 0.05), nearer), (Interval(0.5, 0.05), no_nearer)]
    assert [verdict(paper, "rtt-exponent-altcp", apart=one, nearer=near) for one, near in exponents] == [
        REPRODUCED,
        DIRECTION,
        NOT,
    ]
    alone = [
        verdict(paper, "rtt-exponent-altcp", "at-the-same-times", apart=one, nearer=near)
        for one, near in ((-0.3, 0.0), (0.5, 0.2), (0.5, 0.05))
    ]
    assert alone == [REPRODUCED, DIRECTION, NOT]


def test_the_same_run_in_two_programs() -> None:
    theirs, paper = Run(0.968, 9873), "adaptive-layered"

    def judged(own: Run, **others: bool) -> Verdict:
        flags = {"same_flow": True, "as_many_cuts": True, "as_many_timeouts": True, **others}
        return verdict(paper, "ns2-reno-240-ms", own=own, theirs=theirs, **flags)

    assert judged(Run(0.977, 9963)) == REPRODUCED
    assert judged(Run(0.968, 9980)) == DIRECTION
    assert judged(Run(0.94, 9873)) == DIRECTION
    assert judged(theirs, as_many_cuts=False) == DIRECTION
    assert judged(theirs, same_flow=False) == NOT


@pytest.mark.parametrize("paper", PAPERS)
def test_the_table_of_the_readme_is_what_is_on_record(paper: str) -> None:
    held = section((resources.files(PAPERS[paper]) / "README.md").read_text(encoding="utf-8"), MEASURED_HEADING)
    assert bool(held) == bool(claims_of(PAPERS[paper]).in_readme)
    assert not held or held == by_readings(PAPERS[paper])
