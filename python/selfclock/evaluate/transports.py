"""The same flows in the simulated TCP and in the QUIC driver.

`python -m selfclock.evaluate.transports DRIVER FILE.md [REAL.json]`: DRIVER is the example
`driver_flow` of crates/quic, REAL.json what tests/kernel/transports.py measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from selfclock._core import VERSION
from selfclock.errors import BadInputError
from selfclock.runs import run_many
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKET = 1448
RTT_S = 0.04
#: Both pace like quinn and noq.
PACING_GAIN = 1.25
#: "max_ack_delay" of RFC 9000, section 18.2.
ACK_DELAY_MS = 25
#: Of a packet of 1500 bytes.
PAYLOAD = PACKET / 1500

WINDOWS = ("reno", "cubic")
ALL = (*WINDOWS, "bbr3")

SCENARIO = """\
schema = 1
duration = "{seconds} s"
[network]
topology = "dumbbell"
bottleneck = {{ rate = "{mbps} Mbps", delay = "18 ms", queue = "{queue} bdp" }}
access = {{ rate = "100 Gbps", delay = "1 ms" }}
[transport]
delayed_ack = {{ every = {every}, timer = "{ack_delay} ms", quick = false }}
receive_window = "unlimited"
initial_ssthresh = {ssthresh}
restart_after_idle = false
{pacing}
[record]
interval = "{interval} ms"
[[flow]]
congestion_control = "{label}"
traffic = {traffic}
"""


@dataclass(frozen=True)
class Situation:
    """One flow, for several algorithms."""

    name: str
    labels: Sequence[str]
    #: When the window is read, seconds after the first data.
    at: float
    #: Relative difference that is no disagreement, and why there can be one.
    tolerance: float
    reason: str
    mbps: int = 1000
    queue_bdp: int = 4
    every: int = 2
    ssthresh: int | None = None
    #: Bytes, and seconds between two writes; none for bulk.
    writes: tuple[int, float] | None = None
    #: Whether windows are paced.
    paced: bool = True
    #: Payload of packets from the end on, bytes, where it changes; the simulated TCP has one size.
    payload: int | None = None

    def driver(self, label: str) -> list[str]:
        """Return the words of the driver's flow."""
        queue = int(self.queue_bdp * self.mbps * 1e6 * RTT_S / 8 / 1500)
        words = [label, f"packet={PACKET}"]
        if self.ssthresh:
            words.append(f"ssthresh={self.ssthresh}")
        source = f"writes={self.writes[0]}/{self.writes[1]}" if self.writes else "bulk"
        words += [f"rate={self.mbps * 1e6 * PAYLOAD}", f"rtt={RTT_S}", f"queue={queue}", f"every={self.every}"]
        words.append(f"burst={1 if self.paced or label not in WINDOWS else 'off'}")
        change = [f"mtu={self.payload}"] if self.payload else []
        return [*words, source, f"run={self.at}", *change, "print"]

    def scenario(self, label: str) -> Scenario:
        """Return the simulated TCP's flow."""
        traffic = '"bulk"'
        if self.writes:
            size, period = self.writes
            traffic = f'{{ rate = "{8 * size / period:.0f} bps", write = "{size} B" }}'
        return Scenario.parse(
            SCENARIO.format(
                seconds=self.at + RTT_S + 0.1,
                mbps=self.mbps,
                queue=self.queue_bdp,
                every=self.every,
                ack_delay=ACK_DELAY_MS,
                ssthresh=f'"{self.ssthresh} segments"' if self.ssthresh else '"unlimited"',
                interval=1 if self.at < 1 else 20,
                pacing=f"pacing_gain = {PACING_GAIN}" if label in WINDOWS and self.paced else "",
                label=label,
                traffic=traffic,
            )
        )


#: Reasons for the tolerances, and for what differs by more.
PLAIN = "whole packets, and where in a round trip the window is read"
TIMER = "a frame of 32 waits for the receiver's timer while the window is smaller, and 1/w of the growth for each"
FIRST = (
    "TCP knows the round-trip time from the handshake and paces its first flight; "
    "the driver learns it from the first ACK"
)
LIMIT = (
    "a flight never fills the window: the simulator sees what pacing holds back (RFC 9002, section 7.8), the driver "
    "only that half of the window was used; neither grows further"
)

RATIOS = (1, 2, 8, 32)
PAUSING = (8_000_000, 16)
SITUATIONS = (
    *(
        Situation(f"slow start, an ACK per {every}", WINDOWS, 0.236, 0.02, PLAIN, every=every, paced=False)
        for every in RATIOS
    ),
    *(Situation(f"Startup, an ACK per {every}", ("bbr3",), 0.236, 0.25, FIRST, every=every) for every in RATIOS),
    *(
        Situation(
            f"8 s from a threshold of 100, an ACK per {every}",
            WINDOWS,
            8,
            0.05,
            TIMER,
            every=every,
            ssthresh=100,
        )
        for every in RATIOS
    ),
    *(
        Situation(f"20 Mbit/s for 4 s, an ACK per {every}", ("bbr3",), 4, 0.02, PLAIN, mbps=20, every=every)
        for every in RATIOS
    ),
    Situation("before a pause", ALL, 15.9, 0.03, PLAIN, mbps=100, ssthresh=100, writes=PAUSING),
    Situation("1 s after a pause of 14 s", ALL, 17, 0.03, PLAIN, mbps=100, ssthresh=100, writes=PAUSING),
    Situation(
        "5 Mbit/s in writes of 25 kB, 60 s",
        ALL,
        60,
        0.5,
        LIMIT,
        mbps=100,
        queue_bdp=1,
        writes=(25_000, 0.04),
    ),
    Situation("a payload of 800 bytes after 8 s", WINDOWS, 8, 0.05, PLAIN, ssthresh=100, payload=800),
)

HEAD = f"""\
# The same flow in both transports

The simulated TCP and the QUIC driver give the algorithms their events; this page compares the windows that follow.
`make transports` made it with selfclock {VERSION}; [adapters](adapters.md) describes the driver.

One flow on a path with an RTT of {1e3 * RTT_S:g} ms and packets of 1500 bytes, {PACKET} of them payload.
The receiver acknowledges every second packet unless the row says otherwise, after {ACK_DELAY_MS} ms at the latest.
Windows are packets at one time.
Both transports pace at {PACING_GAIN} windows per round trip, except in the rows of slow start.
TCP's receiver has no quick ACKs and an unlimited window, as the driver's.
`restart_after_idle` is off in TCP: with it, as in Linux, a pause leaves ten packets (RFC 5681, section 4.1).
QUIC has no such rule (RFC 9002, section 7.3.1).
The driver runs without a stack, so that nothing else differs.
The last column is a connection of two kernels with the algorithm in the sender's (`selfclock kernel load`).
It needs root: `make transports-kernel`; the relay between the hosts runs in real time.
It stretches the bursts of slow start, whose windows are therefore read within a round trip there, and smaller.

"""

COLUMNS = (
    "| situation | algorithm | simulator | driver | difference | allowed | real connection |\n"
    "|---|---|---:|---:|---:|---:|---|\n"
)


def _window_at(result: object, seconds: float) -> float:
    """Return the window of the only flow, bytes."""
    table = pa.table(result.flows)  # type: ignore[attr-defined]
    times = table.column("time_s").to_pylist()
    windows = table.column("cwnd_bytes").to_pylist()
    return float(
        next(window for time, window in zip(reversed(times), reversed(windows), strict=True) if time <= seconds)
    )


def simulated(pairs: Sequence[tuple[Situation, str]]) -> Iterator[float]:
    """Yield the windows of the simulated TCP. Its data begin after the handshake."""
    results = run_many([situation.scenario(label) for situation, label in pairs])
    for (situation, _), result in zip(pairs, results, strict=True):
        yield _window_at(result, situation.at + RTT_S)


def driven(binary: str, situation: Situation, label: str) -> float:
    """Return the window of the driver."""
    done = subprocess.run([binary, *situation.driver(label)], check=True, capture_output=True, text=True)  # noqa: S603
    return float(done.stdout.split()[1])


def kernels(measured: str | None, page: Path) -> dict[tuple[str, str], str]:
    """Return the cells of the last column: those of a measurement, or those that the page has."""
    if measured:
        rows = json.loads(Path(measured).read_text(encoding="utf-8"))
        return {(row["situation"], row["algorithm"]): f"{row['window'] / PACKET:.1f}" for row in rows}
    cells = {}
    for line in page.read_text(encoding="utf-8").splitlines() if page.exists() else []:
        words = [word.strip() for word in line.split("|")]
        if len(words) == COLUMNS.splitlines()[0].count("|") + 1 and line not in COLUMNS:
            cells[words[1], words[2].strip("`")] = words[-2]
    return cells


def write(binary: str, real: dict[tuple[str, str], str]) -> str:
    """Run everything and return the page.

    :raises BadInputError: two windows differ by more than the tolerance.
    """
    pairs = [(situation, label) for situation in SITUATIONS for label in situation.labels]
    text = HEAD + COLUMNS
    wrong = []
    for (situation, label), simulator in zip(pairs, simulated(pairs), strict=True):
        driver = driven(binary, situation, label)
        difference = driver / simulator - 1
        if abs(difference) > situation.tolerance:
            wrong.append(f"{situation.name}, {label}: {simulator / PACKET:.1f} and {driver / PACKET:.1f} packets")
        text += (
            f"| {situation.name} | `{label}` | {simulator / PACKET:.1f} | {driver / PACKET:.1f} "
            f"| {difference:+.1%} | {situation.tolerance:.0%} | {real.get((situation.name, label), '')} |\n"
        )
    if wrong:
        raise BadInputError("the transports differ: " + "; ".join(wrong))
    text += "\nReasons for what is allowed:\n\n"
    reasons = {situation.reason: "" for situation in SITUATIONS}
    for reason in reasons:
        names = dict.fromkeys(s.name.split(", an ACK")[0] for s in SITUATIONS if s.reason == reason)
        text += f"* {', '.join(names)}: {reason}.\n"
    return text


def main() -> None:
    """Write the page to the file that is named."""
    if len(sys.argv) not in {3, 4}:
        sys.exit(
            "selfclock.evaluate.transports: name the example driver_flow, the file to write, "
            "and the measurement of real connections, if there is one"
        )
    page = Path(sys.argv[2])
    try:
        text = write(sys.argv[1], kernels(sys.argv[3] if len(sys.argv) == 4 else None, page))
    except BadInputError as error:
        sys.exit(f"selfclock.evaluate.transports: {error}")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
