"""The situations of docs/transports.md on a connection of two kernels: `python transports.py FILE.json`, as root.

The library's algorithms decide in the kernel. The path's relay makes an ACK of N segments by
holding back the plain ACKs of a receiver that acknowledges each.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from host import PORT
from lab import ADDRESSES, MSS, Path2, names

from selfclock import kernel
from selfclock.evaluate.transports import ALL, PACING_GAIN, RTT_S, SITUATIONS, WINDOWS

if TYPE_CHECKING:
    from lab import Transfer

    from selfclock.evaluate.transports import Situation

#: A busy machine delays packets, which a single run does not show.
REPEATS = 3
#: Of the mean round trip: a run with more is repeated.
LATE_S = 0.002
PATIENCE = 4
#: TCP takes up the size of a device at the next segment; the window is read a little later.
OLD_FLIGHT_S = 0.1
MARGIN_S = 0.05
#: IPv4 and TCP with timestamps, bytes.
HEADERS = 52


def window_at(transfer: Transfer, at: float) -> int:
    """Return the window at this time, segments."""
    return [window for time_s, window in zip(transfer.time, transfer.cwnd, strict=True) if time_s <= at][-1]


def begin_at(path: Path2, threshold: int) -> None:
    """Let connections begin with this threshold, segments.

    tcp_init_metrics() takes it from what an earlier connection has left: a value locked in the
    route is kept.
    """
    path.sysctl("tcp_no_metrics_save", "0")
    path.run(0, f"ip route change 10.9.0.0/24 dev tun0 ssthresh lock {threshold}")
    path.run(0, f"{sys.executable} -c __import__('socket').create_connection(('{ADDRESSES[1]}',{PORT})).close()")
    time.sleep(5 * RTT_S)
    path.sysctl("tcp_no_metrics_save", "1")


def once(control: str, situation: Situation, label: str) -> float | None:
    """Return the window at the situation's time, bytes; none where the path was late."""
    buffer = int(situation.queue_bdp * situation.mbps * 1e6 * RTT_S / 8)
    with Path2(situation.mbps, 1000 * RTT_S, buffer, ack_every=situation.every) as path:
        path.sysctl("tcp_slow_start_after_idle", "0")
        path.sysctl("tcp_no_ssthresh_metrics_save", "0")
        gain = str(round(100 * PACING_GAIN))
        path.sysctl("tcp_pacing_ss_ratio", gain)
        path.sysctl("tcp_pacing_ca_ratio", gain)
        path.run(1, "ip route change 10.9.0.0/24 dev tun0 quickack 1")
        if situation.ssthresh:
            begin_at(path, situation.ssthresh)
        # A super-packet of several segments would be acknowledged at once.
        path.single_segments()
        seconds = situation.at + (OLD_FLIGHT_S if situation.payload else MARGIN_S)
        paced = situation.paced and label in WINDOWS
        number = path.begin(control, seconds, paced=paced, writes=situation.writes)
        if situation.payload:
            time.sleep(situation.at)
            path.run(0, f"ip link set dev tun0 mtu {situation.payload + HEADERS}")
        transfer = path.end(number)
    if path.lateness > LATE_S:
        return None
    if situation.ssthresh:
        assert transfer.ssthresh[0] == situation.ssthresh, transfer.ssthresh[0]
    at = seconds if situation.payload else situation.at
    if at < 1:
        # In slow start the window is a matter of round trips, and the relay lengthens each.
        at *= max(1.0, min(transfer.rtt_us[5:]) / 1e6 / RTT_S)
    return (situation.payload or MSS) * window_at(transfer, at)


def measured(control: str, situation: Situation, label: str) -> dict[str, object]:
    """Return the median of several runs, bytes, and how many there were."""
    windows: list[float] = []
    for _ in range(REPEATS + PATIENCE):
        window = once(control, situation, label)
        if window is not None:
            windows.append(window)
        if len(windows) == REPEATS:
            break
    print(situation.name, label, [round(window / MSS, 1) for window in windows], flush=True)
    if not windows:
        sys.exit("transports.py: this machine is too busy: every run was late")
    return {"situation": situation.name, "algorithm": label, "window": median(windows), "runs": len(windows)}


def main() -> None:
    """Measure every situation, one connection at a time."""
    if len(sys.argv) != 2:
        sys.exit("transports.py: name the file to write")
    numbers = names("t")
    with ExitStack() as stack:
        controls = {}
        for label in ALL:
            controls[label] = next(numbers)
            kernel.load(label, controls[label])
            stack.callback(kernel.unload_residents, controls[label])
        work = [(situation, label) for situation in SITUATIONS for label in situation.labels]
        with ThreadPoolExecutor(1) as pool:
            rows = list(pool.map(lambda pair: measured(controls[pair[1]], *pair), work))
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
