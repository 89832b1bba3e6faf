"""The programs that compile an object: located, with version checks."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from selfclock.errors import BadInputError

#: Major version of LLVM: the textual IR differs between versions.
LLVM = 22
#: The Rust target: `bpfel` on little-endian machines.
TARGET = "bpfel-unknown-none"
_LLVM_PROGRAMS = (
    *("llvm-ar", "llvm-as", "llvm-dis", "llvm-extract", "llvm-link", "llvm-nm", "llvm-objcopy", "llvm-strip"),
    *("llc", "opt"),
)


_NO_STD = "{} needs the standard library, which the kernel has not: write #![no_std] at its top"


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    return found[1] if found else "the crate"


class BuildError(BadInputError):
    """An object cannot be built: the reason in one line."""


def run(
    *command: str | Path, where: Path | None = None, environment: dict[str, str] | None = None, messages: bool = False
) -> str:
    """Runs a program. Returns its output, or with `messages` its messages. An error carries the first of them."""
    done = subprocess.run(  # noqa: S603  programs that were found by name
        [str(it) for it in command], cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        if "can't find crate for `std`" in done.stderr:
            raise BuildError(_NO_STD.format(_first(r"error\[E0463\][^`]*`std`.*?-->\s*(\S+?):\d+:\d+$", done.stderr)))
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        at = next((i for i, line in enumerate(lines) if line.startswith("error") or ": error" in line), 0)
        # Rust prints the location in the next line.
        first = " ".join(line.strip() for line in lines[at : at + 2]) if lines else f"status {done.returncode}"
        raise BuildError(f"{Path(command[0]).name}: {first}")
    return done.stderr if messages else done.stdout


@dataclass(frozen=True)
class Tools:
    """Programs that were found."""

    clang: str
    llvm: dict[str, str]
    cargo: str

    def __call__(self, name: str, *arguments: str | Path) -> str:
        """Runs a program of LLVM."""
        return run(self.llvm[name], *arguments)

    def analysis(self, name: str, module: Path) -> str:
        """Runs an analysis of LLVM that prints its findings."""
        return run(self.llvm["opt"], "-disable-output", f"-passes=print<{name}>", module, messages=True)


def find() -> Tools:
    """Finds the programs, or names the one that is missing or too old."""
    clang, llvm = _program(f"clang-{LLVM}", "clang"), {}
    for name in _LLVM_PROGRAMS:
        llvm[name] = _program(f"{name}-{LLVM}", "llvm")
    cargo, rustc = shutil.which("cargo"), shutil.which("rustc")
    if not cargo or not rustc:
        raise BuildError("a Rust toolchain is needed (https://rustup.rs)")
    about = run(rustc, "-vV")
    version = re.search(r"LLVM version: (\d+)", about)
    if version and int(version[1]) > LLVM:
        raise BuildError(
            f"this Rust writes the bitcode of LLVM {version[1]}, which LLVM {LLVM} cannot read: use Rust 1.95"
        )
    root = Path(run(rustc, "--print", "sysroot").strip())
    if not (root / "lib/rustlib/src/rust/library/core/Cargo.toml").is_file():
        raise BuildError("the sources of Rust's core library are needed: rustup component add rust-src")
    return Tools(clang, llvm, cargo)


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if not found:
        raise BuildError(f"{name} is needed: install {package} {LLVM} (Debian: apt install {package}-{LLVM})")
    return found
