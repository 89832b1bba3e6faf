"""The machine itself as a host of an emulation, and its route to the Internet.

The device and its route go with the process that made them, however it ends. Firewall rules and the
forwarding switch would stay: the commands that undo them are written to a file beforehand, and
executed by the process when it ends, or by the next one if it was killed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shutil
import socket
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfclock.emulate import tun
from selfclock.emulate.addresses import NETWORK
from selfclock.errors import BadInputError, WorkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfclock.emulate.addresses import EmulatedHost

#: Files that say how to undo changes; in memory, which a reboot clears together with the changes.
STATE = Path("/run/selfclock")

_FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")


class OutsideError(WorkError):
    """The machine cannot be a host of the emulation."""


def free_network() -> ipaddress.IPv4Network:
    """Return a network for hosts to which the machine has no route yet."""
    taken = []
    for line in Path("/proc/net/route").read_text(encoding="ascii").splitlines()[1:]:
        _, destination, *rest = line.split()
        mask = rest[5]
        numbers = (socket.inet_ntoa(struct.pack("<I", int(text, 16))) for text in (destination, mask))
        taken.append(ipaddress.IPv4Network("/".join(numbers)))
    for second in range(NETWORK.network_address.packed[1], 251):
        found = ipaddress.IPv4Network(f"10.{second}.0.0/16")
        if not any(one.prefixlen and one.overlaps(found) for one in taken):
            return found
    raise OutsideError("the machine has routes to every network that hosts could have, 10.201.0.0/16 to 10.250.0.0/16")


@contextlib.contextmanager
def outside(host: EmulatedHost, *, internet: bool) -> Iterator[int]:
    """Make the machine a host: yields the descriptor of its device, which is gone at the end of the block."""
    if os.geteuid() != 0:
        raise BadInputError("--outside needs root: it makes a network device on this machine")
    try:
        device, name = tun.open_numbered("selfclock%d")
    except OSError as error:
        raise OutsideError(f"{tun.DEVICE}: {error.strerror}; load the module (modprobe tun)") from None
    try:
        tun.turn_off_ipv6(name)
        tun.bring_up(name, host.address)
        with _forwarding(name, ipaddress.IPv4Network(f"{host.address}/16", strict=False)) if internet else _nothing():
            yield device
    finally:
        os.close(device)


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextlib.contextmanager
def _forwarding(device: str, network: ipaddress.IPv4Network) -> Iterator[None]:
    """Let hosts reach the Internet through the machine, under its address."""
    make, undo = _rules(device, str(network))
    clean()
    STATE.mkdir(mode=0o700, exist_ok=True)
    mine = STATE / f"{_namespace()}-{os.getpid()}.json"
    before = next((other["forwarding"] for other in _others(mine)), _FORWARDING.read_text(encoding="ascii").strip())
    mine.write_text(json.dumps({"process": _began(os.getpid()), "undo": undo, "forwarding": before}), encoding="utf-8")
    try:
        for words in make:
            done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode:
                raise OutsideError(f"--internet: {' '.join(words)}: {done.stderr.strip() or done.returncode}")
        _FORWARDING.write_text("1", encoding="ascii")
        yield
    finally:
        _undo(mine)


def _rules(device: str, network: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the commands that let a network out under the machine's address, and those that undo them.

    iptables if present: a separate nft table cannot accept what another one, such as Docker's,
    drops.
    """
    if shutil.which("iptables"):
        rules = [
            ["-t", "nat", "{}", "POSTROUTING", "-s", network, "!", "-o", device, "-j", "MASQUERADE"],
            ["{}", "FORWARD", "-i", device, "-j", "ACCEPT"],
            ["{}", "FORWARD", "-o", device, "-j", "ACCEPT"],
        ]
        filled = (
            [["iptables", "-w", *(how if word == "{}" else word for word in rule)] for rule in rules]
            for how in ("-I", "-D")
        )
        make, undo = filled
        return make, undo
    if shutil.which("nft"):
        table = f"selfclock_{os.getpid()}"
        chain = "{ type nat hook postrouting priority 100 ; }"
        return [
            ["nft", "add", "table", "ip", table],
            ["nft", "add", "chain", "ip", table, "out", chain],
            ["nft", "add", "rule", "ip", table, "out", "ip", "saddr", network, "oifname", "!=", device, "masquerade"],
        ], [["nft", "delete", "table", "ip", table]]
    raise OutsideError("--internet: neither iptables nor nft is there; install one (apt install nftables)")


def clean() -> list[str]:
    """Undo the changes of killed processes; return one line for each."""
    return [line for path in _left() for line in _undo(path)]


def _left() -> list[Path]:
    """Return the files of dead processes in this network namespace."""
    return [path for path in _files() if not _lives(path)]


def _files() -> list[Path]:
    return sorted(STATE.glob(f"{_namespace()}-*.json"))


def _lives(path: Path) -> bool:
    state = _read(path)
    return state is not None and _began(int(path.stem.rpartition("-")[2])) == state["process"]


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _others(mine: Path) -> Iterator[dict[str, Any]]:
    """Return the changes of other live processes."""
    for path in _files():
        state = _read(path)
        if path != mine and state is not None and _lives(path):
            yield state


def _undo(path: Path) -> list[str]:
    """Undo the changes in a file, and remove it; forwarding stays on while another emulation needs it."""
    state = _read(path) or {"undo": [], "forwarding": None}
    for words in state["undo"]:
        # Changes not yet made when the process was killed cannot be undone.
        subprocess.run(words, capture_output=True, check=False)  # noqa: S603
    lines = [" ".join(words) for words in state["undo"]]
    if state["forwarding"] is not None and not any(_others(path)):
        _FORWARDING.write_text(state["forwarding"], encoding="ascii")
        lines.append(f"net.ipv4.ip_forward = {state['forwarding']}")
    path.unlink(missing_ok=True)
    return lines


def _namespace() -> int:
    return Path("/proc/self/ns/net").stat().st_ino


def _began(process: int) -> str | None:
    """Return the start time of a process, in ticks since boot: process numbers are reused."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


def resolver() -> str | None:
    """Return the /etc/resolv.conf for hosts if the machine resolves locally; None if its own works."""
    with contextlib.suppress(OSError):
        servers = _servers(Path("/etc/resolv.conf").read_text(encoding="utf-8"))
        beyond = Path("/run/systemd/resolve/resolv.conf")
        if servers and all(server.startswith("127.") or server == "::1" for server in servers) and beyond.exists():
            return beyond.read_text(encoding="utf-8")
    return None


def _servers(text: str) -> Sequence[str]:
    return [line.split()[1] for line in text.splitlines() if line.startswith("nameserver ")]
