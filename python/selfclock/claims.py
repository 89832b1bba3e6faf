"""Claims of a paper, the measurements, and the verdicts that follow."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

if TYPE_CHECKING:
    from selfclock.page_parts import Illustration, Table

Verdict = Literal["reproduced", "direction", "not reproduced"]

#: Author of a claim: the paper, another program or a published figure, or this project.
Of = Literal["paper", "oracle", "own"]

#: In counting and display order.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OF: dict[Of, str] = {
    "paper": "the paper's claims",
    "oracle": "other programs and published figures",
    "own": "our own tests",
}


class ClaimRow(TypedDict):
    """A claim as `selfclock reproduce --json` prints it."""

    paper: str
    id: str
    of: Of
    source: str
    says: str
    printed: float | str | None
    criterion: str
    variant: str
    measured: float | str | None
    verdict: Verdict
    note: str
    figure: str
    scenarios: list[str]
    recorded: bool


@dataclass(frozen=True)
class Claim:
    """A statement, its measurement, and the verdict that follows."""

    paper: str
    id: str
    #: Place of the statement: section, figure, table, equation.
    source: str
    _: KW_ONLY
    #: The statement, as close to its words as a sentence allows.
    says: str
    #: The printed figure or words; `None` if nothing comparable is printed and `criterion` decides.
    printed: float | str | None
    measured: float | str | None
    verdict: Verdict
    #: Information for checking the verdict: spread, counter-example, reason.
    note: str
    unit: str = ""
    of: Of = "paper"
    #: The verdict's rule, with its tolerance: what is `reproduced`, what only `direction`.
    criterion: str
    #: The mechanism as it ran: its variant, and every non-default option.
    variant: str = ""
    #: Identifier of the illustration that shows it.
    figure: str = ""
    #: Names of the scenarios whose runs it is measured on.
    scenarios: tuple[str, ...] = ()
    #: Whether its runs take minutes: only `--full` makes them.
    long: bool = False
    #: Whether it was not measured in this run: the result of the last `--full` run, from
    #: `full.json` in the paper's folder.
    recorded: bool = False

    def row(self) -> ClaimRow:
        """Return the claim as `--json` prints it."""
        return ClaimRow(
            paper=self.paper,
            id=self.id,
            of=self.of,
            source=self.source,
            says=self.says,
            printed=self.printed,
            criterion=self.criterion,
            variant=self.variant,
            measured=self.measured,
            verdict=self.verdict,
            note=self.note,
            figure=self.figure,
            scenarios=list(self.scenarios),
            recorded=self.recorded,
        )

    @property
    def printed_text(self) -> str:
        """The printed figure with its unit; empty if none is printed."""
        return "" if self.printed is None else self._text(self.printed)

    @property
    def measured_text(self) -> str:
        """The measured figure with its unit."""
        return "none" if self.measured is None else self._text(self.measured)

    def _text(self, value: float | str) -> str:
        number = value if isinstance(value, str) else f"{value:g}"
        return f"{number} {self.unit}".rstrip()


@dataclass(frozen=True)
class Findings:
    """The results of a paper's package."""

    claims: list[Claim]
    figures: list[Illustration]
    tables: list[Table]
    #: Numbers of long runs with which other runs draw figures: `full_data.json` in the paper's
    #: folder.
    data: dict[str, object] = field(default_factory=dict)


def recorded(package: str) -> list[Claim]:
    """Return the claims whose runs take minutes, from the last run with `full`."""
    path = resources.files(package) / "full.json"
    if not path.is_file():
        return []
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Claim(**{**row, "scenarios": tuple(row["scenarios"]), "recorded": True}) for row in rows]


def recorded_data(package: str) -> dict[str, Any]:
    """Return the numbers of long runs from the last run with `full`; empty without one."""
    path = resources.files(package) / "full_data.json"
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return held


def within(measured: float, printed: float, tolerance: float) -> bool:
    """Tell whether two figures agree within the tolerance, inclusive."""
    return abs(measured - printed) <= tolerance * (1 + 1e-9)
