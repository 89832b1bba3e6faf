"""The netem table of docs/emulate.md: each counterpart does on our links what sch_netem.c does.

The values are those of tc-netem(8) and net/sched/sch_netem.c: `tabledist` without a table is
uniform in mu ± sigma; `limit` counts all packets that netem holds; `reorder` sends its share at
once and delays the others; `loss gemodel` is a Markov chain with a step per packet.
"""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

import selfclock as sc
from selfclock.verify import Record, verify

#: 1,000 B take 1 ms at 8 Mbit/s.
SIZE = 1000


def delays_ms(link: str, routers: str = "", *, every_ms: float = 20.0, seconds: float = 100.0) -> pl.DataFrame:
    """Send packets at equal intervals over a link; return their numbers, in order of arrival, and delays."""
    rate = SIZE * 8 / every_ms
    scenario = sc.Scenario.parse(
        f"""
        schema = 1
        duration = "{seconds + 1:g} s"
        [network]
        topology = "graph"
        nodes = ["a", "b"]
        [[network.link]]
        from = "a"
        to = "b"
        name = "wire"
        {link}
        {routers}
        [[flow]]
        from = "a"
        to = "b"
        protocol = "udp"
        stop = "{seconds:g} s"
        traffic = {{ rate = "{rate:g} kbps", packet = "{SIZE} B" }}
        [record]
        packets = true
        """
    )
    events = pl.DataFrame(scenario.run().packets)
    sent = events.filter(pl.col("event") == "send").select("packet", sent="time_s")
    there = events.filter(pl.col("event") == "deliver").select("packet", there="time_s")
    joined = there.join(sent, on="packet").sort("there", maintain_order=True)
    return joined.with_columns(delay=(pl.col("there") - pl.col("sent")) * 1e3)


def test_delay_with_jitter_is_uniform_around_it() -> None:
    """`delay 20ms 5ms`: 15 to 25 ms, mean 20, standard deviation 10/sqrt(12) = 2.89 ms; in order.

    5,000 packets 20 ms apart: the standard error of the mean is 0.04 ms; four of them. The tenths
    of the range have 500 packets each, with a standard deviation of 21; four of them.
    """
    found = delays_ms('rate = "8 Gbps"\ndelay = "15 ms"\njitter = "10 ms"')
    delay = found["delay"]
    assert 15 <= delay.min() < 15.02
    assert 24.98 < delay.max() <= 25.01
    assert delay.mean() == pytest.approx(20.0, abs=0.16)
    assert delay.std() == pytest.approx(2.887, rel=0.05)
    tenths = ((delay - 15.0) / 1.0).floor().clip(0, 9).value_counts()["count"]
    assert all(abs(count - 500) < 84 for count in tenths)
    assert found["packet"].is_sorted()


def test_jitter_beyond_the_spacing_keeps_the_order_and_a_spread_does_not() -> None:
    """Packets 1 ms apart. In order each waits for those before: its jitter is the largest of J(k) - k ms over all
    k, which is at most x with the probability of the product of (x + k)/10 over x + k < 10; the
    mean of that is 6.87 ms. Overtaking, as netem without a rate, the mean is 5 ms, and of
    neighbours (1 -
    0.1)²/2 = 40.5 % change places.
    """
    ordered = delays_ms('rate = "8 Gbps"\ndelay = "15 ms"\njitter = "10 ms"', every_ms=1.0, seconds=20.0)
    assert ordered["packet"].is_sorted()
    # Neighbours are alike for some three packets: the standard error is 0.03 ms.
    assert ordered["delay"].mean() == pytest.approx(21.87, abs=0.1)
    assert ordered["delay"].max() <= 25.01
    held = '[[router]]\nmechanism = "reordering"\nlinks = ["wire"]\nprobability = 1\ndelay = "0 s"\nspread = "10 ms"\n'
    free = delays_ms('rate = "8 Gbps"\ndelay = "15 ms"', held, every_ms=1.0, seconds=20.0)
    assert not free["packet"].is_sorted()
    # 20,000 packets: the standard error is 0.02 ms.
    assert free["delay"].mean() == pytest.approx(20.0, abs=0.1)
    assert free["delay"].std() == pytest.approx(2.887, rel=0.03)
    by_number = free.sort("packet")["there"].diff().drop_nulls()
    assert (by_number < 0).mean() == pytest.approx(0.405, abs=0.02)


def test_reorder_sends_its_share_at_once() -> None:
    """`delay 10ms reorder 25%`: a quarter of 5,000 packets at once; three standard errors are 1.8 %."""
    held = '[[router]]\nmechanism = "reordering"\nlinks = ["wire"]\nprobability = 0.75\ndelay = "10 ms"\n'
    delay = delays_ms('rate = "8 Gbps"\ndelay = "0 s"', held)["delay"]
    assert (delay < 0.01).mean() == pytest.approx(0.25, abs=0.019)
    assert (delay.filter(delay > 0.01) - 10.0).abs().max() < 0.01


def test_rate_and_delay() -> None:
    """`rate 8mbit delay 20ms`: 1 ms and 20 ms."""
    delay = delays_ms('rate = "8 Mbps"\ndelay = "20 ms"')["delay"]
    assert delay.min() == pytest.approx(21.0, abs=1e-6)
    assert delay.max() == pytest.approx(21.0, abs=1e-6)


@pytest.mark.parametrize(
    ("loss", "share", "burst"),
    [
        # Independent: a burst has 1 / (1 - p) packets.
        ("{ probability = 0.1 }", 0.1, 1 / 0.9),
        # gemodel 2% 25%: p / (p + r) are lost, in bursts of 1 / r.
        ("{ good_to_bad = 0.02, bad_to_good = 0.25 }", 0.02 / 0.27, 4.0),
        # gemodel 2% 25% 50% 1%: half of the bad state, a hundredth of the good one.
        (
            "{ good_to_bad = 0.02, bad_to_good = 0.25, loss_bad = 0.5, loss_good = 0.01 }",
            0.5 * 0.02 / 0.27 + 0.01 * 0.25 / 0.27,
            None,
        ),
    ],
)
def test_loss(loss: str, share: float, burst: float | None) -> None:
    """Of 50,000 packets; bursts of four are 900: their length has a standard error of 3 %, the share of 4 %."""
    found = delays_ms(f'rate = "8 Gbps"\ndelay = "1 ms"\nloss = {loss}', every_ms=2.0)
    packets = 50_000
    assert 1 - found.height / packets == pytest.approx(share, rel=0.12)
    gaps = found["packet"].diff().drop_nulls() - 1
    if burst is not None:
        assert gaps.filter(gaps > 0).mean() == pytest.approx(burst, rel=0.1)


def limited(rate: str, delay: str, limit: int, load: str, seconds: float, discipline: str = "") -> sc.Result:
    queue = f'{{ limit = "unlimited"{discipline} }}' if discipline else '"unlimited"'
    return sc.Scenario.parse(
        f"""
        schema = 1
        duration = "{seconds:g} s"
        [network]
        topology = "dumbbell"
        bottleneck = {{ rate = "{rate}", delay = "{delay}", queue = {queue}, total_limit = "{limit} packets" }}
        access = {{ rate = "10 Gbps", delay = "0 s" }}
        [[flow]]
        protocol = "udp"
        traffic = {{ rate = "{load}", packet = "1500 B" }}
        """
    ).run()


@pytest.mark.parametrize("discipline", ["", ', discipline = "drr"'])
def test_a_limit_of_1000_packets_in_200_ms(discipline: str) -> None:
    """Little's law: 1,000 packets of 1,500 B in 200 ms and 12 µs are 60.0 Mbit/s, of which 1,448 B are 57.9."""
    link = limited("1 Gbps", "200 ms", 1000, "200 Mbps", 10.2, discipline).summary["links"][0]
    throughput = link["packets"] * 1500 * 8 / 10.2
    assert throughput == pytest.approx(1000 * 1500 * 8 / 0.200012, rel=0.01)
    assert throughput * 1448 / 1500 == pytest.approx(57.9e6, rel=0.01)


def test_a_limit_shared_by_queue_and_wire() -> None:
    """10 Mbit/s and 20 ms, limit 50: 16.7 packets are on the wire and one in transmission, so 32 or 33 wait."""
    result = limited("10 Mbps", "20 ms", 50, "20 Mbps", 5)
    link = result.summary["links"][0]
    assert link["utilization"] > 0.99
    assert link["queue_max_packets"] in {32, 33}
    queue = pl.DataFrame(result.links).filter((pl.col("link") == "bottleneck") & (pl.col("time_s") > 1))
    assert set(queue["queue_packets"]) <= {31, 32, 33}


@pytest.mark.parametrize("discipline", ["drop-tail", "fq-codel"])
def test_verify_judges_the_limit(discipline: str) -> None:
    """It accepts drops at the limit, and no packet beyond a smaller one."""
    scenario = sc.Scenario.parse(
        f"""
        schema = 1
        duration = "2 s"
        [network]
        topology = "dumbbell"
        access = {{ rate = "1 Gbps", delay = "0 s" }}
        [network.bottleneck]
        rate = "10 Mbps"
        delay = "20 ms"
        jitter = "2 ms"
        loss = {{ probability = 0.01 }}
        queue = {{ limit = "100 packets", discipline = "{discipline}" }}
        total_limit = "40 packets"
        [[flow]]
        congestion_control = "cubic"
        [record]
        packets = true
        """
    )
    result = scenario.run()
    assert result.summary["links"][0]["drops"] > 20
    kept = record(scenario, result)
    assert not verify(kept).violations
    smaller = kept.scenario.replace('"40 packets"', '"39 packets"')
    assert {each.rule for each in verify(dataclasses.replace(kept, scenario=smaller)).violations} == {"queue-limit"}


def record(scenario: sc.Scenario, result: sc.Result) -> Record:
    return Record(
        scenario.text,
        scenario.seed,
        pl.DataFrame(result.packets),
        dict(result.summary),
        pl.DataFrame(result.flows),
        pl.DataFrame(result.links),
        None,
    )
