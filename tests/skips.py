"""Report what was left out at the end of each run of pytest: number, reason, and the command that brings it.

With COMPLETE=1, as in `make live-test`, a run in which something was left out is not green.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import left_out

if TYPE_CHECKING:
    import pytest

#: Judgements that a busy machine does not allow, with the reason: those of this process, in the
#: summary like tests that were skipped.
UNJUDGED: list[str] = []


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test was skipped."""
    told = report.longrepr
    text = str(told[2]) if isinstance(told, tuple) else str(told)
    return text.removeprefix("Skipped: ")


def reasons(reporter: pytest.TerminalReporter) -> Counter[str]:
    """Return how many tests were left out for each reason."""
    return Counter([*map(reason_of, reporter.stats.get("skipped", [])), *UNJUDGED])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what was left out."""
    found = reasons(terminalreporter)
    if not found:
        return
    terminalreporter.section(f"not tested: {found.total()}")
    for reason, count in found.most_common():
        brings = left_out.remedy(reason)
        terminalreporter.write_line(f"{count} x {reason}" + (f"; brought by: {brings}" if brings else ""))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Put it on record for the end of `make test`; fail where everything must run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # The processes of pytest-xdist report to the first one.
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    found = reasons(reporter)
    for reason, count in found.items():
        left_out.note("tests", reason, count)
    if os.environ.get("COMPLETE") and exitstatus == 0 and found:
        session.exitstatus = 1
