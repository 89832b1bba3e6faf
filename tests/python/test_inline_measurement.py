"""The inline-measurement thesis: the model alone, marks, and tiny runs that end as claims."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from legible import faults
from selfclock.lotka_volterra import limit, populations
from selfclock.paper_runs import run_studies
from selfclock.papers import inline_measurement
from selfclock.papers.inline_measurement import estimates, table1, together
from selfclock.papers.inline_measurement.marks import mark_loss, mark_response, mark_throughput
from selfclock.papers.inline_measurement.mechanisms import BYTES, PACKETS
from selfclock.papers.inline_measurement.network import (
    drops,
    goodput_gbps,
    scenario,
    sender,
    udp_at,
)
from selfclock.series import flow_series, link_series

if TYPE_CHECKING:
    from selfclock.claims import Findings

#: Runs of a fraction of a second: their measurements are meaningless, but they must be judged.
TINY = 1 / 400


def test_two_species_come_to_52_63_each() -> None:
    _, series = populations([0.0, 10.0], seconds=200.0)
    # The Runge-Kutta error is below 1e-7, and so is the remaining difference after 190 s.
    assert [values[-1] for values in series] == pytest.approx([52.6316, 52.6316], abs=0.001)
    assert limit(2) == pytest.approx(52.6316, abs=1e-4)


def test_ten_species_come_to_10_99_each() -> None:
    _, series = populations([10.0 * number for number in range(10)], seconds=600.0, step_s=0.05)
    assert [values[-1] for values in series] == pytest.approx([10.989] * 10, abs=0.01)


def test_one_species_is_logistic() -> None:
    times, (numbers,) = populations([0.0], seconds=5.0)
    # N(t) = K / (1 + (K / N0 - 1) e^-epsilon t), at 2 s: 100 / (1 + 99 e^-3.9).
    assert times[200] == pytest.approx(2.0)
    assert numbers[200] == pytest.approx(33.2895, abs=1e-3)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="a species"):
        populations([], seconds=1.0)


def test_marks() -> None:
    assert [mark_throughput(part) for part in (0.95, 0.8, 0.79)] == ["○", "△", "×"]
    assert [mark_loss(rate) for rate in (0, 5e-5, 1e-4)] == ["○", "△", "×"]
    assert [mark_response(time) for time in (2.9, 19, None)] == ["○", "△", "×"]


def test_the_background_leaves_what_it_should() -> None:
    # Slow start ends slightly above the 400 packets that fit in 80 Mbit/s and 60 ms.
    udp = udp_at(((0.0, 0.02), (2.0, 0.04)))
    run = scenario(
        "left", [sender("reno")], seconds=4, rate_gbps=0.1, udp=udp, ssthresh=420, samples_s=0.1, buffer="4000 packets"
    ).run()
    series = flow_series(run)
    assert goodput_gbps(series, 1.0, 2.0) == pytest.approx(0.08, rel=0.02)
    assert goodput_gbps(series, 3.0, 4.0) == pytest.approx(0.06, rel=0.02)


def test_a_buffer_in_bytes_is_one_in_packets_without_small_ones() -> None:
    # Figure 6 has no UDP, so its buffer has a single reading: every packet has 1500 B. Slow start
    # overshoots both.
    runs = [
        scenario("buffer", [sender("reno")], seconds=4, rate_gbps=0.1, buffer=buffer.limit(200), samples_s=0.1).run()
        for buffer in (PACKETS, BYTES)
    ]
    assert drops(runs[0]) > 100
    assert runs[0].summary["flows"] == runs[1].summary["flows"]


def test_small_packets_take_the_places_of_a_buffer_in_packets() -> None:
    udp = udp_at(((0.0, 0.15),))
    longest = []
    for buffer in (PACKETS, BYTES):
        run = scenario("buffer", [sender("reno")], seconds=4, rate_gbps=0.1, udp=udp, buffer=buffer.limit(250)).run()
        longest.append(max(link_series(run)["queue_packets"].to_list()))
    # UDP overloads the link, and its packets have (7 * 40 + 4 * 576 + 1500) / 12 = 340 B: 250
    # packets, or in 375 kB, 1102. A full buffer in bytes still takes small packets and drops large
    # ones, so the count is higher.
    assert longest[0] in {250, 251}
    assert 1102 < longest[1] < 2 * 1102


def test_the_printed_reading_is_wrong_by_more_than_the_bandwidth_and_the_repaired_one_right() -> None:
    by_label = {case.label: case for case in estimates.reading_cases()}
    found = [
        estimates.Found(by_label[label], by_label[label].scenario.run(), 1.0)
        for label in ("as printed, load 50%", "and the place in the interrupt, load 50%")
    ]
    printed, corrected = (each.error_a for each in found)
    # A is clamped to K, and K is twice A here: an error of 1 makes the window blind.
    assert printed is not None
    assert printed > 1
    assert corrected is not None
    assert corrected < 0.10


def test_windows_with_a_measured_a() -> None:
    # Two connections: each has 1 - 0.9 + 0.9/2 = 0.55 of the BDP.
    assert [together.measured_limit(number) for number in (1, 2, 5, 10)] == pytest.approx([1, 1.1, 1.4, 1.9])


def test_measured_and_not_given() -> None:
    run = scenario("measured", [sender("lotka-volterra")], seconds=6, rate_gbps=0.1, ssthresh=500).run()
    last = flow_series(run).tail(1)
    assert last["available_bps"].item() == pytest.approx(1e8, rel=0.1)
    assert last["capacity_bps"].item() == pytest.approx(1e8, rel=0.1)


@pytest.fixture(scope="module")
def findings() -> Findings:
    """Every claim, from runs too short to mean anything."""
    [(findings, _)] = run_studies([inline_measurement.study(TINY)])
    return findings


def test_every_verdict_on_record_has_a_claim(findings: Findings) -> None:
    folder = resources.files("selfclock.papers.inline_measurement")
    recorded = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    assert {claim.key for claim in findings.claims} == set(recorded)
    assert len({claim.key for claim in findings.claims}) == len(findings.claims)


def test_every_claim_says_what_was_measured(findings: Findings) -> None:
    figures = {figure.id for figure in findings.figures}
    study = inline_measurement.study(TINY)
    names = [made.name for part in study.parts for made in part.scenarios]
    assert len(set(names)) == len(names)
    for claim in findings.claims:
        assert claim.criterion
        assert claim.variant
        assert claim.figure in {"", *figures}
        assert set(claim.scenarios) <= set(names)
        assert claim.printed is not None or claim.of == "own"


def test_every_figure_of_the_thesis_is_drawn(findings: Findings) -> None:
    assert faults(findings.figures, short=True) == []
    drawn = {figure.id for figure in findings.figures}
    parts = {f"figure-{number}{part}" for number in (6, 7) for part in "abc"}
    assert parts | {f"figure-{number}" for number in (1, 2, 8, 9, 10, 11)} <= drawn
    assert len(drawn) == len(findings.figures)


def test_thresholds_that_reproduce_most_marks() -> None:
    assert table1.best_thresholds([0.9, 0.5, 0.7], ["○", "×", "△"], rising=True) == (3, "○ from 0.9, △ from 0.7")
    assert table1.best_thresholds([1.0, 2.0, 3.0], ["×", "○", "×"], rising=False) == (2, "none")
