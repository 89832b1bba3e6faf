"""Short flows beside a long one: what each start-up algorithm takes from an established CUBIC flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.swift_start.network import IW10, MODERN, QUICK_START, STARTS, file_name, flow, scenario
from selfclock.papers.swift_start.sharing import LIARS
from selfclock.series import flow_series, goodput_bps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.paper_runs import Runs
    from selfclock.papers.swift_start.network import Start
    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.scenario.flow import Flow

RATE_MBPS, RTT_MS, WINDOW = 50.0, 100.0, "cubic"

#: The long flow has settled when the first short one starts, s.
BEGIN_S, END_S = 15.0, 45.0
SIZES = {"100 kB": 0.5, "1 MB": 2.0, "10 MB": 5.0}
SEEDS = (1, 2, 3)

#: Misbehaving receivers included.
BESIDE = [*STARTS, *LIARS[1:3]]


_ALONE = file_name("harm alone 1")


def _names(size: str, start: Start) -> dict[int, str]:
    """Return the names of the runs by seed."""
    return {seed: file_name(f"harm {size} {start.label} {seed}") for seed in SEEDS}


def scenarios() -> list[Scenario]:
    """Return the long flow alone, then with each size and each start, with each seed."""
    beside = [
        _run(name, _short(start, size), seed)
        for size in SIZES
        for start in BESIDE
        for seed, name in _names(size, start).items()
    ]
    return [_run(_ALONE, (), 1), *beside]


def _short(start: Start, size: str) -> list[Flow]:
    every = SIZES[size]
    return [
        flow(start, WINDOW, size, start_s=BEGIN_S + every * number, jitter_s=0.4)
        for number in range(int((END_S - BEGIN_S) / every))
    ]


def _run(name: str, short: Sequence[Flow], seed: int) -> Scenario:
    return scenario(
        name,
        RATE_MBPS,
        RTT_MS,
        [flow(IW10, WINDOW), *short],
        seconds=END_S,
        buffer="1 bdp",
        transport=MODERN,
        routers=(QUICK_START,),
        samples="500 ms",
        seed=seed,
    )


def _long_mbps(result: Result) -> float:
    return goodput_bps(flow_series(result), BEGIN_S, END_S) / 1e6


def findings(runs: Runs) -> list[Table]:
    """Tabulate harm and completion."""
    solo = _long_mbps(runs[_ALONE])
    cells = {
        (size, start.label): _Cell(runs.each(_names(size, start).values()), solo) for size in SIZES for start in BESIDE
    }
    rows = [
        [start.label, *(cells[size, start.label].text(cells[size, IW10.label].harm) for size in SIZES)]
        for start in BESIDE
    ]
    every = ", ".join(f"{size} every {seconds:g} s" for size, seconds in SIZES.items())
    caption = (
        f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, queue of one bandwidth-delay product, CUBIC throughout: {every}, "
        f"from {BEGIN_S:g} s to "
        f"{END_S:g} s; means of {len(SEEDS)} runs. Harm: (solo - with) / solo of the long flow's rate, "
        f"{solo:.1f} Mbit/s alone; in "
        f"brackets what exceeds the harm done by slow start with an initial window of 10. Then the mean "
        f"completion of the short flows, "
        f"and segments retransmitted by all flows of a run."
    )
    return [Table("Short flows beside an established CUBIC flow", caption, ["start", *SIZES], rows)]


class _Cell:
    """The runs with one size and one start."""

    def __init__(self, results: Sequence[Result], solo: float) -> None:
        rates = [_long_mbps(result) for result in results]
        flows = [each for result in results for each in result.summary["flows"]]
        done = [each["completion_s"] for each in flows if each["completion_s"] is not None]
        self.harm = 1 - sum(rates) / len(rates) / solo
        self._completion_s = sum(done) / len(done) if done else None
        self._again = sum(each["retransmitted_segments"] for each in flows) / len(results)

    def text(self, base: float) -> str:
        """Return harm, its excess over the base, completion and retransmissions."""
        time = "none" if self._completion_s is None else f"{self._completion_s:.2f} s"
        return f"{self.harm:.3f} ({self.harm - base:+.3f}); {time}; {self._again:.0f}"
