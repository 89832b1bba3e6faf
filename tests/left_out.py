"""Lists what a run of the tests leaves out, why, and what brings it: the end of `make test`.

    left_out.py begin                forget what earlier runs left out
    left_out.py note SUBJECT REASON  note something that is left out, and say so
    left_out.py report [--ci]        list it; with --ci, fail for what CI should have

Tests note what they leave out in target/left-out.jsonl (or LEFT_OUT); tests/needs.toml names the
programs that they need. CI should have all of these that Debian or rustup has; CI_LACKS names those
that this machine could not install. It runs before there is an environment: with the standard
library alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOTES = Path(os.environ.get("LEFT_OUT", ROOT / "target/left-out.jsonl"))
LLVM = (ROOT / "crates/kernel/bpf/COMPILER").read_text(encoding="ascii").strip()


@dataclass(frozen=True)
class Need:
    """A program that tests need, and what brings it."""

    name: str
    words: str
    program: str = ""
    debian: list[str] = field(default_factory=list)
    component: str = ""
    remedy: str = ""

    @property
    def is_of_ci(self) -> bool:
        """Whether CI should have it."""
        return bool(self.debian or self.component)

    @property
    def brings(self) -> str:
        """The command that brings it."""
        if self.debian:
            return f"apt install {' '.join(self.debian)}"
        return f"rustup component add {self.component}" if self.component else self.remedy


def needs() -> list[Need]:
    """Read the list; the first whose words fit a reason is meant."""
    text = (ROOT / "tests/needs.toml").read_text(encoding="utf-8").replace("{llvm}", LLVM)
    return [Need(name, **about) for name, about in tomllib.loads(text).items()]


def meant(reason: str) -> Need | None:
    """Return the need that a reason names."""
    return next((need for need in needs() if re.search(need.words, reason)), None)


def remedy(reason: str) -> str:
    """Return the command that brings what a reason names, or nothing."""
    need = meant(reason)
    return need.brings if need else ""


def note(subject: str, reason: str, count: int = 1) -> None:
    """Put on record that something is left out."""
    NOTES.parent.mkdir(parents=True, exist_ok=True)
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"subject": subject, "reason": reason, "count": count}) + "\n")


def noted() -> Counter[tuple[str, str]]:
    """Return how often each subject was left out for each reason."""
    found: Counter[tuple[str, str]] = Counter()
    if NOTES.exists():
        for line in NOTES.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found[entry["subject"], entry["reason"]] += entry["count"]
    return found


def missed(reason: str, lacking: set[str]) -> str:
    """Return why CI may not leave this out; "" if it may."""
    need = meant(reason)
    if need is None:
        return "nothing in tests/needs.toml names this reason"
    return f"CI should have {need.name}" if need.is_of_ci and need.name not in lacking else ""


def report(*, ci: bool) -> int:
    """List what was left out; with `ci`, return 1 if CI should have had some of it."""
    found, lacking, failed = noted(), set(os.environ.get("CI_LACKS", "").split()), 0
    if not found:
        sys.stdout.write("nothing was left out\n")
        return 0
    sys.stdout.write(f"left out: {sum(found.values())}\n")
    for (subject, reason), count in sorted(found.items(), key=lambda entry: (-entry[1], entry[0])):
        brings, why = remedy(reason), missed(reason, lacking) if ci else ""
        times = f"{count} x " if count > 1 else ""
        ending = (f"; brought by: {brings}" if brings else "") + (f"; NOT ALLOWED: {why}" if why else "")
        sys.stdout.write(f"  {times}{subject}: {reason}{ending}\n")
        failed += bool(why)
    return int(failed > 0)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("begin")
    noting = commands.add_parser("note")
    noting.add_argument("subject")
    noting.add_argument("reason")
    commands.add_parser("report").add_argument("--ci", action="store_true")
    chosen = parser.parse_args()
    if chosen.command == "begin":
        NOTES.unlink(missing_ok=True)
    elif chosen.command == "note":
        note(chosen.subject, chosen.reason)
        sys.stdout.write(f"left out: {chosen.subject}, {chosen.reason}; {remedy(chosen.reason)} brings it\n")
    else:
        return report(ci=chosen.ci)
    return 0


if __name__ == "__main__":
    sys.exit(main())
