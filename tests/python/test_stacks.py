"""Real QUIC stacks as flows of a scenario. Most need a build with them: `make quic-test`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import selfclock as sc
from dissect import dissected
from selfclock import _core, formatting
from selfclock.evaluate.judge import Judged
from selfclock.evaluate.subject import Subject
from selfclock.hops import WORDS, hops_of
from selfclock.recording import record
from selfclock.series import packet_record
from selfclock.verify import verify_path

if TYPE_CHECKING:
    from pathlib import Path

built_in = pytest.mark.skipif(_core.stacks() == "[]", reason="no QUIC stack is built in: make quic-test")
left_out = pytest.mark.skipif(_core.stacks() != "[]", reason="the QUIC stacks are built in")


def scenario(**settings: object) -> sc.Scenario:
    """Return a flow with these settings on 20 Mbit/s and 40 ms."""
    path = sc.Path(sc.mbps(20), sc.ms(40), queue=sc.bdp(1))
    return path.scenario([sc.Flow(**settings)], duration=sc.s(5), record=sc.Record(sc.ms(100), packets=True))  # type: ignore[arg-type]


@left_out
@pytest.mark.parametrize(
    "settings", [{"stack": "quinn"}, {"congestion_control": "noq:cubic"}, {"congestion_control": "cubic@noq"}]
)
def test_a_build_without_stacks_says_how_to_have_them(settings: dict[str, str]) -> None:
    with pytest.raises(sc.ScenarioError, match="is not built in") as refused:
        scenario(**settings)
    assert "make quic" in str(refused.value)


def test_a_stack_that_there_is_not_is_named() -> None:
    with pytest.raises(sc.ScenarioError, match='unknown stack "quin"'):
        scenario(stack="quin")


def test_a_failed_connection_is_said_in_tables_and_rows() -> None:
    summary = scenario(congestion_control="reno").run().summary
    [flow] = summary["flows"]
    assert formatting.of_failures([flow]) == []
    assert "failure" not in flow
    flow["failure"] = {"time_s": 61.414, "reason": "too many gaps in stream buffer"}
    said = "The connection of flow1 (reno) failed at 61.41 s: too many gaps in stream buffer."
    assert formatting.of_failures([flow]) == [said]
    assert Judged(1.0, "pass", note="One seed.").with_note(said).note == f"One seed. {said}"
    assert Judged(1.0, "pass").with_note("") == Judged(1.0, "pass")


@built_in
@pytest.mark.parametrize("settings", [
    {"stack": "quinn"}, {"congestion_control": "quinn:bbr"}, {"congestion_control": "noq:new_reno"},
])  # fmt: skip
def test_two_runs_leave_the_same_files(settings: dict[str, str], tmp_path: Path) -> None:
    for name in ("one", "two"):
        sc.publish(scenario(**settings).run(), tmp_path / name, pcap=True)
    files = sorted(path.name for path in (tmp_path / "one").iterdir() if path.suffix in {".parquet", ".pcapng"})
    assert {"packets.parquet", "flows.parquet"} <= set(files)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


@built_in
def test_records_show_datagrams_there_and_replies_back() -> None:
    result = scenario(congestion_control="quinn:cubic").run()
    packets = packet_record(result, "event", "kind", "payload_bytes")
    assert set(packets["kind"].cast(pl.String).unique()) == {"datagram", "reply"}
    # Every byte read by the receiver has arrived in a datagram.
    arrived = packets.filter((pl.col("event") == "deliver") & (pl.col("kind") == "datagram"))
    [flow] = result.summary["flows"]
    assert 0 < flow["delivered_bytes"] < arrived["payload_bytes"].sum()
    assert flow["algorithm"] == "quinn:cubic"


@built_in
@pytest.mark.parametrize("control", ["quinn:cubic", "cubic@noq"])
def test_tshark_decrypts_a_capture(control: str, tmp_path: Path) -> None:
    """The data are 100,000 zeros on one stream; nothing is lost, so each byte is in one datagram."""
    path = sc.Path(sc.mbps(20), sc.ms(40))
    flow = sc.Flow(control, size=sc.kbytes(100))
    scenario = path.scenario([flow], duration=sc.s(5), record=sc.Record(packets=True))
    record(scenario, tmp_path, pcap=("host",))
    [sender, receiver] = sorted(tmp_path.glob("*.pcapng"))
    for capture in (sender, receiver):
        assert not dissected(capture, "udp.checksum.status == 0", "frame.number"), "checksums are those of the payload"
        shown = dissected(capture, "tls.handshake", "tls.handshake.type")
        handshake = {int(kind) for [kinds] in shown for kind in kinds.split(",")}
        # ClientHello and ServerHello are readable by anyone; the rest is encrypted.
        assert handshake == {1, 2, 8, 11, 15, 20}
        streams = dissected(capture, "quic.stream_data", "quic.stream_data")
        data = "".join(piece for [pieces] in streams for piece in pieces.split(","))
        assert data == "00" * 100_000


@built_in
def test_payload_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    sizes = {}
    for payload in (False, True):
        path = sc.Path(sc.mbps(20), sc.ms(40))
        settings = sc.Record(packets=True, payload=payload)
        result = path.scenario([sc.Flow("quinn:cubic")], duration=sc.s(1), record=settings).run()
        capture = tmp_path / f"{payload}.pcapng"
        result.write_host_pcapng("source1", capture)
        sizes[payload] = capture.stat().st_size
    streamed = tmp_path / "streamed"
    streamed.mkdir()
    record(result.scenario, streamed, pcap=("host",))
    # Identical from memory and from a file written during the run.
    assert (streamed / "source1.pcapng").read_bytes() == (tmp_path / "True.pcapng").read_bytes()
    assert sizes[True] > 10 * sizes[False]


@built_in
def test_stacks_are_named_with_their_controllers() -> None:
    named = {row["name"]: row["controllers"] for row in json.loads(_core.stacks())}
    assert named["quinn"] == ["cubic", "bbr", "new_reno"]
    assert named["noq"] == ["cubic", "new_reno", "bbr-unseeded"]


@built_in
def test_a_controller_of_a_stack_is_evaluated_as_any_algorithm() -> None:
    card = sc.evaluate("quinn:cubic", ["cubic"], rows=["S1"])
    [line] = card.lines
    assert line.found.value is not None
    assert line.baselines["cubic"].value is not None
    assert Subject.named("quinn:cubic").in_stack


@built_in
def test_a_record_with_stacks_is_verified(tmp_path: Path) -> None:
    path = sc.Path(sc.mbps(20), sc.ms(40), queue=sc.bdp(1))
    flows = [sc.Flow("quinn:bbr"), sc.Flow("cubic"), sc.Flow("cubic", stack="noq", start=sc.s(1))]
    result = path.scenario(flows, duration=sc.s(4), record=sc.Record(sc.ms(100), packets=True)).run()
    sc.publish(result, tmp_path / "run")
    found = verify_path(tmp_path / "run")
    assert not found.violations
    assert sum(found.checked.values()) > 10_000


@built_in
def test_what_the_receiver_sends_travels_back() -> None:
    result = scenario(stack="quinn").run()
    hops = hops_of(result)
    kinds = [list(WORDS)[kind] for kind in hops.kind]
    assert set(kinds) == {"datagram", "reply"}
    assert [kind == "reply" for kind in kinds] == hops.back.tolist()
