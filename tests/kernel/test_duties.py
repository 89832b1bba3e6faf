"""Duties that Linux has for its own algorithms, beside the library's: decided in the kernel, and by a process.

The windows are compared with those of the kernel's CUBIC on the same path at the same time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from lab import Path2, Run, names

from selfclock import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Transfer

NAMES = names("d")
OWN = "cubic"


@pytest.fixture(scope="module")
def controls() -> Iterator[dict[str, str]]:
    """CUBIC three times, by the name in the kernel."""
    inside, outside = next(NAMES), next(NAMES)
    with ExitStack() as stack:
        kernel.load("cubic", inside)
        stack.callback(kernel.unload_residents, inside)
        stack.enter_context(Run(outside, "cubic", "--realtime"))
        yield {"kernel": OWN, "inside": inside, "outside": outside}


def beside(controls: dict[str, str], sysctls: dict[str, str] | None = None, **order: Any) -> dict[str, Transfer]:  # noqa: ANN401
    """Run the same transfer under each, at once, on paths of 20 Mbit/s and 40 ms."""

    def one(control: str) -> Transfer:
        with Path2(20, 40, 100_000) as path:
            for name, value in (sysctls or {}).items():
                path.sysctl(name, value)
            return path.end(path.begin(control, **order))

    with ThreadPoolExecutor() as pool:
        transfers = list(pool.map(one, controls.values()))
    done = dict(zip(controls, transfers, strict=True))
    for way, control in controls.items():
        assert done[way].control == control
    return done


def windows(transfer: Transfer, start: float, end: float) -> list[int]:
    """Return the windows of these seconds."""
    return [cwnd for at, cwnd in zip(transfer.time, transfer.cwnd, strict=True) if start <= at < end]


def test_a_window_restarts_after_idle(controls: dict[str, str]) -> None:
    """tcp_cwnd_restart() of Linux 6.18: after 5 s, more than ten timeouts, ten segments, and slow start from there."""
    done = beside(controls, seconds=6.5, pause=5.0)
    for way, transfer in done.items():
        assert max(windows(transfer, 0, 0.5)) > 60, way
        # The first sample may be a round trip late on a busy machine.
        assert min(windows(transfer, 5.5, 5.7)) <= 20, way
        # Back to the threshold, which kept three quarters of the window.
        assert max(windows(transfer, 5.7, 6.0)) >= 0.7 * transfer.ssthresh[-1], way


def test_a_window_is_kept_where_the_sysctl_says_so(controls: dict[str, str]) -> None:
    """net.ipv4.tcp_slow_start_after_idle = 0."""
    done = beside(controls, {"tcp_slow_start_after_idle": "0"}, seconds=3.5, pause=2.5)
    for way, transfer in done.items():
        before = windows(transfer, 0.6, 2.9)[-1]
        # Not ten; its burst may overflow the buffer.
        assert min(windows(transfer, 3.0, 3.2)) >= 0.5 * before > 30, way


def test_an_unused_window_does_not_grow(controls: dict[str, str]) -> None:
    """8 Mbit/s in small writes: tcp_is_cwnd_limited(), and the decay of RFC 2861, hold as for the kernel's own.

    The kernel's reaches some 30 segments in 8 s, and bulk 160. How late a busy machine writes
    decides how many segments leave together: half as much again is allowed.
    """
    done = beside(controls, seconds=8.0, block=2000)
    own = max(windows(done["kernel"], 6, 8))
    for way, transfer in done.items():
        assert max(windows(transfer, 6, 8)) <= 1.5 * own + 10, way


def test_bursts_have_the_size_of_the_kernels_own(controls: dict[str, str]) -> None:
    """tcp_update_pacing_rate() of Linux sizes bursts: without it all but the first would have 64 kB.

    The rate is 120 % of the window per round trip outside of slow start, 200 % in it.
    """
    done = beside(controls, seconds=4.0)
    for way, transfer in done.items():
        last = transfer.pacing[-1] * transfer.rtt_us[-1] / 1e6 / 1448 / transfer.cwnd[-1]
        # The smoothed RTT and the window are those of the last ACK.
        assert last == pytest.approx(1.2, rel=0.1), way
