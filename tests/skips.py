"""Report what was left out at the end of each run of pytest: number, reason, and the command that brings it.

With COMPLETE=1, as in `make live-test`, a run in which something was left out is not green.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

#: Words of a reason, and what brings the tests (Debian's names).
REMEDIES = {
    r"curl": "apt install curl",
    r"iptables|nft": "apt install iptables",
    r"tshark": "apt install tshark",
    r"[Cc]hromium": "apt install chromium",
    r"\bnode\b": "apt install nodejs npm",
    r"valgrind": "apt install valgrind",
    r"clang|llvm|llc": "apt install clang-22 llvm-22",
    r"rust-src": "rustup component add rust-src",
    r"wasm": "rustup target add wasm32-unknown-unknown",
    r"[Dd]ask|distributed": "pip install 'selfclock[cluster]'",
    r"quic|quinn|noq|stacks": "make quic-test",
    r"\broot\b|namespace|Operation not permitted": "sudo, with the same command",
}


def remedy(reason: str) -> str:
    """Return the command that brings what a reason names, or nothing."""
    return next((command for words, command in REMEDIES.items() if re.search(words, reason)), "")


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test was skipped."""
    told = report.longrepr
    text = str(told[2]) if isinstance(told, tuple) else str(told)
    return text.removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what was left out."""
    reasons = Counter(map(reason_of, terminalreporter.stats.get("skipped", [])))
    if not reasons:
        return
    terminalreporter.section(f"not tested: {sum(reasons.values())}")
    for reason, count in reasons.most_common():
        brings = remedy(reason)
        terminalreporter.write_line(f"{count} x {reason}" + (f"; brought by: {brings}" if brings else ""))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail where everything must run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("COMPLETE") and exitstatus == 0 and reporter and reporter.stats.get("skipped"):
        session.exitstatus = 1
