"""The simulator beside models of the papers' mechanisms that use none of its code (`paper_models`)."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path as FilePath

import pytest

import paper_models
from selfclock.papers.agents import SACK
from selfclock.papers.ficcrd import ambiguities as ficcrd_readings
from selfclock.papers.ficcrd.mechanisms import BY_NUMBER
from selfclock.papers.ficcrd.network import scenario as ficcrd_scenario
from selfclock.papers.inline_measurement.mechanisms import PRINTED
from selfclock.papers.inline_measurement.network import background, sender
from selfclock.papers.packet_pair import ambiguities, figure_05
from selfclock.scenario.build import Path
from selfclock.scenario.link import Link
from selfclock.scenario.quantity import gbps, ms, s, segments
from selfclock.scenario.transport import Record
from selfclock.series import flow_series, mean_between


def test_the_models_use_nothing_of_selfclock() -> None:
    text = FilePath(paper_models.__file__).read_text(encoding="utf-8")
    imported = {line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names


@pytest.mark.parametrize("pairs", [ambiguities.ONE, ambiguities.EVERY])
def test_the_ladder_of_figure_5(pairs: str) -> None:
    """Every departure of the first 1.1 s, within a tick: the model has no options, each 4 or 8 bytes of a packet."""
    scenario = next(
        scenario
        for readings, scenario in zip(figure_05.READ, figure_05.scenarios(), strict=True)
        if readings[0] == pairs
    )
    found = figure_05.events(scenario.run())
    model = paper_models.ladder(one_pair=pairs == ambiguities.ONE, until_s=1.09)
    early = [time for time in found.pairs if time < 1.09]
    assert early == pytest.approx(model.pairs, abs=0.010)
    assert [time for time in found.shaped if time < 1.09] == pytest.approx(model.singles, abs=0.010)
    assert [time for time in found.delayed_acks if time < 1.09] == pytest.approx(model.delayed_acks, abs=1e-6)
    assert set(found.intervals) == set(model.replies) == {4}


def test_figure_5_decides_how_many_pairs_are_on_their_way() -> None:
    """The text's pairs are those of one at a time, and so is the shaped segment of 0.900; only 0.860 is of neither."""
    one = paper_models.ladder(one_pair=True, until_s=1.0)
    every = paper_models.ladder(one_pair=False, until_s=1.0)
    assert one.pairs == pytest.approx(figure_05.PAIRS_S, abs=0.010)
    assert len(every.pairs) == len(one.pairs) + 1
    near = [printed for printed in figure_05.SHAPED_S if min(abs(time - printed) for time in one.singles) <= 0.010]
    assert near == [0.580, 0.820, 0.900]


RATE_GBPS = 5.0


def _icim(load: float, *, receiver_card: str, clock: str) -> float:
    """A as measured over A, with the printed search and K given, 5 Gbit/s and 60 ms."""
    control = {**PRINTED.control, "clock": clock, "physical": "oracle", "physical_rate": "5 Gbps"}
    path = Path(
        Link(gbps(RATE_GBPS), ms(20), queue="25000 packets"),
        reverse=Link(gbps(RATE_GBPS), ms(20), queue="25000 packets", name="back"),
        access=Link(gbps(2 * RATE_GBPS), coalescing="100 us"),
        sink_access=Link(gbps(2 * RATE_GBPS), coalescing=receiver_card),
    )
    udp = [replace(background([(0.0, RATE_GBPS * (1 - load))]), packet="340 B")] if load else []
    run = path.scenario(
        [sender(control), *udp], duration=s(5), name="icim", transport={**SACK, "initial_ssthresh": segments(25000)},
        record=Record(s(0.05)),
    ).run()  # fmt: skip
    return mean_between(flow_series(run), "available_bps", 2, 5) / 1e9 / (RATE_GBPS * (1 - load))


@pytest.mark.parametrize("load", [0.0, 0.5])
def test_icim_fails_by_the_receivers_card_alone(load: float) -> None:
    """The printed search behind a card reads twice and more of what there is, in the model as in the simulator."""
    card = paper_models.icim(load, card_s=100e-6).ratio
    exact = paper_models.icim(load, card_s=0.0).ratio
    assert card > 1.7
    assert exact == pytest.approx(1.07, abs=0.04)
    assert _icim(load, receiver_card="100 us", clock="host") == pytest.approx(card, rel=0.10)
    # The simulated connection's own rate varies with its window, the model's does not.
    found = _icim(load, receiver_card="0 s", clock="receiver")
    assert found == pytest.approx(exact, rel=0.15)
    assert found - 1 < (card - 1) / 4


def test_long_bursts_are_the_other_remedy() -> None:
    """Bursts of 40 interrupts read what there is within 10 % through the card."""
    assert paper_models.icim(0.5, card_s=100e-6, interrupts=40, measurements=60).ratio == pytest.approx(1.05, abs=0.05)


#: Of the ten sources one has 2.5 times the others' round-trip time, so that its slow start is two
#: round trips behind. 48 ms of 10 Mbit/s are 14.5 packets of 4136 B.
EARLY, ON_THE_WAY = 9, 14.5


@pytest.mark.parametrize("number", ficcrd_readings.PROPORTIONS)
def test_ficcrd_overflows_where_the_first_rate_comes_too_late(number: int) -> None:
    """With an RD packet for 8 or fewer no flight is large before a rate is known; with one for 32 all of them are."""
    run = ficcrd_scenario(
        f"model-{number}", {**BY_NUMBER, "packets_per_discovery": number}, seconds=20.0
    ).run()  # fmt: skip
    drops = next(link["drops"] for link in run.summary["links"] if link["name"] == "11-12")
    expected = paper_models.overflow(number, EARLY, on_the_way=ON_THE_WAY)
    # With one for 16 the flights fit by a fifth, and the queue has not come to rest.
    assert drops == pytest.approx(expected, rel=0.25, abs=20 if number == 16 else 0)
