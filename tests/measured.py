"""Which measured pages are older than the results: `python tests/measured.py`, a part of make lint.

A page of measurements ends with a comment that has a digest of the results it was measured with: of
the fingerprints of every scenario (tests/golden.toml, tests/golden). `--stamp PAGE...`, which the
targets that measure call, writes it. An older page is named, with the target that measures it
again; that is no error, because most need an idle machine, root, or hours.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Pages of measurements, and what measures them.
PAGES = {
    "docs/scorecards.md": "make scorecards",
    "docs/quic-scorecards.md": "make quic-scorecards",
    "docs/quic-parity.md": "make quic-parity",
    "docs/validation-linux.md": "make live-validation",
    "docs/kernel-native.md": "make kernel-native-tables",
    "docs/kernel.md": "make kernel-validation",
    "docs/misbehaviour.md": "make misbehaviour",
    "docs/performance.md": "make bench",
}
STAMP = re.compile(r"\n<!-- measured with results ([0-9a-f]{12}) -->\n")


def results() -> str:
    """Return a digest of the fingerprints of every scenario."""
    digest = hashlib.sha256()
    for path in [ROOT / "tests/golden.toml", *sorted((ROOT / "tests/golden").rglob("*"))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def stamp(page: Path, of: str) -> None:
    """Write what a page was measured with at its end."""
    text = STAMP.sub("\n", page.read_text(encoding="utf-8")).rstrip("\n")
    page.write_text(f"{text}\n\n<!-- measured with results {of} -->\n", encoding="utf-8")


def age(page: Path, of: str) -> str | None:
    """Return what is to be said of a page; `None` if it was measured with these results."""
    found = STAMP.search(page.read_text(encoding="utf-8"))
    if found is None:
        return "does not say what it was measured with"
    return None if found[1] == of else f"was measured with earlier results ({found[1]}, and these are {of})"


def main() -> int:
    """Run from the command line."""
    of = results()
    if sys.argv[1:2] == ["--stamp"]:
        for name in sys.argv[2:]:
            if name not in PAGES:
                sys.exit(f"{name} is no page of measurements; there are {', '.join(PAGES)}")
            stamp(ROOT / name, of)
        return 0
    for name, target in PAGES.items():
        told = age(ROOT / name, of)
        if told is not None:
            sys.stdout.write(f"{name} {told}; {target} measures it again\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
