"""Record the outcome of the papers' claims, for the pages that show it: `make record`.

`verdicts.json` records the verdicts, which decide whether `selfclock reproduce` fails;
`claims.json` beside it holds what the last run measured, by statement, the verdict under the
default readings first; the statements are in `claims.toml`. `--full` also runs experiments that
take minutes, and writes their claims into `full.json`, from which every other run takes them, and
the numbers of their figures into `full_data.json`.
"""

from __future__ import annotations

import importlib.resources
import json
import sys
from pathlib import Path

from selfclock.papers.on_record import by_readings, long_row, row
from selfclock.reproduce import MEASURED_HEADING, PAPERS, PaperReport, find, reproduce, section


def record(report: PaperReport, *, full: bool) -> list[str]:
    """Record the claims of a paper, and report incomplete claims and verdicts that differ from the record."""
    package = PAPERS[report.name]
    claims = [row(claim, package) for statement in report.statements for claim in statement.claims]
    _write(report, "claims.json", claims)
    _write_readme(package)
    if full:
        _write(report, "full.json", [long_row(claim) for claim in report.claims if claim.long])
        if report.findings.data:
            _write(report, "full_data.json", report.findings.data)
    return [*report.differences(), *report.faults()]


def _write_readme(package: str) -> None:
    """Bring the README's table of measured values up to date, if it has one."""
    path = Path(str(importlib.resources.files(package))) / "README.md"
    text = path.read_text(encoding="utf-8")
    held = section(text, MEASURED_HEADING)
    if held:
        path.write_text(text.replace(held, by_readings(package)), encoding="utf-8")


def _write(report: PaperReport, name: str, rows: object) -> None:
    path = Path(str(importlib.resources.files(PAPERS[report.name]))) / name
    path.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Reproduce and record the named papers, or all."""
    names = [argument for argument in sys.argv[1:] if argument != "--full"]
    full = "--full" in sys.argv[1:]
    reports = reproduce(find(names), full=full)
    differences = [difference for report in reports for difference in record(report, full=full)]
    sys.stderr.writelines(f"{difference}\n" for difference in differences)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
