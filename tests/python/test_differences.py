"""Intervals, other flows and paired differences of a comparison; the link that it measures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.compare.differences import difference, is_certain
from selfclock.errors import BadInputError
from selfclock.figure import Line
from selfclock.report.pages import comparison_page, run_page

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: A policer before a link of 1 Gbit/s, and a last hop of less.
POLICED = """\
schema = 1
name = "policed"
duration = "2 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "1 Gbps", delay = "5 ms", queue = "500 packets", loss = { probability = 0.001 } }
reverse = { rate = "1 Gbps", delay = "5 ms", queue = "500 packets" }
access = { rate = "1 Gbps", delay = "1 ms" }
sink_access = { rate = "300 Mbps", delay = "4 ms" }
[[router]]
mechanism = "policer"
links = ["bottleneck"]
rate = "20 Mbps"
burst = "50 kB"
[[flow]]
name = "ours"
congestion_control = "cubic"
[[flow]]
name = "theirs"
congestion_control = "bbr3"
"""

#: Student's own example, Biometrika 1908, section IX (Cushny and Peebles): additional hours of
#: sleep by two drugs, ten patients. R's `t.test(paired = TRUE)` gives t = 4.0621, p = 0.002833 and
#: the interval 0.7001142 to 2.4598858.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_a_paired_difference_is_students() -> None:
    found = difference(SLEEP, 0.95)
    assert found["mean"] == pytest.approx(1.58)
    assert found["half_width"] == pytest.approx((2.4598858 - 0.7001142) / 2, rel=1e-6)
    assert found["p_value"] == pytest.approx(0.002833, rel=1e-3)
    assert is_certain(found)


@pytest.mark.parametrize(
    ("values", "p_value", "certain"),
    [([1.0], None, False), ([0.0, 0.0], 1.0, False), ([2.0, 2.0], 0.0, True), ([1.0, -1.0], 1.0, False)],
)
def test_differences_of_few_runs(values: list[float], p_value: float | None, certain: bool) -> None:
    found = difference(values, 0.95)
    assert (found["p_value"], is_certain(found)) == (p_value, certain)


@pytest.fixture(scope="module")
def compared() -> sc.Comparison:
    return sc.compare(["cubic", "reno", "bbr3"], scenario=sc.Scenario.parse(POLICED), flow=["ours"], seeds=3)


def test_every_column_has_its_interval(compared: sc.Comparison) -> None:
    """Regression: two of seven columns had one, so that 291 ± 443 read as 291."""
    table = compared.table()
    for estimate, row in zip(compared.estimates, table.rows, strict=True):
        shown = {
            "goodput_bps": 1, "utilization": 2, "rtt_mean_s": 4, "rtt_p95_s": 5, "retransmitted_segments": 6,
        }  # fmt: skip
        for name, at in shown.items():
            half = estimate["measures"][name]["half_width"]
            assert half is not None
            digits = half / max(abs(estimate["measures"][name]["mean"]), 1e-12) > 1e-3
            assert not digits or "±" in row[at], (name, row)
    assert "Means over 3 seeds" in table.caption
    assert "95 % confidence" in table.caption


def test_the_flows_beside_have_a_table(compared: sc.Comparison) -> None:
    titles = [table.title for table in compared.tables()]
    assert titles == ["Algorithms", "Other flows", "Differences"]
    beside = compared.tables()[1]
    assert [row[:2] for row in beside.rows] == [[name, "theirs"] for name in ("cubic", "reno", "bbr3")]
    for estimate, label in zip(compared.estimates, compared.runs, strict=True):
        rates = [result.summary["flows"][1]["goodput_bps"] for result in compared.runs[label]]
        assert estimate["others"]["theirs"]["goodput_bps"]["mean"] == pytest.approx(sum(rates) / 3)


def test_differences_are_within_seeds(compared: sc.Comparison) -> None:
    assert [(each["algorithm"], each["against"]) for each in compared.differences] == [
        ("reno", "cubic"), ("bbr3", "cubic"),
    ]  # fmt: skip
    rates = {name: [row["goodput_bps"] for row in compared.measures if row["algorithm"] == name]
             for name in compared.runs}  # fmt: skip
    expected = difference([a - b for a, b in zip(rates["bbr3"], rates["cubic"], strict=True)], 0.95)
    assert compared.differences[1]["measures"]["goodput_bps"] == pytest.approx(expected)


def test_a_distribution_has_a_step_for_each_seed(compared: sc.Comparison) -> None:
    lines = [element for element in compared.distribution().panel.elements if isinstance(element, Line)]
    assert [line.label for line in lines] == ["cubic", "reno", "bbr3"]
    values = sorted(row["goodput_bps"] / 1e6 for row in compared.measures if row["algorithm"] == "bbr3")
    assert lines[2].x.tolist() == pytest.approx([values[0], *values])
    assert lines[2].y.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    with pytest.raises(BadInputError, match="did you mean 'goodput_bps'"):
        compared.distribution("goodput")


def test_one_seed_has_neither_intervals_nor_differences() -> None:
    alone = sc.compare(["reno", "cubic"], duration="200 ms")
    assert [table.title for table in alone.tables()] == ["Algorithms"]
    assert alone.table().caption.endswith("One seed, so that there are no intervals.")
    assert "±" not in str(alone)


def test_a_policer_makes_the_measured_link(compared: sc.Comparison) -> None:
    """Regression: the last hop of 300 Mbit/s was measured, for its lowest rate."""
    assert compared.link == "bottleneck"
    assert "bottleneck (a policer holds it to 20 Mbit/s)" in compared.table().caption


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ([], "most losses were at bottleneck (a policer holds it to 20 Mbit/s)"),
        ([], "by its policer or random loss on its wire"),
        (["network.bottleneck.queue={ discipline = 'codel' }"], "by its policer, its queue (codel) or random loss"),
    ],
)
def test_the_first_sentence_names_the_link_that_lost(change: list[str], said: str) -> None:
    """Regression: it named a link that "dropped none of them"."""
    page = run_page(sc.Scenario.parse(POLICED).with_overrides(change).run())
    assert said in page.text.replace("&#39;", "'")


@pytest.mark.parametrize(
    ("scenario", "said", "silent"),
    [
        (sc.dumbbell(duration="2 s"), "of them.", " by its"),
        (sc.dumbbell(duration="2 s", buffer="unlimited", loss=0.01), "of them, by random loss on its wire", "queue or"),
        (sc.dumbbell(duration="2 s", buffer=sc.Queue("codel")), "by its queue (codel)", "wire"),
        (sc.Path(sc.Link("5 Mbps", loss=0.01, queue="unlimited"), "20 ms").scenario(["reno"], duration="2 s"),
         "of them, by random loss on its wire", "queue or"),
    ],
)  # fmt: skip
def test_what_cannot_have_lost_is_not_named(scenario: sc.Scenario, said: str, silent: str) -> None:
    sentence = run_page(scenario.run()).text.partition("the busiest link")[2].partition("</p>")[0]
    assert said in sentence
    assert silent not in sentence


LOST = "Drops of bottleneck are those by its policer or random loss on its wire."


def test_tables_and_figures_say_what_may_have_lost(command: Command, tmp_path: Path) -> None:
    (tmp_path / "policed.toml").write_text(POLICED, encoding="utf-8")
    assert LOST in command("run", "policed.toml").stdout.splitlines()
    assert LOST in (tmp_path / "results/policed/report.html").read_text(encoding="utf-8")
    assert LOST in sc.Result.load(tmp_path / "results/policed").plot.queue().notes
    assert "Drops of" not in command("run", "policed.toml", "--set", "network.bottleneck.loss={ probability = 0 }",
                                     "--set", "router=[]", "--out", "plain").stdout  # fmt: skip


def test_the_page_says_seeds_and_chance(compared: sc.Comparison) -> None:
    text = comparison_page(compared).text
    assert "means over 3 seeds" in text
    assert "The runs are those of seed 1 alone" in text


def test_a_narrow_terminal_has_each_interval_below_its_mean(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "policed.toml").write_text(POLICED, encoding="utf-8")
    done = command("compare", "cubic", "reno", "--scenario", "policed.toml", "--flow", "ours", "--seeds", 3)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "3 seeds" in done.stdout.splitlines()[0]
    for word in ("busy", "queue", "theirs", "reno - cubic", "±", "paired t-test"):
        assert word in " ".join(done.stdout.split())
    document = json.loads((tmp_path / "results/compare/compare.json").read_text(encoding="utf-8"))
    assert document["seeds"] == [1, 2, 3]
    assert document["confidence"] == 0.95
    assert document["differences"][0]["measures"]["goodput_bps"]["p_value"] is not None
