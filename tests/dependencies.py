"""Licences, sources and duplicates of the Rust crates in Cargo.lock, offline: a part of make lint.

What cargo-deny checks without its database of advisories, by `cargo metadata` alone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
#: Licences that MIT OR Apache-2.0 may be distributed with.
ALLOWED = {
    "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT-0", "Unicode-3.0",
    "Unlicense", "Zlib", "0BSD", "Apache-2.0 WITH LLVM-exception",
}  # fmt: skip
#: In our own crates alone: the parts that run in the kernel.
OWN = {"GPL-2.0-only"}
#: Crates of which two versions are known, and whose fault that is.
TWICE = {
    "syn": "pcap-file 2.0", "thiserror": "pcap-file 2.0", "thiserror-impl": "pcap-file 2.0",
    "getrandom": "ahash, rand and proptest", "rand": "proptest", "rand_core": "proptest", "rand_chacha": "proptest",
    "hashbrown": "toml_edit, arrow and others", "r-efi": "getrandom", "wasi": "getrandom", "wasip2": "getrandom",
    "bitflags": "older crates", "cpufeatures": "sha2 and rand", "windows-sys": "rustix and others",
    "windows-targets": "windows-sys",
}  # fmt: skip


def is_allowed(expression: str, *, own: bool) -> bool:
    """Evaluate an SPDX expression, `/` included, as old crates write it."""
    names = ALLOWED | (OWN if own else set())
    words = re.findall(r"\(|\)|/|[\w.+-]+(?: WITH [\w.-]+)?", expression)
    translated = {"AND": "and", "OR": "or", "/": "or", "(": "(", ")": ")"}
    text = " ".join(translated.get(word, str(word in names)) for word in words)
    return bool(text) and bool(eval(text, {"__builtins__": {}}))  # noqa: S307  of True, False, and, or and brackets only


def metadata() -> list[dict[str, Any]]:
    """Return the crates of the workspace's lock file."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return packages


def problems(packages: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong, a line each."""
    found, versions = [], defaultdict(set)
    for package in packages:
        name, source, licence = package["name"], package["source"], package["license"]
        if source not in {None, REGISTRY}:
            found.append(f"{name}: comes from {source}; allowed: crates.io and this repository")
        # An example without a licence of its own has the repository's.
        if not (licence is None and source is None) and not is_allowed(licence or "", own=source is None):
            found.append(f"{name}: licence {licence}; allowed: {', '.join(sorted(ALLOWED))}")
        versions[name].add(package["version"])
    for name, several in sorted(versions.items()):
        if len(several) > 1 and name not in TWICE:
            found.append(f"{name}: {len(several)} versions, {', '.join(sorted(several))}; cargo tree -d says why")
    return found


def main() -> int:
    """Run from the command line."""
    found = problems(metadata())
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
