"""Conditions of a comparison: `--fail-if`, with intervals and a baseline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.compare.conditions import Condition
from selfclock.errors import BadInputError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

PATH = {"rate": "10 Mbps", "duration": "10 s", "overrides": ["network.bottleneck.loss={ probability = 0.002 }"]}


@pytest.fixture(scope="module")
def compared() -> sc.Comparison:
    return sc.compare(["cubic", "reno"], seeds=6, **PATH)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "measure", "bound", "is_relative"),
    [
        ("goodput < 95 %", "goodput_bps", 0.95, True),
        ("goodput_bps<9.5Mbps", "goodput_bps", 9.5e6, False),
        ("mean RTT > 60 ms", "rtt_mean_s", 0.06, False),
        ("rtt_p95 > 120%", "rtt_p95_s", 1.2, True),
        ("retransmitted > 0", "retransmitted_segments", 0.0, False),
        # A utilization is in percent itself.
        ("utilization < 90 %", "utilization", 0.9, False),
    ],
)
def test_a_condition_is_a_measure_a_sign_and_a_bound(text: str, measure: str, bound: float, is_relative: bool) -> None:
    read = Condition.parse(text)
    assert (read.measure, read.bound, read.is_relative) == (measure, pytest.approx(bound), is_relative)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("goodput", "is no condition; write a measure, < or >"),
        ("goodput = 5", "is no condition"),
        ("godput < 5 Mbps", "did you mean 'goodput'?"),
        ("goodput < 5", "is not a rate; write a rate such as"),
        ("goodput < 5 ms", "unknown unit 'ms'"),
        ("drops > many", "'many' is no number"),
    ],
)
def test_what_is_no_condition_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(said)) as refused:
        Condition.parse(text)
    assert str(refused.value).count("\n") == 0


def test_a_condition_holds_if_its_whole_interval_is_beyond_the_bound(compared: sc.Comparison) -> None:
    """A bound of the measure's mean is undecided, one an interval further is not: Student's interval itself."""
    of_reno = next(each for each in compared.estimates if each["algorithm"] == "reno")["measures"]["goodput_bps"]
    mean, half = of_reno["mean"], of_reno["half_width"]
    assert half is not None
    for bound, outcome in [
        (mean, "undecided"),
        (mean + 0.99 * half, "undecided"),
        (mean + 1.01 * half, "holds"),
        (mean - 1.01 * half, "does not hold"),
    ]:
        [_, judged] = compared.judge([f"goodput < {bound:.0f} bps"])
        assert (judged.algorithm, judged.outcome) == ("reno", outcome)
        assert judged.half_width == pytest.approx(half)
    assert "more --seeds narrow the interval" in str(compared.judge([f"goodput < {mean:.0f} bps"])[1])


def test_a_percentage_is_of_the_first_algorithm_seed_by_seed(compared: sc.Comparison) -> None:
    [judged] = compared.judge(["goodput < 95 %"])
    rows = [row for row in compared.measures if row["algorithm"] == "reno"]
    first = [row for row in compared.measures if row["algorithm"] == "cubic"]
    ratio = sum(row["goodput_bps"] for row in rows) / sum(row["goodput_bps"] for row in first)
    assert judged.mean == pytest.approx(ratio)
    paired = [row["goodput_bps"] - 0.95 * other["goodput_bps"] for row, other in zip(rows, first, strict=True)]
    assert (judged.outcome == "holds") == (max(paired) < 0 or sum(paired) / len(paired) < -_half(paired))
    assert "% of the baseline, 6 seeds" in str(judged)


def _half(values: list[float]) -> float:
    """Student's 97.5 % quantile with five degrees of freedom is 2.571 (any printed table)."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return float(2.571 * (variance / len(values)) ** 0.5)


def test_a_comparison_is_as_good_as_itself(compared: sc.Comparison) -> None:
    outcomes = [each.outcome for each in compared.judge(["goodput < 99.9 %", "goodput > 100.1 %"], compared)]
    assert outcomes == ["does not hold"] * 4


def test_one_seed_has_no_interval_and_is_compared_as_it_is() -> None:
    single = sc.compare(["reno"], **PATH)  # type: ignore[arg-type]
    value = single.measures[0]["goodput_bps"]
    assert [each.outcome for each in single.judge([f"goodput < {value + 1:.0f} bps"])] == ["holds"]
    [judged] = single.judge([f"goodput < {value - 1:.0f} bps"])
    assert (judged.outcome, judged.half_width) == ("does not hold", None)
    with pytest.raises(BadInputError, match="name a second algorithm or a baseline"):
        single.judge(["goodput < 95 %"])


def test_the_exit_status_says_that_it_became_worse(command: Command, tmp_path: Path) -> None:
    words = ["compare", "reno", "--rate", "10Mbps", "--duration", "5s"]
    before = command(*words, "--out", str(tmp_path / "before"))
    assert before.returncode == 0
    baseline = ["--baseline", str(tmp_path / "before"), "--fail-if", "goodput < 95 %"]
    same = command(*words, "--out", str(tmp_path / "same"), *baseline)
    assert (same.returncode, "does not hold" in same.stderr) == (0, True)
    # A queue of two packets stands for the change that makes it worse.
    short = ["--set", "network.bottleneck.queue=2 packets"]
    worse = command("compare", "reno", "--rate", "10 Mbps", "--duration", "5s", *short, "--json", *baseline)
    assert (worse.returncode, "reno: goodput < 95 % holds" in worse.stderr) == (1, True)
    other = command("compare", "reno", "--rate", "20Mbps", "--duration", "5s", *baseline)
    assert (other.returncode, "of another path" in other.stderr) == (2, True)
    seeds = command(*words, "--seed", "7", *baseline)
    assert (seeds.returncode, "none of these seeds" in seeds.stderr) == (2, True)
    unknown = command(*words[:1], "cubic", *words[2:], *baseline)
    assert (unknown.returncode, "no algorithm is named 'cubic'" in unknown.stderr) == (2, True)
    alone = command(*words, *baseline[:2])
    assert (alone.returncode, "give a condition" in alone.stderr) == (2, True)
    (tmp_path / "summary.json").write_text("{}")
    foreign = command(*words, "--baseline", str(tmp_path / "summary.json"), *baseline[2:])
    assert (foreign.returncode, "no document of selfclock compare" in foreign.stderr) == (2, True)
    missing = command(*words, "--baseline", str(tmp_path), *baseline[2:])
    assert (missing.returncode, "No such file" in missing.stderr) == (2, True)
