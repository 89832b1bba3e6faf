"""Two hosts in their own namespaces with a path between them, and sessions of `selfclock kernel run` beside them.

Everything belongs to processes that end with this one: nothing has a name that could be left
behind.
"""

from __future__ import annotations

import array
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
ADDRESSES = ("10.9.0.1", "10.9.0.2")
MSS = 1448
#: Longer than a recovery on these paths, and shorter than a period, s.
RECOVERY = 0.25
#: Share of packets that may leave the path 2 ms late: where a machine is too busy for the path,
#: goodput says nothing of an algorithm. A queue of one BDP that never empties covers single ones.
IN_TIME = 0.01
#: A line for each path of this process that has ended: how late it was, "" if it was not.
ENDED: list[str] = []


@dataclass(frozen=True)
class Transfer:
    """A connection as described by its sender's kernel every 10 ms."""

    control: str
    #: s, and then: us, segments, segments, segments, bytes, bytes/s.
    time: list[float]
    rtt_us: list[int]
    ssthresh: list[int]
    cwnd: list[int]
    retransmits: list[int]
    acked: list[int]
    pacing: list[int] = field(default_factory=list)

    def acked_at(self, time: float) -> int:
        """Return the bytes acknowledged by this time."""
        return max((acked for at, acked in zip(self.time, self.acked, strict=True) if at <= time), default=0)

    def goodput(self, start: float = 0.0, end: float | None = None) -> float:
        """Return the goodput between two times, Mbit/s."""
        end = self.time[-1] if end is None else end
        return (self.acked_at(end) - self.acked_at(start)) * 8e-6 / (end - start)

    def mean(self, what: list[int], start: float = 0.0) -> float:
        """Return the mean of a column from a time on."""
        rows = [value for at, value in zip(self.time, what, strict=True) if at >= start]
        return sum(rows) / len(rows)

    def seconds(self) -> list[float]:
        """Return the goodput of every second, Mbit/s."""
        return [self.goodput(second, second + 1) for second in range(int(self.time[-1]))]

    def intervals(self, start: float = 5.0) -> list[float]:
        """Return the intervals between reductions, s: falls below 0.85 of the highest window since the last one."""
        falls, highest = [], 0
        for at, cwnd in zip(self.time, self.cwnd, strict=True):
            # In recovery the window falls in steps, and below its target: a single reduction.
            if at < start or (falls and at - falls[-1] < RECOVERY):
                continue
            highest = max(highest, cwnd)
            if cwnd < 0.85 * highest:
                falls.append(at)
                highest = 0
        return [later - earlier for earlier, later in pairwise(falls)]


def period(transfers: Sequence[Transfer]) -> float | None:
    """Return the mean interval between reductions of runs, s; None of fewer than three intervals.

    One interval may begin or end with a loss of a late packet; a third of three at most.
    """
    found = [interval for one in transfers for interval in one.intervals()]
    return statistics.fmean(found) if len(found) >= 3 else None


class Host:
    """A process in its own namespace."""

    def __init__(self, address: str, cgroup: Path | None = None) -> None:
        own, other = socket.socketpair()
        script = [sys.executable, str(HERE / "host.py"), address, str(other.fileno())]
        script += [] if cgroup is None else [str(cgroup)]
        self.process = subprocess.Popen(script, pass_fds=[other.fileno()])
        other.close()
        _, ancillary, _, _ = own.recvmsg(64, socket.CMSG_SPACE(4))
        if not ancillary:
            raise OSError("a host could not be made: is this root?")
        self.tun = array.array("i", ancillary[0][2])[0]
        self._link = own
        self._answers: dict[int, dict[str, Any]] = {}
        self._came = threading.Condition()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._link.makefile():
            answer = json.loads(line)
            with self._came:
                self._answers[answer["number"]] = answer
                self._came.notify_all()

    def begin(self, do: str, **order: Any) -> int:  # noqa: ANN401
        """Send an order; return its number."""
        self._number += 1
        document = {"do": do, "number": self._number, **order}
        self._link.sendall(json.dumps(document).encode() + b"\n")
        return self._number

    def end(self, number: int, patience: float = 120.0) -> dict[str, Any]:
        """Wait for an order to complete."""
        with self._came:
            if not self._came.wait_for(lambda: number in self._answers, patience):
                raise TimeoutError(f"order {number}")
            answer = self._answers.pop(number)
        if "error" in answer:
            raise OSError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process and thereby the namespace."""
        self.process.kill()
        self.process.wait()
        self._link.close()
        os.close(self.tun)


class Path2:
    """Two hosts and a bottleneck between them."""

    def __init__(
        self,
        mbps: float = 20.0,
        rtt_ms: float = 20.0,
        buffer: int = 50_000,
        mark_above: int = 0,
        cgroup: Path | None = None,
        ack_every: int = 1,
    ) -> None:
        self.hosts = [Host(address, cgroup) for address in ADDRESSES]
        path = {"rate": mbps * 1e6, "delay": rtt_ms / 2000, "buffer": buffer, "mark_above": mark_above}
        path["ack_every"] = ack_every
        fds = [host.tun for host in self.hosts]
        script = [sys.executable, str(HERE / "relay.py"), json.dumps({**path, "parent": os.getpid()}), *map(str, fds)]
        self.relay = subprocess.Popen(script, pass_fds=fds, stdout=subprocess.PIPE, text=True)
        # A handshake before the relay runs would have an RTT of several 100 ms.
        if self.relay.stdout is None or self.relay.stdout.readline() != "ready\n":
            raise OSError("the path could not be made")
        #: After the path has ended: number of packets carried, and of those that left late.
        self.packets = self.late = 0
        #: By how much the path exceeded its delay on average, s a round trip.
        self.lateness = 0.0

    def __enter__(self) -> Path2:
        return self

    @property
    def is_in_time(self) -> bool:
        """Whether this machine was fast enough for the path, which has ended."""
        return self.late <= IN_TIME * self.packets

    @property
    def said(self) -> str:
        """How late the packets were."""
        share = self.late / max(self.packets, 1)
        return f"a busy machine: {share:.1%} of a path's packets left more than 2 ms late, and {IN_TIME:.0%} may"

    def __exit__(self, *_: object) -> None:
        self.relay.terminate()
        try:
            out, _ = self.relay.communicate(timeout=5)
        except subprocess.TimeoutExpired:  # it is stopped
            self.relay.kill()
            out, _ = self.relay.communicate()
        counts = json.loads(out or "{}")
        self.packets, self.late = counts.get("packets", 0), counts.get("late", 0)
        self.lateness = counts.get("lateness", 0.0)
        ENDED.append("" if self.is_in_time else self.said)
        for host in self.hosts:
            host.close()

    def begin(
        self,
        control: str,
        seconds: float,
        pause: float = 0.0,
        mss: int = 0,
        block: int = 0,
        bulk: float = 0.0,
        **order: Any,  # noqa: ANN401
    ) -> int:
        """Start a transfer under a congestion control; return its number.

        It writes `block` bytes every 2 ms, after `bulk` seconds of as much as the connection takes.
        Or `writes`: bytes, and seconds between two writes. With `paced` the kernel paces it.
        """
        order |= {"control": control, "seconds": seconds, "pause": pause, "mss": mss, "block": block, "bulk": bulk}
        return self.hosts[0].begin("send", to=ADDRESSES[1], **order)

    def end(self, number: int) -> Transfer:
        """Wait for a transfer."""
        answer = self.hosts[0].end(number)
        columns = [list(column) for column in zip(*answer["samples"], strict=True)]
        return Transfer(answer["control"], *columns)

    def send(self, control: str, seconds: float, pause: float = 0.0) -> Transfer:
        """Run a transfer of this duration."""
        return self.end(self.begin(control, seconds, pause))

    def sysctl(self, name: str, value: str) -> None:
        """Set a value on both hosts."""
        for host in self.hosts:
            host.end(host.begin("sysctl", name=name, value=value))

    def run(self, host: int, command: str) -> None:
        """Run a command on a host."""
        self.hosts[host].end(self.hosts[host].begin("run", command=command))

    def single_segments(self) -> None:
        """Limit the sender's super-packets to one segment, so that pacing spaces each."""
        self.run(0, "ip link set dev tun0 gso_max_segs 1")

    def ecn(self) -> None:
        """Enable ECN."""
        self.sysctl("tcp_ecn", "1")


class Run:
    """A process of `selfclock kernel run`."""

    def __init__(self, name: str, algorithm: str = "reno", *options: str, before: Sequence[str] = ()) -> None:
        self.name = name
        command = [*before, sys.executable, "-m", "selfclock", "kernel", "run", "--json"]
        command += ["--algorithm", algorithm, "--name", name, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while name not in available():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError(self.process.communicate()[1])
            time.sleep(0.05)

    def stop(self) -> dict[str, Any]:
        """End it as Ctrl-C does; return its document."""
        self.process.terminate()
        out, said = self.process.communicate(timeout=60)
        if not out:
            raise RuntimeError(said)
        document: dict[str, Any] = json.loads(out)
        return document

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.communicate()


def available() -> list[str]:
    """Return the names of congestion controls available to sockets."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()


def names(prefix: str) -> Iterator[str]:
    """Return names for sessions of this process: they are global in the kernel."""
    number = 0
    while True:
        yield f"{prefix}{number}_{os.getpid()}"[:15]
        number += 1
