"""The page of a suite for some algorithms: `python -m selfclock.evaluate.suites.page FILE.md NAME...`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock._core import VERSION
from selfclock.custom import load_algorithms
from selfclock.evaluate.suites import SUITES, run_suite
from selfclock.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.evaluate.suites.suite import SuiteResult

HEAD = """\
# The example tests of draft-ietf-ccwg-bbr

The appendix "BBR Example Test Cases" of \
[draft-ietf-ccwg-bbr](https://datatracker.ietf.org/doc/draft-ietf-ccwg-bbr/) lists {count} tests in words.
```sh
selfclock evaluate bbr3 --suite bbr
```
runs them as scenarios; of any algorithm, also a user-defined one (`--algorithm FILE.py`) or one of a QUIC stack.
Test Bn is the draft's nth, by its title; the draft gives no paths, so those here are ours; X1 is not of the draft.
A test of BBR's phases is not applicable to an algorithm that shows none, such as a user-defined one in Python, or a \
stack's own.
The bounds and estimates of which the draft speaks are [columns of the series](building.md#columns-of-the-series).

This page is made by `make bbr-suite` with selfclock {version}.
"""


#: Causes of failures, by algorithm and test.
CAUSES = {
    ("bbr3", "B12"): """with quick ACKs and an autotuned receive window, both Linux's, max_bw is 1.13 to 1.25 of the \
bandwidth as Startup ends (12 seeds); with `receive_window = "unlimited"`, or without quick ACKs, 1.000 to 1.002.""",
    ("bbr3", "B16"): """bw_shortterm falls by at most 0.7 in a round trip, which lasts 0.44 s once the queue is full, \
and REFILL and ProbeRTT end it before it is low; the filter of max_bw comes first.""",
    ("my-aimd", "B15"): "it grows by a segment in a round trip (RFC 5681).",
    (
        "my-aimd",
        "B18",
    ): "with a late packet every 24 ms its window is reduced nearly all the time, though each loss is undone.",
    ("my-aimd", "X1"): "only a loss reduces its window, so that a queue stays as long as it does not overflow.",
}


def write(results: Sequence[SuiteResult]) -> str:
    """Return the page: what each test is, and a table for each algorithm."""
    suite = results[0].suite
    count = sum(test.id.startswith("B") for test in suite.tests)
    text = HEAD.format(count=count, version=VERSION)
    text += "\n## The tests\n\n| test | the draft's section | scenario | expected |\n|---|---|---|---|\n"
    for test in suite.tests:
        text += f"| {test.id} | {test.title} | {test.scenario} | {test.expects} |\n"
    for result in results:
        verdicts = [outcome.verdict for _, outcome in result.outcomes]
        kinds = [each for each in ("pass", "fail", "not applicable") if each in verdicts]
        counts = ", ".join(f"{verdicts.count(each)} {each}" for each in kinds)
        text += f"\n## `{result.algorithm}`\n\nOf {len(verdicts)} tests: {counts}.\n\n"
        text += "| test | measured | verdict |\n|---|---|---|\n"
        for test, outcome in result.outcomes:
            text += f"| {test.id} | {outcome.measured} | {outcome.verdict} |\n"
        for test, outcome in result.outcomes:
            cause = CAUSES.get((result.algorithm, test.id))
            if outcome.verdict == "fail" and cause is not None:
                text += f"\n* {test.id} fails: {cause}"
        text += "\n"
    return text


def main() -> None:
    """Write the page to the named file, of the algorithms named after it; a name that ends in .py is loaded."""
    if len(sys.argv) < 3:
        sys.exit("selfclock.evaluate.suites.page: name the file to write and algorithms: docs/bbr-suite.md bbr3")
    load_algorithms(*(name for name in sys.argv[2:] if name.endswith(".py")))
    names = [name for name in sys.argv[2:] if not name.endswith(".py")]
    results = []
    for name in names:
        with progress_bar(name) as progress:
            results.append(run_suite(SUITES["bbr"], name, progress=progress))
    Path(sys.argv[1]).write_text(write(results), encoding="utf-8")


if __name__ == "__main__":
    main()
