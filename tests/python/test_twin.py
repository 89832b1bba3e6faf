"""`selfclock kernel twin` without root: measurements, refusals, the hosts' programs, the page."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import namespaces
import selfclock as sc
from selfclock import _core
from selfclock.cli import main
from selfclock.kernel.resident import NotCompiledError
from selfclock.kernel.thread import Running
from selfclock.kernel.twin import Column, Series, Twin, measured, run
from selfclock.kernel.twin.measures import distance, period
from selfclock.kernel.twin.plan import TwinError, available, senders
from selfclock.kernel.twin.tables import document, samples
from selfclock.kernel.twin.traffic import FIELDS, allowed
from selfclock.provenance import set_command
from selfclock.report.twin import publish_twin

if TYPE_CHECKING:
    from pathlib import Path

PATH = """\
schema = 1
duration = "4 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "9 ms", queue = "1 bdp" }
access = { rate = "1 Gbps", delay = "1 ms" }
"""

FLOW = '[[flow]]\ncongestion_control = "cubic"\n'


def scenario(text: str) -> sc.Scenario:
    """Return a scenario on the path."""
    return sc.Scenario.parse(PATH + text, "twin.toml")


def sawtooth(seconds: float, height: float = 100.0, low: float = 0.7, teeth_s: float = 2.0) -> Series:
    """A window that climbs from 70 to 100 in two seconds and falls at once, with 1 MB/s acknowledged."""
    time_s = np.arange(0.0, seconds, 0.01)
    window = height * (low + (1 - low) * (time_s % teeth_s) / teeth_s)
    return Series(time_s, window, np.full(time_s.shape, 0.05), 1e6 * time_s, 7)


def test_a_sawtooth_is_measured() -> None:
    """Its period, mean window and goodput are known."""
    found = measured(sawtooth(30))
    assert found.period_s == pytest.approx(2.0, abs=0.01)
    # 25 s in periods of 2 s: the half tooth at the end changes the mean by less than 1 %.
    assert found.window_segments == pytest.approx(85.0, rel=0.01)
    assert found.goodput_bps == pytest.approx(8e6, rel=1e-9)
    assert found.rtt_s == pytest.approx(0.05)
    assert found.retransmissions == 7
    # A mean interval needs at least three reductions.
    assert measured(sawtooth(4)).period_s is None
    middles, rate = sawtooth(10).rate(1.0)
    assert middles[0] == pytest.approx(0.5)
    assert np.allclose(rate, 8e6)


def test_steps_of_a_recovery_are_one_reduction() -> None:
    """The window falls in steps over 100 ms, and once below its target."""
    time_s = np.arange(0.0, 12.0, 0.01)
    window = np.full(time_s.shape, 100.0)
    for fall in (2.0, 5.0, 8.0, 11.0):
        window[(time_s >= fall) & (time_s < fall + 0.1)] = 80.0
        window[(time_s >= fall + 0.1) & (time_s < fall + 0.2)] = 55.0
    assert period(time_s, window, 0.25) == pytest.approx(3.0, abs=0.01)
    assert period(time_s, np.full(time_s.shape, 50.0), 0.25) is None


def test_distances() -> None:
    """A fraction of the other; `None` if either is `None`."""
    assert distance(103.0, 100.0) == pytest.approx(0.03)
    assert distance(None, 1.0) is None
    assert distance(float("nan"), 1.0) is None
    assert distance(1.0, 0.0) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[flow]]\nprotocol = "udp"\ntraffic = { rate = "1 Mbps" }\n', "flow1: it is UDP; a twin has TCP flows alone"),
        (FLOW + 'transport = { ecn = "classic" }\n' + FLOW, "some flows use ECN and others do not"),
        (FLOW + 'transport = { mss = "8960 B" }\n', "do not fit the hosts' MTU"),
    ],
)
def test_flows_that_have_no_twin(text: str, said: str) -> None:
    """One line each."""
    try:
        made = scenario(text)
    except _core.ScenarioError as error:
        pytest.fail(str(error))
    with pytest.raises(TwinError) as refused:
        senders(made)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_only_a_dumbbell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another topology is refused before anything runs, in one line with the file's name."""
    text = PATH.replace("dumbbell", "parking-lot").replace("bottleneck = {", "hops = 2\nhop = {") + FLOW
    (tmp_path / "lot.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["kernel", "twin", str(tmp_path / "lot.toml"), "--out", str(tmp_path / "out")])
    set_command([])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "a twin needs a dumbbell; this is a parking-lot" in said
    assert said.strip().count("\n") == 0
    assert not (tmp_path / "out").exists()


def test_without_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so immediately."""
    if not hasattr(_core, "KernelSession"):
        pytest.skip("the kernel is Linux")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(sc.errors.BadInputError, match="run it as root"):
        run.twin(scenario(FLOW))


def test_what_the_kernel_does_in_another_way_is_noted() -> None:
    """Initial window and random delay; a different segment size is set explicitly."""
    text = FLOW + 'start_jitter = "40 ms"\ntransport = { mss = "1000 B", initial_window = "4 segments" }\n'
    [sender], notes = senders(scenario(text))
    assert notes == [
        "flow1: the kernel begins with 10 segments, the scenario with 4",
        "flow1: real flows start without the scenario's random delay",
    ]
    assert (sender.segment, sender.payload_bytes) == (1012, 1000)


def test_the_kernels_own() -> None:
    """By the name of the algorithm, whatever its start-up; BBR by its other name."""
    text = "".join(
        f"[[flow]]\ncongestion_control = {control}\n"
        for control in ('"bbr3"', '{ window = "cubic", start = "hystart++" }', '"altcp"')
    )
    found, _ = senders(scenario(text))
    known = ["reno", "bbr", "cubic"]
    assert [sender.kernels_own(known) for sender in found] == ["bbr", "cubic", None]
    notes: list[str] = []
    assert run._own(found, run.TwinSettings(), notes) is None
    assert "the kernel has no altcp of its own" in notes[0]


def test_the_programs_of_the_hosts(tmp_path: Path) -> None:
    """A sender waits for the start, sends its flow's data, and writes the kernel's information."""
    if sys.platform != "linux" or "reno" not in available():
        pytest.skip("TCP_INFO is Linux")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    order = {
        "number": 0, "to": "127.0.0.1", "port": port, "control": "reno", "go": str(tmp_path / "go"), "start_s": 0.1,
        "stop_s": None, "end_s": 1.0, "bytes": 100_000, "rate_bps": None, "write_bytes": None,
        "segment": None, "samples": str(tmp_path / "0.json"),
    }  # fmt: skip
    program = [sys.executable, run.traffic.__file__]
    receiver = subprocess.Popen([*program, "receive", str(port)])
    sender = subprocess.Popen([*program, "send", json.dumps(order)])
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "ready-0").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        (tmp_path / "go").write_text(f"{time.monotonic() + 0.1!r}")
        assert sender.wait(30) == 0
    finally:
        for process in (sender, receiver):
            process.kill()
            process.wait()
    said = run._samples(tmp_path / "0.json")
    assert said is not None
    assert set(said["columns"]) == {"time_s", *(name for name, _, _ in FIELDS)}
    series = run._series(said)
    # The SYN counts as one; everything has arrived long before the end.
    assert series.acknowledged_bytes[-1] == 100_001
    assert said["opened_s"] >= 0.1
    assert run._samples(tmp_path / "missing.json") is None


def test_what_an_application_has_to_send() -> None:
    """A size, a rate, or unlimited."""
    order = {"bytes": None, "rate_bps": None, "write_bytes": None}
    assert allowed(order, 1.0, 10**9) > 0
    assert allowed({**order, "bytes": 1000}, 1.0, 400) == 600
    assert allowed({**order, "rate_bps": 8000}, 2.0, 500) == 1500
    # The first write is at the start, the next when the rate has produced its bytes.
    writes = {**order, "rate_bps": 8000, "write_bytes": 1500}
    assert [allowed(writes, after, 0) for after in (0.0, 1.4, 1.6)] == [1500, 1500, 3000]


@pytest.fixture
def found() -> Twin:
    """A twin of a simulation, with a sawtooth in place of real connections."""
    made = scenario(FLOW)
    flows, notes = senders(made)
    simulated = run.simulated(made, flows)
    real = dataclasses.replace(simulated, key="bridge", title="real TCP", flows=(sawtooth(4),), complaint="it was late")
    return Twin(made, tuple(flows), [simulated, real], notes)


def test_the_page(found: Twin, tmp_path: Path) -> None:
    """Tables, figure and document agree on both runs, and on which is invalid."""
    page = publish_twin(found, tmp_path / "out").read_text(encoding="utf-8")
    assert "Side by side" in page
    assert "Real TCP: it was late." in page
    said = json.loads((tmp_path / "out" / "twin.json").read_text(encoding="utf-8"))
    assert [one["run"] for one in said["runs"]] == ["simulated", "bridge"]
    own = said["runs"][1]["flows"][0]
    assert own["goodput_bps"] == pytest.approx(8e6)
    [apart] = said["distances"]
    simulated = said["runs"][0]["flows"][0]
    assert apart["goodput_bps"] == pytest.approx(own["goodput_bps"] / simulated["goodput_bps"] - 1)
    assert said["made"]
    table = samples(found)
    assert len({len(column) for column in table.values()}) == 1
    assert set(table["run"]) == {"simulated", "bridge"}
    assert document(found)["runs"][1]["complaint"] == "it was late"


def test_the_simulated_column(found: Twin) -> None:
    """Its samples are 10 ms apart whatever the scenario records, in segments, and its queue is the bottleneck's."""
    column: Column = found.columns[0]
    [flow] = column.flows
    assert flow.window_segments[0] == 10
    # One BDP of 22 ms: 18 packets.
    assert column.queue_packets.max() <= 18
    assert column.drops > 0
    [measures] = column.measures
    # 1448 of 1500 bytes of the path's 10 Mbit/s are payload.
    assert measures.goodput_bps == pytest.approx(10e6 * 1448 / 1500, rel=0.02)


class FakeSession:
    """A session that registers nothing."""

    def __init__(self, algorithm: tuple[sc.Scenario, int], name: str, *, realtime: bool) -> None:
        self.index, self.name, self.ended = algorithm[1], name, not realtime

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = True


def test_flows_of_one_algorithm_share_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two flows of CUBIC and one with another parameter: two sessions, which end with the block."""
    monkeypatch.setattr(run, "Session", FakeSession)
    made = scenario(FLOW * 2 + '[[flow]]\ncongestion_control = { window = "cubic", beta = 0.8 }\n')
    flows, _ = senders(made)
    with run.bridged(made, flows) as (names, sessions):
        assert names[0] == names[1] != names[2]
        assert all(len(name) <= 15 for name in names)
        assert [session.index for session in sessions] == [0, 2]  # type: ignore[attr-defined]
        assert not any(session.ended for session in sessions)  # type: ignore[attr-defined]
    assert all(session.ended for session in sessions)  # type: ignore[attr-defined]


def test_algorithms_that_decide_in_the_kernel_are_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the block at its end, and before it those of a twin that was killed."""
    flows, _ = senders(scenario(FLOW + FLOW.replace("cubic", "reno")))
    killed = SimpleNamespace(name=f"{run.PREFIX}0badcafe_0", loader_lives=False)
    # Of a living twin, of one in another container, of which nothing is known here, and of no twin.
    others = [
        SimpleNamespace(name=f"{run.PREFIX}00000001_0", loader_lives=True),
        SimpleNamespace(name=f"{run.PREFIX}00000002_0", loader_lives=None),
        SimpleNamespace(name="bbr3", loader_lives=False),
    ]
    gone: list[str] = []
    monkeypatch.setattr(run, "residents", lambda: [killed, *others])
    monkeypatch.setattr(run, "unload_residents", gone.append)
    monkeypatch.setattr(run, "load", lambda _, name: name)
    notes: list[str] = []
    with run.resident(scenario(FLOW), flows, notes) as names:
        assert names is not None
        assert len(set(names)) == 2
        assert gone == [killed.name]
    assert gone == [killed.name, *names]
    assert not notes


def test_an_algorithm_that_is_not_compiled_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    flows, _ = senders(scenario(FLOW))

    def refuse(_: object, name: str) -> str:
        raise NotCompiledError(f"{name} is not compiled")

    monkeypatch.setattr(run, "residents", list)
    monkeypatch.setattr(run, "load", refuse)
    notes: list[str] = []
    with run.resident(scenario(FLOW), flows, notes) as names:
        assert names is None
    [said] = notes
    assert re.fullmatch(rf"not decided in the kernel: {run.PREFIX}[0-9a-f]{{8}}_0 is not compiled", said)


def test_a_thread_ends_and_reports() -> None:
    """It runs until it is stopped, and reports as often as it is asked."""
    stopped = threading.Event()

    class Counted(Running[int]):
        def status(self) -> int:
            return 3

    with Counted(lambda: stopped.wait() and None, stopped.set, "counted") as counted:
        assert counted.is_running
    assert not counted.is_running
    assert counted.stop() == 3


@pytest.mark.skipif(namespaces.obstacle() is not None, reason=str(namespaces.obstacle()))
def test_real_connections() -> None:
    """The kernel's Reno on the scenario's links, which needs no root. Its throughput is what the path can carry."""
    made = scenario(FLOW)
    flows, _ = senders(made)
    settings = run.TwinSettings(bound_p99_s=60.0, bound_worst_s=60.0)
    column = run.real(made, flows, ["reno"], settings, (run.OWN, "real TCP", ("reno",)))
    [flow] = column.flows
    assert flow.time_s[-1] == 4.0
    # A connection gets at most the link's rate; a busy machine may give it less.
    payload = 10e6 * 1448 / 1500
    assert 0.5 * payload < column.measures[0].goodput_bps < 1.01 * payload
    assert np.nanmin(flow.srtt_s) > 0.02
    assert column.queue_packets.max() <= 18
    with pytest.raises(run.TwinRunError, match="the sender of flow1 failed"):
        run.real(made, flows, ["no-such-name"], settings, (run.OWN, "real TCP", ("reno",)))
