"""The documents are correct: every command and program on every page is run, and the lists are complete."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import pages
import selfclock as sc
from conftest import built_in_schema
from selfclock.reproduce import PAPERS

ROOT = Path(__file__).parents[2]
RUN = [
    page for page in pages.pages() if any(block.language in ("sh", "python", "toml") for block in pages.blocks(page))
]


@pytest.mark.parametrize("page", RUN)
def test_every_block_of_a_page(page: str, tmp_path: Path) -> None:
    done = pages.run(page, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_block_has_a_language() -> None:
    bare = [f"{page}:{block.line}" for page in pages.pages() for block in pages.blocks(page) if not block.language]
    assert not bare, "a reader cannot tell what these are, and neither can the test"


def test_what_is_left_out_is_there() -> None:
    every = [block for page in pages.pages() for block in pages.blocks(page)]
    for begin in [*pages.LONG, *pages.NOT_RUN]:
        assert any(block.commands.startswith(begin) for block in every), f"no page has a block {begin}"


def test_the_rust_of_the_guide_is_that_of_the_example() -> None:
    [rust] = [block for block in pages.blocks("docs/own-algorithm.md") if block.language == "rust"]
    example = "".join((ROOT / "examples/rust-algorithm/src/main.rs").read_text(encoding="utf-8").split())
    for line in rust.text.splitlines():
        assert "".join(line.split()) in example, line


def test_the_reference_names_every_word() -> None:
    # Regression: the lists of starts, models, disciplines and so on went out of date.
    reference = (ROOT / "docs/scenario-reference.md").read_text(encoding="utf-8")
    for word in words(built_in_schema()):
        assert f'"{word}"' in reference, f'"{word}" is not in the reference'


def test_the_lists_of_queues_and_routers_are_those_of_the_schema() -> None:
    # The page of queues and routers is generated from these lists.
    text = json.dumps(built_in_schema())
    for key, listed in {"discipline": sc.queues(), "mechanism": sc.routers()}.items():
        found = re.findall(rf'"{key}": \{{[^{{}}]*"enum": \["([a-z0-9-]+)"\]', text)
        assert set(found) == {each.name for each in listed}
        assert len(listed) >= 8


def words(node: Any) -> set[str]:  # noqa: ANN401
    """Every keyword allowed for a key of a scenario, except settings of named parts, which have generated tables."""
    if isinstance(node, list):
        return set().union(*map(words, node))
    if not isinstance(node, dict):
        return set()
    if {"discipline", "mechanism"} & set(node.get("properties", {})):
        return set()
    found = {word for word in node.get("enum", []) if isinstance(word, str)}
    for key, child in node.items():
        if key == "congestion_control":
            parts = ("window", "start", "model", "estimate")
            table = next(form["properties"] for form in child["anyOf"] if "properties" in form)
            found |= set().union(*(words(table[part]) for part in parts))
        elif key != "enum":
            found |= words(child)
    return found


@pytest.mark.parametrize("package", PAPERS.values())
def test_claims_on_record_are_those_with_a_verdict(package: str) -> None:
    folder = ROOT / "python" / package.replace(".", "/")
    claims = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    verdicts = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    keys = [f"{claim['id']} [{', '.join(claim['readings'])}]" if claim["readings"] else claim["id"] for claim in claims]
    assert sorted(keys) == sorted(verdicts)
