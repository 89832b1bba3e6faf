"""How long the machine itself stalled: a thread that only sleeps, with the highest real-time priority.

A host may stop a virtual machine for tens of milliseconds. Nothing inside runs then, so no program
can be on time, and steal time need not show it. `Standstill` measures such gaps beside an
emulation, in a separate process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

#: Length of a sleep, s: a tenth of the smallest counted gap.
STEP_S = 0.0005

#: Shortest counted gap, s.
COUNTED_S = 0.005


class Standstill:
    """Measures the gaps of this machine from its start to `finish`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True)

    def finish(self) -> tuple[float, int]:
        """Return the longest gap, s, and the number of gaps longer than `COUNTED_S`."""
        self._process.send_signal(signal.SIGTERM)
        said: dict[str, Any] = json.loads(self._process.communicate(timeout=10)[0])
        return said["longest_s"], said["count"]


def main() -> None:
    """Sleep until SIGTERM; print the longest gap and the number of gaps, as JSON."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO)))
    except PermissionError:
        sys.exit("standstill: SCHED_FIFO needs root")
    going = True

    def stop(*_: object) -> None:
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    longest, count = 0.0, 0
    while going:
        before = time.monotonic()
        time.sleep(STEP_S)
        gap = time.monotonic() - before - STEP_S
        longest, count = max(longest, gap), count + (gap > COUNTED_S)
    print(json.dumps({"longest_s": longest, "count": count}))


if __name__ == "__main__":
    main()
