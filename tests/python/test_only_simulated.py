"""The note of an emulation on keys of the scenario that act in a simulation alone."""

from __future__ import annotations

import selfclock as sc
from selfclock.emulate.only_simulated import notes

PATH = """
schema = 1
duration = "10 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "5 ms" }
access = { rate = "1 Gbps", delay = "1 ms" }
"""


def test_keys_that_do_not_act_are_named_once() -> None:
    text = (
        PATH
        + """
[transport]
ecn = "classic"
encrypted = false
[[flow]]
name = "web"
congestion_control = "cubic"
start = "1 s"
overhead = "1 ms"
transport = { mss = "1000 B" }
[[flow]]
congestion_control = "reno"
"""
    )
    [said] = notes(sc.Scenario.parse(text), {"source1": "bbr", "sink1": "bbr"})
    keys = "duration, transport.ecn, flow.congestion_control, flow.start, flow.transport.mss"
    assert said.startswith(f"these keys of the scenario act in a simulation alone: {keys}. ")
    assert "by default bbr (net.ipv4.tcp_congestion_control" in said


def test_packets_larger_than_a_device_carries() -> None:
    """8,220 B are 8,200 behind the IP header: six fragments of at most 1,480 (RFC 791)."""
    flow = '[[flow]]\nname = "big"\nprotocol = "udp"\ntraffic = { rate = "1 Mbps", packet = "8220 B" }\n'
    _, said = notes(sc.Scenario.parse(PATH + flow), {"source1": "cubic"})
    assert said.startswith("flow 'big': packets of 8220 B: a host's device carries 1500 B")
    assert "in 6 fragments" in said
    fits = flow.replace("8220", "1500")
    assert len(notes(sc.Scenario.parse(PATH + fits), {})) == 1
