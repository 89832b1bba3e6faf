"""Published lists of tests for single algorithms: `selfclock evaluate NAME --suite bbr`."""

from __future__ import annotations

from selfclock.evaluate.suites.bbr import SUITE as BBR
from selfclock.evaluate.suites.suite import Suite, SuiteResult, run_suite

SUITES: dict[str, Suite] = {suite.name: suite for suite in (BBR,)}

__all__ = ["SUITES", "Suite", "SuiteResult", "run_suite"]
