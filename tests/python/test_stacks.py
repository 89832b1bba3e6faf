"""Real QUIC stacks as flows of a scenario. Most need a build with them: `make quic-test`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import selfclock as sc
from selfclock import _core
from selfclock.evaluate.subject import Subject
from selfclock.series import packet_record

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
    packets = packet_record(result, "event", "kind", "payload")
    assert set(packets["kind"].cast(pl.String).unique()) == {"datagram", "reply"}
    # Every byte that the receiver has read has come in a datagram.
    arrived = packets.filter((pl.col("event") == "deliver") & (pl.col("kind") == "datagram"))
    [flow] = result.summary["flows"]
    assert 0 < flow["delivered_bytes"] < arrived["payload"].sum()
    assert flow["algorithm"] == "quinn:cubic"


@built_in
def test_stacks_are_named_with_their_controllers() -> None:
    named = {row["name"]: row["controllers"] for row in json.loads(_core.stacks())}
    assert named["quinn"] == ["cubic", "bbr", "new_reno"]
    assert named["noq"] == ["cubic", "new_reno"]


@built_in
def test_a_controller_of_a_stack_is_evaluated_as_any_algorithm() -> None:
    card = sc.evaluate("quinn:cubic", ["cubic"], rows=["S1"])
    [line] = card.lines
    assert line.found.value is not None
    assert line.baselines["cubic"].value is not None
    assert Subject.named("quinn:cubic").in_stack
