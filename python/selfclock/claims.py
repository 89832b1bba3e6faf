"""Claims of a paper, the measurements, and the verdicts that follow, under every reading of the text.

A place where a text is ambiguous, silent or contradicts itself is an `Ambiguity`, declared once in
`claims.toml` of the paper's package, with every `Reading` that the text allows; the first is the
default. A claim names the readings that it was measured under, one of each ambiguity that
bears on it, and the claims with one identifier are one `Statement`. `papers/README.md` shows how.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.page_parts import Illustration, Scheme, Table

Verdict = Literal["reproduced", "direction", "not reproduced"]

#: Author of a claim: the paper, another program or a published figure, or this project.
Of = Literal["paper", "oracle", "own"]

#: Sum of the verdicts under all readings.
Outcome = Literal["under every reading", "under some readings", "under no reading"]

#: In counting and display order.
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OF: dict[Of, str] = {
    "paper": "the paper's claims",
    "oracle": "other programs and published figures",
    "own": "our own tests",
}


class ReadingRow(TypedDict):
    """A reading as `selfclock reproduce --json` prints it."""

    id: str
    name: str
    default: bool
    does: str
    allowed_by: str
    against: str
    options: str


class AmbiguityRow(TypedDict):
    """An ambiguity as `selfclock reproduce --json` prints it."""

    paper: str
    id: str
    source: str
    asks: str
    default_by: str
    readings: list[ReadingRow]


class StatementRow(TypedDict):
    """A statement as `selfclock reproduce --json` prints it."""

    paper: str
    id: str
    of: Of
    says: str
    #: "reproduced" means under every, under some or under no reading.
    reproduced: Outcome
    #: The verdict under every combination of readings that was run.
    under: list[UnderRow]


class UnderRow(TypedDict):
    """A statement's verdict under one combination of readings."""

    readings: list[str]
    verdict: Verdict


class ClaimRow(TypedDict):
    """A claim as `selfclock reproduce --json` prints it."""

    paper: str
    id: str
    readings: list[str]
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
class Reading:
    """One way to take a place of a paper that can be taken in several."""

    #: Unique in the paper.
    id: str
    #: As in "reproduced under NAME".
    name: str
    _: KW_ONLY
    #: The runs or the rule under it.
    does: str
    #: The words that allow it, or that nothing in the text speaks of it.
    allowed_by: str
    #: Words that speak against it; empty if none do.
    against: str
    #: The settings of the runs, as a scenario or a claim's variant writes them.
    options: str


@dataclass(frozen=True)
class Ambiguity:
    """A place where a text is ambiguous, silent or contradicts itself."""

    #: Unique in the paper.
    id: str
    #: Place in the paper: section, figure, table, equation.
    source: str
    _: KW_ONLY
    #: The question that the text leaves open.
    asks: str
    #: The first is the default.
    readings: tuple[Reading, ...]
    #: By which words, or by what absence of words, the first is the default.
    default_by: str

    @property
    def default(self) -> Reading:
        """The reading of the first verdict of a row."""
        return self.readings[0]

    def row(self, paper: str) -> AmbiguityRow:
        """Return it as `--json` prints it."""
        readings = [
            ReadingRow(
                id=each.id,
                name=each.name,
                default=each is self.default,
                does=each.does,
                allowed_by=each.allowed_by,
                against=each.against,
                options=each.options,
            )
            for each in self.readings
        ]
        return AmbiguityRow(
            paper=paper,
            id=self.id,
            source=self.source,
            asks=self.asks,
            default_by=self.default_by,
            readings=readings,
        )


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
    #: Identifiers of the readings that it is measured under, one of each ambiguity that bears on
    #: it.
    readings: tuple[str, ...] = ()
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
            readings=list(self.readings),
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
    def key(self) -> str:
        """Identifier of this verdict: that of the statement, and the readings."""
        return f"{self.id} [{', '.join(self.readings)}]" if self.readings else self.id

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
class Statement:
    """A statement with its verdict under every combination of readings that was run."""

    #: The one under the default readings comes first.
    claims: tuple[Claim, ...]

    @property
    def claim(self) -> Claim:
        """The one under the default readings."""
        return self.claims[0]

    @property
    def outcome(self) -> Outcome:
        """Whether it is reproduced under every, some or no reading."""
        held = [claim.verdict == "reproduced" for claim in self.claims]
        return "under every reading" if all(held) else "under some readings" if any(held) else "under no reading"

    @property
    def share(self) -> str:
        """How many of its combinations of readings reproduce it; empty if the readings do not matter."""
        held = sum(claim.verdict == "reproduced" for claim in self.claims)
        return f"{held}/{len(self.claims)}" if len(self.claims) > 1 else ""

    @property
    def best(self) -> Verdict:
        """The best verdict under any reading."""
        return min((claim.verdict for claim in self.claims), key=VERDICTS.index)

    def which(self, ambiguities: Sequence[Ambiguity]) -> str:
        """Say under which readings it is reproduced; empty unless it is under some."""
        if self.outcome != "under some readings":
            return ""
        every = [claim.readings for claim in self.claims]
        held = [claim.readings for claim in self.claims if claim.verdict == "reproduced"]
        for each in ambiguities:
            # One ambiguity decides if its readings alone tell the verdicts apart.
            deciding = [one for one in each.readings if any(one.id in combination for combination in held)]
            if held == [names for names in every if any(one.id in names for one in deciding)]:
                return "with " + " or ".join(one.name for one in deciding)
        place = {one.id: (number, one.name) for each in ambiguities for number, one in enumerate(each.readings)}
        simplest = min(held, key=lambda names: sum(place[name][0] > 0 for name in names))
        changed = [place[name][1] for name in simplest if place[name][0] > 0]
        return "in combinations, such as " + (" and ".join(changed) or "all the defaults")

    def row(self) -> StatementRow:
        """Return it as `--json` prints it."""
        own = self.claim
        under = [UnderRow(readings=list(claim.readings), verdict=claim.verdict) for claim in self.claims]
        return StatementRow(
            paper=own.paper, id=own.id, of=own.of, says=own.says, reproduced=self.outcome, under=under
        )  # fmt: skip


def statements(claims: Sequence[Claim], ambiguities: Sequence[Ambiguity]) -> list[Statement]:
    """Return the claims by statement, each with the verdict under the default readings first."""
    place = {one.id: number for each in ambiguities for number, one in enumerate(each.readings)}
    by_id: dict[str, list[Claim]] = {}
    for claim in claims:
        by_id.setdefault(claim.id, []).append(claim)

    def changes(claim: Claim) -> int:
        return sum(place.get(name, 0) > 0 for name in claim.readings)

    return [Statement(tuple(sorted(own, key=changes))) for own in by_id.values()]


def reading_faults(claims: Sequence[Claim], ambiguities: Sequence[Ambiguity]) -> list[str]:
    """List readings that nobody declared or used, and rows that are not judged once under each combination."""
    of = {one.id: each for each in ambiguities for one in each.readings}
    used = {name for claim in claims for name in claim.readings}
    found = [f"reading {name!r} is declared, and no row is judged under it" for name in of if name not in used]
    for statement in statements(claims, ambiguities):
        own = statement.claim
        combinations = [frozenset(claim.readings) for claim in statement.claims]
        if len(set(combinations)) < len(combinations):
            found.append(f"{own.id}: judged twice under the same readings")
        unknown = sorted({name for claim in statement.claims for name in claim.readings if name not in of})
        found += [f"{own.id}: no reading {name!r}" for name in unknown]
        if unknown:
            continue
        bearing = [sorted(of[name].id for name in claim.readings) for claim in statement.claims]
        if any(each != bearing[0] or len(set(each)) < len(each) for each in bearing):
            every = ", ".join(sorted(set().union(*bearing)))
            found.append(f"{own.id}: each verdict needs one reading of each of: {every}")
        if any(of[name].default.id != name for name in own.readings):
            found.append(f"{own.id}: no verdict under the default readings")
    return found


@dataclass(frozen=True)
class Findings:
    """The results of a paper's package."""

    claims: list[Claim]
    figures: list[Illustration]
    tables: list[Table]
    #: Networks, formats and charts of the paper.
    schemes: Sequence[Scheme] = ()
    #: Numbers of long runs with which other runs draw figures: `full_data.json` in the paper's
    #: folder.
    data: dict[str, object] = field(default_factory=dict)


def within(measured: float, printed: float, tolerance: float) -> bool:
    """Tell whether two figures agree within the tolerance, inclusive."""
    return abs(measured - printed) <= tolerance * (1 + 1e-9)
