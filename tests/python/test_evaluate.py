"""`selfclock evaluate`: its documents, its verdicts, and known results on a few of its runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import selfclock as sc
from selfclock.custom import registered
from selfclock.evaluate import evaluate_all, matrix
from selfclock.evaluate.figures import figure
from selfclock.evaluate.judge import Case, Judged, Samples, Thresholds, of_cases, worst
from selfclock.evaluate.measure import Reading
from selfclock.evaluate.rows import ROWS, misbehaviour, queues, sharing
from selfclock.evaluate.rows.aqm import cuts
from selfclock.evaluate.rows.papers import FROZEN
from selfclock.evaluate.scorecard import RowResult
from selfclock.evaluate.subject import Subject
from selfclock.figure import Line, Rule

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from selfclock.evaluate.runs import Experiment

    Command = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]


def read(experiment: Experiment[Any], name: str, *keys: object) -> list[Any]:
    """Run some of an experiment's runs, and read them."""
    scenarios = experiment.scenarios(Subject.named(name))
    results = sc.run_many([scenarios[key] for key in keys])
    return [experiment.read(Reading(result), key) for result, key in zip(results, keys, strict=True)]


# The command.


def test_json_and_a_report(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("evaluate", "vegas", "--rows", "S1,S19", "--against", "reno,cubic", "--against", "bbr3", "--json",
                     "--out", "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    assert card["algorithm"] == "vegas"
    outage, absence = card["rows"]
    assert {"id", "test", "measure", "value", "verdict"} <= set(outage)
    assert (outage["id"], outage["verdict"], absence["verdict"]) == ("S1", "pass", "not applicable")
    assert list(outage["baselines"]) == ["reno", "cubic", "bbr3"]
    # RFC 6298, section 5.5: the intervals double.
    assert outage["value"] == pytest.approx(2.0, abs=0.01)
    assert json.loads((tmp_path / "out/scorecard.json").read_text(encoding="utf-8")) == card
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "Scorecard of vegas" in page
    assert page.count('class="chart"') == 1
    assert 'class="verdict not-applicable"' in page


def test_a_table(selfclock: Command, tmp_path: Path) -> None:
    done = selfclock("evaluate", "reno+hystart++", "--rows", "S1", "--against", "reno", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    [figure] = tmp_path.rglob("S1.svg")
    assert figure.stat().st_size > 1000
    for word in ("reno+hystart++", "full backoff", "pass", "report.html"):
        assert word in done.stdout


def test_a_figure_shows_what_its_table_says() -> None:
    """Row S18: a point for each case, for the algorithm and its baseline; the marks match the row."""
    [card] = evaluate_all(["vegas"], rows=["S18"], against=["reno"])
    [line] = card.lines
    panel = figure(line, card).figure.panel
    lines = {element.label: element for element in panel.elements if isinstance(element, Line)}
    assert list(lines) == ["reno", "vegas"]
    assert lines["vegas"].y.tolist() == [case.value for case in line.found.cases]
    assert lines["reno"].y.tolist() == [case.value for case in line.baselines["reno"].cases]
    assert lines["vegas"].width > lines["reno"].width
    assert [element.value for element in panel.elements if isinstance(element, Rule)] == [1.1, 2.0]
    assert list(panel.x.names.values()) == ["1", "2"]
    # Elements drawn for one card do not remain in the row for the next.
    assert not any(isinstance(element, Line) for element in line.row.panel.elements)


def test_an_algorithm_of_ones_own(selfclock: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import selfclock as sc\n"
        "@sc.algorithm('evaluated')\n"
        "class Own(sc.CongestionControl):\n"
        "    def on_ack(self, event): self.cwnd += 1 / self.cwnd\n"
        "    def on_loss(self, event): self.cwnd = self.ssthresh = max(self.cwnd / 2, 2)\n"
        "    def on_timeout(self, event): self.ssthresh = max(self.cwnd / 2, 2)\n",
        encoding="utf-8",
    )
    done = selfclock("evaluate", "evaluated", "--algorithm", "own.py", "--rows", "S1", "--against", "reno", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["verdict"] for row in json.loads(done.stdout)["rows"]] == ["pass"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("renoo",), ["renoo", "did you mean 'reno'?"]),
        (("cubic+renoo",), ["cubic+renoo", "hystart++"]),
        (("reno", "--against", "cubic,cubix"), ["cubix", "did you mean 'cubic'?"]),
        (("reno", "--rows", "S1,S99"), ["S99", "S20", "PP1"]),
    ],
)
def test_bad_usage_is_one_message(
    selfclock: Command, tmp_path: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    done = selfclock("evaluate", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert all(word in done.stderr for word in words)
    assert not (tmp_path / "results").exists()


def test_an_error_in_an_algorithm_ends_it(selfclock: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import selfclock as sc\n"
        "@sc.algorithm('broken')\n"
        "class Own(sc.CongestionControl):\n"
        "    def on_ack(self, event): raise ArithmeticError('no idea')\n"
        "    def on_loss(self, event): pass\n"
        "    def on_timeout(self, event): pass\n",
        encoding="utf-8",
    )
    done = selfclock("evaluate", "broken", "--algorithm", "own.py", "--rows", "S1", "--against", "reno")
    assert done.returncode == 1
    assert "no idea" in done.stderr
    assert not (tmp_path / "results").exists()


# The documents.


def test_every_row_is_explained() -> None:
    page = " ".join((ROOT / "docs/evaluation.md").read_text(encoding="utf-8").split())
    for row in ROWS[:20]:
        assert f"### {row.id}: " in page
        text = page.split(f"### {row.id}: ")[1].split(" ### ")[0]
        assert row.passes in text, (row.id, row.passes)
        assert row.warns in text, (row.id, row.warns)
        assert row.source in text, (row.id, row.source)
    for row in ROWS[20:]:
        assert f"| {row.id} |" in page


def test_the_matrix_has_every_algorithm_and_row() -> None:
    page = (ROOT / "docs/scorecards.md").read_text(encoding="utf-8")
    built_in = [name for name in matrix.names() if name not in registered()]
    for name in built_in:
        assert f"| `{name}` |" in page
    assert f"selfclock {sc.VERSION}" in page
    for row in ROWS:
        assert f"| {row.id} |" in page


def test_the_matrix_in_the_documents_is_of_these_algorithms() -> None:
    """A change of the simulator that moves results moves the page, too: `make scorecards`."""
    page = (ROOT / "docs/scorecards.md").read_text(encoding="utf-8").splitlines()
    made = matrix.write(evaluate_all(["cubic"], ())).splitlines()
    (row,) = (line for line in made if line.startswith("| `cubic` |"))
    assert row in page


def test_the_matrix_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "matrix.md"
    monkeypatch.setattr("sys.argv", ["matrix"])
    with pytest.raises(SystemExit, match="name the file"):
        matrix.main()
    monkeypatch.setattr("sys.argv", ["matrix", str(page), "--rows", f"S19,{FROZEN.id}"])
    monkeypatch.setattr(matrix, "names", lambda: ["reno", "swift-start"])
    matrix.main()
    lines = page.read_text(encoding="utf-8").splitlines()
    assert "| algorithm | S19 |" in lines
    assert [line.split(" | ")[0] for line in lines if line.startswith("| `")] == ["| `reno`", "| `swift-start`"]
    special = [line for line in lines if line.startswith(f"| {FROZEN.id} |")]
    assert [line.split(" | ")[1] for line in special] == ["`swift-start`"], "it does not concern the other"


def test_what_a_link_carried_and_dropped() -> None:
    """Over the whole run the series agree with the summary."""
    run = sc.dumbbell("10 Mbps", rtt="20 ms", buffer="5 packets", flows=["reno"], duration="10 s").run()
    reading = Reading(run)
    link = next(each for each in run.summary["links"] if each["name"] == "bottleneck")
    # Sampled every 10 ms, so that up to one packet is on the wire at either end.
    assert reading.link_bps(0, 10) == pytest.approx(1e7 * link["utilization"], rel=0.001)
    sent = link["bytes"] / 1500
    assert reading.loss(0, 10) == pytest.approx(link["drops"] / (link["drops"] + sent), rel=0.001)
    assert link["drops"] > 5
    marks = queues.loss_thresholds(0.04)
    assert [marks.verdict(loss) for loss in (0.08, 0.09)] == ["pass", "fail"], "twice what CUBIC has, and no less"
    assert [queues.loss_thresholds(0.0).verdict(loss) for loss in (0.01, 0.05, 0.06)] == ["pass", "warn", "fail"]


# Verdicts.


def test_marks() -> None:
    smaller, larger = Thresholds(1.0, 2.0), Thresholds(0.9, 0.8, larger_is_better=True)
    assert [smaller.verdict(value) for value in (0.5, 1.0, 1.1, 2.0, 2.1, math.inf, math.nan)] == [
        "pass", "pass", "warn", "warn", "fail", "fail", "fail"
    ]  # fmt: skip
    assert [larger.verdict(value) for value in (1.0, 0.9, 0.85, 0.8, 0.7)] == ["pass", "pass", "warn", "warn", "fail"]
    assert Thresholds(1.0).verdict(1.5) == "fail"
    assert worst(["pass", "not applicable", "report"]) == "pass"


def test_a_row_is_as_good_as_its_worst_case() -> None:
    cases = [Case("a", 0.95, "pass"), Case("b", 0.7, "fail"), Case("c", 0.6, "fail"), Case("d", 0.1, "report")]
    judged = of_cases(cases, larger_is_better=True)
    assert (judged.value, judged.verdict) == (0.6, "fail")


def test_samples() -> None:
    samples = Samples.of([3.0, 1.0, math.inf])
    assert (samples.median, samples.spread) == (3.0, (1.0, math.inf))
    assert Samples.of([2.0]).spread is None


def test_what_never_happened_is_null_in_json() -> None:
    # Regression: a seed in which two flows never became fair had an infinite time, which caused a
    # traceback.
    found = Judged(12.0, "warn", (Case("time", 12.0, "warn", (3.0, math.inf)),))
    document = RowResult(ROWS[0], found, {"reno": Judged(math.inf, "fail")}).document()
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["cases"][0]["spread"] == [3.0, None]


def test_harm() -> None:
    # Half of the rate is lost; the round-trip time has doubled; an improvement over running alone
    # is no harm.
    assert sharing.harm("rate", 10.0, 5.0) == 0.5
    assert sharing.harm("p95 RTT", 0.1, 0.2) == 0.5
    assert sharing.harm("rate", 10.0, 12.0) == sharing.harm("loss", 0.02, 0.01) == 0.0
    assert sharing.harm("loss", 0.0, 0.01) == 1.0


def test_the_exponent_of_a_power_law() -> None:
    points = [(ratio, ratio**1.7) for ratio in (2.0, 4.0, 8.0)]
    assert sharing.exponent(points) == pytest.approx(1.7)
    assert sharing.exponent([(1.0, 1.0)]) == 0.0


def test_cuts_are_counted_once_a_round_trip() -> None:
    times = np.arange(0, 4, 0.01)
    rtt = np.full(len(times), 0.1)
    window = np.where((times > 1.1) & (times < 2.0), 50.0, 100.0)
    # One mark is answered; those in the same round trip need no further response; the one at 3 s is
    # unanswered.
    assert cuts(np.array([1.0, 1.02, 1.15, 3.0]), times, window, rtt) == (2, 1)
    assert cuts(np.array([]), times, window, rtt) == (0, 0)


def test_what_algorithms_have_in_common_runs_once() -> None:
    done: list[float] = []
    cards = evaluate_all(["reno", "cubic"], ["reno"], rows=["S2"], progress=done.append)
    # Reno is algorithm under test, baseline and mark.
    assert len(done) == 2
    assert [line.found.verdict for card in cards for line in card.lines] == ["pass", "warn"]


# Known truths, on few runs; `make scorecard-truths` has the rows whole.


def test_reno_gives_more_to_the_shorter_round_trip_time() -> None:
    # Between 1 and 2 in theory (Lakshman and Madhow 1997), however synchronized losses are.
    (unequal,) = read(sharing.UNEQUAL_RTTS, "reno", (40, 1))
    assert 1.0 < math.log(unequal.ratio) / math.log(unequal.rtt_ratio) < 2.2


def test_scalable_does_not_become_fair() -> None:
    # Multiplicative increase and decrease keep the ratio of two windows with synchronized losses
    # (Chiu and Jain 1989); slow start and chance determine the ratio: Jain's index is 0.92 to 0.94
    # with these seeds.
    seeds = [(10, seed) for seed in sharing.SEEDS]
    scalable, reno = (read(sharing.EQUAL_FLOWS, name, *seeds) for name in ("scalable", "reno"))
    assert max(scalable) < min(reno)


def test_cubic_keeps_a_longer_queue_than_reno_and_bbr_a_short_one() -> None:
    (reno,), (cubic,), (bbr3,) = (read(queues.DEEP_QUEUE, name, 0) for name in ("reno", "cubic", "bbr3"))
    # After a loss from a window of 5 BDP, Reno has half, which leaves 1.5 of the 4 BDP of queue;
    # CUBIC has 0.7, which leaves 2.5.
    assert cubic.mean > reno.mean + 0.3
    assert cubic.p95 > reno.p95
    assert bbr3.p95 < 1.0


def test_bbr_takes_more_than_its_share_at_a_shallow_buffer() -> None:
    shallow, deep = ("reno", 0.25, 1, 1), ("reno", 1.0, 1, 1)
    (bbr3,) = read(sharing.MIXED, "bbr3", shallow)
    (reno,) = read(sharing.MIXED, "reno", deep)
    assert bbr3.share > 0.6
    assert 0.35 < reno.share < 0.65


def test_packet_pair_is_worth_nothing_and_costs_nothing_without_its_partner() -> None:
    # Regression: without a reply it sent one segment per 10 ms after the first loss, for ever: 10
    # MB took 60 s instead of 4. The rest is the spacing of the segments after a recovery: a round
    # trip, 40 ms of the 0.6 s of 1 MB.
    lab = {
        (way, size): read(misbehaviour.ABSENT, "packet-pair", (way, f"{size} at 20 Mbit/s"))[0]
        for way in (misbehaviour.WITHOUT, misbehaviour.PLAIN)
        for size in ("100 kB", "1 MB", "10 MB")
    }
    for size in ("100 kB", "1 MB", "10 MB"):
        without, plain = lab[misbehaviour.WITHOUT, size], lab[misbehaviour.PLAIN, size]
        assert abs(without - plain) < 0.005 * plain + 0.042, size


def test_a_frozen_swift_start_does_not_grow() -> None:
    # "The Swift Start sends only 4 segments each RTT" (Khalil et al., section 4.2): 691 segments of
    # 1 MB, 4 in 42 ms.
    scenarios = FROZEN.experiments[0].scenarios(Subject.named("swift-start"))
    result = scenarios["every 2", False, 1].run()
    completion = result.summary["flows"][0]["completion_s"]
    assert completion is not None
    assert completion == pytest.approx(691 / 4 * 0.042, rel=0.1)
