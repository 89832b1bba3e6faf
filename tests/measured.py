"""Which measured pages are older than the results: `python tests/measured.py`, a part of make lint.

A page of measurements ends with a comment that has a digest of the results it was measured with: of
the fingerprints of the short scenarios (tests/golden.toml) but those of mechanisms that the page
does not show. A new scenario of the old mechanisms makes no page older. `--stamp PAGE...` writes
it: the targets that write a page call it, and whoever puts the output of one of the others into a
page.
An older page is named, with the target that measures it again; that is an error with `--refuse`
alone, as in make release, because most need an idle machine, root, or hours.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Pages into which somebody puts what these print.
BY_HAND = {
    "docs/kernel-native.md": "make kernel-native-tables",
    "docs/kernel.md": "make kernel-validation",
    "docs/performance.md": "make bench",
}
#: Pages of measurements, and what measures them.
PAGES = {
    "docs/bbr-suite.md": "make bbr-suite",
    "docs/linux-suite.md": "make linux-suite",
    "docs/misbehaviour.md": "make misbehaviour",
    "docs/quic-others.md": "make quic-others",
    "docs/quic-parity.md": "make quic-parity",
    "docs/quic-scorecards.md": "make quic-scorecards",
    "docs/scorecards.md": "make scorecards",
    "docs/transports.md": "make transports",
    "docs/validation-linux.md": "make live-validation",
    **BY_HAND,
}
STAMP = re.compile(r"\n<!-- measured with results ([0-9a-f]{12}) -->\n")


#: All that a page shows, where it does not show every mechanism.
SHOWN = {
    "docs/bbr-suite.md": ("bbr3", "bbr-startup"),
    "docs/linux-suite.md": ("reno", "cubic", "slow-start", "hystart++"),
    "docs/transports.md": ("reno", "cubic", "bbr3", "slow-start", "bbr-startup"),
    "docs/validation-linux.md": ("reno", "cubic", "slow-start", "hystart++"),
}


def results(page: str) -> str:
    """Return a digest of the fingerprints that concern a page."""
    short: dict[str, str] = tomllib.loads((ROOT / "tests/golden.toml").read_text(encoding="utf-8"))["short"]
    # Every mechanism runs over the path "classic", by its name alone.
    mechanisms = {name.removeprefix("classic: ") for name in short if name.startswith("classic: ") and "," not in name}
    others = mechanisms - set(SHOWN.get(page, mechanisms))
    of_page = {key: value for key, value in short.items() if key.partition(": ")[2].split(",")[0] not in others}
    return hashlib.sha256(repr(sorted(of_page.items())).encode()).hexdigest()[:12]


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
    if sys.argv[1:2] == ["--stamp"]:
        for name in sys.argv[2:]:
            if name not in PAGES:
                sys.exit(f"{name} is no page of measurements; there are {', '.join(PAGES)}")
            stamp(ROOT / name, results(name))
        return 0
    old = {name: told for name in PAGES if (told := age(ROOT / name, results(name))) is not None}
    for name, told in old.items():
        then = ", whose output is put into it by hand, and then --stamp" if name in BY_HAND else ""
        sys.stdout.write(f"{name} {told}; {PAGES[name]} measures it again{then}\n")
    return int(sys.argv[1:2] == ["--refuse"] and bool(old))


if __name__ == "__main__":
    sys.exit(main())
