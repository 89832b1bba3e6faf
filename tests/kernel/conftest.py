"""Requirements of these tests: `make kernel-test`, as root, on Linux 6.10 or later."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import lab  # noqa: E402
import skips  # noqa: E402
from skips import pytest_sessionfinish  # noqa: E402

__all__ = ["pytest_collection_modifyitems", "pytest_sessionfinish", "pytest_terminal_summary"]


#: How late the paths of tests were that could not keep their times.
LATE: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip everything where it cannot run, with the reason."""
    if sys.platform != "linux" or os.geteuid() != 0:
        reason = pytest.mark.skip(reason="controls real connections: needs Linux and root")
        for item in items:
            item.add_marker(reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, None]:
    """Say with a failure whether the machine was too busy for the paths of the test."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        late, lab.ENDED[:] = [said for said in lab.ENDED if said], []
        LATE.extend(late)
        if report.failed and late:
            report.sections.append(("busy machine", "\n".join(late)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what was left out, and say how often the machine was too busy."""
    skips.pytest_terminal_summary(terminalreporter)
    if LATE:
        terminalreporter.section("busy machine")
        terminalreporter.write_line(f"{len(LATE)} paths were late, so tolerances may fail: {LATE[0]}")
