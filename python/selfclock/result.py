"""The results of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from selfclock import _core
from selfclock.errors import BadInputError
from selfclock.summaries import LinkSummary, RunFlow, RunSummary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from selfclock.export import Row
    from selfclock.page_parts import Table as Texts
    from selfclock.plot import Plot
    from selfclock.saved import SavedOutcome, SavedTable
    from selfclock.scenario import Scenario

    Table = _core.Table | SavedTable


__all__ = ["EmulationSummary", "FlowSummary", "LatenessSummary", "LinkSummary", "Result", "Summary"]


class FlowSummary(RunFlow):
    """Totals of one flow. Of an emulation's what a path cannot know is none: segments, timeouts, fast retransmits."""

    #: Of an emulation: the node that began, addresses and ports of sender and receiver, and whether
    #: the algorithm was read from the sender's socket or is the default of its host.
    initiator: NotRequired[str]
    addresses: NotRequired[list[str]]
    algorithm_seen: NotRequired[bool]


class LatenessSummary(TypedDict):
    """Lateness of an emulation's packets, relative to their arrival on the scenario's network."""

    packets: int
    p50_s: float
    p90_s: float
    p99_s: float
    p999_s: float
    worst_s: float
    #: Packets late by at most this many seconds, and by more than the previous entry's; null means
    #: any more.
    histogram: list[tuple[float | None, int]]
    bound_p99_s: float
    bound_worst_s: float
    valid: bool


class EmulationSummary(TypedDict):
    """Results that only an emulation has."""

    lateness: LatenessSummary
    #: System requests that were refused, keys of the scenario that do not act, and the like.
    notes: list[str]


class Summary(RunSummary):
    """Totals of a run, as `selfclock run --json` prints them."""

    cpu_s: float
    #: Goodput, throughput, utilization and mean queues are from this time on; not there if from the
    #: beginning.
    measure_from_s: NotRequired[float]
    flows: list[FlowSummary]
    links: list[LinkSummary]
    #: For a run with real packets in real time.
    emulation: NotRequired[EmulationSummary]


class Result:
    """Summary, tables and figures of one run.

    The tables implement the Arrow PyCapsule interface: `polars.DataFrame(result.flows)`,
    `pyarrow.table(result.flows)` and `pandas.DataFrame.from_arrow(result.flows)` take them as they
    are.
    """

    def __init__(self, scenario: Scenario, outcome: _core.Outcome | SavedOutcome, record: Path | None = None) -> None:
        self.scenario = scenario
        self._outcome = outcome
        self._record = record

    def moved(self, directory: Path) -> Result:
        """Return the result with its packet record in another directory."""
        return Result(self.scenario, self._outcome, self._record and directory / self._record.name)

    @classmethod
    def load(cls, directory: str | PathLike[str]) -> Result:
        """Return a result that `selfclock run` or `publish` has written into a directory: totals, tables, figures.

        What was not recorded is not there: `packets` then raises an error that says so. A
        user-defined algorithm must be registered as it was for the run; its source is not run from
        the files.

        >>> import selfclock as sc
        >>> result = sc.Result.load("results/one-flow")  # doctest: +SKIP
        >>> result.plot.window().savefig("window.pdf")  # doctest: +SKIP
        """
        from selfclock.saved import LoadError, SavedOutcome  # noqa: PLC0415
        from selfclock.scenario import Scenario  # noqa: PLC0415

        outcome = SavedOutcome(directory)
        try:
            scenario = Scenario.parse(outcome.scenario, str(outcome.document["scenario"])).with_seed(outcome.seed)
        except ValueError as error:
            own = ", ".join(outcome.algorithms)
            missing = f"register the algorithms it ran first: {own}" if own else f"of another version: {error}"
            raise LoadError(f"{outcome.directory}: the scenario cannot be read; {missing}") from None
        if "emulation" in outcome.document:
            return cls(scenario.emulated(outcome), outcome)
        outcome.check(scenario)
        return cls(scenario, outcome)

    def under(self, scenario: Scenario) -> Result:
        """Return the same run under a scenario with the same settings and possibly another name."""
        return self if scenario is self.scenario else Result(scenario, self._outcome, self._record)

    @cached_property
    def summary(self) -> Summary:
        """Totals. `cpu_s` depends on this machine; the rest only on scenario and seed."""
        found = {**json.loads(self._outcome.summary), "cpu_s": self._outcome.cpu_s}
        if self.scenario.measure_from_s and "emulation" not in found:
            found["measure_from_s"] = self.scenario.measure_from_s
        return cast("Summary", {key: found[key] for key in Summary.__annotations__ if key in found})

    @property
    def undivided(self) -> str | None:
        """Why one thread computed the run although `threads` allowed several; `None` if there is no reason."""
        return self._outcome.undivided

    @property
    def flows(self) -> Table:
        """Series of every flow, sampled at the scenario's interval."""
        return self._outcome.flow_series

    @property
    def links(self) -> Table:
        """Series of every link."""
        return self._outcome.link_series

    @property
    def connections(self) -> Table:
        """Every short connection: start, size, and when its last byte was acknowledged and delivered (null if not)."""
        return self._outcome.connections

    @cached_property
    def packets(self) -> Table:
        """Every packet; empty unless the scenario has `record.packets = true`.

        The record is in memory, 48 bytes per event and some 150 in this table. If the run had a
        directory for it, this table is read from a file there.
        """
        return self._packets(None)

    def packet_columns(self, *names: str) -> Table:
        """Return some columns of `packets`, which takes less time and memory than all of them."""
        return self._packets(names)

    def _packets(self, names: Sequence[str] | None) -> Table:
        if self._record is not None:
            return _core.read_packets(self._record, names)
        return self._outcome.packets(names)

    def _packet_hops(
        self, span_s: tuple[float, float], flow: int | None = None, most: int | None = None
    ) -> tuple[_core.Table, _core.Table, float, bool]:
        """Return the packets on links between two times, of a flow by its index or all, at most the first `most`.

        They are a table of hops, a table of their packets, the end of the time covered, and whether
        the record is longer.
        """
        record = self._outcome if isinstance(self._outcome, _core.Outcome) else self._outcome.packet_file
        return _core.hops(self.scenario._core, self._record or record, span_s, flow, most)

    @cached_property
    def packet_events(self) -> int:
        """Rows of `packets`, without building the table."""
        return self._outcome.packet_events

    def rows(self) -> list[Row]:
        """Return a row for each flow, with numbers in base units: for any tool of statistics."""
        from selfclock.export import flows  # noqa: PLC0415

        return [{"scenario": self.scenario.name, "seed": self.scenario.seed, **row} for row in flows(self.summary)]

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """Return `rows` as CSV, and write them to a file if one is named."""
        from selfclock.export import to_csv  # noqa: PLC0415

        return to_csv(self.rows(), path)

    def to_latex(self, path: str | PathLike[str] | None = None) -> str:
        """Return the table of flows as LaTeX, a `tabular` with the rules of booktabs, and write it to a file."""
        from selfclock.export import to_latex  # noqa: PLC0415

        return to_latex(self.tables()[0], path)

    def __repr__(self) -> str:
        flows = len(self.summary["flows"])
        return (
            f"<Result of {self.scenario.name!r}: {flows:,} flow{'s' if flows != 1 else ''}, "
            f"{self.summary['simulated_s']:g} s, seed {self.scenario.seed}>"
        )

    def __str__(self) -> str:
        from selfclock.plain_text import as_text  # noqa: PLC0415

        return as_text(f"{self.scenario.name}, seed {self.scenario.seed}", self.tables())

    def _repr_html_(self) -> str:
        from selfclock import notebook  # noqa: PLC0415

        figure = self.plot.overview() if self.flows.num_rows else None
        return notebook.shown(f"{self.scenario.name}, seed {self.scenario.seed}", self.tables(), figure)

    def tables(self) -> list[Texts]:
        """Return the totals of flows and links as texts."""
        from selfclock import formatting, tables  # noqa: PLC0415

        changed = self.scenario.network.changed_rates(self.summary["simulated_s"])
        flows = replace(tables.of_flows(self.summary["flows"]), caption=formatting.of_measure(self.summary))
        delays = tables.of_delays(self.summary)
        return [flows, tables.of_links(self.summary["links"], changed), *([delays] if delays.rows else [])]

    def write_host_pcapng(self, host: str, path: str | PathLike[str]) -> None:
        """Write a host's packets as a capture; needs `record.packets = true`, and the record in memory."""
        self._write_pcapng("host", host, path)

    def write_pcapng(self, link: str, path: str | PathLike[str]) -> None:
        """Write a link's packets as a capture; needs `record.packets = true`, and the record in memory."""
        self._write_pcapng("link", link, path)

    def _write_pcapng(self, kind: str, name: str, path: str | PathLike[str]) -> None:
        if isinstance(self._outcome, _core.Outcome) and not self.scenario.records_packets:
            raise BadInputError(f"{path}: the run has no packets on record; set record.packets = true in its scenario")
        if self._record is not None:
            raise BadInputError(f"{path}: a capture needs packets in memory, and these are in {self._record}")
        self._outcome.write_pcapng(kind, name, path)

    @cached_property
    def plot(self) -> Plot:
        """Figures."""
        # Polars and NumPy are slow to import; only plots need them.
        from selfclock.plot import Plot  # noqa: PLC0415

        return Plot(self)
