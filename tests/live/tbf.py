"""The kernel's token bucket filter against the emulator: one TCP connection through each, at the same rates.

    python tbf.py    measure, and print a line for each rate

Both have a router with a queue of 100 packets and no delay. The filter counts frames, 14 bytes more
per packet than the emulator, which counts from the IP header, so each is compared with its own
payload fraction. Needs root, `ip`, `tc` and `unshare`; `make live-bench` runs it where these are
available.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from precision import HERE, emulated

PROGRAM = str(HERE / "traffic.py")
SECONDS = 8.0
RATES_MBPS = (10, 50, 100, 300)
#: Payload of a segment with timestamps, of an IP packet, and of a frame, bytes.
PAYLOAD, PACKET, FRAME = 1448, 1500, 1514
QUEUE_PACKETS = 100
NEEDED = ("ip", "tc", "unshare")


def run(*words: str) -> None:
    """Run a command that must succeed."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def namespace(stack: ExitStack) -> int:
    """Return the process of a network namespace that ends with it, after at most a minute."""
    process = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    stack.callback(process.wait)
    stack.callback(process.kill)
    own = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{process.pid}/ns/net").readlink() == own:
        time.sleep(0.01)
    return process.pid


def inside(process: int, *words: str) -> list[str]:
    """Return a command that runs in the namespace of a process."""
    return ["nsenter", "--net", "--target", str(process), *words]


def join(left: int, right: int, names: tuple[str, str], network: str) -> None:
    """Join two namespaces by a pair of devices that carry single segments; the left end is .1, the right end .2."""
    run("ip", "link", "add", names[0], "netns", str(left), "type", "veth", "peer", names[1], "netns", str(right))
    for end, name, number in ((left, names[0], 1), (right, names[1], 2)):
        run(*inside(end, "ip", "address", "add", f"{network}.{number}/24", "dev", name))
        run(*inside(end, "ip", "link", "set", name, "up", "gso_max_segs", "1"))


def through_filter(rate_mbps: int) -> float:
    """Return the goodput of a connection through the filter, bit/s."""
    with ExitStack() as stack:
        sender, router, receiver = (namespace(stack) for _ in range(3))
        join(sender, router, ("out", "from"), "10.9.1")
        join(router, receiver, ("to", "in"), "10.9.2")
        run(*inside(sender, "ip", "route", "add", "default", "via", "10.9.1.2"))
        run(*inside(receiver, "ip", "route", "add", "default", "via", "10.9.2.1"))
        run(*inside(router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"))
        bucket = ("rate", f"{rate_mbps}mbit", "burst", "5kb", "limit", str(QUEUE_PACKETS * FRAME))
        run(*inside(router, "tc", "qdisc", "add", "dev", "to", "root", "tbf", *bucket))
        taking = subprocess.Popen(inside(receiver, sys.executable, PROGRAM, "receive", "5001"))
        stack.callback(taking.wait)
        stack.callback(taking.kill)
        time.sleep(0.5)
        sending = inside(sender, sys.executable, PROGRAM, "send", "10.9.2.2", "5001", "--for", str(SECONDS))
        with subprocess.Popen(sending) as process:
            time.sleep(1.0)
            before, begun = received(receiver), time.monotonic()
            time.sleep(SECONDS - 2.0)
            after, ended = received(receiver), time.monotonic()
            process.kill()
    return (after - before) * 8 / (ended - begun) * PAYLOAD / FRAME


def received(process: int) -> int:
    """Return the bytes of frames received by the receiver's device."""
    words = inside(process, "ip", "-statistics", "-json", "link", "show", "dev", "in")
    return int(json.loads(subprocess.run(words, check=True, capture_output=True).stdout)[0]["stats64"]["rx"]["bytes"])


def through_emulator(rate_mbps: int) -> float:
    """Return the goodput of a connection through the emulator, bit/s."""
    text = (
        'schema = 1\nname = "tbf"\nduration = "60 s"\n[network]\ntopology = "graph"\nnodes = ["left", "right"]\n'
        f'[[network.link]]\nfrom = "left"\nto = "right"\nrate = "{rate_mbps} Mbps"\ndelay = "0 s"\n'
        f'queue = "{QUEUE_PACKETS} packets"\n[[flow]]\nfrom = "left"\nto = "right"\ncongestion_control = "cubic"\n'
    )
    send = (PROGRAM, "send", "{right}", "5001", "--for", str(SECONDS))
    summary = emulated(text, [("right", (PROGRAM, "receive", "5001")), ("left", send)])
    return max(flow["goodput_bps"] for flow in summary["flows"])


def main() -> None:
    """Measure each rate through both."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print("beside the kernel's tbf: left out, it needs root and", ", ".join(NEEDED))
        return
    for rate in RATES_MBPS:
        emulator, kernel = through_emulator(rate), through_filter(rate)
        print(
            f"{rate} Mbit/s, goodput in Mbit/s and its share of what the rate allows: "
            f"emulator {emulator / 1e6:.2f} ({emulator / (rate * 1e6 * PAYLOAD / PACKET):.1%}), "
            f"tbf {kernel / 1e6:.2f} ({kernel / (rate * 1e6 * PAYLOAD / FRAME):.1%})",
            flush=True,
        )


if __name__ == "__main__":
    main()
