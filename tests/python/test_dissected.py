"""Captures as Wireshark's dissectors read them: an independent reader of headers, options and checksums.

tshark also tells retransmissions from the sequence numbers alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dissect import dissected

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

#: Two senders that lose packets by a full queue: with SACK, timestamps, ECN and window scaling.
LOSSY = """\
schema = 1
profile = "modern"
duration = "5 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "10 ms", queue = "20 packets" }
access = { rate = "100 Mbps", delay = "1 ms" }
[[flow]]
congestion_control = "cubic"
[[flow]]
congestion_control = "reno"
start = "100 ms"
"""


def test_a_capture_is_wiresharks(command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """No malformed packet or wrong checksum; each retransmission is one, and no other segment is."""
    (tmp_path / "lossy.toml").write_text(LOSSY, encoding="utf-8")
    done = command("run", "lossy.toml", "--pcap", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    for number, flow in enumerate(json.loads(done.stdout)["flows"], 1):
        capture = tmp_path / f"out/source{number}.pcapng"
        wrong = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0"
        assert not dissected(capture, wrong, "frame.number", "_ws.expert.message")
        # Errors; a capture of a sender whose data do not begin with its SYN would have some.
        assert not dissected(capture, "_ws.expert.severity >= 0x800000", "frame.number", "_ws.expert.message")
        data = dissected(capture, "tcp.len > 0", "tcp.len")
        assert len(data) == flow["sent_segments"]
        # tshark calls a retransmission within a few ms of later data out of order.
        again = dissected(capture, "tcp.analysis.retransmission || tcp.analysis.out_of_order", "frame.number")
        assert len(again) == flow["retransmitted_segments"] > 0
