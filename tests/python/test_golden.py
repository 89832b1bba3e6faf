"""Recorded fingerprints: one for each scenario, and the entry of the changes that they belong to."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import golden  # noqa: E402


def test_every_scenario_has_a_fingerprint() -> None:
    known = tomllib.loads(golden.GOLDEN.read_text(encoding="utf-8"))
    missing = set(golden.scenarios()) - set(known["fingerprints"])
    assert not missing, "run make golden"
    assert known["entry"] in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
