"""One path under several algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from selfclock import alike, notebook, repeats
from selfclock._core import ScenarioError
from selfclock.algorithms import queue as discipline
from selfclock.compare.measures import Estimates, Measures, estimates, measure
from selfclock.compare.scenarios import check_ecn, distinct, of_scenario, on_dumbbell, with_queue
from selfclock.compare.table import table
from selfclock.runs import run_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from selfclock.figure import Figure
    from selfclock.page_parts import Table
    from selfclock.result import Result
    from selfclock.scenario import Scenario

__all__ = ["Comparison", "Estimates", "Measures", "compare"]

#: The note on an algorithm without CE marks, and the remedy of a comparison.
WITHOUT_MARKS, MARKED = "without accurate ECN", " (a comparison: --ecn auto --queue dualpi2)"

#: More seeds belong in a sweep, which can be resumed.
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Comparison:
    """The runs of a comparison, in the order in which the algorithms were named."""

    #: Title of the figures: the path and the number of flows.
    path: str
    #: Name of the link whose queue is shown.
    link: str
    #: Names of the flows whose algorithm is compared.
    flows: tuple[str, ...]
    #: The runs of each algorithm, one a seed.
    runs: dict[str, list[Result]]

    @property
    def results(self) -> dict[str, Result]:
        """The first run of each algorithm."""
        return {label: results[0] for label, results in self.runs.items()}

    @cached_property
    def measures(self) -> list[Measures]:
        """One row per run."""
        return [
            measure(label, result.summary, self.link, self.flows)
            for label, results in self.runs.items()
            for result in results
        ]

    @cached_property
    def estimates(self) -> list[Estimates]:
        """One row per algorithm: means over the seeds, with 95 % confidence intervals."""
        return estimates(self.measures)

    def table(self, *, room: bool = False) -> Table:
        """Return the measures as texts; with `room` no heading is short."""
        return table(self.estimates, self.link, room=room)

    def _repr_html_(self) -> str:
        return notebook.shown(self.path, [self.table()], self.figure())

    def figure(self) -> Figure:
        """Return window, goodput, RTT and queue, one column per algorithm; each row has one scale.

        With several seeds it shows the first.
        """
        from selfclock.compare.figures import columns  # noqa: PLC0415

        return columns(self.path, self.results, self.link, self.flows)

    def scatter(self) -> Figure:
        """Return goodput against the 95th percentile of the round-trip time, with an ellipse over the seeds."""
        from selfclock.compare.figures import scatter  # noqa: PLC0415

        return scatter(self.path, self.measures)

    @property
    def scenarios(self) -> list[Scenario]:
        """The algorithms and the path compared."""
        return [result.scenario for results in self.runs.values() for result in results]

    @property
    def notes(self) -> list[str]:
        """Notes on the runs, with the algorithm concerned.

        Settings without effect, equal flows with very unequal shares, and runs of several seeds
        that are one run.
        """
        noted: dict[str, list[str]] = {}
        for label, result in self.results.items():
            for note in result.scenario.notes:
                noted.setdefault(note + (MARKED if WITHOUT_MARKS in note else ""), []).append(label)
        for label, results in self.runs.items():
            of_runs = [note for result in results for note in alike.unequal(result)]
            repeated = repeats.sameness([repeats.Trace.of(result.summary) for result in results])
            for note in [*of_runs[:1], repeats.note(repeated, len(results))]:
                if note:
                    noted.setdefault(note, []).append(label)
        return [f"{', '.join(labels)}: {note}" for note, labels in noted.items()]


def compare(
    names: Iterable[str],
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    flows: int | None = None,
    duration: str | None = None,
    *,
    scenario: Scenario | str | PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    flow: Sequence[str] = (),
    queue: str | None = None,
    ecn: str | None = None,
    seed: int | None = None,
    seeds: int = 1,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Comparison:
    """Run the same path under each algorithm.

    A name is a window algorithm, a start, both as "cubic+hystart++", or any of them with
    parameters: "cubic:beta=0.8".

    The path is a dumbbell of 100 Mbit/s, 40 ms and a buffer of "1 bdp", or as `rate`, `rtt` and
    `buffer` say, with one flow, or this many `flows`, for a `duration` of "60 s"; the flows start
    at random times within one round trip, the same under every algorithm. Or it is that of a
    `scenario` or a scenario file: the algorithm of all its TCP flows is replaced, or that of those
    that `flow` names. `overrides` are "path=value", as `selfclock run --set` takes them.

    `queue` is a queue discipline for the bottleneck, such as "dualpi2" or "codel:target=5ms". `ecn`
    is "off", "classic", "accurate", or "auto": what each algorithm responds to. With several
    `seeds`, each run is repeated with the next seeds. The runs share all cores, or this many
    `threads`.

    >>> import selfclock as sc
    >>> comparison = sc.compare(["reno", "cubic:beta=0.8"], rate="10 Mbps", duration="10 s")
    >>> [row["algorithm"] for row in comparison.measures]
    ['reno', 'cubic:beta=0.8']
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise ScenarioError(f"seeds: {seeds:,} is out of range; allowed: 1 to {MOST_SEEDS:,}")
    check_ecn(ecn)
    labels = distinct(names)
    if scenario is None:
        if flow:
            raise ScenarioError("flow: names flows of a scenario; give one with --scenario FILE")
        path = on_dumbbell(rate, rtt, buffer, flows, duration, seed=1 if seed is None else seed)
        path = path.with_overrides(overrides)
    else:
        given = {"rate": rate, "rtt": rtt, "buffer": buffer, "flows": flows}
        for option in (option for option, value in given.items() if value is not None):
            raise ScenarioError(f"{option}: the path is that of the scenario; change it with --set PATH=VALUE")
        path = of_scenario(scenario, overrides, flow, duration=duration, seed=seed)
    if queue is not None:
        if buffer is not None and "limit" in discipline(queue):
            raise ScenarioError("queue: its limit and the buffer are both given; omit one")
        path = with_queue(path, queue)
    if ecn is not None:
        path = replace(path, title=f"{path.title}, ECN {ecn}")
    jobs = [(label, path.under(label, ecn)) for label in labels]
    repeated = [
        (label, made.with_seed(made.seed + more) if more else made) for label, made in jobs for more in range(seeds)
    ]
    results = run_many([made for _, made in repeated], threads, progress)
    runs: dict[str, list[Result]] = {label: [] for label in labels}
    for (label, _), result in zip(repeated, results, strict=True):
        runs[label].append(result)
    return Comparison(path.title, path.link, path.flows, runs)
