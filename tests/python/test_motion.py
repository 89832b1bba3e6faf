"""Packets in transit: replay, time-distance diagram and sketch agree with the record."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import sys
from base64 import b64decode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import selfclock as sc
from selfclock.cli.app import main
from selfclock.errors import BadInputError
from selfclock.figure import Line
from selfclock.hops import WORDS, UnrecordedError, hops_of
from selfclock.motion import motion_of
from selfclock.report.pages import run_page

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from selfclock.result import Result

#: Reno, CUBIC and a scalable flow with ECN over a queue that marks and drops, with bursts of UDP.
MIXED = """
schema = 1
duration = "3 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "5 Mbps", delay = "12 ms", queue = { discipline = "red", limit = "25 packets" } }
reverse = { rate = "300 kbps", delay = "20 ms" }
access = { rate = "50 Mbps", delay = "3 ms" }
[record]
packets = true
[[flow]]
congestion_control = "reno"
[[flow]]
congestion_control = "cubic"
transport = { ecn = "classic" }
[[flow]]
protocol = "udp"
start = "1 s"
stop = "2 s"
traffic = { rate = "4 Mbps", packet = "900 B" }
"""

PARKING_LOT = """
schema = 1
duration = "2 s"
[network]
topology = "parking-lot"
hops = 3
hop = { rate = "4 Mbps", delay = "7 ms", queue = "8 packets" }
access = { rate = "40 Mbps", delay = "1 ms" }
[record]
packets = true
[[flow]]
from = "source0"
to = "sink0"
[[flow]]
from = "source1"
to = "sink1"
congestion_control = "cubic"
[[flow]]
from = "source2"
to = "sink2"
"""


@dataclass
class Seen:
    """The state of a record at a time: packets in each queue and on each link, data packets arrived or not."""

    waiting: dict[str, int] = field(default_factory=dict)
    flying: dict[str, int] = field(default_factory=dict)
    delivered: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)


def seen_at(record: pl.DataFrame, time_s: float) -> Seen:
    """Read a record up to a time, event by event: the oracle, which knows no rates or delays."""
    seen, where = Seen(), {}
    rows = record.filter(pl.col("time_s") <= time_s).select("event", "link", "packet", "flow", "kind")
    for event, link, packet, flow, kind in rows.with_columns(pl.exclude("packet").cast(pl.String)).iter_rows():
        if event in {"enqueue", "transmit"}:
            where[packet] = ("waiting" if event == "enqueue" else "flying", link)
        elif event in {"deliver", "drop", "lose"}:
            where.pop(packet, None)
            ends = seen.delivered if event == "deliver" else seen.dropped
            if kind in {"data", "datagram"}:
                ends[flow] = ends.get(flow, 0) + 1
    for state, link in where.values():
        of_state = getattr(seen, state)
        of_state[link] = of_state.get(link, 0) + 1
    return seen


def record_of(result: Result) -> pl.DataFrame:
    return pl.DataFrame(result.packets)


def times_between(record: pl.DataFrame, parts: int) -> list[float]:
    """Return times without events, spread over a record."""
    times = record["time_s"].unique().sort().to_numpy()
    # Between two events at least a microsecond apart: a replay counts in nanoseconds.
    apart = np.flatnonzero(np.diff(times) > 1e-6)
    return [float(times[at] + times[at + 1]) / 2 for at in apart[:: max(len(apart) // parts, 1)]]


def as_drawn(result: Result, time_s: float) -> Seen:
    """Derive the state at a time from the hops of a replay."""
    hops = hops_of(result)
    links, flows = hops.network.links, hops.network.flows
    gone = hops.fate == 1
    left = np.where(gone, hops.leave, hops.start)
    states = {
        "waiting": (hops.enter <= time_s) & ~(left <= time_s),
        "flying": (hops.start <= time_s) & (hops.arrive > time_s) & ~gone,
    }
    counts = {
        state: {links[index].name: int((rows & (hops.link == index)).sum()) for index in np.unique(hops.link[rows])}
        for state, rows in states.items()
    }
    data = hops.data[hops.packet] & (hops.leave <= time_s)

    def ended(fates: Iterable[int]) -> dict[str, int]:
        rows = data & np.isin(hops.fate, list(fates))
        found = np.unique(hops.flow[hops.packet[rows]], return_counts=True)
        return {flows[flow].name: int(count) for flow, count in zip(*found, strict=True)}

    return Seen(counts["waiting"], counts["flying"], ended([3]), ended([1, 2]))


@pytest.fixture(scope="module", params=[MIXED, PARKING_LOT], ids=["mixed", "parking-lot"])
def run(request: pytest.FixtureRequest) -> Result:
    return sc.Scenario.parse(request.param).run()


def test_hops_say_what_the_record_says(run: Result) -> None:
    record = record_of(run)
    times = times_between(record, 25)
    assert len(times) > 20
    for time_s in times:
        assert as_drawn(run, time_s) == seen_at(record, time_s), time_s
    assert seen_at(record, times[-1]).dropped, "the test must see drops"


#: A path with one more imperfection, and the text added to the scenario.
IMPERFECT = """
schema = 1
duration = "2 s"
[record]
packets = true
[network]
topology = "dumbbell"
bottleneck = {{ rate = "5 Mbps", delay = "12 ms", queue = {queue}{wire} }}
access = {{ rate = "50 Mbps", delay = "3 ms"{access} }}
[[flow]]
congestion_control = "reno"
[[flow]]
congestion_control = "cubic"
{router}
"""
PLAIN = {"queue": '"20 packets"', "wire": "", "access": "", "router": ""}
CHANGES = '[{ at = "0.7 s", rate = "1 Mbps", delay = "30 ms" }, { at = "1.4 s", rate = "8 Mbps", delay = "5 ms" }]'
REORDERING = 'mechanism = "reordering"\nlinks = ["right-sink1"]\nprobability = 0.05\ndelay = "5 ms"'


@pytest.mark.parametrize(
    "change",
    [
        {"wire": ', jitter = "10 ms"'},
        {"wire": ", loss = { good_to_bad = 0.01, bad_to_good = 0.3 }"},
        {"wire": f", changes = {CHANGES}"},
        {"access": ', coalescing = "2 ms"'},
        {"queue": '{ discipline = "fq-codel", limit = "20 packets" }'},
        {"router": f"[[router]]\n{REORDERING}"},
    ],
    ids=["jitter", "loss", "changes", "coalescing", "fq-codel", "reordering"],
)
def test_hops_of_imperfect_paths(change: dict[str, str]) -> None:
    result = sc.Scenario.parse(IMPERFECT.format(**{**PLAIN, **change})).run()
    record, hops = record_of(result), hops_of(result)
    for time_s in times_between(record, 15):
        drawn, expected = as_drawn(result, time_s), seen_at(record, time_s)
        # The record does not distinguish a packet on a link from one held behind it by a router or
        # network card.
        held = (hops.arrive <= time_s) & (hops.leave > time_s) & ~np.isin(hops.fate, [1, 2])
        for index in hops.link[held]:
            name = hops.network.links[index].name
            drawn.flying[name] = drawn.flying.get(name, 0) + 1
        assert drawn == expected, time_s
    assert (np.diff([hops.enter, hops.start, hops.sent, hops.arrive, hops.leave], axis=0) < -1e-9).sum() == 0
    if change.keys() & {"access", "router"}:
        assert (hops.leave - hops.arrive > 1e-4).sum() > 10, "the test must see packets that are held"


def test_a_span_of_the_record_says_the_same() -> None:
    scenario = sc.Scenario.parse(MIXED)
    span = ["record.packets_from=1.2 s", "record.packets_until=1.7 s"]
    whole, part = scenario.run(), scenario.with_overrides(span).run()
    record = record_of(part)
    assert 1.2 <= record["time_s"].min() < 1.21
    assert 1.69 < record["time_s"].max() <= 1.7
    inside = record_of(whole).filter(pl.col("time_s").is_between(1.2, 1.7))
    assert record.equals(inside), "a span is a cut of the record"
    for time_s in times_between(record, 12):
        drawn, expected = as_drawn(part, time_s), seen_at(record_of(whole), time_s)
        assert (drawn.waiting, drawn.flying) == (expected.waiting, expected.flying), time_s


def test_a_span_changes_nothing_else() -> None:
    scenario = sc.Scenario.parse(MIXED)
    of_span = scenario.with_overrides(["record.packets_from=1.2 s", "record.packets_until=1.7 s"]).run()
    unrecorded = scenario.with_overrides(["record.packets=false"]).run()
    kept = [{key: value for key, value in each.summary.items() if key not in {"cpu_s", "events"}}
            for each in (of_span, unrecorded)]  # fmt: skip
    assert kept[0] == kept[1]


def test_what_a_span_must_be() -> None:
    for changes, said in (
        (["record.packets_from=3 s"], "must be earlier than duration"),
        (["record.packets_from=2 s", "record.packets_until=1 s"], "must be later than packets_from"),
    ):
        with pytest.raises(sc.ScenarioError, match=said):
            sc.Scenario.parse(MIXED, overrides=changes)


def test_a_verifier_refuses_a_part_of_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.toml").write_text(MIXED)
    main_ends(["run", str(tmp_path / "s.toml"), "--replay", "1s", "--out", str(tmp_path / "out")], 0)
    capsys.readouterr()
    main_ends(["verify", str(tmp_path / "out")], 2)
    assert "packets of 0 s to 1s only" in capsys.readouterr().err


def main_ends(arguments: list[str], status: int) -> None:
    with pytest.raises(SystemExit) as end:
        sys.exit(main(arguments))
    assert (end.value.code or 0) == status


def steady(**transport: object) -> Result:
    """One flow that keeps a link of 1 Mbit/s busy: 12 ms per packet of 1500 B."""
    return sc.dumbbell(
        "1 Mbps",
        "100 ms",
        "100 packets",
        ["reno"],
        duration="4 s",
        record={"packets": True},
        transport={"delayed_ack": "off", "mss": "1448 B", **transport},
    ).run()


def lines_of(result: Result, **span: float) -> dict[str, Line]:
    figure = result.plot.path(**span)
    return {each.label: each for each in figure.panel.elements if isinstance(each, Line) and each.label}


def test_acks_reach_the_sender_at_the_pace_of_the_bottleneck() -> None:
    result = steady(receive_window="43440 B")
    acks = lines_of(result, start_s=2.0, duration_s=0.5)["ACKs"]
    # The end of a line at the sender, at position 0.
    arrivals = np.unique(np.round(acks.x[acks.y == 0.0], 9))
    arrivals = arrivals[(arrivals > 2000) & (arrivals < 2500)]
    assert len(arrivals) > 35
    assert np.diff(arrivals) == pytest.approx(12.0, abs=1e-6), "1500 B at 1 Mbit/s"


def test_slopes_are_propagation_delays() -> None:
    # 50 ms each way: 10, 30 and 10 ms. The axis is in milliseconds of delay, so a slope is 1.
    for name, line in lines_of(steady()).items():
        places = {"segments": [0, 10, 40, 50], "ACKs": [0, 10, 40, 50]}[name]
        assert sorted(set(line.y[np.isfinite(line.y)])) == pytest.approx(places)
        rises = np.diff(line.y)
        moving = np.isfinite(rises) & (rises != 0)
        assert moving.sum() > 30
        assert np.diff(line.x)[moving] == pytest.approx(np.abs(rises[moving]), abs=1e-6)


def test_waiting_and_sending_are_level() -> None:
    """The second of two segments sent together waits for the first, and each takes 12 ms on the link."""
    result = steady(initial_window="2 segments", handshake=False)
    thick = [each for each in result.plot.path(duration_s=0.04).panel.elements if isinstance(each, Line)][1]
    spans = np.diff(thick.x.reshape(-1, 3)[:, :2], axis=1).ravel()
    assert spans[:2] == pytest.approx(12.0, abs=1e-6)
    assert thick.x[3] == pytest.approx(thick.x[1], abs=1e-6), "the second begins when the first is sent"


def test_a_diagram_says_what_it_needs() -> None:
    with pytest.raises(UnrecordedError, match=r"record of packets: run with --set record\.packets=true"):
        sc.dumbbell(duration="1 s").run().plot.path()
    result = steady()
    with pytest.raises(BadInputError, match="did you mean 'flow1'"):
        result.plot.path("flow11")
    with pytest.raises(BadInputError, match="no packet from 9 to"):
        result.plot.path(start_s=9.0)


def unpacked(text: str) -> bytes:
    return gzip.decompress(b64decode(text))


def test_a_replay_is_bounded_and_says_so() -> None:
    replay = motion_of(sc.Scenario.parse(MIXED).run(), most=500)
    assert replay is not None
    lengths = {name: length for name, _, length in replay.document["columns"]}
    assert lengths["enter"] == 500
    assert replay.document["end"] < 3.0
    assert any(note.startswith("Only the first ") for note in replay.notes)
    assert len(unpacked(replay.packed)) == len(replay.columns)
    json.loads(replay.text)


def test_many_hosts_are_a_bundle() -> None:
    scenario = sc.dumbbell("20 Mbps", flows=[{"count": 60}], duration="1 s", record={"packets": True})
    layout = scenario.network.layout
    assert layout is not None
    assert [place.name for place in layout.places if place.kind == "bundle"] == ["53 more", "53 more"]
    assert len(layout.places) == 2 + 2 * 8
    replay = motion_of(scenario.run())
    assert replay is not None
    assert "106 hosts are drawn as bundles." in replay.notes


def test_a_sketch_of_ten_thousand_flows_is_small() -> None:
    svg = sc.dumbbell("1 Gbps", flows=[{"count": 9_000}, {"congestion_control": "cubic", "count": 1_000}]).sketch().svg
    assert len(svg) < 30_000
    assert "9,993 more" in svg
    assert "9,000 × reno" in svg
    ET.fromstring(svg)  # noqa: S314  our own text


def test_a_result_has_the_sketch_of_its_scenario() -> None:
    result = sc.dumbbell("8 Mbps", flows=["reno"], duration="100 ms").run()
    assert result.plot.network(400).svg == result.scenario.sketch(400).svg


def test_names_in_a_row_of_nodes_are_whole_on_a_telephone() -> None:
    """Regression: on a phone, names along eight hops overlapped; the drawing is now as wide as they need."""
    network = sc.ParkingLot(8, sc.Link("10 Mbps", "5 ms"), sc.Link("100 Mbps", "1 ms"))
    drawn = network.scenario(["reno"] * 9, duration="1 s")
    short, long = (scenario.sketch(350).svg for scenario in (sc.dumbbell(), drawn))
    assert 'width="350"' in short
    assert "…" not in long
    at = {name: float(x) for x, name in re.findall(r'<text x="([\d.]+)"[^>]*>(router\d)<', long)}
    assert len(at) == 9
    # Seven letters of 12 pixels.
    assert min(b - a for a, b in itertools.pairwise(sorted(at.values()))) > 7 * 6.6


def test_a_sketch_names_links_queues_and_flows() -> None:
    flow = {"name": "a <b> & c", "congestion_control": "cubic"}
    svg = sc.dumbbell("8 Mbps", buffer="30 packets", flows=[flow]).sketch()._repr_svg_()
    words = [element.text or "" for element in ET.fromstring(svg).iter()]  # noqa: S314  our own text
    assert "8 Mbit/s, 12 ms" in words
    assert "drop-tail, 30 packets" in words
    assert "a <b> & c: cubic, source1 → sink1" in words


def chain(routers: int) -> sc.Scenario:
    names = [f"r{number}" for number in range(routers)]
    links = "".join(f'[[network.link]]\nfrom = "{a}"\nto = "{b}"\nrate = "1 Gbps"\ndelay = "1 ms"\n'
                    for a, b in zip(["a", *names], [*names, "b"], strict=True))  # fmt: skip
    nodes = json.dumps(["a", *names, "b"])
    return sc.Scenario.parse(
        f'schema = 1\nduration = "0.3 s"\n[record]\npackets = true\n[network]\ntopology = "graph"\nnodes = {nodes}\n'
        f'{links}[[flow]]\nfrom = "a"\nto = "b"\n'
    )


def test_a_network_of_too_many_routers_is_counted() -> None:
    assert chain(40).network.layout is not None
    large = chain(41)
    assert large.network.layout is None
    assert "Too large to draw: 43 nodes" in large.sketch().svg
    assert "No replay: 43 nodes" in run_page(large.run()).text


def test_routers_stand_in_the_order_of_the_way() -> None:
    layout = sc.Scenario.parse(PARKING_LOT).network.layout
    assert layout is not None
    at = {place.name: place for place in layout.places}
    assert [at[f"router{hop}"].x - at["router0"].x for hop in range(4)] == [0, 1, 2, 3]
    assert at["source0"].x < at["router0"].x
    assert at["sink0"].x > at["router3"].x
    assert at["sink1"].y > at["router1"].y, "hosts in the middle hang below"
    places = [(place.x, place.y) for place in layout.places]
    assert len(set(places)) == len(places), "no node covers another"


def test_the_page_of_a_run_has_a_replay_on_request() -> None:
    scenario = sc.Scenario.parse(PARKING_LOT)
    recorded = run_page(scenario.run())
    assert recorded.text.count('<figure class="motion"') == 1
    assert {"path", "path-later"} <= recorded.figures.keys()
    without = run_page(scenario.with_overrides(["record.packets=false"]).run())
    assert '<figure class="motion"' not in without.text
    assert '<figure class="sketch"' in without.text
    assert "path" not in without.figures


def test_the_command_takes_a_span(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.toml").write_text(MIXED.replace("packets = true", ""))
    out = tmp_path / "out"
    main_ends(["run", str(tmp_path / "s.toml"), "--replay", "0.5s..1s", "--out", str(out)], 0)
    record = pl.read_parquet(out / "packets.parquet")
    assert 0.5 <= record["time_s"].min() <= record["time_s"].max() <= 1.0
    assert '<figure class="motion"' in (out / "report.html").read_text(encoding="utf-8")
    for wrong in ("5", "1s..", "x", "1s..2s..3s", ""):
        capsys.readouterr()
        main_ends(["run", str(tmp_path / "s.toml"), "--replay", wrong, "--out", str(out)], 2)
        assert "write a length such as 5s, or a span such as 10s..12s" in capsys.readouterr().err
    for wrong in ("3s..4s", "2s..1s", "0s"):
        main_ends(["run", str(tmp_path / "s.toml"), "--replay", wrong, "--out", str(out)], 2)
        assert f"--replay: '{wrong}' must begin before the end" in capsys.readouterr().err


def test_a_replay_calls_each_kind_of_packet_by_its_name() -> None:
    # The kinds of the record are those of the engine; what was neither data nor ACK was told as
    # SYN.
    scenario = sc.Scenario.parse(IMPERFECT.format(**PLAIN))
    result = scenario.run()
    hops = hops_of(result)
    motion = motion_of(result)
    assert motion is not None
    words = [kind["word"] for kind in motion.document["kinds"]]
    frame = record_of(result)
    first = frame.sort("packet", maintain_order=True).unique("packet", keep="first", maintain_order=True)
    kinds = first["kind"].cast(pl.String).to_list()
    assert [list(WORDS)[kind] for kind in hops.kind] == kinds
    assert {words[kind] for kind in hops.kind[hops.back]} == {"ACK of", "SYN-ACK of"}
    assert {words[kind] for kind in hops.kind[~hops.back]} == {"segment", "SYN, segment"}
