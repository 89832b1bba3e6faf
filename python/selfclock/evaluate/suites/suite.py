"""A suite: tests with their expectations in words, and their results."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from selfclock._core import VERSION, ScenarioError
from selfclock.evaluate.subject import Subject
from selfclock.evaluate.suites.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selfclock.evaluate.judge import Verdict
    from selfclock.scenario import Scenario


class NotApplicableError(Exception):
    """A test does not concern an algorithm; the message says why."""


class Checks:
    """Measurements of a test, and those that are not as expected."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._failed = False

    def note(self, text: str) -> None:
        """Add a measurement."""
        self._said.append(text)

    def that(self, holds: bool, text: str) -> bool:
        """Add a measurement that is as expected, or not."""
        self._said.append(text if holds else f"✗ {text}")
        self._failed |= not holds
        return holds

    def outcome(self) -> Outcome:
        """Return the result."""
        return Outcome("; ".join(self._said), "fail" if self._failed else "pass")


@dataclass(frozen=True)
class Outcome:
    """The result of a test."""

    measured: str
    verdict: Verdict


@dataclass(frozen=True)
class Test:
    """A test of a suite."""

    id: str
    #: Title of the section that demands it.
    title: str
    scenario: str
    expects: str
    judge: Callable[[Bench, Checks], None]
    #: Whether it needs the algorithm's phases.
    needs_phases: bool = True


@dataclass(frozen=True)
class Suite:
    """A published list of tests."""

    name: str
    title: str
    source: str
    #: A phase that an algorithm with the suite's phases shows.
    phases: tuple[str, ...]
    tests: tuple[Test, ...]


class TestDocument(TypedDict):
    """A test as `--json` prints it."""

    id: str
    test: str
    scenario: str
    expects: str
    measured: str
    verdict: Verdict


class SuiteDocument(TypedDict):
    """The results of a suite as `--json` prints them."""

    algorithm: str
    suite: str
    source: str
    version: str
    tests: list[TestDocument]


@dataclass(frozen=True)
class SuiteResult:
    """The results of a suite."""

    suite: Suite
    subject: Subject
    outcomes: list[tuple[Test, Outcome]]
    scenarios: list[Scenario] = field(repr=False)
    seconds: float

    @property
    def algorithm(self) -> str:
        """The algorithm as it was named."""
        return self.subject.label

    @property
    def document(self) -> SuiteDocument:
        """Return it as `--json` prints it."""
        return SuiteDocument(
            algorithm=self.algorithm,
            suite=self.suite.name,
            source=self.suite.source,
            version=VERSION,
            tests=[
                TestDocument(
                    id=test.id, test=test.title, scenario=test.scenario, expects=test.expects,
                    measured=outcome.measured, verdict=outcome.verdict,
                )
                for test, outcome in self.outcomes
            ],
        )  # fmt: skip


def run_suite(
    suite: Suite, algorithm: str, *, tests: Sequence[str] = (), progress: Callable[[float], object] | None = None
) -> SuiteResult:
    """Run the tests of a suite with an algorithm, or those with these identifiers."""
    begun = time.monotonic()
    bench = Bench(Subject.named(algorithm))
    chosen = [test for test in suite.tests if not tests or test.id in tests]
    for name in tests:
        if name not in {test.id for test in suite.tests}:
            known = f"there are {suite.tests[0].id} to {suite.tests[-1].id}"
            raise ScenarioError(f"no test of the suite {suite.name} is named {name!r}; {known}")
    outcomes = []
    for done, test in enumerate(chosen):
        outcomes.append((test, _outcome(suite, test, bench)))
        if progress is not None:
            progress((done + 1) / len(chosen))
    return SuiteResult(suite, bench.subject, outcomes, bench.scenarios, time.monotonic() - begun)


def _outcome(suite: Suite, test: Test, bench: Bench) -> Outcome:
    checks = Checks()
    try:
        if test.needs_phases and not _has_phases(suite, bench):
            raise NotApplicableError("the algorithm shows no phases")
        test.judge(bench, checks)
    except NotApplicableError as error:
        return Outcome(str(error), "not applicable")
    except ScenarioError:
        if not bench.subject.in_stack:
            raise
        return Outcome("it changes a setting that a QUIC stack does not expose", "not applicable")
    return checks.outcome()


def _has_phases(suite: Suite, bench: Bench) -> bool:
    """Whether the algorithm shows the suite's phases in a short run."""
    from selfclock.evaluate.network import Path  # noqa: PLC0415  the module of the network is not needed before

    path = Path(10, 20)
    return bench.trace("phases", path, 0.2, path.buffer(2)).spans[-1].phase in suite.phases
