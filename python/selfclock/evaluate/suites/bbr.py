"""The example tests of draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases", as scenarios.

The draft gives no paths; those here are ours. A test numbered Bn is the draft's nth; X1 is ours.
"""

from __future__ import annotations

from selfclock.evaluate.suites import bbr_paths, bbr_probing, bbr_startup
from selfclock.evaluate.suites.suite import Suite

SUITE = Suite(
    name="bbr",
    title="The example tests of draft-ietf-ccwg-bbr",
    source="draft-ietf-ccwg-bbr, BBR Example Test Cases (working copy of 3 August 2026)",
    phases=("startup", "drain", "probe down", "probe cruise", "probe refill", "probe up", "probe RTT"),
    tests=tuple(
        sorted(
            (*bbr_startup.TESTS, *bbr_probing.TESTS, *bbr_paths.TESTS), key=lambda test: (test.id[0], int(test.id[1:]))
        )
    ),
)
