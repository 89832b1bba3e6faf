"""Boot another kernel in a virtual machine, and load every compiled algorithm there: `make kernel-native-qemu`.

Needs qemu-system-x86_64, a static busybox, dpkg and apt-get (Debian: qemu-system-x86
busybox-static), which downloads the kernel's package, some 35 MB, into `target/`. The machine is
emulated in software, which takes some minutes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OBJECTS = ROOT / "crates/kernel/objects"
FOLDER = ROOT / "target" / "other-kernel"
NEEDED = "qemu-system-x86_64", "busybox", "dpkg", "apt-get", "apt-cache"
#: Packages of Debian's additional kernels in which cong_control has four arguments.
PACKAGE = re.compile(r"^linux-image-6\.1[2-9]\.\S*cloud-amd64-unsigned$", re.MULTILINE)
#: Longer than a virtual machine takes on a busy host, s.
PATIENCE = 900
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
ip link set lo up
echo "Linux $(uname -r)"
objects /objects
grep . /proc/sys/net/ipv4/tcp_available_congestion_control
poweroff -f
"""


def kernel() -> Path:
    """Return the image of the newest kernel that has a package."""
    there = sorted(FOLDER.glob("kernel/boot/vmlinuz-*"))
    if not there:
        listed = subprocess.run(["apt-cache", "pkgnames", "linux-image-6"], capture_output=True, text=True, check=True)
        packages = sorted(PACKAGE.findall(listed.stdout))
        if not packages:
            raise SystemExit("other_kernel.py: no package of a kernel 6.12 or later; apt-get update may help")
        subprocess.run(["apt-get", "download", packages[-1]], cwd=FOLDER, check=True)
        package = next(FOLDER.glob("linux-image-*.deb"))
        subprocess.run(["dpkg", "-x", package, FOLDER / "kernel"], check=True)
        there = sorted(FOLDER.glob("kernel/boot/vmlinuz-*"))
    return there[-1]


def disk(program: Path) -> Path:
    """Return the machine's initial file system: busybox, the program, and its libraries."""
    root = FOLDER / "root"
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("bin", "proc", "sys", "dev"):
        (root / folder).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "", root / "bin/busybox")
    shutil.copy(program, root / "bin/objects")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(", linked):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    shutil.copytree(OBJECTS, root / "objects")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    image = FOLDER / "root.cpio"
    with image.open("wb") as out:
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(), stdout=out, check=True)
    return image


def main() -> int:
    """Build and boot it, and report its output."""
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        raise SystemExit(f"other_kernel.py needs {', '.join(missing)}: install them")
    FOLDER.mkdir(parents=True, exist_ok=True)
    build = ["cargo", "build", "--locked", "-p", "selfclock-kernel", "--example", "objects"]
    subprocess.run([*build, "--target-dir", ROOT / "target"], cwd=ROOT, check=True)
    machine = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "768", "-nographic", "-no-reboot"]
    machine += ["-kernel", str(kernel()), "-initrd", str(disk(ROOT / "target/debug/examples/objects"))]
    machine += ["-append", "console=ttyS0 quiet panic=-1"]
    done = subprocess.run(machine, capture_output=True, text=True, check=False, timeout=PATIENCE)
    said = done.stdout[done.stdout.find("Linux 6") :]
    sys.stdout.write(said)
    return 0 if ", all good" in said else 1


if __name__ == "__main__":
    sys.exit(main())
