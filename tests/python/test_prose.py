"""The checks of prose find each kind of fault, and nothing in what is well written."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", ROOT / "tests/prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prose"] = module
    spec.loader.exec_module(module)
    return module


prose = load()
LONG = "word " * 20


def test_a_comment_beyond_100_columns_is_found_and_a_string_is_not() -> None:
    rust = f'/// {LONG}\nlet text = "// {LONG}";\n/// [a]: {LONG}\n    // {LONG}\n'
    assert [found.line for found in prose.widths("a.rs", rust)] == [1, 4]
    python = (
        f'def f():\n    """{LONG}\n\n    {LONG}\n    >>> {LONG}\n    """\n    # {LONG}\n    return "{LONG}"  # {LONG}\n'
    )
    assert sorted(found.line for found in prose.widths("a.py", python)) == [4, 7]


def test_a_doc_comment_that_begins_with_what_is_found_on_its_first_line_only() -> None:
    rust = (
        "/// What it is.\nfn f() {}\n/// The window:\n/// What follows.\n//! That of all.\n// What a comment may say.\n"
    )
    assert [found.line for found in prose.openings("a.rs", rust)] == [1, 5]
    python = '"""What it is."""\n#: What it is.\nX = 1\n\n\ndef f():\n    """Return what it is."""\n'
    assert sorted(found.line for found in prose.openings("a.py", python)) == [1, 2]


def test_a_phrase_is_found_across_the_lines_of_a_comment() -> None:
    [found] = prose.phrases("a.rs", "/// The segment is sent\n/// again after that.\n")
    assert found.line == 1
    assert "retransmitted" in found.text
    assert not list(prose.phrases("a.md", "So many as 40 %, as many as that.\n"))


@pytest.mark.parametrize("phrase", prose.PHRASES)
def test_every_phrase_can_be_found(phrase: str) -> None:
    # The first alternative of each, written out.
    text = {
        r"so many (?!as\b|that\b|and so many that\b)": "so many packets",
        r"(attempts?|tries) in vain": "attempts in vain",
        r"(?:begins?|began|starts?|started) anew": "begins anew",
        r"\b(?:is|was|are|were|be|being) told of\b": "is told of",
        r"\b(?:sent|sends?|sending) again\b": "sent again",
        r"\bthr(?:ow|ows|ew|own|owing)(?: (?:that|the) data)? away\b": "throws that data away",
        r"\bwhat (?:the|its|a) path holds\b": "what the path holds",
        r"\bstart again after (?:a|the) timeout": "start again after a timeout",
        r"that (is|are) none\b": "that is none",
        r"\bwho(?:ever)? has (?:it|got)\b": "who has it",
        r"\bmarks? of congestion\b": "marks of congestion",
        r"\btime of (?:a|the) repair\b": "time of a repair",
    }.get(phrase, re.sub(r"\\b", "", phrase.split("|", maxsplit=1)[0]))
    assert list(prose.phrases("a.md", f"It says {text} here.\n")), text


def test_markdown_has_a_sentence_a_line() -> None:
    good = (
        "# One. Two.\n\nOne sentence.\nAnother, e.g. RFC 5681, by `a. B` and [a. B](c.md).\n* An item: this.\n\n"
        "```sh\nx. Y. Z.\n```\n| a. B | C. D |\n"
    )
    assert not list(prose.sentence_lines("a.md", good))
    two = prose.sentence_lines("a.md", "One. Two.\n")
    broken = prose.sentence_lines("a.md", "* One sentence that\n  goes on.\n")
    assert [found.line for found in (*two, *broken)] == [1, 1]
    assert prose.sentences("At 3.5 s. Then `b`. And (see Fig. 3) so on.") == [
        "At 3.5 s.",
        "Then `b`.",
        "And (see Fig. 3) so on.",
    ]


def test_subjects_have_an_area_and_72_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["1 docs: say less", "2 Say less", "3 docs: say less.", f"4 docs: {'x' * 70}"]
    monkeypatch.setattr(
        prose.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout="\n".join(lines), returncode=0)
    )
    assert [found.path for found in prose.subjects()] == ["2", "3", "4"]


def test_the_command_counts_lists_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    page = tmp_path / "page.md"
    page.write_text("It is sent again. Twice.\n")
    subprocess.run(["git", "add", "page.md"], cwd=tmp_path, check=True)
    monkeypatch.setattr(sys, "argv", ["prose.py"])
    assert prose.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "page.md:1: sentence: It is sent again. Twice.",
        'page.md:1: phrase: "sent again": write retransmitted',
    ]
    monkeypatch.setattr(sys, "argv", ["prose.py", "--count", "phrase"])
    assert prose.main() == 1
    assert capsys.readouterr().out == "phrase 1\n"
    page.write_text("It is retransmitted.\n")
    assert prose.main() == 0
    monkeypatch.setattr(sys, "argv", ["prose.py", "style"])
    with pytest.raises(SystemExit):
        prose.main()
