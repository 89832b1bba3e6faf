"""Scenarios: read, checked, run."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfclock import _core
from selfclock._core import ScenarioError
from selfclock.arguments import items
from selfclock.custom import registered, sources, undetermined_among
from selfclock.network import Network
from selfclock.result import Result
from selfclock.threads import check_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from selfclock.algorithm_sources import Source
    from selfclock.fork import Run
    from selfclock.saved import SavedOutcome
    from selfclock.scenario.quantity import Time
    from selfclock.sketch import Sketch


class Scenario:
    """A checked, immutable scenario: `with_seed` returns another one."""

    def __init__(self, core: _core.Scenario, sources_known: dict[str, Source] | None = None) -> None:
        if not isinstance(core, _core.Scenario):
            raise ScenarioError(f"{core!r} is no scenario; write Scenario.parse(TEXT) or Scenario.load(FILE)")
        self._core = core
        if sources_known is None:
            sources_known = sources(set(core.algorithm_names)) if registered() else {}
        #: The sources of its user-defined algorithms, by name.
        self.sources = sources_known

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: Sequence[str] = ()) -> Scenario:
        """Read a file. Each override is "path=value", as for `selfclock run --set`."""
        return cls(_core.Scenario.load(path, items(overrides, "overrides")))

    @classmethod
    def parse(cls, text: str, source_name: str = "scenario", overrides: Sequence[str] = ()) -> Scenario:
        """Read a text; error messages call the file `source_name`."""
        return cls(_core.Scenario.parse(text, source_name, items(overrides, "overrides")))

    def with_seed(self, seed: int) -> Scenario:
        """Return the same scenario with another seed."""
        return Scenario(self._core.with_seed(seed), self.sources)

    def with_overrides(self, overrides: Sequence[str]) -> Scenario:
        """Return the same scenario with other values: "path=value", as `selfclock run --set` takes it.

        A seed of `with_seed` and the choice of `unrecorded` stay unless an override says otherwise.

        >>> import selfclock as sc
        >>> sc.dumbbell().with_seed(7).with_overrides(["duration=1 s"]).seed
        7
        """
        return Scenario(self._core.with_overrides(items(overrides, "overrides")))

    def unrecorded(self) -> Scenario:
        """Return the same scenario without series and packets; its summary is the same."""
        return Scenario(self._core.unrecorded(), self.sources)

    @property
    def resolved(self) -> str:
        """Every setting of the run with defaults filled in: equal texts mean equal runs."""
        return self._core.resolved

    @property
    def settings(self) -> str:
        """`resolved` without the name: two scenarios with equal settings have equal results."""
        return self._core.settings

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._core.name

    @property
    def title(self) -> str | None:
        """One-line description for readers."""
        return self._core.title

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return self._core.seed

    @property
    def duration_s(self) -> float:
        """Simulated time."""
        return self._core.duration_s

    @property
    def measure_from_s(self) -> float:
        """Goodput, throughput, utilization and mean queues are those from this time on."""
        return self._core.measure_from_s

    @property
    def text(self) -> str:
        """The scenario as TOML, overrides applied."""
        return self._core.text

    @cached_property
    def document(self) -> dict[str, Any]:
        """The scenario as tables, overrides applied."""
        import tomllib  # noqa: PLC0415  most runs need none of it

        # A byte order mark is no part of the text.
        return tomllib.loads(self.text.removeprefix("\ufeff"))

    @property
    def flow_names(self) -> list[str]:
        """Names of the flows."""
        return self._core.flow_names

    @property
    def link_names(self) -> list[str]:
        """Names of the one-way links."""
        return self._core.link_names

    @property
    def host_names(self) -> list[str]:
        """Names of the nodes at which flows start or end."""
        return self._core.host_names

    @cached_property
    def network(self) -> Network:
        """Its links, and the paths of its flows."""
        return Network.read(self._core.network)

    def sketch(self, width: int = 820) -> Sketch:
        """Return a drawing of the network as SVG, this many pixels wide: hosts, routers, links, the paths of the flows.

        A notebook shows it, and `sketch().save("network.svg")` writes it.
        """
        from selfclock.sketch import sketch  # noqa: PLC0415

        return sketch(self.network, width)

    def offered_bytes(self, link: str, times_s: Iterable[float]) -> list[int] | None:
        """Return the bytes that a link's delivery trace has offered by each time; `None` if it has no trace."""
        return self._core.offered_bytes(link, list(times_s))

    @property
    def expected_packet_hops(self) -> float:
        """Packet-hops if every flow fills its share of the path: an estimate of the run's cost."""
        return self._core.expected_packet_hops

    @cached_property
    def notes(self) -> list[str]:
        """Notes on settings without effect: an algorithm without its counterpart, a queue below one packet.

        Also on user-defined algorithms that read what no seed determines.
        """
        return [*self._core.notes, *undetermined_among(self.sources)]

    @cached_property
    def alike(self) -> list[list[str]]:
        """Names of flows that differ in their hosts alone, one list for each kind; none beyond 100 flows."""
        return self._core.alike

    @property
    def records_packets(self) -> bool:
        """Whether every packet is recorded."""
        return self._core.records_packets

    @property
    def recorded_span_s(self) -> tuple[float, float] | None:
        """First and last time at which packets are recorded, in seconds; `None` if they are not."""
        return self._core.recorded_span_s

    def emulated(self, outcome: _core.Outcome | SavedOutcome) -> Scenario:
        """Return the scenario as emulated: its actual duration, and the observed connections in place of its flows."""
        summary = json.loads(outcome.summary)
        flows = [
            (flow["name"], flow["from"], flow["to"], flow["algorithm"], flow["start_s"]) for flow in summary["flows"]
        ]
        # All of an emulation is measured.
        whole = ["measure_from=0 s"] if self.measure_from_s else []
        lasted = self._core.with_overrides([*whole, f"duration={summary['simulated_s']:.12f} s"])
        return Scenario(lasted.emulated(flows), self.sources)

    def run(
        self,
        progress: Callable[[float], object] | None = None,
        *,
        packets: str | PathLike[str] | None = None,
        threads: int = 1,
    ) -> Result:
        """Run it; `progress` is called from time to time with the fraction done.

        The network is divided among at most this many `threads`; the results are identical to the
        bit. A single thread is used if more would not be faster, or if a run cannot be divided:
        `Result.undivided` gives the reason.

        Packet events (`record.packets = true`) are held in memory, up to 20 million. With a
        directory for `packets` they are written to `packets.parquet` there during the run, in
        bounded memory.
        """
        check_threads(threads)
        if packets is None:
            return self._result(_core.run(self._core, progress, threads=threads))
        from selfclock.recording import record_to  # noqa: PLC0415

        if not self.records_packets:
            raise _core.ScenarioError(f"{self._core.source_name}: a directory for packets needs record.packets = true")
        return record_to(self, Path(packets), progress, threads=threads)

    def at(self, time: str | Time) -> Run:
        """Return the run up to just before a time, "10 s" for example, from which runs fork.

        >>> import selfclock as sc
        >>> run = sc.dumbbell(duration="20 s").at("10 s")
        >>> slower = run.fork(["network.bottleneck.changes=[{ at = '10 s', rate = '5 Mbps' }]"])
        >>> slower.summary["simulated_s"]
        20.0
        """
        from selfclock.fork import Run  # noqa: PLC0415

        return Run(self, time)

    def _result(self, outcome: _core.Outcome, packets: Path | None = None) -> Result:
        return Result(self, outcome, packets)

    def __reduce__(self) -> tuple[Callable[[str, str, int, bool], Scenario], tuple[str, str, int, bool]]:
        unrecorded = self.resolved == self.unrecorded().resolved
        return _restore, (self.text, self._core.source_name, self.seed, unrecorded)

    def __repr__(self) -> str:
        return repr(self._core)


def _restore(text: str, source_name: str, seed: int, unrecorded: bool) -> Scenario:
    scenario = Scenario.parse(text, source_name).with_seed(seed)
    return scenario.unrecorded() if unrecorded else scenario


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files, with the registered user-defined algorithms."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def grid_schema() -> dict[str, Any]:
    """Return the JSON Schema of grid files."""
    loaded: dict[str, Any] = json.loads(_core.grid_schema())
    return loaded
