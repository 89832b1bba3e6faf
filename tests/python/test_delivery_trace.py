"""Links that send at the opportunities of a trace: closed forms, files, and records that include their traces."""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import selfclock as sc
from selfclock.save import write_table
from selfclock.sweep.grid import Grid
from selfclock.verify import verify
from selfclock.verify.record import load
from test_verify import check

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
MS = 10**9

#: A source, 1 ms and a trace; nothing waits anywhere else.
NETWORK = """\
schema = 1
duration = "1 s"
record = { packets = true }

[network]
topology = "dumbbell"
bottleneck = { delivery_trace = TRACE, delay = "3 ms", queue = QUEUE }
reverse = { rate = "100 Mbps", delay = "3 ms" }
access = { rate = "1 Gbps", delay = "1 ms" }
"""


def scenario(opportunities: str, flow: str, queue: str = '"unlimited"', **keys: str) -> sc.Scenario:
    trace = f'{{ opportunities = "{opportunities}" }}'
    text = NETWORK.replace("TRACE", trace).replace("QUEUE", queue) + f"\n[[flow]]\n{flow}\n"
    return sc.Scenario.parse(text, overrides=[f"{key}={value}" for key, value in keys.items()])


def datagrams(rate: str, size: int) -> str:
    return f'protocol = "udp"\ntraffic = {{ rate = "{rate}", packet = "{size} B" }}'


def bottleneck(result: sc.Result) -> dict[str, Any]:
    return dict(next(link for link in result.summary["links"] if link["name"] == "bottleneck"))


def times(result: sc.Result, event: str, link: str = "bottleneck") -> dict[int, int]:
    """Return when each packet had this event at a link, ps."""
    packets = pl.DataFrame(result.packets).with_columns(pl.col("event", "link").cast(pl.String))
    rows = packets.filter(pl.col("event") == event, pl.col("link") == link)
    return {row["packet"]: round(row["time_s"] * 1e12) for row in rows.iter_rows(named=True)}


# --- closed forms
# ----------------------------------------------------------------------------------------------------


def test_one_packet_a_millisecond_is_a_link_of_12_mbps() -> None:
    """The trace that contains only "1", as in Mahimahi's documentation.

    The first packet arrives after 1.012 ms, too late for the opportunity at 1 ms: from 2 ms to 1000
    ms there are 999.
    """
    result = scenario("1", datagrams("24 Mbps", 1500)).run()
    link = bottleneck(result)
    assert link["rate_bps"] == 12_000_000
    assert link["packets"] == 999
    assert link["utilization"] == 0.999
    # Half of the packets wait: on average half of 999, for half of the time.
    assert link["queue_mean_packets"] == pytest.approx(999 / 2, rel=0.01)


@pytest.mark.parametrize("algorithm", ["reno", "cubic", "bbr3"])
def test_a_constant_trace_is_like_a_link_of_that_rate(algorithm: str) -> None:
    """A long queue hides that packets leave on whole milliseconds: goodput differs by less than 1 %.

    BBRv3 measures rates, for which whole milliseconds are coarse: 3 %. Both tolerances are our
    choice, before the run.
    """
    flow = f'congestion_control = "{algorithm}"'
    keys = {"duration": "20 s", "record.packets": "false", "network.bottleneck.queue": "60 packets"}
    traced = scenario("1", flow, **keys).run()
    fixed = [
        sc.Scenario.parse(traced.scenario.text.replace('delivery_trace = { opportunities = "1" }', 'rate = "12 Mbps"'))
    ]
    goodput, expected = (result.summary["flows"][0]["goodput_bps"] for result in (traced, fixed[0].run()))
    assert goodput == pytest.approx(expected, rel=0.03 if algorithm == "bbr3" else 0.01)


def test_a_packet_leaves_with_the_next_opportunity() -> None:
    """Each packet, alone in the queue, waits for the next whole millisecond, and arrives 3 ms later."""
    result = scenario("1", datagrams("1.16 Mbps", 1500)).run()
    entered, sent, arrived = (
        times(result, "enqueue"),
        times(result, "transmit"),
        times(result, "enqueue", "right-sink1"),
    )
    assert len(sent) > 90
    for packet, time in sent.items():
        assert time == (entered[packet] // MS + 1) * MS
        if packet in arrived:
            assert arrived[packet] == time + 3 * MS
    # Packets arrive at random phases of the millisecond, so the mean wait is half of it, within a
    # tenth.
    assert bottleneck(result)["queue_mean_s"] == pytest.approx(0.5e-3, rel=0.1)


def test_a_link_that_pauses() -> None:
    """99 opportunities in 99 ms and one at 400 ms: 3 Mbit/s on average. 2 Mbit/s get through after waiting.

    In the 301 ms between two opportunities 50 packets, one every 6 ms, arrive, and leave one per
    millisecond.
    """
    pause = " ".join(str(at) for at in [*range(1, 100), 400])
    result = scenario(pause, datagrams("2 Mbps", 1500), duration="20 s").run()
    link, flow = bottleneck(result), result.summary["flows"][0]
    assert link["rate_bps"] == 3_000_000
    assert flow["goodput_bps"] == pytest.approx(2e6 * 1472 / 1500, rel=0.02)
    assert 49 <= link["queue_max_packets"] <= 51
    entered, sent = times(result, "enqueue"), times(result, "transmit")
    waits = [sent[packet] - entered[packet] for packet in sent]
    assert 295 * MS <= max(waits) <= 301 * MS
    # A third of the 1000 opportunities in 20 s is unused: 2 of 3 Mbit/s.
    assert link["utilization"] == pytest.approx(2 / 3, rel=0.02)


@pytest.mark.parametrize(("size", "begun", "at_once"), [(146, 2006, 11), (4000, 76, 1), (1500, 200, 1), (1496, 201, 2)])
def test_packets_share_opportunities_by_the_byte(size: int, begun: int, at_once: int) -> None:
    """200 opportunities of 1504 B, and back-to-back packets of their size plus 4 B: no byte is lost.

    At 146 B: 300800 / 150 = 2005.3; at 4000 B: 75.1; at 1500 B exactly 200; at 1496 B 200.5.
    """
    result = scenario("5", datagrams("30 Mbps", size)).run()
    sent = times(result, "transmit")
    assert len(sent) == bottleneck(result)["packets"] == begun
    assert bottleneck(result)["utilization"] == 1
    assert all(time % (5 * MS) == 0 for time in sent.values())
    counts = pl.Series(list(sent.values())).value_counts()["count"]
    assert counts.max() == at_once


def test_what_nobody_uses_is_lost() -> None:
    """Single packets of 200 B: an opportunity has room for seven, and takes the one that waits."""
    result = scenario("10", datagrams("160 kbps", 200)).run()
    counts = pl.Series(list(times(result, "transmit").values())).value_counts()["count"]
    assert counts.to_list() == [1] * len(counts)


DISCIPLINES = (
    '"30 packets"',
    '{ limit = "40 packets", mark_above = "5 packets" }',
    '{ limit = "40 packets", mark_above = "20 ms" }',
    *(f'{{ discipline = "{name}", limit = "40 packets" }}'
      for name in ("codel", "fq-codel", "pie", "red", "dualpi2", "drr")),
)  # fmt: skip


@pytest.mark.parametrize("counts", ["waiting", "in-system"])
@pytest.mark.parametrize("queue", DISCIPLINES)
def test_every_discipline_before_a_trace(queue: str, counts: str) -> None:
    """Every packet is accounted for and leaves at an opportunity: the verifier replays the trace."""
    flows = """congestion_control = "cubic"
transport = { ecn = "classic", mss = "1000 B" }

[[flow]]
protocol = "udp"
traffic = { rate = "1 Mbps", packet = "imix", arrivals = "poisson" }
"""
    made = scenario(
        "0 1x2 4 9x3 10 40x5 41", flows, queue,
        **{"duration": "3 s", "network.bottleneck.queue_counts": counts, "network.bottleneck.loss.probability": "0.01"},
    )  # fmt: skip
    check(made.text)
    link = bottleneck(made.run())
    assert link["drops"] > 0
    assert 0 < link["utilization"] <= 1


# --- files
# -----------------------------------------------------------------------------------------------------------

FILE = NETWORK.replace("TRACE", '"cell.trace"').replace("QUEUE", '"1 bdp"') + '\n[[flow]]\n'  # fmt: skip


def written(folder: Path, trace: str | bytes) -> Path:
    (folder / "cell.trace").write_bytes(trace if isinstance(trace, bytes) else trace.encode())
    path = folder / "cell.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_path_starts_at_the_scenario(tmp_path: Path) -> None:
    """In any working directory; and "1 bdp" refers to the mean rate: 6 Mbit/s times 10 ms."""
    loaded = sc.Scenario.load(written(tmp_path, "2\r\n4\r\n"))
    assert 'opportunities = "2 4"' in loaded.text
    assert 'name = "cell.trace"' in loaded.text
    assert "Bytes(7500 B)" in loaded.resolved
    assert loaded.offered_bytes("bottleneck", [0, 0.002, 0.0055]) == [0, 1504, 2 * 1504]
    assert loaded.offered_bytes("reverse", [1]) is None


def test_a_dumbbell_over_a_trace(tmp_path: Path) -> None:
    written(tmp_path, "2\n")
    made = sc.dumbbell(delivery_trace=tmp_path / "cell.trace", flows=["cubic"], duration="5 s").run()
    links = {link["name"]: link["rate_bps"] for link in made.summary["links"]}
    assert (links["bottleneck"], links["reverse"]) == (6_000_000, 6_000_000)


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (b"", "cell.trace holds no opportunity"),
        (b"0\n0\n", "cell.trace ends at 0 ms"),
        (b"1\n\n2\n", "cell.trace:2: is empty"),
        (b"# cell\n1\n", "cell.trace:1: this line is no time"),
        (b"1\n-3\n", 'cell.trace:2: "-3" is no time'),
        (b"5\n4\n", "cell.trace:2: 4 is earlier than the previous time, 5"),
        (b"\xff\xfe1\n", "cell.trace:1:"),
        (b"1\n" + b"9" * 400, "cell.trace:2:"),
    ],
)
def test_a_bad_file_is_one_located_message(tmp_path: Path, trace: bytes, said: str) -> None:
    path = written(tmp_path, trace)
    with pytest.raises(sc.ScenarioError) as refused:
        sc.Scenario.load(path)
    first, *_ = str(refused.value).splitlines()
    assert first.startswith(f"{path}:7:"), "the place in the scenario"
    assert said in first


def test_a_file_that_is_none(tmp_path: Path, selfclock: Command) -> None:
    """Missing, a directory, a pipe without a writer: refused at once, with status 2."""
    path = written(tmp_path, "1")
    trace = tmp_path / "cell.trace"
    trace.unlink()
    for make in (lambda: None, trace.mkdir, lambda: os.mkfifo(trace)):
        make()
        done = selfclock("run", path)
        assert done.returncode == 2
        assert "cell.trace" in done.stderr
        assert "Traceback" not in done.stderr
        trace.rmdir() if trace.is_dir() else trace.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("network.bottleneck.rate=1 Mbps", "the link has a rate already"),
        ('network.bottleneck.changes=[{ at = "1 s", rate = "1 Mbps" }]', "changes the rate of a link that has none"),
        ('network.bottleneck.delivery_trace={ opportunities = "3 2" }', "2 is earlier"),
        ('network.bottleneck.delivery_trace={ opportunities = "1x0" }', '"1x0" is no time'),
        ("network.bottleneck.delivery_trace=7", "expected the path of a file"),
        ('network.access={ delay = "1 ms" }', 'missing key "rate"'),
    ],
)
def test_what_does_not_go_together(override: str, said: str) -> None:
    with pytest.raises(sc.ScenarioError, match=said):
        scenario("1", "", duration="1 s").with_overrides([override])


def test_a_delay_may_change() -> None:
    changes = 'network.bottleneck.changes=[{ at = "500 ms", delay = "9 ms" }]'
    check(scenario("1x2 3", 'congestion_control = "reno"').with_overrides([changes]).text)


# --- what was run can be had again
# -----------------------------------------------------------------------------------


def test_a_record_holds_its_trace(tmp_path: Path) -> None:
    """Without the file, record, verifier, pickles and further overrides still work."""
    path = written(tmp_path, "1\n2\n2\n7\n")
    loaded = sc.Scenario.load(path)
    result = loaded.run()
    write_table(result.packets, tmp_path / "packets.parquet", loaded)
    (tmp_path / "cell.trace").unlink()
    again = pickle.loads(pickle.dumps(loaded))  # noqa: S301
    assert again.resolved == loaded.resolved
    record = load(tmp_path)
    assert not verify(record).violations
    repeated = sc.Scenario.parse(record.scenario, "cell.toml").with_overrides(["duration=1 s"])
    assert repeated.run().summary["links"] == result.summary["links"]


def test_a_sweep_notices_that_a_trace_has_changed(tmp_path: Path) -> None:
    """Paths are an axis like any other; the key of a run depends on the file's contents."""
    written(tmp_path, "1\n3\n")
    (tmp_path / "other.trace").write_text("2\n", encoding="utf-8")
    (tmp_path / "grid.toml").write_text(
        'schema = 1\nscenario = "cell.toml"\n'
        '[grid]\n"network.bottleneck.delivery_trace" = ["cell.trace", "other.trace"]\n',
        encoding="utf-8",
    )

    def keys() -> list[str]:
        return [job.key for job in Grid.load(tmp_path / "grid.toml").jobs()]

    before = keys()
    assert len(set(before)) == 2
    assert keys() == before
    (tmp_path / "other.trace").write_text("2\n4\n5\n", encoding="utf-8")
    after = keys()
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_the_examples_are_what_their_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / "examples" / "lte_trace.py"
    spec = importlib.util.spec_from_file_location("lte_trace", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses look up their module.
    monkeypatch.setitem(sys.modules, "lte_trace", module)
    spec.loader.exec_module(module)
    for name, cell in module.CELLS.items():
        made = "".join(f"{time}\n" for time in module.opportunities(cell))
        assert (ROOT / "examples" / f"{name}.trace").read_text(encoding="ascii") == made
