"""The page of the reproduced papers: counts, links and labels of a small report."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import selfclock as sc
from charts import unpacked_text
from figures import coloured
from selfclock.claims import Ambiguity, Claim, Findings, Reading
from selfclock.cli.reproduce import print_reports
from selfclock.page_parts import Illustration, Scheme, Table
from selfclock.paper_runs import Part, Study
from selfclock.papers.mutants import Rules
from selfclock.report.papers import contracted
from selfclock.reproduce import PaperReport, section
from selfclock.scenario_files import scenario_files

if TYPE_CHECKING:
    from pathlib import Path

OPEN = [
    Ambiguity(
        "unit",
        "section 3",
        asks="In which unit?",
        readings=(
            Reading("packets", "in packets", does="Counts packets.", allowed_by="nothing", against="", options="1"),
            Reading("bytes", "in bytes", does="Counts bytes.", allowed_by="a product", against="ns-2", options="2"),
        ),
        default_by="It is usual.",
    )
]

README = """\
### In short

* Half of it holds.

### The experiments

Text.

### Choices made after a result was seen

* alpha = 2, after point B was seen.

### What is left out

Nothing.
"""


def sample() -> PaperReport:
    """A small report with everything that a row can contain."""
    alone = sc.dumbbell(name="alone", duration="1 s")
    many = [sc.dumbbell(name="many", duration="1 s", seed=seed, flows=[{"start_jitter": "1 s"}]) for seed in (1, 2, 3)]
    rows: Any = [
        ("printed", "paper", 173, 179, "reproduced", {"figure": "figure-8", "scenarios": ("alone", "many")}),
        ("words", "paper", None, "15 %", "direction", {"figure": "figure-8", "scenarios": ("alone",)}),
        ("slow", "paper", "at once", "never", "not reproduced", {"recorded": True, "long": True}),
        ("ns2", "oracle", 1.0, 1.0, "reproduced", {}),
        ("open", "paper", "both", "bytes", "direction", {"readings": ("packets",)}),
        ("open", "paper", "both", "other bytes", "reproduced", {"readings": ("bytes",)}),
        ("theory-with-a-name-that-is-thirty-nine-long", "own", None, 0.5, "reproduced", {}),
    ]
    claims = [
        Claim(
            "sample",
            name,
            "section 1",
            says=f"says {name}",
            printed=printed,
            measured=measured,
            verdict=verdict,
            note="its note",
            unit="%",
            of=of,
            criterion=f"our criterion: the rule of {name}",
            variant=f"reno, variant of {name}",
            **more,
        )
        for name, of, printed, measured, verdict, more in rows
    ]
    figures = [Illustration("Figure 8", "Caption.", coloured(), id="figure-8", scenarios=("alone", "many"))]
    tables, drawn = [Table("A table", "", ["a", "b"], [["1", "2"]])], "<svg></svg>"
    scheme = Scheme("Figure 1", "A network.", drawn, narrow=drawn, id="figure-1")
    findings = Findings(claims, figures, tables, [scheme])
    files = scenario_files(Study([Part([alone, *many])], lambda _: findings))
    rules = Rules({"off": "the mechanism off"}, {"printed": ["off"], "open": []})
    return PaperReport(
        "sample", "A sample", "Nobody: Nothing.", README, findings, {}, 1.0, files, ambiguities=OPEN, rules=rules
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = sc.publish([sample()], tmp_path_factory.mktemp("sample") / "report")
    return path.read_text(encoding="utf-8")


def row(page: str, name: str) -> str:
    found = re.search(rf'<tr id="sample\.claim\.{name}".*?</tr>', page, re.DOTALL)
    assert found is not None
    return re.sub(r"\s+", " ", found[0])


def test_each_cell_of_the_matrix_counts_and_leads_to_its_rows(page: str) -> None:
    cells = re.findall(r'href="#(sample\.[a-z]+\.[a-z-]+)">(\d+)<span', page)
    assert cells == [
        ("sample.paper.every", "1"),
        ("sample.paper.some", "1"),
        ("sample.paper.none", "2"),
        ("sample.oracle.every", "1"),
        ("sample.own.every", "1"),
    ]
    for cell, count in cells:
        assert page.count(f'data-cell="{cell}"') == int(count)


def test_every_link_has_a_target_and_no_target_is_there_twice(page: str) -> None:
    targets = re.findall(r'\bid="([^"]+)"', page)
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(targets)


def test_a_row_says_what_is_printed_or_that_the_criterion_is_ours(page: str) -> None:
    printed, words = row(page, "printed"), row(page, "words")
    assert '<td data-label="Printed">173 %</td>' in printed
    assert "our criterion: the rule of printed" in printed
    assert '<td data-label="Criterion (ours)"><span class="own">our criterion: the rule of words</span></td>' in words
    headings = re.findall(r"<th>Statement</th><th>([^<]*)</th>", page)
    assert headings == ["Printed, or criterion (ours)", "Printed", "Criterion (ours)"]


def test_a_row_says_what_ran_and_leads_to_its_figure_and_scenarios(page: str) -> None:
    printed = row(page, "printed")
    assert "reno, variant of printed" in printed
    assert 'href="#sample.figure.figure-8"' in printed
    assert re.findall(r'data-name="([^"]*)"', printed) == ["alone", "many"]
    assert "(3 seeds)" in printed
    assert "recorded earlier, not run now" in row(page, "slow")
    assert "recorded earlier, not run now" not in printed


def test_a_statement_says_under_which_readings_it_is_reproduced(page: str) -> None:
    found = row(page, "open")
    assert '<span class="verdict some">under 1/2</span>' in found
    assert "with in bytes" in found
    assert re.findall(r"<li><span[^>]*>([^<]*)</span> ([^<]*)</li>", found) == [
        ("direction", "the defaults: bytes %"),
        ("reproduced", "in bytes: other bytes %"),
    ]
    table = page.split('id="sample.open"')[1].split("<h3", maxsplit=1)[0]
    assert "In which unit?" in table
    assert "It is usual." in table
    assert re.findall(r'<td class="number">([^<]*)</td>', table) == ["0 of 1", "1 of 1"]


def test_a_row_names_the_mutants_under_which_its_rule_fails(page: str) -> None:
    assert "<b>Its rule fails</b> with the mechanism off." in row(page, "printed")
    assert "<b>Its rule fails</b> in the runs themselves." in row(page, "slow")


def test_what_came_out_is_said_first(page: str) -> None:
    assert "4 statements: 1 reproduced under every reading of the text, 1 under some, 2 under none." in page
    section_of = page.split('<section id="sample">')[1]
    assert section_of.index("Half of it holds.") < section_of.index("<table")
    assert "In short" not in section_of
    assert section_of.count("<svg></svg>") == 2


def test_a_figure_has_its_rows_and_the_commands_that_make_it_again(page: str) -> None:
    found = re.search(r'<div class="shown" id="sample\.figure\.figure-8">.*?</details>\s*</div>', page, re.DOTALL)
    assert found is not None
    assert re.findall(r'href="#sample\.claim\.([^"]*)"', found[0]) == ["printed", "words"]
    assert "selfclock reproduce sample --scenarios scenarios\nselfclock run scenarios/sample/alone.toml" in found[0]
    [packed] = re.findall(r'<script type="application/gzip" class="scenarios">([^<]*)</script>', page)
    files = json.loads(unpacked_text(packed))
    assert sc.Scenario.parse(files["many"]["many-seed-2"]).seed == 2
    assert list(files["many"]) == ["many-seed-1", "many-seed-2", "many-seed-3"]


def test_choices_made_after_a_result_was_seen_are_listed(page: str) -> None:
    listed = page.split('<h2 id="choices">')[1].split("<dialog", maxsplit=1)[0]
    assert "after point B was seen" in listed
    assert "Nothing." not in listed
    assert section(README, "What is left out") == "Nothing."
    assert section(README, "left out") == ""


def test_a_terminal_of_80_columns_shows_names_whole(capsys: pytest.CaptureFixture[str]) -> None:
    report = sample()
    print_reports([report])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for claim in report.claims:
        assert any(line.startswith(f"{claim.id} ") for line in lines), claim.id
    assert sum("not reproduced *" in line for line in lines) == 1
    assert any(re.fullmatch(r"sample\s+paper\s+1\s+1\s+2\s+4", line.strip()) for line in lines)


def test_file_names_in_a_row_are_contracted() -> None:
    assert contracted(["a", "b-1", "b-2", "b-3", "c-7", "d"]) == ["a", "b-{1..3}", "c-7", "d"]
    assert contracted(["rtt-10", "rtt-20"]) == ["rtt-10", "rtt-20"]
    assert contracted(["x-09", "x-10"]) == ["x-09", "x-10"]
