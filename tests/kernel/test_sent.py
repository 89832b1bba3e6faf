"""Each packet is reported when a device takes it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from lab import Path2, Run, available, names

if TYPE_CHECKING:
    from pathlib import Path

NAMES = names("s")


def test_each_packet_is_reported(tmp_path: Path) -> None:
    """With one segment per packet there are at least as many events as segments; all replays are equal to the bit."""
    name = next(NAMES)
    with Path2() as path:
        host = ["nsenter", "-t", str(path.hosts[0].process.pid), "-n"]
        subprocess.run([*host, "ip", "link", "set", "dev", "tun0", "gso_max_segs", "1"], check=True)
        record = str(tmp_path / "record")
        with Run(name, "cubic", "--sent", "tun0", "--record", record, before=host) as run:
            found = path.send(name, 6)
            said = run.stop()
        segments = found.acked[-1] / 1448
        assert found.control == name
        assert found.goodput(2) > 15
        # One event per segment, and one for every ACK, of which there is at least one per two
        # segments.
        assert said["events"] > segments
        assert said["lost_events"] == 0
        assert said["fallbacks"] == 0
    assert name not in available()


def test_a_device_that_is_not_there() -> None:
    """One line, and nothing is registered."""
    words = [sys.executable, "-m", "selfclock", "kernel", "run", "--algorithm", "reno", "--name", "nodevice"]
    done = subprocess.run([*words, "--sent", "nope0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == 'selfclock: device "nope0": No such device (os error 19)\n'
    assert "nodevice" not in available()
