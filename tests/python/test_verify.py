"""The verifier: it accepts the simulator's records, and nothing else."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import selfclock as sc
from random_scenarios import scenarios
from selfclock.save import write_table
from selfclock.verify import Record, verify
from selfclock.verify.violation import GROUNDS, RULES

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from selfclock.verify import Findings

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import golden  # noqa: E402

Rows = list[dict[str, Any]]


def recorded(scenario: sc.Scenario) -> Record:
    """Run a scenario and return the record that it would write."""
    result = scenario.run()
    return Record(
        scenario.text,
        scenario.seed,
        pl.DataFrame(result.packets),
        dict(result.summary),
        pl.DataFrame(result.flows),
        pl.DataFrame(result.links),
        pl.DataFrame(result.connections) if result.connections.num_rows else None,
    )


def check(text: str) -> Findings:
    findings = verify(recorded(sc.Scenario.parse(text)))
    assert not findings.violations, "\n".join(map(str, findings.violations[:20])) + "\n\n" + text
    return findings


#: The same scenarios in every run: a failure is due to the present change. `make verify` shrinks
#: failures as far as possible.
@pytest.mark.parametrize("start", range(4))
def test_random_scenarios(start: int) -> None:
    @seed(start)
    @settings(
        max_examples=50,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(scenarios())
    def each(text: str) -> None:
        check(text)

    each()


#: Packet-hops verified per scenario file; `make verify` covers more.
FILE_HOPS = 8_000
#: Minimum duration, s: before it little happens.
FILE_LEAST_S = 0.15


@pytest.mark.parametrize("name", golden.scenarios())
def test_scenario_files(name: str) -> None:
    # Ten thousand flows would take half a minute before the first packet.
    fewer = ["flow[0].count=500", "duration=60 ms"] if name.endswith("C10k.toml") else []
    scenario = sc.Scenario.load(ROOT / name, fewer)
    share = FILE_HOPS / max(scenario.expected_packet_hops, 1)
    duration = min(max(share * scenario.duration_s, FILE_LEAST_S), scenario.duration_s)
    record = recorded(sc.Scenario.load(ROOT / name, [*fewer, f"duration={duration:.6f} s", "record.packets=true"]))
    assert verify(record).violations == []
    assert record.packets.height > 10


# --- what it finds
# ---------------------------------------------------------------------------------------------------

NETWORK = """\
schema = 1
name = "to be tampered with"
duration = "4 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "2 Mbps", delay = "20 ms", queue = QUEUE }
access = { rate = "20 Mbps", delay = "2 ms" }

[record]
packets = true
interval = "20 ms"

[transport]
receive_window = "30 segments"
"""

TWO_FLOWS = """
[[flow]]
congestion_control = "reno"

[[flow]]
congestion_control = "cubic"
start = "300 ms"
traffic = { size = "200 kB" }
"""

#: Two packets every twelve milliseconds.
TRACED = NETWORK.replace('rate = "2 Mbps"', 'delivery_trace = { opportunities = "12x2" }', 1)

THINNING = '\n[[router]]\nmechanism = "ack-thinning"\nlinks = ["reverse"]\ninterval = "13 ms"\n'
ACKS_LOST = '\n[[router]]\nmechanism = "loss"\nlinks = ["reverse"]\nkinds = ["ack"]\nevery = 5\n'
SCENARIOS = {
    "drop-tail": NETWORK.replace("QUEUE", '"5 packets"') + TWO_FLOWS,
    "codel": NETWORK.replace("QUEUE", '{ discipline = "codel", limit = "50 packets" }') + TWO_FLOWS,
    "marked": NETWORK.replace("QUEUE", '{ discipline = "codel", limit = "50 packets" }')
    + 'ecn = "classic"\n'
    + TWO_FLOWS,
    "traced": TRACED.replace("QUEUE", '"5 packets"') + TWO_FLOWS,
    "traced codel": TRACED.replace("QUEUE", '{ discipline = "codel", limit = "50 packets" }') + TWO_FLOWS,
    "policed": NETWORK.replace("QUEUE", '"50 packets"')
    + TWO_FLOWS
    + '\n[[router]]\nmechanism = "policer"\nlinks = ["bottleneck"]\nrate = "1 Mbps"\nburst = "20 kB"\n',
    "unruly": NETWORK.replace("QUEUE", '"unlimited"')
    + TWO_FLOWS.replace(
        'congestion_control = "reno"',
        'congestion_control = "reno"\ntransport = { misbehaviour = { ack_parts = 2, renege_every = 9 } }',
    )
    + """
[[router]]
mechanism = "loss"
kinds = ["data"]
every = 40
from = "500 ms"
until = "3500 ms"
links = ["bottleneck"]

[[router]]
mechanism = "reordering"
probability = 0.05
delay = "15 ms"
links = ["right-sink1"]

[[router]]
mechanism = "tampering"
receive_window = "20 kB"
probability = 0.5
links = ["reverse"]
""",
    "exchanged": NETWORK.replace("QUEUE", '"50 packets"')
    + '[[flow]]\ncongestion_control = "packet-pair"\n'
    + '\n[[router]]\nmechanism = "tampering"\noptions = "duplicate"\nlinks = ["bottleneck", "reverse"]\n',
    "thinned": NETWORK.replace("QUEUE", '"50 packets"') + TWO_FLOWS + THINNING,
    "thinned without a limit": NETWORK.replace("QUEUE", '"unlimited"') + TWO_FLOWS + THINNING,
    "acks lost": NETWORK.replace("QUEUE", '"unlimited"') + TWO_FLOWS + ACKS_LOST,
}


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    made = {name: recorded(sc.Scenario.parse(text)) for name, text in SCENARIOS.items()}
    for record in made.values():
        names = [name for name, kind in record.packets.schema.items() if kind in {pl.Categorical, pl.Enum}]
        record.packets = record.packets.with_columns(pl.col(names).cast(pl.String))
    return made


def find(rows: Rows, nth: int = 0, **wanted: object) -> int:
    """Return the index of the nth row with these values."""
    matches = [index for index, row in enumerate(rows) if all(row[key] == value for key, value in wanted.items())]
    return matches[nth]


def of(rows: Rows, packet: int) -> Rows:
    return [row for row in rows if row["packet"] == packet]


def change(rows: Rows, packet: int, **changes: object) -> None:
    for row in of(rows, packet):
        row.update(changes)


def an_ack(rows: Rows, **wanted: object) -> dict[str, Any]:
    return rows[find(rows, 40, event="send", kind="ack", flow="flow1", **wanted)]


def new_data(rows: Rows) -> dict[str, Any]:
    """Return a new segment of the second flow, sent after two others, with no loss since its start."""
    return rows[find(rows, 5, event="send", kind="data", flow="flow2", retransmission=False)]


def last_row_twice(rows: Rows) -> None:
    rows.append({**rows[-1], "time_s": 4.1})


def never_sent(rows: Rows) -> None:
    del rows[find(rows, 30, event="send", kind="data")]


def sent_twice(rows: Rows) -> None:
    index = find(rows, 30, event="send", kind="data")
    rows.insert(index, dict(rows[index]))


def delivered_twice(rows: Rows) -> None:
    index = find(rows, 30, event="deliver", kind="data")
    rows.insert(index, dict(rows[index]))


def another_payload(rows: Rows) -> None:
    rows[find(rows, 30, event="deliver", kind="data")]["sequence"] += 1


def another_link(rows: Rows) -> None:
    packet = rows[find(rows, 30, event="send", kind="data")]["packet"]
    for row in of(rows, packet):
        row["link"] = "reverse" if row["link"] == "bottleneck" else row["link"]


def sooner_on_the_wire(rows: Rows) -> None:
    for index, row in enumerate(rows):
        waits = (
            row["event"] == "transmit" and row["link"] == "bottleneck" and rows[index - 1]["packet"] != row["packet"]
        )
        if waits and row["time_s"] > 1:
            row["time_s"] -= 1e-9
            return


def before_the_opportunity(rows: Rows) -> None:
    sooner_on_the_wire(rows)


def with_a_later_opportunity(rows: Rows) -> None:
    row = rows[find(rows, 100, event="transmit", link="bottleneck")]
    row["time_s"] += 0.012
    rows.sort(key=lambda other: other["time_s"])


def three_with_one_opportunity(rows: Rows) -> None:
    row = rows[find(rows, 100, event="transmit", link="bottleneck")]
    row["time_s"] -= 0.012
    rows.sort(key=lambda other: other["time_s"])


def overtaking(rows: Rows) -> None:
    sent = [row for row in rows if row["event"] == "transmit" and row["link"] == "bottleneck"]
    entered = {
        row["packet"]: row["time_s"] for row in rows if row["event"] == "enqueue" and row["link"] == "bottleneck"
    }
    first, second = next(
        (first, second)
        for first, second in itertools.pairwise(sent[200:])
        if entered[second["packet"]] <= first["time_s"] and first["flow"] == second["flow"]
    )
    first["packet"], second["packet"] = second["packet"], first["packet"]


def arrival_out_of_turn(rows: Rows) -> None:
    index = find(rows, 50, event="enqueue", link="right-sink1")
    row = rows[index]
    row["time_s"] += 1e-3
    rows.sort(key=lambda other: other["time_s"])


def a_mark(rows: Rows) -> None:
    index = find(rows, 30, event="enqueue", link="bottleneck")
    rows.insert(index + 1, {**rows[index], "event": "mark", "ecn": "ce"})


def lost_on_the_wire(rows: Rows) -> None:
    index = find(rows, 30, event="transmit", link="bottleneck")
    row = rows[index]
    rows[:] = rows[: index + 1] + [other for other in rows[index + 1 :] if other["packet"] != row["packet"]]
    rows.append({**row, "event": "lose", "time_s": row["time_s"] + 1500 * 8 / 2e6})
    rows.sort(key=lambda other: other["time_s"])


def vanishing(rows: Rows) -> None:
    index = find(rows, 30, event="transmit", link="bottleneck")
    packet = rows[index]["packet"]
    rows[:] = rows[: index + 1] + [other for other in rows[index + 1 :] if other["packet"] != packet]


def too_late(rows: Rows) -> None:
    rows[find(rows, 30, event="deliver", kind="ack")]["time_s"] += 1e-6
    rows.sort(key=lambda other: other["time_s"])


def acknowledging_more(rows: Rows) -> None:
    ack = an_ack(rows)
    change(rows, ack["packet"], acknowledgement=ack["acknowledgement"] + 1448)


def two_acknowledgements(rows: Rows) -> None:
    """Optimistic division: three ACKs in place of each, so that some acknowledge nothing."""
    for index in range(len(rows) - 1, -1, -1):
        if rows[index]["kind"] == "ack":
            for copy in (1, 2):
                rows.insert(index + 1, {**rows[index], "packet": rows[index]["packet"] + copy * 1_000_000})


def another_block(rows: Rows) -> None:
    ack = next(row for row in rows if row["sack"] and row["event"] == "send")
    change(rows, ack["packet"], sack=[{"first": ack["sack"][0]["first"], "end": ack["sack"][0]["end"] + 1448}])


def no_block(rows: Rows) -> None:
    ack = next(row for row in rows if row["sack"] and row["event"] == "send")
    change(rows, ack["packet"], sack=[], size_bytes=52)


def unanswered(rows: Rows) -> None:
    packet = an_ack(rows)["packet"]
    rows[:] = [row for row in rows if row["packet"] != packet]


def a_larger_window(rows: Rows) -> None:
    change(rows, an_ack(rows)["packet"], receive_window_bytes=10**6)


def another_echo(rows: Rows) -> None:
    change(rows, an_ack(rows)["packet"], timestamp_echo_us=7)


def a_byte_more(rows: Rows) -> None:
    data = new_data(rows)
    change(rows, data["packet"], size_bytes=data["size_bytes"] + 1)


def a_gap(rows: Rows) -> None:
    data = new_data(rows)
    change(rows, data["packet"], sequence=data["sequence"] + 1448)


def again_without_reason(rows: Rows) -> None:
    data = new_data(rows)
    change(rows, data["packet"], sequence=data["sequence"] - 1448, retransmission=True)


TAMPERED: dict[str, tuple[str, str, Callable[[Rows], None]]] = {
    function.__name__: (rule, scenario, function)
    for rule, scenario, function in (
        ("clock", "drop-tail", last_row_twice),
        ("sent-once", "drop-tail", never_sent),
        ("sent-once", "drop-tail", sent_twice),
        ("one-end", "drop-tail", delivered_twice),
        ("unchanged", "drop-tail", another_payload),
        ("route", "drop-tail", another_link),
        ("rate", "drop-tail", sooner_on_the_wire),
        ("rate", "traced", before_the_opportunity),
        ("rate", "traced", with_a_later_opportunity),
        ("rate", "traced codel", three_with_one_opportunity),
        ("order", "codel", overtaking),
        ("delay", "drop-tail", arrival_out_of_turn),
        ("mark", "drop-tail", a_mark),
        ("loss", "drop-tail", lost_on_the_wire),
        ("conservation", "drop-tail", vanishing),
        ("delay", "codel", too_late),
        ("acknowledgement", "drop-tail", acknowledging_more),
        ("acknowledgement", "drop-tail", two_acknowledgements),
        ("sack", "drop-tail", another_block),
        ("sack", "drop-tail", no_block),
        ("delayed-ack", "drop-tail", unanswered),
        ("receive-window", "drop-tail", a_larger_window),
        ("timestamp", "drop-tail", another_echo),
        ("size", "drop-tail", a_byte_more),
        ("sequence", "drop-tail", a_gap),
        ("retransmission", "codel", again_without_reason),
    )
}

#: Scenarios that contradict their run: (rule, scenario, original text, replacement).
ANOTHER_SCENARIO = (
    ("queue-limit", "drop-tail", "5 packets", "4 packets"),
    ("queue-limit", "codel", "50 packets", "3 packets"),
    ("drop", "drop-tail", "5 packets", "6 packets"),
    ("drop", "codel", '"codel"', '"codel", target = "200 ms"'),
    ("drop", "codel", "codel", "drr"),
    ("mark", "marked", '"codel"', '"codel", target = "200 ms"'),
    ("mark", "marked", "codel", "drr"),
    ("rate", "codel", "2 Mbps", "1.9 Mbps"),
    ("rate", "drop-tail", "2 Mbps", "2.1 Mbps"),
    ("rate", "traced", '"12x2"', '"12x3"'),
    ("rate", "traced", '"12x2"', '"6"'),
    ("rate", "traced codel", '"12x2"', '"12"'),
    ("rate", "traced codel", '"12x2"', '"12x3"'),
    ("queue-limit", "traced", "5 packets", "4 packets"),
    ("drop", "traced", "5 packets", "6 packets"),
    ("delay", "traced codel", '"20 ms", queue', '"21 ms", queue'),
    ("delay", "drop-tail", '"20 ms", queue', '"21 ms", queue'),
    ("policer", "policed", "1 Mbps", "900 kbps"),
    ("thinning", "thinned", '"13 ms"', '"5 ms"'),
    # A single dropped ACK, without a successor at that instant.
    ("thinning", "acks lost", ACKS_LOST, THINNING),
    ("drop", "unruly", "every = 40", "every = 41"),
    ("drop", "unruly", "every = 40", 'spacing = "300 ms"'),
    ("drop", "unruly", '"500 ms"', '"800 ms"'),
    ("drop", "unruly", '["data"]', '["ack"]'),
    ("delay", "unruly", '"15 ms"', '"14 ms"'),
    ("receive-window", "unruly", '"20 kB"', '"10 kB"'),
    ("acknowledgement", "unruly", "ack_parts = 2", "ack_parts = 3"),
    ("acknowledgement", "unruly", "ack_parts = 2, ", ""),
    ("sack", "unruly", "renege_every = 9", "renege_every = 8"),
    ("unchanged", "exchanged", '"duplicate"', '"none"'),
    ("unchanged", "exchanged", '["bottleneck", "reverse"]', '["reverse"]'),
    ("application", "drop-tail", "200 kB", "100 kB"),
    ("application", "drop-tail", "300 ms", "400 ms"),
    ("receive-window", "codel", "30 segments", "29 segments"),
    ("delayed-ack", "codel", "[transport]", "[transport]\ndelayed_ack = { every = 1 }"),
    ("delayed-ack", "codel", "[transport]", '[transport]\ndelayed_ack = { timer = "5 ms", quick = false }'),
)


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_record_is_found(records: dict[str, Record], name: str) -> None:
    rule, scenario, tamper = TAMPERED[name]
    original = records[scenario]
    rows = original.packets.to_dicts()
    tamper(rows)
    packets = pl.DataFrame(rows, schema=original.packets.schema)
    findings = verify(Record(original.scenario, original.seed, packets))
    assert rule in {violation.rule for violation in findings.violations}, [str(v) for v in findings.violations[:5]]


@pytest.mark.parametrize(("rule", "scenario", "written", "instead"), ANOTHER_SCENARIO)
def test_the_record_of_another_scenario_is_found(
    records: dict[str, Record], rule: str, scenario: str, written: str, instead: str
) -> None:
    original = records[scenario]
    text = original.scenario.replace(written, instead)
    assert text != original.scenario
    findings = verify(Record(text, original.seed, original.packets))
    assert rule in {violation.rule for violation in findings.violations}, [str(v) for v in findings.violations[:5]]


def test_another_summary_is_found(records: dict[str, Record]) -> None:
    original = records["drop-tail"]
    assert original.summary is not None
    for part in ("flows", "links"):
        for key, value in original.summary[part][0].items():
            derived = isinstance(value, int | float) and key not in {
                "timeouts", "fast_retransmits", "rtt_min_s", "rtt_mean_s", "rtt_p95_s",
            }  # fmt: skip
            if derived:
                summary = json.loads(json.dumps(original.summary))
                summary[part][0][key] = value + 1
                record = Record(original.scenario, original.seed, original.packets, summary)
                assert {violation.rule for violation in verify(record).violations} == {"summary"}, key


@pytest.mark.parametrize(
    ("table", "column", "rule"),
    [("links", "queue_packets", "series"), ("links", "drops", "series"), ("links", "bytes", "series"),
     ("links", "utilization", "series"), ("flows", "sent_bytes", "series"), ("flows", "acknowledged_bytes", "series"),
     ("flows", "in_flight_bytes", "series"), ("flows", "cwnd_bytes", "window")],
)  # fmt: skip
def test_other_series_are_found(records: dict[str, Record], table: str, column: str, rule: str) -> None:
    original = records["codel"]
    frame: pl.DataFrame = getattr(original, table)
    changed = frame.with_columns(
        pl.lit(1e3).cast(frame.schema[column]).alias(column) if rule == "window" else pl.col(column) + 100_000
    )
    record = Record(original.scenario, original.seed, original.packets, **{table: changed})
    assert rule in {violation.rule for violation in verify(record).violations}


def test_every_rule_can_fail() -> None:
    tampered = {rule for rule, _, _ in TAMPERED.values()} | {rule for rule, *_ in ANOTHER_SCENARIO}
    # Emulations have their own tests (test_emulator.py, test_emulate.py).
    assert tampered | {"summary", "series", "window", "replay"} == RULES.keys()
    assert GROUNDS.keys() == RULES.keys()


def test_untampered_records_pass(records: dict[str, Record]) -> None:
    for record in records.values():
        findings = verify(record)
        assert findings.violations == []
        assert findings.checked.keys() <= RULES.keys()


# --- bugs that it found
# ----------------------------------------------------------------------------------------------


def test_the_series_counts_a_loss_when_it_happens() -> None:
    """Random losses were counted when the packet came to the queue, before its transmission ended; drops by a
    policer in the
    sample before, if that had not been taken yet.
    """
    lossy = SCENARIOS["drop-tail"].replace('"5 packets"', '"5 packets", loss = { probability = 0.1 }')
    check(lossy)
    check(SCENARIOS["policed"])


def test_what_does_not_wait_is_no_queue() -> None:
    """Regression: a packet that met an idle link with a managed queue counted as having waited."""
    summary = (
        sc.Scenario.parse(
            NETWORK.replace("QUEUE", '{ discipline = "red" }') + "[[flow]]\ntraffic = { size = '1 kB' }\n"
        )
        .run()
        .summary
    )
    bottleneck = next(link for link in summary["links"] if link["name"] == "bottleneck")
    assert (bottleneck["packets"], bottleneck["queue_max_packets"]) == (2, 0)


def test_the_record_has_the_window_that_is_advertised() -> None:
    """Regression: without the window scale option the record showed the whole buffer as advertised, not 65535 bytes."""
    check(SCENARIOS["drop-tail"].replace('"30 segments"', '"unlimited"\nwindow_scaling = false'))


def test_the_timestamp_of_the_syn_is_echoed() -> None:
    """Regression: when the first segment was lost, ACKs echoed no timestamp instead of that of the SYN."""
    text = SCENARIOS["drop-tail"].replace('"5 packets"', '"1 packet"')
    record = recorded(sc.Scenario.parse(text))
    acks = record.packets.filter((pl.col("kind").cast(str) == "ack") & (pl.col("event").cast(str) == "send"))
    assert 0 not in acks.filter(pl.col("time_s") > 1)["timestamp_echo_us"].to_list()
    check(text)


def test_what_is_sent_later_and_acknowledged_shows_a_loss() -> None:
    """A repetition was held to be without a reason where RACK learned of the loss from a delayed ACK.

    The ACK was of another hole, filled later, and had no SACK block. Without RACK the repetition is
    without a reason. No quick ACK would have covered several segments.
    """
    text = """\
schema = 1
name = "two paths, one of them losing"
duration = "225 ms"
seed = 1020

[network]
topology = "graph"
nodes = ["a", "b", "c", "d"]
link = [
    { from = "a", to = "b", rate = "80 Mbps", delay = "0 ms", queue = "5 packets" },
    { from = "b", to = "c", rate = "80 Mbps", delay = "1 ms", queue = "5 packets" },
    { from = "a", to = "c", rate = "80 Mbps", delay = "1 ms", queue = "5 packets", loss = { probability = 0.2 } },
    { from = "c", to = "d", rate = "80 Mbps", delay = "0 ms", queue = "5 packets" },
]

[[flow]]
from = "a"
to = "d"
count = 2
congestion_control = "highspeed"
transport = { recovery = "rack", delayed_ack = { quick = false } }
traffic = { rate = "20 Mbps" }

[record]
packets = true
interval = "1 ms"
"""
    record = recorded(sc.Scenario.parse(text))
    assert verify(record).violations == []
    findings = verify(Record(text.replace('"rack"', '"sack"'), record.seed, record.packets))
    assert {violation.rule for violation in findings.violations} == {"retransmission"}


def test_a_short_connection_ends_though_data_is_under_way() -> None:
    """A receiver acknowledged all of it before it had come; what came after the end was taken to need an answer."""
    check("""\
schema = 1
name = "acknowledged ahead"
duration = "2 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "64 kbps", delay = "0 ms", queue = "5 packets" }
access = { rate = "64 kbps", delay = "0 ms" }

[[flow]]
congestion_control = "reno"
transport = { mss = "1000 B", misbehaviour = { ack_ahead = 4 } }
traffic = { interval = "133 ms", size = "9 kB" }

[record]
packets = true
""")


def test_the_packet_in_service_of_a_trace_is_the_last_to_end() -> None:
    """Two packets began at one opportunity, not in the order in which they came; the one that ended there was taken for
    the one in service, so the queue seemed to have a place left when it was full.
    """
    check("""\
schema = 1
name = "fair queueing at the opportunities of a trace"
duration = "12 ms"

[network]
topology = "graph"
nodes = ["a", "c", "d"]

[[network.link]]
from = "a"
to = "c"
rate = "80 Mbps"
delay = "0 ms"
queue = "5 packets"

[[network.link]]
from = "c"
to = "d"
delay = "0 ms"
queue = { discipline = "fq-codel", limit = "5 packets" }
queue_counts = "in-system"
delivery_trace = { opportunities = "0x1 1" }

[[flow]]
from = "a"
to = "d"
protocol = "udp"
traffic = { rate = "80 Mbps", packet = "1500 B" }

[[flow]]
from = "a"
to = "d"
congestion_control = "reno"

[record]
packets = true
interval = "1 ms"
""")


def test_a_source_that_sends_nothing_has_no_rate() -> None:
    """A source of datagrams with a jitter of its start that sent nothing before the end ended the verifier with a
    division by zero.
    """
    check(
        SCENARIOS["drop-tail"].replace('"4 s"', '"20 ms"')
        + '[[flow]]\nprotocol = "udp"\nstart_jitter = "1 ms"\ntraffic = { rate = "8 bps", arrivals = "poisson" }\n'
    )


def test_a_repetition_at_the_instant_of_its_segment_is_answered() -> None:
    """A segment and its repetition arrived at one opportunity of a trace: the answer, due for the second, was taken for
    one of the first, whose timestamp it does not echo.
    """
    check("""\
schema = 1
name = "short connections across a rare opportunity"
duration = "2 s"

[network]
topology = "graph"
nodes = ["a", "b", "c"]

[[network.link]]
from = "a"
to = "b"
rate = "64 kbps"
delay = "1 ms"
queue = "5 packets"

[[network.link]]
from = "a"
to = "c"
delay = "1 ms"
queue = "5 packets"
delivery_trace = { opportunities = "374x1 375" }
changes = [{ at = "1000 ms", delay = "0 ms" }]

[[flow]]
from = "a"
to = "b"
congestion_control = "reno"

[[flow]]
from = "a"
to = "c"
congestion_control = "highspeed"
traffic = { interval = "133 ms", size = "1 B" }

[record]
packets = true
interval = "10 ms"
""")


def test_a_recovery_begins_with_its_first_repetition() -> None:
    """With NewReno a recovery was held to begin at the first duplicate acknowledgement of all, even if too few
    followed, so parts of acknowledgements in the next one found no reason for a retransmission.
    """
    check("""\
schema = 1
name = "divided acknowledgements"
duration = "10 s"

[network]
topology = "parking-lot"
hops = 1
hop = { rate = "64 kbps", delay = "0 ms", queue = "5 packets" }
access = { rate = "64 kbps", delay = "0 ms" }

[[flow]]
congestion_control = "reno"
transport = { mss = "536 B", timestamps = false, misbehaviour = { ack_parts = 3 } }
traffic = { rate = "64 kbps" }

[[flow]]
congestion_control = "highspeed"
transport = { recovery = "newreno", misbehaviour = { ack_parts = 30 } }

[record]
packets = true
interval = "50 ms"
""")


def test_an_older_timestamp_is_not_echoed() -> None:
    """A segment that arrived after its repetition took the timestamp that is echoed back to its own."""
    check(
        SCENARIOS["drop-tail"]
        + """
[[router]]
mechanism = "reordering"
probability = 0.05
delay = "200 ms"
links = ["right-sink1"]
"""
    )


def test_a_timer_goes_on_while_rack_repairs() -> None:
    """RACK's retransmissions by time were taken to restart the retransmission timer, which continues."""
    check("""\
schema = 1
name = "many datagrams, a short queue"
duration = "9 s"

[network]
topology = "parking-lot"
hops = 1
hop = { rate = "2 Mbps", delay = "22.5 ms", queue = "5 packets" }
access = { rate = "6 Mbps", delay = "10.5 ms" }

[[flow]]
protocol = "udp"
traffic = { rate = "2 Mbps", packet = "200 B", arrivals = "poisson" }

[[flow]]
count = 2
congestion_control = "highspeed"

[record]
packets = true
interval = "45 ms"
""")


def test_what_comes_beyond_a_gap_at_the_instant_of_a_segment_is_answered() -> None:
    """Of a segment in order and one beyond a gap that a network card hands over together, the second is answered at
    once. The answer was taken for one of the first.
    """
    check("""\
schema = 1
name = "handed over together"
duration = "500 ms"

[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "0 ms", queue = "5 packets" }
access = { rate = "10 Mbps", delay = "0 ms", coalescing = "3 ms" }

[[flow]]
congestion_control = "reno"
transport = { mss = "536 B" }

[[flow]]
congestion_control = "reno"
transport = { recovery = "tahoe" }

[record]
packets = true
interval = "2 ms"
""")


def test_a_policer_sees_nothing_that_is_made_behind_it() -> None:
    """Resource discovery packets, which FICCRD made behind a policer, were counted as having passed it."""
    check("""\
schema = 1
name = "policed before FICCRD"
duration = "500 ms"

[network]
topology = "dumbbell"
bottleneck = { rate = "64 kbps", delay = "6 ms", queue = { discipline = "codel", limit = "5 packets" } }
access = { rate = "64 kbps", delay = "0 ms" }

[[flow]]
congestion_control = "highspeed"

[[flow]]
congestion_control = "reno"

[[flow]]
protocol = "udp"
traffic = { rate = "64 kbps", packet = "1500 B" }

[[flow]]
congestion_control = "reno"

[record]
packets = true
interval = "2 ms"

[[router]]
mechanism = "policer"
rate = "32 kbps"
burst = "8 kB"
links = ["bottleneck"]

[[router]]
mechanism = "ficcrd"
nodes = ["left", "right"]
feedback = "window"
""")


def test_the_timer_of_newreno_may_go_off_in_a_recovery() -> None:
    """After an RTO in a recovery, with everything outstanding taken for lost, retransmissions behind the end
    of that recovery was held to be without a reason.
    """
    check("""\
schema = 1
name = "a short queue"
duration = "2 s"

[network]
topology = "dumbbell"
bottleneck = { rate = "2 Mbps", delay = "60.5 ms", queue = "1 packet" }
access = { rate = "6 Mbps", delay = "1.5 ms" }

[[flow]]
start = "26 ms"
congestion_control = "packet-pair"
transport = { recovery = "newreno" }
traffic = { rate = "666 kbps" }

[record]
packets = true
interval = "10 ms"
""")


# --- the command
# -----------------------------------------------------------------------------------------------------


def test_command(selfclock: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    scenario = sc.Scenario.parse(SCENARIOS["drop-tail"])
    result = scenario.run()
    run = tmp_path / "run"
    run.mkdir()
    for name in ("packets", "flows", "links"):
        write_table(getattr(result, name), run / f"{name}.parquet", scenario)
    (run / "summary.json").write_text(json.dumps(result.summary), encoding="utf-8")
    good = selfclock("verify", run)
    assert (good.returncode, good.stderr) == (0, "")
    assert "no violation" in good.stdout
    alone = json.loads(selfclock("verify", run / "packets.parquet", "--json").stdout)
    assert alone["violations"] == []
    assert alone["checked"]["acknowledgement"] > 100

    wrong = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    wrong["links"][0]["drops"] += 1
    (run / "summary.json").write_text(json.dumps(wrong), encoding="utf-8")
    bad = selfclock("verify", run)
    assert bad.returncode == 1
    assert bad.stdout.splitlines()[0].startswith("whole run, link bottleneck: summary: drops is ")
    (document,) = json.loads(selfclock("verify", run, "--json").stdout)["violations"]
    assert (document["rule"], document["time_s"], document["where"]) == ("summary", None, "link bottleneck")

    (run / "summary.json").write_text("{", encoding="utf-8")
    (tmp_path / "half.parquet").write_bytes((run / "packets.parquet").read_bytes()[:5000])
    (tmp_path / "empty").mkdir()
    for path, why in (
        (run, "summary.json is damaged"),
        (run / "links.parquet", "is not a packet record"),
        (tmp_path / "half.parquet", "is damaged"),
        (tmp_path / "empty", "record.packets=true"),
        (tmp_path / "nowhere", "no such file"),
    ):
        failed = selfclock("verify", path)
        assert failed.returncode == 2, failed
        assert why in failed.stderr
        assert len(failed.stderr.splitlines()) == 1
        assert failed.stdout == ""


def test_codel_must_have_waited_an_interval() -> None:
    """RFC 8289, section 4.2: a record of drops after 20 ms above the target is not one of 200 ms."""
    text = """
schema = 1
duration = "2 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "2 Mbps", delay = "5 ms", queue = { discipline = "codel", interval = "20 ms" } }
access = { rate = "20 Mbps", delay = "1 ms" }
[[flow]]
protocol = "udp"
traffic = { rate = "3 Mbps" }
"""
    record = recorded(sc.Scenario.parse(text + "[record]\npackets = true\n"))
    assert not verify(record).violations
    record.scenario = record.scenario.replace("20 ms", "200 ms")
    found = [violation for violation in verify(record).violations if "CoDel acts" in violation.what]
    assert found
    assert {violation.rule for violation in found} == {"drop"}


def test_codel_must_not_drop_the_last_packet() -> None:
    """RFC 8289, section 5.3: not with a packet or less left behind, as where a record is cut.

    UDP of one and a half times the rate: with drops from 0.1 s on; if the packets behind a dropped
    one had never come, it would have been the last.
    """
    text = """
schema = 1
duration = "2 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "2 Mbps", delay = "5 ms", queue = { discipline = "codel" } }
access = { rate = "20 Mbps", delay = "1 ms" }
[record]
packets = true
[[flow]]
protocol = "udp"
traffic = { rate = "3 Mbps" }
"""
    record = recorded(sc.Scenario.parse(text))
    drop = record.packets.filter(pl.col("event").cast(pl.String) == "drop")["packet"][0]
    at = record.packets.filter((pl.col("packet") == drop) & (pl.col("event").cast(pl.String) == "drop"))["time_s"][0]
    came = record.packets.filter(
        (pl.col("event").cast(pl.String) == "enqueue") & (pl.col("link").cast(pl.String) == "bottleneck")
        & (pl.col("time_s") <= at) & (pl.col("packet") > drop)
    )["packet"]  # fmt: skip
    assert len(came) > 2
    record.packets = record.packets.filter(~pl.col("packet").is_in(came[1:].implode()))
    found = [violation for violation in verify(record).violations if "left behind" in violation.what]
    assert found
    assert {violation.rule for violation in found} == {"drop"}
