"""packetdrill's scripts with the kernel's own CUBIC and Reno, and with the library's: `make packetdrill`.

packetdrill sends segments into this kernel and asserts which leave, when, and with what window. It
is not part of this repository: `make packetdrill PACKETDRILL=FOLDER` takes a built clone of
google/packetdrill. Each script runs in a network namespace of its own, with its choice of a
congestion control replaced by the one under test. As root, on Linux 6.10 or later.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Folders of scripts about what a congestion control decides; those of `cubic` are for CUBIC alone.
FOLDERS = (
    "cubic",
    "cwnd_moderation",
    "slow_start",
    "fast_recovery",
    "fast_retransmit",
    "limited_transmit",
    "sack",
    "tcp_info",
)
OWN = ("cubic",)
#: As the clone's run_all.py calls it. The tolerance is that of the scripts in its own tests on busy
#: machines.
ARGUMENTS = (
    "--tolerance_usecs=14000 --send_omit_free --ip_version=ipv4 --local_ip=192.168.0.1 --gateway_ip=192.168.0.1"
    " --netmask_ip=255.255.0.0 --remote_ip=192.0.2.1 -D CMSG_LEVEL_IP=SOL_IP -D CMSG_TYPE_RECVERR=IP_RECVERR"
)
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
#: Seconds that a script may take.
LONGEST = 60


def scripts(tests: Path, algorithm: str) -> list[str]:
    """Return the scripts for an algorithm, without those that name another or need what this kernel lacks."""
    found = []
    for folder in FOLDERS:
        if folder in OWN and folder != algorithm:
            continue
        for path in sorted((tests / "tcp" / folder).rglob("*.pkt")):
            chosen = re.findall(r"tcp_congestion_control=(\w+)", path.read_text())
            if set(chosen) <= {algorithm}:
                found.append(str(path.relative_to(tests / "tcp")))
    return found


def copied(tests: Path, name: str, folder: Path) -> Path:
    """Copy the scripts, with this congestion control in the place of any that they choose."""
    for part in ("tcp", "common"):
        shutil.copytree(tests / part, folder / part, symlinks=True)
    for path in (*folder.rglob("*.pkt"), *folder.rglob("*.sh")):
        text = path.read_text()
        path.write_text(re.sub(r"tcp_congestion_control=\w+", f"tcp_congestion_control={name}", text))
    return folder


def passes(program: Path, script: Path) -> str:
    """Run a script, three times if it fails: a busy machine is late now and then. Return "" or its complaint."""
    command = ["unshare", "-n", "sh", "-c", f"ip link set lo up; exec {program} {ARGUMENTS} {script.name}"]
    said = ""
    for _ in range(3):
        try:
            done = subprocess.run(
                command, cwd=script.parent, capture_output=True, text=True, check=False, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return f"{LONGEST} s"
        if not done.returncode:
            return ""
        said = next((line for line in done.stderr.splitlines() if "rror" in line), done.stderr.strip())
    return said


@contextmanager
def inside(algorithm: str) -> Iterator[str]:
    """Load an algorithm into the kernel until the end of the block; return its name."""
    name = kernel.load(algorithm, f"pd_i{os.getpid() % 10000}")
    try:
        yield name
    finally:
        kernel.unload_residents(name)


@contextmanager
def outside(algorithm: str) -> Iterator[str]:
    """Decide in a process until the end of the block; return the name."""
    name = f"pd_o{os.getpid() % 10000}"
    command = [sys.executable, "-m", "selfclock", "kernel", "run", "--algorithm", algorithm, "--name", name]
    with subprocess.Popen([*command, "--woken", "--realtime"], stdout=subprocess.DEVNULL) as process:
        try:
            while name not in AVAILABLE.read_text().split():
                time.sleep(0.05)
                if process.poll() is not None:
                    raise SystemExit(f"kernel run ended with status {process.returncode}")
            yield name
        finally:
            process.terminate()


@contextmanager
def own(algorithm: str) -> Iterator[str]:
    """The kernel's own, which a namespace may choose if it is allowed."""
    before = ALLOWED.read_text()
    ALLOWED.write_text(" ".join({*before.split(), algorithm}))
    try:
        yield algorithm
    finally:
        ALLOWED.write_text(before)


WAYS = {"kernel": own, "inside": inside, "outside": outside}


def table(clone: Path, algorithm: str, label: str, ways: list[str]) -> None:
    """Print one row per script."""
    tests, program = clone / "gtests/net", clone / "gtests/net/packetdrill/packetdrill"
    names = scripts(tests, algorithm)
    results: dict[str, list[str]] = {}
    for way in ways:
        with tempfile.TemporaryDirectory() as temporary, WAYS[way](algorithm if way == "kernel" else label) as name:
            folder = copied(tests, name, Path(temporary, "net"))
            results[way] = [passes(program, folder / "tcp" / script) for script in names]
            if name not in AVAILABLE.read_text().split():
                raise SystemExit(f"{name} was unloaded meanwhile")
    print(f"\n| {label}: script | {' | '.join(ways)} |\n|{' --- |' * (len(ways) + 1)}", flush=True)
    for number, script in enumerate(names):
        cells = ["fail" if results[way][number] else "pass" for way in ways]
        print(f"| {script.removesuffix('.pkt')} | {' | '.join(cells)} |")
    passed = [str(sum(not said for said in results[way])) for way in ways]
    print(f"| passed of {len(names)} | {' | '.join(passed)} |", flush=True)
    for way in ways:
        for script, said in zip(names, results[way], strict=True):
            if said:
                print(f"{way}: {script}: {said}", file=sys.stderr)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, help="a built clone of google/packetdrill")
    parser.add_argument("--algorithm", action="append", help="such as cubic (default: cubic and reno)")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="default: all three")
    given = parser.parse_args()
    if not (given.clone / "gtests/net/packetdrill/packetdrill").exists():
        parser.error(f"{given.clone}: build packetdrill first: cd gtests/net/packetdrill && ./configure && make")
    for label in given.algorithm or ["cubic", "reno"]:
        table(given.clone, label.split("+")[0].split(":")[0], label, given.way or list(WAYS))


if __name__ == "__main__":
    main()
