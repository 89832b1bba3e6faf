"""A fixed part of the laws of tests/laws, the same cases in each run; `make laws` tries others."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from laws import page
from laws.coverage import Coverage, known
from laws.draw import Draw
from laws.faults.switched import Fault, faults
from laws.generator import anything
from laws.law import LAWS, Broken, Document, Law, Skipped, equal, holds
from laws.measure import scenario
from laws.run import KINDS
from laws.shrink import shrunk

ROOT = Path(__file__).parent.parent.parent

for kind in KINDS:
    importlib.import_module(f"laws.{kind}")

#: Cases of each law: most take some milliseconds, those with a share below 1 or long runs a tenth
#: of a second.
CASES = 2


@pytest.mark.parametrize("name", LAWS)
def test_law(name: str) -> None:
    """Each case holds, or its condition does not."""
    law = LAWS[name]
    for number in range(CASES):
        document = law.make(Draw(1, name, number))
        try:
            law.check(document)
        except Skipped:
            continue
        except Broken as how:
            pytest.fail(f"{law.sentence}\n{how}\nCondition: {law.condition}\n{document}")


@pytest.mark.parametrize("name", LAWS)
def test_a_law_states_its_sentence_and_source(name: str) -> None:
    law = LAWS[name]
    assert law.sentence.endswith((".", '"'))
    assert len(law.source) > 5
    assert law.condition


def test_the_generator_reaches_everything_of_the_registry() -> None:
    """Every part, within as many cases as the longest list of pairs."""
    coverage = Coverage()
    for number in range(130):
        document = anything(Draw(5, "coverage", number))
        scenario(document)
        coverage.add(document)
    assert coverage.missing() == []
    assert set(known()) >= {"algorithm", "start", "discipline", "mechanism"}


def test_a_broken_law_is_shrunk() -> None:
    """A law that forbids RED is broken by a scenario of RED alone."""

    def no_red(document: Document) -> None:
        scenario(document)
        holds("red" in str(document), "no RED")
        equal("red", "another", "discipline")

    law = Law("no-red", "test", "No RED.", "none", "none", anything, no_red, 1.0)
    documents = (anything(Draw(3, "red", number)) for number in range(100))
    first = next(each for each in documents if "'red'" in str(each))
    small = shrunk(law, first, 20)
    assert len(str(small)) < len(str(first))
    assert len(small["flow"]) == 1
    assert "router" not in small


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_a_seeded_fault_applies(fault: Fault) -> None:
    """To the present sources, in one place."""
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.name}: {fault.file} has changed; write the patch again"
    if not (ROOT / ".git").exists():
        pytest.skip("git knows the sources only in a repository")
    patch = ROOT / "tests/laws/faults" / f"{fault.name}.patch"
    done = subprocess.run(
        ["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_page_has_the_present_tables() -> None:
    """Of laws and rules; coverage and faults are those of the last long run."""
    text = page.PAGE.read_text(encoding="utf-8")
    for name, lines in (("laws", page.laws()), ("rules", page.rules())):
        assert page.replaced(text, name, lines) == text, "python tests/laws/run.py --tables writes docs/how-we-know.md"
