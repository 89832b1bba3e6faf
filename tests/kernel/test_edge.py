"""FICCRD at a real device: windows are lowered while it runs, and pass unchanged afterwards, however it ends."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab import ADDRESSES, Host, Path2, Transfer

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Below the path's 20 Mbit/s, so that the edge limits the flow, not the path.
RATE_MBPS = 10.0


class Site:
    """A source behind a router, whose device towards it is `edge0`, and a path of 20 ms from there to the receiver."""

    def __init__(self, path: Path2, source: Host) -> None:
        self.path, self.source, self.router = path, source, path.hosts[0]
        pid = self.router.process.pid
        ip(source, "link", "add", "up0", "type", "veth", "peer", "name", "edge0", "netns", str(pid))
        for host, device, address in ((source, "up0", "10.8.0.1/24"), (self.router, "edge0", "10.8.0.2/24")):
            ip(host, "addr", "add", address, "dev", device)
            ip(host, "link", "set", device, "up")
        ip(source, "route", "add", "10.9.0.0/24", "via", "10.8.0.2")
        ip(path.hosts[1], "route", "add", "10.8.0.0/24", "dev", "tun0")
        self.router.end(self.router.begin("sysctl", name="ip_forward", value="1"))

    def begin(self, seconds: float) -> int:
        """Start a transfer under the kernel's CUBIC; return its number."""
        return self.source.begin("send", control="cubic", seconds=seconds, to=ADDRESSES[1], pause=0.0, mss=0)

    def end(self, number: int) -> Transfer:
        """Wait for a transfer."""
        answer = self.source.end(number)
        return Transfer(answer["control"], *[list(column) for column in zip(*answer["samples"], strict=True)])

    def edge(self, *options: str) -> subprocess.Popen[str]:
        """Start the command on the router, and wait until it has attached to its device."""
        words = ["nsenter", "-t", str(self.router.process.pid), "-n", sys.executable, "-m", "selfclock", "kernel"]
        words += ["edge", "edge0", "--rate", f"{RATE_MBPS:g} Mbps", "--buffer", "100 kB", "--json", *options]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        # The edge knows the window scale only of flows whose SYN it has seen.
        assert process.stderr.readline().startswith("ficcrd is at edge0")
        return process


def ip(host: Host, *words: str) -> None:
    """Run `ip` on a host."""
    subprocess.run(["nsenter", "-t", str(host.process.pid), "-n", "ip", *words], check=True)


@pytest.fixture
def site() -> Iterator[Site]:
    """Processes in their own namespaces, which end with them."""
    with Path2() as path, contextlib.closing(Host("10.7.0.1")) as source:
        yield Site(path, source)


def test_the_source_is_held_to_its_rate(site: Site) -> None:
    """Its goodput is the edge's rate: of the 1514 bytes of a frame, which the program counts, 1448 are payload."""
    process = site.edge("--for", "20 s")
    number = site.begin(21)
    out, said = process.communicate(timeout=60)
    found = site.end(number)
    assert process.returncode == 0, said
    [flow] = [flow for flow in json.loads(out)["flows"] if flow["data_bytes"] > 1_000_000]
    # Slow start fills the virtual queue, and the mean allowed rate falls to some 2 Mbit/s. With the
    # queue empty it grows by (1.15 - 1) * 0.0625 for every 32 packets: by a quarter per second at
    # 10 Mbit/s, and less below. It is back after some ten seconds.
    #
    # A flow's rate is an average over 100 ms, and windows are whole segments, 17 on this path: 10
    # %.
    assert found.goodput(14, 19) == pytest.approx(RATE_MBPS * 1448 / 1514, rel=0.1), said
    assert flow["acks_lowered"] > 100
    assert flow["rtt_s"] == pytest.approx(0.02, rel=0.5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_windows_pass_when_it_has_ended(site: Site, number: signal.Signals) -> None:
    """Ended or killed, it is gone from the device, and the flow has the path back."""
    process = site.edge()
    began = time.monotonic()
    transfer = site.begin(13)
    time.sleep(6)
    process.send_signal(number)
    process.communicate(timeout=30)
    ended = time.monotonic() - began
    found = site.end(transfer)
    assert found.goodput(3, 5.5) < 1.15 * RATE_MBPS
    assert found.goodput(ended + 1) > 1.5 * RATE_MBPS


def test_only_watching_lowers_nothing(site: Site) -> None:
    """It reports what it would allow: the virtual queue is full, because the source sends at twice its rate."""
    process = site.edge("--for", "5 s", "--only-watch")
    transfer = site.begin(6)
    out, said = process.communicate(timeout=60)
    found = site.end(transfer)
    assert found.goodput(2) > 1.5 * RATE_MBPS, said
    document = json.loads(out)
    [flow] = [flow for flow in document["flows"] if flow["data_bytes"] > 1_000_000]
    assert flow["acks_lowered"] == 0
    assert flow["allowed_bps"] < RATE_MBPS * 1e6
    assert document["queue_bytes"] > 50_000


def test_a_device_that_is_not_there() -> None:
    """One line."""
    done = subprocess.run(
        [sys.executable, "-m", "selfclock", "kernel", "edge", "nope0", "--rate", "1 Mbps", "--buffer", "10 kB"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == 'selfclock: device "nope0": No such device (os error 19)\n'
    assert not Path("/sys/class/net/nope0").exists()
