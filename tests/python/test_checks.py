"""The project's own checks: of licences, of the age of measured pages, of what was left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))
import dependencies  # noqa: E402
import measured  # noqa: E402
import ns2_rows  # noqa: E402
import skips  # noqa: E402


@pytest.mark.parametrize(
    ("expression", "is_allowed"),
    [
        ("MIT", True),
        ("MIT OR Apache-2.0", True),
        ("MIT/Apache-2.0", True),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", True),
        ("GPL-2.0-only", False),
        ("MIT AND GPL-2.0-only", False),
        ("", False),
    ],
)
def test_licences_of_others(expression: str, is_allowed: bool) -> None:
    assert dependencies.is_allowed(expression, own=False) is is_allowed


def test_sources_and_duplicates_are_named() -> None:
    def package(name: str, version: str = "1.0.0", **other: object) -> dict[str, object]:
        return {"name": name, "version": version, "source": dependencies.REGISTRY, "license": "MIT", **other}

    own = package("ours", source=None, license="(MIT OR Apache-2.0) AND GPL-2.0-only")
    assert dependencies.problems([package("a"), own]) == []
    found = dependencies.problems([package("a"), package("a", "2.0.0"), package("b", source="git+https://x"),
                                   package("c", license=None), package("d", license="GPL-2.0-only")])  # fmt: skip
    assert [line.partition(":")[0] for line in found] == ["b", "c", "d", "a"]


def test_a_page_says_what_it_was_measured_with(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\nText.\n", encoding="utf-8")
    assert measured.age(page, "0" * 12) == "does not say what it was measured with"
    measured.stamp(page, "0" * 12)
    assert measured.age(page, "0" * 12) is None
    assert "earlier results" in str(measured.age(page, "1" * 12))
    measured.stamp(page, "1" * 12)
    assert page.read_text(encoding="utf-8") == f"# Page\nText.\n\n<!-- measured with results {'1' * 12} -->\n"
    assert all((measured.ROOT / name).is_file() for name in measured.PAGES)


def test_the_rows_of_ns2_can_be_built() -> None:
    """Regression: the script was broken for days, because nothing but `make oracles` builds its scenarios."""
    for row in ns2_rows.ROWS:
        assert ns2_rows.scenario(f"ns2-{row.name}", [ns2_rows.sender(row.control)], seconds=1, coalescing="0 s").text


def test_what_was_left_out_is_listed(tmp_path: Path) -> None:
    """With the command that brings it; where everything must run, the status is 1."""
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\nfrom skips import *\n", encoding="utf-8"
    )
    (tmp_path / "test_one.py").write_text(
        "import pytest\ndef test_one(): pytest.skip('the examples call curl')\ndef test_two(): pass\n", encoding="utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        "-c",
        os.devnull,
    ]
    for complete, status in (("", 0), ("1", 1)):
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "COMPLETE": complete}, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout
        assert "1 x the examples call curl; brought by: apt install curl" in done.stdout
    assert skips.remedy("something else") == ""
