"""One path under several algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from selfclock import alike, notebook, repeats
from selfclock._core import ScenarioError
from selfclock.algorithms import queue as discipline
from selfclock.arguments import items, whole
from selfclock.compare.conditions import Condition, Judgement, judge, load_baseline
from selfclock.compare.differences import Differences, differences
from selfclock.compare.measures import CONFIDENCE, Estimates, Measures, estimates, measure
from selfclock.compare.scenarios import check_ecn, distinct, of_scenario, on_dumbbell, with_queue
from selfclock.compare.table import compared, others, table
from selfclock.export import Row, rows, to_csv, to_latex
from selfclock.formatting import plural
from selfclock.plain_text import as_text
from selfclock.runs import run_many
from selfclock.scenario.drops import said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from selfclock.figure import Figure
    from selfclock.page_parts import Table
    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.scenario.link import Limit
    from selfclock.scenario.quantity import Rate, Time

__all__ = ["Comparison", "Estimates", "Judgement", "Measures", "compare"]

#: The note on an algorithm without CE marks, and the remedy of a comparison.
WITHOUT_MARKS, MARKED = "without accurate ECN", " (a comparison: --ecn auto --queue dualpi2)"

#: More seeds belong in a sweep, which can be resumed.
MOST_SEEDS = 1000


@dataclass(frozen=True, repr=False)
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
        return estimates(self.measures, self.flows)

    @cached_property
    def differences(self) -> list[Differences]:
        """Each algorithm but the first minus the first, seed by seed: means with 95 % confidence intervals."""
        return differences(self.measures, CONFIDENCE)

    @property
    def confidence(self) -> float:
        """Probability that an interval covers the mean."""
        return CONFIDENCE

    @property
    def seeds(self) -> list[int]:
        """The seeds of each algorithm's runs."""
        return [result.scenario.seed for result in next(iter(self.runs.values()))]

    @cached_property
    def _link(self) -> str:
        return said_of(self.scenarios[0], self.link)

    def table(self, *, room: bool = False) -> Table:
        """Return the measures as texts; with `room` no heading is short."""
        return table(self.estimates, self._link, room=room)

    def tables(self, *, room: bool = False) -> list[Table]:
        """Return the measures, those of the flows that are not compared, and the differences from the first algorithm.

        There are others only if a scenario has more flows than are compared, and differences only
        of several seeds.
        """
        found = [self.table(room=room), others(self.estimates), compared(self.differences, self.seeds)]
        return [each for each in found if each.rows]

    def judge(
        self, conditions: Iterable[str], baseline: str | PathLike[str] | Comparison | None = None
    ) -> list[Judgement]:
        """Judge conditions such as "goodput < 95 %" or "rtt_p95 > 60 ms", each for each algorithm.

        A percentage is of the first algorithm, or of the same algorithm in a `baseline`, the result
        of an earlier comparison of the same path. A condition holds if the whole 95 % confidence
        interval is beyond its bound; with one seed, if the value is.
        """
        from selfclock.documents import comparison_document  # noqa: PLC0415

        if isinstance(baseline, Comparison):
            earlier: Mapping[str, Any] | None = comparison_document(baseline).content
        else:
            earlier = None if baseline is None else load_baseline(str(baseline))
        return judge([Condition.parse(each) for each in conditions], self.measures, self.path, earlier)

    def rows(self) -> list[Row]:
        """Return a row for each algorithm, seed and flow, with numbers in base units: for any tool of statistics.

        >>> import pandas as pd, selfclock as sc  # doctest: +SKIP
        >>> pd.DataFrame(sc.compare(["reno", "cubic"], seeds=3).rows())  # doctest: +SKIP
        """
        return rows(self.measures, self.flows)

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return `rows` as CSV, and write them to a file if one is named."""
        return to_csv(self.rows(), path)

    def to_latex(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table as LaTeX, a `tabular` with the rules of booktabs, and write it to a file if one is named."""
        return to_latex(self.table(room=True), path)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.runs)}: {self.path}, {plural(len(self.seeds), 'seed')}>"

    def __str__(self) -> str:
        return as_text(self.path, self.tables())

    def _repr_html_(self) -> str:
        return notebook.shown(self.path, self.tables(), self.figure())

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

    def distribution(self, measure: str = "goodput_bps") -> Figure:
        """Return the empirical distribution of a measure over the seeds, a line for each algorithm."""
        from selfclock.compare.figures import distribution  # noqa: PLC0415

        return distribution(self.path, self.measures, measure)

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
    rate: Rate | str | None = None,
    rtt: Time | str | None = None,
    buffer: Limit | None = None,
    flows: int | None = None,
    duration: Time | str | None = None,
    *,
    measure_from: Time | str | None = None,
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

    Goodput, utilization and mean queues are those from `measure_from` on, without slow start, say.

    `queue` is a queue discipline for the bottleneck, such as "dualpi2" or "codel:target=5ms"; the
    buffer is then by default the discipline's own, as "1000 packets" of "codel". `ecn` is "off",
    "classic", "accurate", or "auto": what each algorithm responds to. With several `seeds`, each
    run is repeated with the next seeds. The runs share all cores, or this many `threads`.

    >>> import selfclock as sc
    >>> comparison = sc.compare(["reno", "cubic:beta=0.8"], rate="10 Mbps", duration="10 s")
    >>> [row["algorithm"] for row in comparison.measures]
    ['reno', 'cubic:beta=0.8']
    """
    seeds = whole(seeds, "seeds", 1, MOST_SEEDS)
    check_ecn(ecn)
    labels = distinct(names)
    overrides, flow = items(overrides, "overrides"), items(flow, "flow")
    if scenario is None:
        if flow:
            raise ScenarioError("flow: names flows of a scenario; give one with --scenario FILE")
        path = on_dumbbell(rate, rtt, buffer, flows, duration, seed=1 if seed is None else seed, queue=queue)
        path = path.with_overrides(overrides)
    else:
        given = {"rate": rate, "rtt": rtt, "buffer": buffer, "flows": flows}
        for option in (option for option, value in given.items() if value is not None):
            raise ScenarioError(f"{option}: the path is that of the scenario; change it with --set PATH=VALUE")
        path = of_scenario(scenario, overrides, flow, duration=duration, seed=seed)
    path = path.measured_from(measure_from)
    if queue is not None:
        if buffer is not None and "limit" in discipline(queue):
            raise ScenarioError("queue: its limit and the buffer are both given; omit one")
        chosen = any(override.startswith("network.bottleneck.queue") for override in overrides)
        path = with_queue(path, queue, keeps_limit=scenario is not None or buffer is not None or chosen)
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
