"""The emulator between sockets in place of TUN devices: no root is needed.

Times are real, so only results that lateness cannot change are asserted.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import selfclock as sc
from selfclock import _core
from selfclock.save import metadata
from selfclock.verify import verify_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")

SCENARIO = """
schema = 1
name = "emulated"
duration = "60 s"

[network]
topology = "dumbbell"
bottleneck = {{ rate = "20 Mbps", delay = "10 ms", queue = {{ limit = "40 packets", discipline = "{discipline}" }} }}
access = {{ rate = "1 Gbps", delay = "5 ms" }}

[[flow]]
congestion_control = "cubic"
"""
#: The delays of the three links, and 1,000 B at 1 Gbit/s, 20 Mbit/s and 1 Gbit/s.
LEAST_S = 0.020 + 8e-6 + 400e-6 + 8e-6

NAMES = ("source1", "sink1")
ADDRESSES = ("10.0.0.1", "10.0.0.2")


def scenario(discipline: str = "drop-tail") -> sc.Scenario:
    return sc.Scenario.parse(SCENARIO.format(discipline=discipline))


def datagram(number: int, port: int = 4000, ecn: int = 0, size: int = 1000) -> bytes:
    """Return an IPv4 packet from the first host to the second, with its number and the time."""
    payload = struct.pack("!Iq", number, time.monotonic_ns()).ljust(size - 28, b"\0")
    source, sink = (socket.inet_aton(address) for address in ADDRESSES)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, ecn, size, number & 0xFFFF, 0, 64, 17, 0, source, sink)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    return header[:10] + checksum + header[12:] + struct.pack("!HHHH", port, 5000, size - 20, 0) + payload


class Ends:
    """Two hosts at the ends of a path, an emulator in a thread, and the data received by the second host."""

    def __init__(self, given: sc.Scenario, **settings: object) -> None:
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in NAMES]
        (self.source, one), (self.sink, other) = pairs
        self.sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        hosts = [
            (name, end.fileno(), [address]) for name, end, address in zip(NAMES, (one, other), ADDRESSES, strict=True)
        ]
        self.emulator = _core.Emulator(given._core, hosts, **settings)
        # The emulator has its own descriptors.
        one.close()
        other.close()
        self.got: list[tuple[bytes, int]] = []
        self._all_sent = threading.Event()
        self._stop, self._say_stop = os.pipe()
        self._outcome: list[_core.Outcome | BaseException] = []
        self._threads = [threading.Thread(target=target) for target in (self._run, self._receive)]

    def _run(self) -> None:
        try:
            self._outcome.append(self.emulator.run(self._stop))
        except BaseException as error:
            self._outcome.append(error)

    def _receive(self) -> None:
        """Receive packets until, after the last one was sent, none has arrived for half a second."""
        self.sink.settimeout(0.5)
        while True:
            try:
                packet = self.sink.recv(65536)
            except TimeoutError:
                if self._all_sent.is_set():
                    return
                continue
            if not packet:
                return
            self.got.append((packet, time.monotonic_ns()))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def send(self, packets: int, every_s: float, make: Callable[[int], bytes] = datagram) -> None:
        begin = time.monotonic()
        for number in range(packets):
            while time.monotonic() < begin + number * every_s:
                pass
            self.source.send(make(number))

    def end(self) -> tuple[_core.Outcome, dict[str, Any]]:
        self._all_sent.set()
        self._threads[1].join()
        os.write(self._say_stop, b"x")
        self._threads[0].join()
        (outcome,) = self._outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome, json.loads(outcome.summary)

    def close(self) -> None:
        for descriptor in (self._stop, self._say_stop):
            os.close(descriptor)
        self.source.close()
        self.sink.close()


@contextmanager
def ends(given: sc.Scenario, **settings: object) -> Iterator[Ends]:
    both = Ends(given, realtime=False, **settings)
    try:
        both.start()
        yield both
    finally:
        both.close()


def recorded(directory: Path, given: sc.Scenario) -> dict[str, Any]:
    return {"packets": (directory / "packets.parquet", list(metadata(given).items()))}


def test_no_packet_is_early_and_the_record_agrees(tmp_path: Path) -> None:
    given = scenario()
    with ends(given, **recorded(tmp_path, given), captures=[("sink1", tmp_path / "sink1.pcapng")]) as both:
        both.send(300, 0.001, lambda number: datagram(number, 4000 + number % 2))
        outcome, summary = both.end()
    one_way_s = [(at - struct.unpack("!q", packet[32:40])[0]) / 1e9 for packet, at in both.got]
    # On a busy machine the receiver's socket may be full briefly.
    refused = summary["emulation"]["refused"]
    assert len(one_way_s) == 300 - refused
    assert min(one_way_s) >= LEAST_S
    numbers = [struct.unpack("!I", packet[28:32])[0] for packet, _ in both.got]
    assert numbers == sorted(set(numbers))
    assert [flow["name"] for flow in summary["flows"]] == [f"source1:{port}-sink1:5000 udp" for port in (4000, 4001)]
    assert all(flow["sent_segments"] == 150 for flow in summary["flows"])
    assert sum(flow["delivered_segments"] for flow in summary["flows"]) == 300 - refused
    assert sum(flow["delivered_bytes"] for flow in summary["flows"]) == (300 - refused) * 972
    late = summary["emulation"]["lateness"]
    assert late["packets"] == sum(count for _, count in late["histogram"]) == 300 - refused
    assert 0 < late["p50_s"] <= late["p99_s"] <= late["worst_s"]
    flows = pl.DataFrame(outcome.flow_series)
    assert flows["cwnd_bytes"].null_count() == flows.height > 0
    assert flows["sent_bytes"].max() == 150 * 972
    assert outcome.packet_events == pl.read_parquet(tmp_path / "packets.parquet").height
    (tmp_path / "summary.json").write_text(outcome.summary)
    findings = verify_path(tmp_path)
    assert not findings.violations, findings.violations[:3]
    assert findings.checked["replay"] == 300


def test_captures_have_real_packets(tmp_path: Path) -> None:
    from scapy.utils import PcapNgReader  # noqa: PLC0415

    with ends(scenario(), captures=[(name, tmp_path / f"{name}.pcapng") for name in NAMES]) as both:
        both.send(20, 0.002)
        both.end()
    captured = []
    for name in NAMES:
        with PcapNgReader(str(tmp_path / f"{name}.pcapng")) as reader:
            captured.append([bytes(packet) for packet in reader])
    sent, got = captured
    assert got == [packet[:160] for packet, _ in both.got]
    assert len(sent) == 20
    assert set(got) <= set(sent)


def test_a_capture_is_in_order_of_time(tmp_path: Path) -> None:
    """Of a host that sends while packets arrive: one that was read before others were written had come after them."""
    from scapy.utils import PcapNgReader  # noqa: PLC0415

    back = bytearray(datagram(0, size=100))
    back[12:20] = back[16:20] + back[12:16]
    with ends(scenario(), captures=[("sink1", tmp_path / "sink1.pcapng")]) as both:
        for number in range(3000):
            both.source.send(datagram(number, size=200))
            both.sink.send(bytes(back))
            time.sleep(0.0002)
        both.end()
    with PcapNgReader(str(tmp_path / "sink1.pcapng")) as reader:
        times = [packet.time for packet in reader]
    assert len(times) > 3000
    assert times == sorted(times)


@pytest.mark.parametrize("discipline", [each["name"] for each in json.loads(_core.queues())])
def test_a_record_of_every_discipline_is_replayed(discipline: str, tmp_path: Path) -> None:
    """A burst at 40 Mbit/s, half of which is ECN-capable: the queue drops or marks, and the simulator does the same."""
    given = scenario(discipline)
    with ends(given, **recorded(tmp_path, given)) as both:
        both.send(2500, 0.0002, lambda number: datagram(number, 4000 + number % 5, ecn=2 * (number % 2)))
        outcome, summary = both.end()
    bottleneck = next(link for link in summary["links"] if link["name"] == "bottleneck")
    assert bottleneck["drops"] + bottleneck["ce_marks"] > 20
    marked = sum(packet[1] & 3 == 3 for packet, _ in both.got)
    assert marked == sum(flow["ce_marks"] for flow in summary["flows"])
    sent, dropped, _, differences = _core.replay(given._core, outcome.summary, tmp_path / "packets.parquet")
    assert not differences, differences[0]
    assert (sent, dropped) == (2500, bottleneck["drops"])


def test_what_differs_is_found(tmp_path: Path) -> None:
    given = scenario()
    with ends(given, **recorded(tmp_path, given)) as both:
        both.send(600, 0.0002)
        outcome, summary = both.end()
    for link in summary["links"]:
        link["drops"] += 1
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    assert {violation.rule for violation in verify_path(tmp_path).violations} == {"summary"}
    # A shorter queue drops other packets, and everything after a drop differs.
    other = given._core.with_overrides(["network.bottleneck.queue.limit=39 packets"])
    *_, differences = _core.replay(other, outcome.summary, tmp_path / "packets.parquet")
    assert len(differences) == 20
    assert "recorded: enqueue of packet" in differences[0][1]
    assert "replayed: drop of packet" in differences[0][1]


def test_it_ends_after_its_duration() -> None:
    with ends(scenario(), duration_s=0.3) as both:
        begin = time.monotonic()
        both._threads[0].join()
        assert 0.29 < time.monotonic() - begin < 5
        _, summary = both.end()
    assert summary["simulated_s"] == pytest.approx(0.3)


def test_a_late_run_is_not_valid() -> None:
    """No packet leaves within a picosecond of its time."""
    with ends(scenario(), bound_p99_s=1e-12) as both:
        both.send(5, 0.001)
        _, summary = both.end()
    assert summary["emulation"]["lateness"]["valid"] is False


def test_status() -> None:
    with ends(scenario()) as both:
        both.send(400, 0.001)
        status = json.loads(both.emulator.status())
        both.end()
    bottleneck = next(link for link in status["links"] if link["name"] == "bottleneck")
    # 1,000 B per millisecond are 8 Mbit/s; this thread may pause during the tenth of a second.
    assert 0 < bottleneck["rate_bps"] < 2.1e7
    assert 0 < status["packets"] <= 400
    assert status["flows"] == 1


def fragments(number: int, size: int = 3000, port: int = 4000) -> list[bytes]:
    """Return a datagram with this payload as IP fragments (RFC 791) of at most 1,500 B."""
    whole = struct.pack("!HHHH", port, 5000, size + 8, 0) + bytes(size)
    found = []
    for at in range(0, len(whole), 1480):
        part = whole[at : at + 1480]
        more = 0x2000 if at + 1480 < len(whole) else 0
        packet = bytearray(datagram(number, size=20 + len(part) + 8))[: 20 + len(part)]
        packet[2:4] = struct.pack("!H", 20 + len(part))
        packet[6:8] = struct.pack("!H", at // 8 | more)
        packet[20:] = part
        found.append(bytes(packet))
    return found


def test_fragments_belong_to_their_datagrams() -> None:
    """Of two flows. Of one datagram the last fragment never comes: it was sent, and is not delivered."""
    packets = [
        part for number in range(20) for part in fragments(number, port=4000 + number % 2)[: 2 if number == 7 else None]
    ]
    with ends(scenario()) as both:
        both.send(len(packets), 0.002, packets.__getitem__)
        _, summary = both.end()
    assert summary["emulation"]["refused"] == 0
    found = [
        (flow["name"], flow["sent_segments"], flow["delivered_segments"], flow["delivered_bytes"])
        for flow in summary["flows"]
    ]
    assert found == [
        ("source1:4000-sink1:5000 udp", 10, 10, 30_000),
        ("source1:4001-sink1:5000 udp", 10, 9, 27_000),
    ]


def test_algorithms_are_those_of_the_senders_sockets() -> None:
    """A SYN makes a TCP connection. What nobody has seen has the default of its host, and a note says so."""

    def syn(number: int) -> bytes:
        packet = bytearray(datagram(number, port=4000 + number, size=40))
        packet[9] = 6
        packet[20:] = struct.pack("!HHIIBBHHH", 4000 + number, 5000, 1, 0, 0x50, 2, 1000, 0, 0)
        return bytes(packet)

    with ends(scenario()) as both:
        both.send(2, 0.01, syn)
        both.emulator.tell(
            [(("10.0.0.1", 4001), ("10.0.0.2", 5000), "cubic"), (("10.0.0.2", 5000), ("10.0.0.1", 4001), "bbr")],
            [("source1", "reno")],
            ["said outside"],
        )
        outcome, summary = both.end()
    assert [(flow["algorithm"], flow["algorithm_seen"]) for flow in summary["flows"]] == [
        ("reno", False),
        ("cubic", True),
    ]
    assert summary["flows"][1]["addresses"] == ["10.0.0.1:4001", "10.0.0.2:5000"]
    said, unseen = summary["emulation"]["notes"][-2:]
    assert said == "said outside"
    assert "asked for their algorithm: 1; " in unseen
    assert scenario().emulated(outcome)._core.algorithm_names == ["reno", "cubic"]


def test_connections_share_places_when_all_are_taken() -> None:
    with ends(scenario(), flows_per_path=2) as both:
        both.send(50, 0.001, lambda number: datagram(number, 4000 + number % 5))
        _, summary = both.end()
    assert len(summary["flows"]) == 5
    assert summary["emulation"]["connections_sharing"] == 3
    assert {flow["slot"] for flow in summary["flows"]} <= {0, 1}


def test_what_is_for_nobody_goes_nowhere() -> None:
    def make(number: int) -> bytes:
        packet = bytearray(datagram(number))
        if number % 2:
            packet[16:20] = socket.inet_aton("224.0.0.22")
        return b"garbage" if number % 4 == 0 else bytes(packet)

    with ends(scenario()) as both:
        both.send(40, 0.001, make)
        _, summary = both.end()
    emulation = summary["emulation"]
    assert (emulation["to_nobody"], emulation["unreadable"]) == (20, 10)
    assert len(both.got) + emulation["refused"] == 10


def test_a_signal_handler_that_raises_ends_it() -> None:
    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StopError

    source, device = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sink, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    hosts = [("source1", device.fileno(), ["10.0.0.1"]), ("sink1", other.fileno(), ["10.0.0.2"])]
    emulator = _core.Emulator(scenario()._core, hosts, realtime=False)
    never, say_never = os.pipe()
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(StopError):
            emulator.run(never)
        with pytest.raises(_core.EmulationError, match="an emulation runs once"):
            emulator.run(never)
    finally:
        signal.signal(signal.SIGALRM, before)
        for each in (source, device, sink, other):
            each.close()
        os.close(never)
        os.close(say_never)


@pytest.mark.parametrize(
    ("hosts", "settings", "message"),
    [
        ([("source1", ["10.0.0.1"])], {}, "hosts: 1; allowed: two or more"),
        ([("nobody", []), ("sink1", [])], {}, 'hosts: "nobody" is no node of the scenario; allowed: '),
        ([("sink1", []), ("sink1", [])], {}, 'hosts: "sink1" stands there twice'),
        ([("source1", ["10.0.0.1"]), ("sink1", ["10.0.0.1"])], {}, "hosts: 10.0.0.1 is the address of"),
        ([("source1", ["10.0.0"]), ("sink1", [])], {}, 'hosts: "10.0.0" is no IP address; write one such as'),
        ([("source1", ["10.0.0.0/33"]), ("sink1", [])], {}, "allowed: 0 to 32 bits"),
        ([("source1", []), ("sink1", [])], {"duration_s": 0.0}, "duration_s: 0 s is out of range"),
        ([("source1", []), ("sink1", [])], {"flows_per_path": 0}, "flows_per_path: 0 is out of range"),
        ([("source1", []), ("sink1", [])], {"captures": [("left", "x")]}, 'captures: "left" is no host'),
    ],
)
def test_errors_say_what_is_allowed(hosts: list[Any], settings: dict[str, Any], message: str) -> None:
    own, other = socket.socketpair()
    with own, other, pytest.raises(_core.EmulationError) as caught:
        _core.Emulator(scenario()._core, [(name, own.fileno(), each) for name, each in hosts], **settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_scenario_with_the_flows_that_were_seen() -> None:
    given = scenario()._core
    seen = given.emulated([("web", "sink1", "source1", "bbr", 0.5), ("call", "source1", "sink1", "udp", 1.0)])
    assert seen.flow_names == ["web", "call"]
    assert seen.algorithm_names == ["bbr", "udp"]
    assert seen.text == given.text
    network = json.loads(seen.network)
    links = [link["name"] for link in network["links"]]
    forward = [links[number] for number in network["flows"][0]["forward"]]
    assert forward == ["sink1-right", "reverse", "left-source1"]
    with pytest.raises(_core.ScenarioError, match='"nobody" is no node; allowed: '):
        given.emulated([("web", "nobody", "source1", "tcp", 0.5)])
