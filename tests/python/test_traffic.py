"""Traffic and networks against known answers from outside: queueing theory, ns-2, tbf, fat trees."""

from __future__ import annotations

import json
import math
from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import selfclock as sc
from selfclock.verify import Record, verify


def run_and_verify(text: str) -> sc.Result:
    """Run a scenario that records packets, and check the record independently."""
    scenario = sc.Scenario.parse(text)
    result = scenario.run()
    short = pl.DataFrame(result.connections) if result.connections.num_rows else None
    record = Record(
        scenario.text, scenario.seed, pl.DataFrame(result.packets), dict(result.summary),
        pl.DataFrame(result.flows), pl.DataFrame(result.links), short,
    )  # fmt: skip
    findings = verify(record)
    assert not findings.violations, "\n".join(map(str, findings.violations[:5])) + text
    return result


def path(bottleneck: str, flows: str, more: str = "", seconds: float = 4) -> str:
    return f"""
schema = 1
duration = "{seconds:g} s"
{more}
[network]
topology = "dumbbell"
bottleneck = {{ {bottleneck}, delay = "15 ms" }}
access = {{ rate = "1 Gbps", delay = "1 ms" }}
{flows}
[record]
packets = true
interval = "100 ms"
"""


BULK = '[[flow]]\ncongestion_control = "cubic"'
MANY = '[[flow]]\ntraffic = { load = "4 Mbps", size = "40 kB" }\n[[flow]]\ntraffic = { size = "500 kB" }'
DATAGRAMS = '[[flow]]\nprotocol = "udp"\ntraffic = { rate = "12 Mbps", arrivals = "poisson" }'

#: Links without queue management and with, lossy, changing, of a trace, with a bucket.
LINKS = (
    'rate = "10 Mbps"',
    'rate = "10 Mbps", queue = { discipline = "codel" }',
    'rate = "10 Mbps", loss = { good = "500 ms", bad = "10 ms" }, jitter = "2 ms"',
    'rate = "10 Mbps", changes = [{ at = "1 s", rate = "5 Mbps" }, { at = "3 s", rate = "20 Mbps" }]',
    'delivery_trace = { opportunities = "1 2x3 5 9" }',
    'rate = "7 Mbps", burst = "20 kB"',
    'rate = "10 Mbps", burst = "8 kB", peak_rate = "50 Mbps", queue = { discipline = "fq-codel" }',
    'rate = "10 Mbps", burst = "8 kB", peak_rate = "100 Mbps", queue = "8 kB", queue_counts = "in-system"',
)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("flows", [BULK, MANY, DATAGRAMS])
def test_a_measured_run_is_confirmed_by_its_record(link: str, flows: str) -> None:
    """From `measure_from` on, and with delays: the totals are those that the packet record makes.

    The same run measured from its beginning has the same packets.
    """
    result = run_and_verify(path(link, flows, 'measure_from = "1.7 s"\nmeasure_delays = true'))
    whole = sc.Scenario.parse(path(link, flows)).run().summary
    assert [each["packets"] for each in result.summary["links"]] == [each["packets"] for each in whole["links"]]
    assert result.summary["measure_from_s"] == 1.7


def test_steady_utilization_is_without_slow_start() -> None:
    """Reno with a queue of two BDP fills its link for good once slow start is over: 100 %, not 9x."""
    text = path('rate = "50 Mbps", queue = "2 bdp"', '[[flow]]\ncongestion_control = "reno"', seconds=20)
    text = text.replace("packets = true", "packets = false").replace('delay = "15 ms"', 'delay = "75 ms"')
    scenario = sc.Scenario.parse(text)
    whole = scenario.run().summary["links"][0]["utilization"]
    steady = scenario.with_overrides(["measure_from=10 s"]).run().summary["links"][0]["utilization"]
    assert whole < 0.96
    assert steady > 0.999


def waits_of_m_d_1(load: float, service_s: float, fraction: float) -> float:
    """The quantile of the wait in M/D/1 (Crommelin 1932; Tijms, A First Course in Stochastic Models, 9.6.2)."""
    getcontext().prec = 60
    rho = Decimal(load)

    def below(services: Decimal) -> Decimal:
        total = Decimal(0)
        for number in range(int(services) + 1):
            part = rho * (number - services)
            total += (part**number if number else Decimal(1)) / math.factorial(number) * (-part).exp()
        return (1 - rho) * total

    low, high = Decimal(0), Decimal(60)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < Decimal(fraction) else (low, middle)
    return float(low) * service_s


def test_delays_of_datagrams_are_those_of_m_d_1() -> None:
    """Poisson datagrams at half load: the quantiles of delay and wait within 1 % of theory.

    2.5 million packets: at this load waits are correlated over some ten services, so that 99.9 %
    of them has 250 independent packets beyond, and its quantile a standard error of about 1 % of
    the wait, less of the delay, which has 1.2 + 1 ms in common. The wait's are held to 99 %.
    """
    service, load = 1.2e-3, 0.5
    network = sc.Graph([sc.Link("10 Mbps", "1 ms", queue="unlimited", between=("a", "b"), duplex=False)])
    flow = sc.Background("5 Mbps", arrivals="poisson", between=("a", "b"))
    scenario = network.scenario([flow], duration="6000 s", measure_delays=True, record={"interval": "off"}, seed=3)
    summary = scenario.run().summary
    delays, waits = summary["flows"][0]["delays"], summary["links"][0]["waits"]
    assert delays["packets"] > 2_400_000
    for key, fraction in (("p95_s", 0.95), ("p99_s", 0.99), ("p999_s", 0.999)):
        expected = waits_of_m_d_1(load, service, fraction)
        assert delays[key] == pytest.approx(expected + service + 1e-3, rel=0.01), key
        if fraction < 0.999:
            assert waits[key] == pytest.approx(expected, rel=0.01), key
    # Half of the packets find the transmitter idle, and so half wait for nothing.
    assert waits["min_s"] == 0
    assert delays["min_s"] == pytest.approx(service + 1e-3)
    assert waits["mean_s"] == pytest.approx(load * service / (2 * (1 - load)), rel=0.01)
    assert waits["mean_s"] == pytest.approx(summary["links"][0]["queue_mean_s"], rel=1e-6)


def test_a_shaper_sends_its_burst_at_once_and_then_its_rate() -> None:
    """The envelope of a token bucket, b + r t, is reached by who is always backlogged, and never exceeded."""
    text = path('rate = "8 Mbps", burst = "50 kB", queue = "unlimited"',
                '[[flow]]\nprotocol = "udp"\ntraffic = { rate = "80 Mbps", packet = "1000 B" }', seconds=2)  # fmt: skip
    events = pl.DataFrame(run_and_verify(text).packets)
    # At the far end of the bottleneck, less its delay.
    left = events.filter((pl.col("event") == "enqueue") & (pl.col("link") == "right-sink1"))
    there = left["time_s"].to_numpy() - 0.015
    sent = 1000 * np.arange(1, len(there) + 1)
    first = there[0]
    assert ((sent - 1000) <= 50_000 + 1e6 * (there - first) + 1).all()
    assert there[45] - first < 0.005
    assert sent[-1] == pytest.approx(50_000 + 1e6 * 2, rel=0.01)


#: Sixteen runs of ns-2.35, `tests/ns2/drops.tcl`: RTOs and retransmitted packets with the chosen
#: packets of the link dropped, whatever transmission they are.
NS2 = json.loads(Path(__file__).parents[1].joinpath("ns2", "drops.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", NS2, ids=lambda case: f"{case['recovery']} {case['drops']}")
def test_chosen_drops_are_answered_as_in_ns2(case: dict[str, object]) -> None:
    """Fall and Floyd's one to four drops (CCR 26(3), 1996) of a slow start: Tahoe, Reno, NewReno, SACK.

    RTOs are equal in all sixteen, retransmissions but for one packet of Tahoe, which goes back: the
    first ACK does not open ns-2's window, so one packet less is outstanding.
    """
    text = f"""
    schema = 1
    duration = "60 s"
    profile = "classic"
    [network]
    topology = "graph"
    nodes = ["s", "r", "k"]
    link = [
        {{ from = "s", to = "r", rate = "8 Mbps", delay = "0.1 ms", queue = "1000 packets" }},
        {{ from = "r", to = "k", rate = "0.8 Mbps", delay = "100 ms", queue = "1000 packets" }},
    ]
    [transport]
    recovery = "{case["recovery"]}"
    receive_window = "28 segments"
    timer = {{ initial = "6 s", minimum = "1 s", granularity = "100 ms" }}
    [[flow]]
    from = "s"
    to = "k"
    congestion_control = "reno"
    traffic = {{ size = "80 kB" }}
    [[router]]
    mechanism = "loss"
    links = ["r-k"]
    kinds = ["data"]
    counts = "all"
    packets = {[number + 1 for number in case["drops"]]}
    [record]
    packets = true
    """
    flow = run_and_verify(text).summary["flows"][0]
    assert flow["timeouts"] == case["timeouts"]
    more = flow["retransmitted_segments"] - int(str(case["retransmitted"]))
    assert more in ({0, 1} if case["recovery"] == "tahoe" else {0})


def test_first_transmissions_alone_are_counted() -> None:
    """Of a flow whose 14th segment is lost again and again only its first transmission is."""
    flow = '[[flow]]\ntraffic = { size = "100 kB" }'
    for counts, lost in (("first-transmissions", 3), ("all", 3)):
        loss = '[[router]]\nmechanism = "loss"\nlinks = ["bottleneck"]\nkinds = ["data"]\npackets = [14, 26, 28]'
        result = run_and_verify(path('rate = "10 Mbps"', f'{flow}\n{loss}\ncounts = "{counts}"'))
        assert result.summary["links"][0]["drops"] == lost
        gone = pl.DataFrame(result.packets).filter(pl.col("event") == "drop")
        if counts == "first-transmissions":
            assert [number // 1448 + 1 for number in gone["sequence"]] == [14, 26, 28]


def test_ecn_bits_are_bleached_and_set() -> None:
    """A bleached packet is dropped by the queue and not marked; CE set by a router needs no queue."""
    flow = '[[flow]]\nprotocol = "udp"\ntraffic = { rate = "20 Mbps", ecn = "ect(1)" }'
    bleach = '[[router]]\nmechanism = "ecn-rewriting"\nlinks = ["bottleneck"]\nof = ["ect(1)"]\nto = "not-ect"'
    queue = 'rate = "10 Mbps", queue = { discipline = "codel", limit = "60 packets" }'
    marked = run_and_verify(path(queue, flow)).summary["links"][0]
    bleached = run_and_verify(path(queue, f"{flow}\n{bleach}")).summary["links"][0]
    assert marked["ce_marks"] > 0
    assert bleached["ce_marks"] == 0
    assert bleached["drops"] > 0
    to_ce = bleach.replace('"not-ect"', '"ce"')
    events = pl.DataFrame(run_and_verify(path('rate = "100 Mbps"', f"{flow}\n{to_ce}")).packets)
    assert set(events.filter(pl.col("event") == "deliver")["ecn"]) == {"ce"}


@pytest.mark.parametrize("routing", ["ecmp", "shortest"])
def test_every_core_link_of_a_fat_tree_is_used(routing: str) -> None:
    """k = 4, 64 flows between pods: with ECMP all 32 core links, of the first path alone 8."""
    tree = sc.FatTree(4, sc.Link("1 Gbps", "10 us", queue="100 packets"), routing=routing)  # type: ignore[arg-type]
    scenario = tree.scenario([sc.Flow("cubic", count=64, size="20 kB")], duration="100 ms", record={"packets": True})
    core = [link for link in run_and_verify(scenario.text).summary["links"] if "core" in link["name"]]
    assert len(core) == 32
    used = sum(link["packets"] > 0 for link in core)
    assert used == (32 if routing == "ecmp" else 8)
    assert any("equal paths" in note for note in scenario.notes) == (routing == "shortest")


def test_a_route_is_taken() -> None:
    """The long way round, both ways, although another is shorter."""
    text = """
    schema = 1
    duration = "2 s"
    [network]
    topology = "graph"
    nodes = ["a", "left", "up", "down", "right", "b"]
    link = [
        { from = "a", to = "left", rate = "100 Mbps", delay = "1 ms" },
        { from = "left", to = "up", rate = "10 Mbps", delay = "1 ms" },
        { from = "up", to = "right", rate = "10 Mbps", delay = "1 ms" },
        { from = "left", to = "down", rate = "10 Mbps", delay = "20 ms" },
        { from = "down", to = "right", rate = "10 Mbps", delay = "20 ms" },
        { from = "right", to = "b", rate = "100 Mbps", delay = "1 ms" },
    ]
    [[flow]]
    from = "a"
    to = "b"
    route = ["left", "down", "right"]
    [record]
    packets = true
    """
    flow = run_and_verify(text).summary["flows"][0]
    assert flow["rtt_min_s"] == pytest.approx(0.084, rel=0.05)
    with pytest.raises(sc.ScenarioError, match=r"no link from \"left\" to \"right\""):
        sc.Scenario.parse(text.replace('"left", "down", "right"]', '"left", "right"]'))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('rate = "10 Mbps", peak_rate = "20 Mbps"', "a peak rate without a bucket"),
        ('rate = "10 Mbps", burst = "20 kB", peak_rate = "10 Mbps"', "not above the rate"),
        (
            'rate = "10 Mbps", burst = "20 kB", changes = [{ at = "1 s", rate = "1 Mbps" }]',
            "changes the rate of a bucket",
        ),
        ('delivery_trace = { opportunities = "1" }, burst = "20 kB"', "a bucket of a link that has no rate"),
        ('rate = "10 Mbps", burst = "0 B"', "burst"),
        ('rate = "10 Mbps", loss = { good = "1 s" }', 'missing key "bad"'),
        ('rate = "10 Mbps", loss = { good = "1 s", bad = "0 s" }', "bad"),
    ],
)
def test_bad_input_is_one_located_line(written: str, said: str) -> None:
    with pytest.raises(sc.ScenarioError) as error:
        sc.Scenario.parse(path(written, BULK))
    first = str(error.value).split("\n")[0]
    assert said in first
    assert ":6:" in first or ":7:" in first


def test_numbers_of_packets_ascend() -> None:
    loss = '[[router]]\nmechanism = "loss"\nlinks = ["bottleneck"]\nkinds = ["data"]\npackets = {}'
    for numbers in ("[14, 14]", "[3, 2]", "[0]", "[]"):
        with pytest.raises(sc.ScenarioError, match=r"packets"):
            sc.Scenario.parse(path('rate = "10 Mbps"', f"{BULK}\n{loss.format(numbers)}"))


def test_dctcp_keeps_its_queue_at_the_threshold() -> None:
    """Figure 13 of the paper (SIGCOMM 2010): K = 65 at 10 Gbit/s, two flows: some 55 to 67 packets, a full link.

    In packets of 1500 B, 1.2 us each. The sawtooth of two flows reaches a few packets below, and a
    packet more per flow and round trip above.
    """
    summary = sc.Scenario.load(Path(__file__).parents[2] / "examples" / "dctcp-queue.toml").run().summary
    link = summary["links"][0]
    waits = link["waits"]
    assert link["utilization"] > 0.999
    assert 55 < waits["p50_s"] / 1.2e-6 < 67
    assert waits["min_s"] / 1.2e-6 > 50
    assert waits["p99_s"] / 1.2e-6 < 70
    assert sum(flow["retransmitted_segments"] for flow in summary["flows"]) == 0
