"""Timing accuracy and capacity of the emulator: `make live-bench`, as root, on an idle machine.

It measures one-way delays of datagrams over a path of 20 ms, idle and with 100 Mbit/s of load; and
the throughput of TCP over a path of 100 Gbit/s without delay and with 20 ms. A delay includes the
kernel at both ends.

    python precision.py              measure, and print a table
    python precision.py probe HOST   send a datagram every 3 ms
    python precision.py load HOST    send 100 Mbit/s
    python precision.py sink FILE    write the one-way delays of probes, s
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Summary

PROBES, LOAD = 7001, 7002
#: The load: 1,472 bytes of payload are 1,500 on the path.
PAYLOAD_BYTES, LOAD_BPS = 1472, 100e6
PROBE_EVERY_S = 0.003
SECONDS = 10.0
DELAY_S = 0.020

HERE = Path(__file__).parent


def scenario_text(rate: str, delay: str) -> str:
    """Two hosts with a link between them, in both directions."""
    return (
        'schema = 1\nname = "precision"\nduration = "60 s"\n[network]\ntopology = "graph"\nnodes = ["left", "right"]\n'
        f'[[network.link]]\nfrom = "left"\nto = "right"\nrate = "{rate}"\ndelay = "{delay}"\nqueue = "100 MB"\n'
        '[[flow]]\nfrom = "left"\nto = "right"\ncongestion_control = "cubic"\n'
    )


def send_at(host: str, port: int, every_s: float, size: int) -> None:
    """Send datagrams of this payload at equal intervals, each with its time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        # Unconnected, so that sending before the sink exists is no error.
        there = (socket.gethostbyname(host), port)
        begun = following = time.monotonic()
        while following < begun + SECONDS:
            time.sleep(max(0.0, following - time.monotonic()))
            here.sendto(struct.pack("!q", time.monotonic_ns()).ljust(size, b"\0"), there)
            following += every_s


def sink(file: Path) -> None:
    """Receive probes until, after the first, a second has passed without one; the kernel discards the load."""
    delays = []
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probes,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as load,
    ):
        probes.bind(("", PROBES))
        load.bind(("", LOAD))
        data = probes.recv(2048)
        probes.settimeout(1.0)
        while data:
            delays.append((time.monotonic_ns() - struct.unpack_from("!q", data)[0]) / 1e9)
            try:
                data = probes.recv(2048)
            except TimeoutError:
                break
    file.write_text(json.dumps(delays), encoding="ascii")


def emulated(text: str, commands: Sequence[tuple[str, Sequence[str]]]) -> Summary:
    """Run commands on the hosts of a scenario, "left" and "right"; return the summary."""
    import selfclock as sc  # noqa: PLC0415  the programs on the hosts need none of it
    from selfclock.emulate.addresses import emulated_hosts  # noqa: PLC0415
    from selfclock.emulate.run import emulate  # noqa: PLC0415
    from selfclock.emulate.session import Command, Settings  # noqa: PLC0415

    scenario = sc.Scenario.parse(text)
    hosts = {host.node: host for host in emulated_hosts(scenario)}
    words = [[sys.executable, *(word.format(right=hosts["right"].name) for word in each)] for _, each in commands]
    given = [Command(hosts[node], tuple(each)) for (node, _), each in zip(commands, words, strict=True)]
    result, status = emulate(scenario, list(hosts.values()), given, Settings())
    if status:
        sys.exit(f"a program ended with status {status}")
    return result.summary


def delays(*, loaded: bool) -> str:
    """Measure one-way delays; return a table line."""
    program = str(HERE / "precision.py")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "delays.json"
        commands = [("left", (program, "load", "{right}"))] if loaded else []
        commands += [("left", (program, "probe", "{right}")), ("right", (program, "sink", str(file)))]
        summary = emulated(scenario_text("10 Gbps", f"{DELAY_S * 1e3:.0f} ms"), commands)
        found = sorted(json.loads(file.read_text(encoding="ascii")))
    emulation = summary["emulation"]
    late = emulation["lateness"]
    p50, p99 = (found[int(len(found) * part)] * 1e3 for part in (0.5, 0.99))
    what = f"{LOAD_BPS / 1e6:.0f} Mbit/s beside it" if loaded else "idle"
    return (
        f"one way, {DELAY_S * 1e3:.0f} ms asked, {what}: p50 {p50:.3f} ms, p99 {p99:.3f} ms, "
        f"worst {found[-1] * 1e3:.3f} ms of {len(found):,} probes; the emulator itself: "
        f"p50 {late['p50_s'] * 1e6:.1f} us, p99 {late['p99_s'] * 1e6:.1f} us, worst {late['worst_s'] * 1e6:.0f} us, "
        f"longest pause {emulation['longest_pause_s'] * 1e6:.0f} us"
    )


def ceiling(delay: str) -> str:
    """Measure the throughput of one TCP connection; return a table line."""
    program = str(HERE / "traffic.py")
    send = (program, "send", "{right}", "5001", "--for", str(SECONDS), "--control", "cubic")
    commands = [("right", (program, "receive", "5001")), ("left", send)]
    summary = emulated(scenario_text("100 Gbps", delay), commands)
    flow = max(summary["flows"], key=lambda flow: flow["delivered_bytes"])
    late = summary["emulation"]["lateness"]
    return (
        f"ceiling of one connection, {delay} each way: {flow['goodput_bps'] / 1e6:,.0f} Mbit/s; "
        f"p99 {late['p99_s'] * 1e3:.2f} ms, worst {late['worst_s'] * 1e3:.2f} ms late"
    )


def main() -> None:
    """Run the given program."""
    match sys.argv[1:]:
        case ["probe", host]:
            send_at(host, PROBES, PROBE_EVERY_S, 64)
        case ["load", host]:
            # The emulation, and its host with it, ends first.
            with contextlib.suppress(OSError):
                send_at(host, LOAD, (PAYLOAD_BYTES + 28) * 8 / LOAD_BPS, PAYLOAD_BYTES)
        case ["sink", file]:
            sink(Path(file))
        case []:
            for loaded in (False, True):
                print(delays(loaded=loaded), flush=True)
            for delay in ("0 s", "20 ms"):
                print(ceiling(delay), flush=True)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
