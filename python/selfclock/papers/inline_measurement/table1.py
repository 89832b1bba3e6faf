"""Table 1, with both forms of ICIM and both readings of the buffer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.page_parts import Table
from selfclock.papers.declared import Ran
from selfclock.papers.inline_measurement.behaviour import SHORT_S, empty_rtt_s, name_of
from selfclock.papers.inline_measurement.declared import CLAIMS
from selfclock.papers.inline_measurement.marks import (
    ADAPTED,
    ALMOST_NO_LOSS,
    BAD,
    FAIR,
    GOOD,
    mark_delay,
    mark_loss,
    mark_parameters,
    mark_response,
    mark_throughput,
)
from selfclock.papers.inline_measurement.mechanisms import (
    CORRECTED,
    MECHANISMS,
    PROPOSED,
    ROWS,
    Mechanism,
    Variant,
    variants,
)
from selfclock.papers.inline_measurement.network import (
    RATE_GBPS,
    RTT_MS,
    SECONDS,
    STARTED_S,
    goodput_gbps,
    loss_rate,
    part_of_available,
    periods,
)
from selfclock.series import flow_series, mean_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.claims import Claim
    from selfclock.paper_runs import Runs
    from selfclock.result import Result

#: "Superior": throughput at most this fraction below the best, and a queue this many times shorter
#: than the next.
THROUGHPUT_SLACK, SHORTER = 0.01, 2.0


@dataclass(frozen=True)
class Column:
    """The measurements behind the marks of a mechanism."""

    mechanism: Mechanism
    throughput: float
    loss: float
    #: Mean queueing delay divided by the propagation RTT.
    delay: float
    response_s: float | None

    @property
    def marks(self) -> list[str]:
        """Our marks, in the order of `ROWS`."""
        return [
            mark_throughput(self.throughput),
            mark_loss(self.loss),
            mark_parameters(self.mechanism.path_parameters),
            mark_delay(self.delay),
            mark_response(self.response_s),
        ]

    @property
    def values(self) -> list[float]:
        """The figures as numbers, in the order of `ROWS`."""
        response = math.inf if self.response_s is None else self.response_s
        return [self.throughput, self.loss, float(self.mechanism.path_parameters), self.delay, response]

    @property
    def figures(self) -> list[str]:
        """The figures behind the marks."""
        response = "never" if self.response_s is None else f"{self.response_s:.1f} s"
        return [
            f"{self.throughput:.3f}",
            f"{self.loss:.1e}",
            f"{self.mechanism.path_parameters}",
            f"{self.delay:.2f}",
            response,
        ]


def findings(runs: Runs, scale: float = 1.0) -> tuple[list[Claim], list[Table]]:
    """Judge the marks of the table and the statements of section 5."""
    claims, grids = [], []
    for variant in variants():
        columns = [_column(runs, mechanism, variant, scale) for mechanism in MECHANISMS]
        claims += [_marks(columns, variant), _superior(columns, variant)]
        grids.append(_grid(columns, variant))
    return claims, grids


def _names(mechanism: Mechanism, variant: Variant) -> tuple[str, str, str]:
    estimator = variant.estimator if mechanism is PROPOSED else CORRECTED
    return (
        name_of(7, mechanism, estimator, variant.buffer),
        name_of(6, mechanism, estimator),
        name_of(6, mechanism, estimator, threshold=False),
    )


def _column(runs: Runs, mechanism: Mechanism, variant: Variant, scale: float) -> Column:
    loaded, alone, unaided = (runs[name] for name in _names(mechanism, variant))
    series = flow_series(loaded)
    lucky = goodput_gbps(flow_series(unaided), STARTED_S * scale, SHORT_S * scale) / RATE_GBPS
    base = empty_rtt_s(variant.estimator) if mechanism is PROPOSED else RTT_MS / 1e3
    delays = [
        mean_between(flow_series(run), "srtt_s", STARTED_S * scale, SECONDS * scale) - base for run in (loaded, alone)
    ]
    return Column(
        mechanism,
        min(part_of_available(series, scale), lucky),
        max(loss_rate(loaded), loss_rate(alone)),
        max(delays) / base,
        response_s(loaded, scale),
    )


def response_s(result: Result, scale: float) -> float | None:
    """Time from the increase of figure 7 at 30 s to the first second with 95 % of the bandwidth then available."""
    begin, end, free = periods(scale)[1]
    series, start = flow_series(result), begin
    while start + scale <= end + 1e-9:
        if goodput_gbps(series, start, start + scale) >= (1 - ADAPTED) * free:
            return (start - begin) / scale
        start += scale / 2
    return None


def _variant(variant: Variant) -> str:
    return f"{variant.text}; the others without coalescing, with the options of figure 6"


def _scenarios(variant: Variant) -> tuple[str, ...]:
    return tuple(name for mechanism in MECHANISMS for name in _names(mechanism, variant))


def _marks(columns: Sequence[Column], variant: Variant) -> Claim:
    pairs = [
        (mark, printed)
        for column in columns
        for mark, printed in zip(column.marks, column.mechanism.marks, strict=True)
    ]
    same = sum(mark == printed for mark, printed in pairs)
    own = sum(mark == printed for mark, printed in zip(columns[0].marks, columns[0].mechanism.marks, strict=True))
    settings = ROWS.index("parameter settings")
    defined = sum(column.marks[settings] != column.mechanism.marks[settings] for column in columns)
    return CLAIMS(
        "table-1",
        Ran(_variant(variant), _scenarios(variant), variant.readings),
        same=same,
        own=own,
        defined=defined,
        others=len(pairs) - same,
    )


def _superior(columns: Sequence[Column], variant: Variant) -> Claim:
    own, *others = columns
    first = max(others, key=lambda column: column.throughput)
    cleanest = min(others, key=lambda column: column.loss)
    quickest = min(others, key=lambda column: column.delay)
    held = (
        own.throughput >= first.throughput - THROUGHPUT_SLACK,
        own.loss < ALMOST_NO_LOSS and own.loss <= cleanest.loss,
        own.delay * SHORTER <= quickest.delay,
    )
    return CLAIMS(
        "table-1-superior",
        Ran(_variant(variant), _scenarios(variant), variant.readings),
        held=sum(held),
        own=own,
        first=first,
        cleanest=cleanest,
        quickest=quickest,
    )


def best_thresholds(values: Sequence[float], marks: Sequence[str], *, rising: bool) -> tuple[int, str]:
    """Return how many marks any two thresholds can reproduce, and thresholds that do; good is high if `rising`."""
    order = sorted(range(len(values)), key=lambda at: -values[at] if rising else values[at])
    best, cuts = -1, (0, 0)
    for good in range(len(values) + 1):
        for fair in range(good, len(values) + 1):
            given = [GOOD] * good + [FAIR] * (fair - good) + [BAD] * (len(values) - fair)
            same = sum(mark == marks[at] for mark, at in zip(given, order, strict=True))
            if same > best:
                best, cuts = same, (good, fair)
    word = "from" if rising else "to"
    told = [
        f"{mark} {word} {values[order[cut - 1]]:.2g}"
        for mark, cut, before in ((GOOD, cuts[0], 0), (FAIR, cuts[1], cuts[0]))
        if cut > before
    ]
    return best, ", ".join(told) or "none"


def _grid(columns: Sequence[Column], variant: Variant) -> Table:
    rows = []
    for number, row in enumerate(ROWS):
        cells = [
            f"{each.marks[number]} (thesis {each.mechanism.marks[number]}) {each.figures[number]}" for each in columns
        ]
        best, thresholds = best_thresholds(
            [each.values[number] for each in columns],
            [each.mechanism.marks[number] for each in columns],
            rising=row == "throughput",
        )
        rows.append([row, *cells, f"{best} of {len(columns)}: {thresholds}"])
    return Table(
        f"Table 1, ICIM {variant.estimator.label}, buffer in {variant.buffer.label}",
        "Throughput: goodput over what is available, the lower of figure 7 and of figure 6 without a threshold: from "
        "0.95 ○, from 0.8 △. Loss: the higher rate of figures 6 and 7: below 1e-5 ○, below 1e-4 △. Parameter "
        "settings: how many parameters are in segments, and so have to fit the path: none ○, one △. Queueing delay: "
        "the higher mean of figures 6 and 7 over the round-trip time: below 0.1 ○, below 0.25 △. Responsiveness: "
        "time until 95 % of the increase at 30 s is used: below 3 s ○, below 20 s △. Else ×. The row 'ease of "
        "process' (proposed △ and ×, Reno and Scalable ○, the others △) is a judgement, and nothing that can be "
        "measured stands behind it.",
        ["", *(each.mechanism.label for each in columns), "most marks that any thresholds agree in"],
        rows,
    )
