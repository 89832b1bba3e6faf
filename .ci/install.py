"""Install what CI should have: the needs with `debian` or `component` in tests/needs.toml.

Prints one line for each that is missing and cannot be installed, on standard error, and the names
of all of these on standard output, for CI_LACKS. A machine without apt-get, root or a network is no
error.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import left_out

#: Of a command that waits for a network that does not answer, s.
PATIENCE = 300
APT = ["apt-get", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=30", "-o", "DPkg::Lock::Timeout=120"]


def succeeds(*command: str) -> bool:
    """Run a command; say whether it succeeded, and if not, the last of what it says."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
            errors="replace", check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"{error}\n")
        return False
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"status {done.returncode}"]
        sys.stderr.write(f"{' '.join(command[:1])}: {last[0]}\n")
    return done.returncode == 0


def sysroot() -> Path:
    """Return where Rust's components are."""
    done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip() or "/nonexistent")


def is_there(need: left_out.Need) -> bool:
    """Tell whether a program, or a file of a component, is there; Python also needs its module venv."""
    if need.component:
        return shutil.which("rustc") is not None and (sysroot() / need.program).exists()
    if need.name == "python":
        # Debian's Python alone has neither.
        return all(importlib.util.find_spec(module) for module in ("ensurepip", "venv"))
    return shutil.which(need.program) is not None


def install(missing: list[left_out.Need]) -> None:
    """Install with apt-get, all at once or else one after another, and with rustup."""
    packages = [package for need in missing for package in need.debian]
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        command = [*APT, "install", "--yes", "--quiet", "--quiet", "--no-install-recommends"]
        # An old list of packages may still do. Without a network each command would wait in vain.
        is_reachable = succeeds(*APT, "update", "--quiet", "--quiet")
        if not succeeds(*command, *packages) and is_reachable:
            for need in missing:
                _ = need.debian and succeeds(*command, *need.debian)
    for need in missing:
        if need.component and shutil.which("rustup"):
            succeeds("rustup", "component", "add", need.component)


def main() -> None:
    """Run from the command line."""
    wanted = [need for need in left_out.needs() if need.is_of_ci]
    missing = [need for need in wanted if not is_there(need)]
    if missing:
        sys.stderr.write(f"to be installed: {', '.join(need.name for need in missing)}\n")
        install(missing)
    lacking = [need for need in missing if not is_there(need)]
    for need in lacking:
        sys.stderr.write(f"{need.name} cannot be installed on this machine ({need.brings}): its tests are left out\n")
    sys.stdout.write(" ".join(need.name for need in lacking) + "\n")


if __name__ == "__main__":
    main()
