"""Notes on scenarios whose result is decided by something that their author may not think of."""

from __future__ import annotations

import pytest

import selfclock as sc


@pytest.mark.parametrize(
    ("rtt", "options", "noted"),
    [
        # 1 Gbit/s times 200 ms is 25 MB, 24 MiB; Linux advertises up to 20.
        ("200 ms", {}, "20 MiB as on Linux, is below what its path can hold, 24 MiB"),
        # 18.8 MB; and twice that where what follows a hole waits at the receiver.
        ("150 ms", {}, ""),
        ("150 ms", {"loss": 0.001}, "36 MiB"),
        ("200 ms", {"receive_window": "unlimited"}, ""),
        ("200 ms", {"receive_window": "6 MB"}, ""),
        ("200 ms", {"profile": "classic"}, ""),
    ],
)
def test_a_window_that_linux_would_not_open_further_is_noted(rtt: str, options: dict[str, object], noted: str) -> None:
    loss = f", loss = {{ probability = {options['loss']} }}" if "loss" in options else ""
    window = f'[transport]\nreceive_window = "{options["receive_window"]}"\n' if "receive_window" in options else ""
    profile = f'profile = "{options["profile"]}"\n' if "profile" in options else ""
    text = f"""\
schema = 1
{profile}duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = {{ rate = "1 Gbps", delay = "{(int(rtt.split(maxsplit=1)[0]) - 4) / 2} ms", queue = "1 bdp"{loss} }}
access = {{ rate = "10 Gbps", delay = "1 ms" }}
{window}[[flow]]
congestion_control = "cubic"
"""
    notes = [note for note in sc.Scenario.parse(text).notes if "window" in note]
    assert len(notes) == bool(noted)
    assert all(noted in note for note in notes)
