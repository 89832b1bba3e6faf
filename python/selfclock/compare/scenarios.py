"""The scenarios of a comparison: one path, and the algorithms in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from selfclock._core import ScenarioError
from selfclock.algorithms import algorithms, control, queue
from selfclock.arguments import items
from selfclock.names import unknown
from selfclock.scenario import Scenario
from selfclock.scenario.build import dumbbell
from selfclock.scenario.drops import policed_bps
from selfclock.scenario.link import read_limit
from selfclock.scenario.quantity import Rate, Time, one
from selfclock.scenario.table import plain
from selfclock.scenario.toml import to_toml_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from selfclock.scenario.link import Limit

#: The default path.
RATE, RTT, BUFFER, FLOWS, DURATION = "100 Mbps", "40 ms", "1 bdp", 1, "60 s"

#: Random processing time of the dumbbell's senders: up to one service time of the bottleneck, which
#: ends the phase effects of a network without noise (Floyd and Jacobson 1992) and makes the runs of
#: several seeds differ.
OVERHEAD = "1 packet"

#: ECN in the network: off, RFC 3168, accurate feedback, or each algorithm's own kind.
ECN = ("off", "classic", "accurate", "auto")

#: The kind of ECN that an algorithm with this response to marks needs.
_ECN_OF = {"ignored": "off", "once": "classic", "in proportion": "accurate"}


@dataclass(frozen=True)
class Path:
    """A path under comparison, before its flows have an algorithm."""

    scenario: Scenario
    #: Its label in figure and table.
    title: str
    #: Indices of the `[[flow]]` tables whose algorithm is compared, and the names of their flows.
    tables: tuple[int, ...]
    flows: tuple[str, ...]
    #: A run is named after its algorithm if no file names the scenario.
    unnamed: bool = False

    @property
    def link(self) -> str:
        """The measured link: the tightest on the path of the compared flows, by its rate or that of its policer."""
        network = self.scenario.network
        own = [flow for flow in network.flows if flow.name in self.flows]
        return network.tightest(own, policed_bps(self.scenario)).name

    def with_overrides(self, overrides: Sequence[str]) -> Path:
        """Return the path with other values."""
        return replace(self, scenario=self.scenario.with_overrides(overrides)) if overrides else self

    def measured_from(self, time: Time | str | None) -> Path:
        """Return the path measured from a time on: rates, utilization and mean queues."""
        if time is None:
            return self
        start = one(time, Time, "measure_from")
        return replace(self.with_overrides([f"measure_from={start}"]), title=f"{self.title}, measured from {start} on")

    def under(self, name: str, ecn: str | None) -> Scenario:
        """Return the scenario with this algorithm."""
        table = control(name)
        value = to_toml_value(table)
        changes = [f"flow.{place}.congestion_control={value}" for place in self.tables]
        changes += [f"name={to_toml_value(name)}"] if self.unnamed else []
        changed = self.scenario.with_overrides(changes)
        if ecn is None:
            return changed
        wanted = _ecn_of(table) if ecn == "auto" else ecn
        flows = changed.document["flow"]
        own = [place for place in self.tables if "ecn" in flows[place].get("transport", {})]
        paths = ["transport.ecn", *(f"flow.{place}.transport.ecn" for place in own)]
        try:
            return changed.with_overrides([f"{path}={wanted}" for path in paths])
        except ScenarioError:
            message = f"ecn: {name} does not respond to the marks of {wanted!r}; its own is {_ecn_of(table)!r}"
            raise ScenarioError(f"{message}, which --ecn auto gives to each algorithm") from None


def on_dumbbell(
    rate: Rate | str | None,
    rtt: Time | str | None,
    buffer: Limit | None,
    flows: int | None,
    duration: Time | str | None,
    *,
    seed: int,
    queue: str | None = None,
) -> Path:
    """Return a dumbbell whose flows start at random times within one round trip, the same under every algorithm.

    Each packet takes a random processing time at its sender, below `OVERHEAD`.
    Without a `buffer` the limit is that of the `queue` which `with_queue` will put there.
    """
    limit = "" if queue is not None and buffer is None else f", buffer {buffer or BUFFER}"
    rate, rtt, buffer, duration = rate or RATE, rtt or RTT, buffer or BUFFER, duration or DURATION
    count = plain(FLOWS if flows is None else flows)
    if not isinstance(count, int) or isinstance(count, bool):
        raise ScenarioError(f"flows: {count!r} is not a number of flows; write a whole number such as 2")
    if count < 1:
        raise ScenarioError(f"flows: {count} is not a number of flows; there must be 1 or more")
    for argument, value, kind in (("rate", rate, Rate), ("rtt", rtt, Time), ("duration", duration, Time)):
        one(value, kind, argument)
    read_limit(buffer, "buffer")
    made = dumbbell(rate, rtt, buffer, [{"count": count, "start_jitter": rtt, "overhead": OVERHEAD}],
                    duration=duration, seed=seed, name="compare")  # fmt: skip
    title = f"{rate}, {rtt}{limit}, {count} flow{'s' if count > 1 else ''}, {duration}"
    return Path(made, title, (0,), tuple(made.flow_names), unnamed=True)


def of_scenario(
    scenario: Scenario | str | PathLike[str],
    overrides: Sequence[str],
    flows: Sequence[str],
    *,
    duration: Time | str | None,
    seed: int | None,
) -> Path:
    """Return the path of a scenario or a file; the algorithm of all its TCP flows is compared, or of those named."""
    loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    changes = [*overrides, *([f"duration={duration}"] if duration is not None else [])]
    loaded = loaded.with_overrides(changes) if changes else loaded
    loaded = loaded.with_seed(seed) if seed is not None else loaded
    tables = _flow_tables(loaded)
    named = {name for names in tables.values() for name in names}
    for given in flows:
        if given not in named:
            raise ScenarioError(f"flow: {unknown('TCP flow', given, sorted(named))}")
    chosen = {table: names for table, names in tables.items() if not flows or not names.isdisjoint(flows)}
    if not chosen:
        raise ScenarioError(f"{loaded.name}: no TCP flow whose algorithm could be compared")
    compared = tuple(flow for flow in loaded.flow_names if any(flow in names for names in chosen.values()))
    return Path(loaded, loaded.title or loaded.name, tuple(chosen), compared)


def with_queue(path: Path, word: str, *, keeps_limit: bool = True) -> Path:
    """Return the path with another queue discipline at the measured link.

    Its limit is that of the word, or else the one before, or the discipline's own if that is not
    kept.
    """
    discipline = queue(word)
    network: dict[str, Any] = path.scenario.document["network"]
    place = {
        "dumbbell": "network.bottleneck",
        "parking-lot": "network.hop",
        "fat-tree": "network.link",
        "leaf-spine": "network.link",
    }.get(network["topology"])
    if place is None:
        place = f"network.link.{_position(network['link'], path.link)}"
    written: Any = network
    for step in place.split(".")[1:]:
        written = written[int(step) if step.isdigit() else step]
    old = written.get("queue")
    limit = (old.get("limit") if isinstance(old, dict) else old) if keeps_limit else None
    table = {**({} if limit is None else {"limit": limit}), **discipline}
    changed = path.scenario.with_overrides([f"{place}.queue={to_toml_value(table)}"])
    title = f"{path.title}, {word}"
    if not keeps_limit and "limit" not in discipline:
        packets = next(link for link in changed.network.links if link.name == path.link).limit_packets
        title += f", buffer {BUFFER if packets is None else f'{packets:,} packets'}"
    return replace(path, scenario=changed, title=title)


def check_ecn(ecn: str | None) -> None:
    """Refuse an unknown mode of ECN."""
    if ecn is not None and ecn not in ECN:
        raise ScenarioError(f"ecn: {unknown('mode of ECN', ecn, ECN)}")


def distinct(names: Iterable[str]) -> list[str]:
    """Return the names; at least one, each a known algorithm and named once."""
    found = items(names, "algorithms")
    for position, name in enumerate(found):
        if name in found[:position]:
            raise ScenarioError(f"algorithm: {name!r} is named twice; it would be the same run")
    if not found:
        known = ", ".join(algorithm.name for algorithm in algorithms())
        raise ScenarioError(f"no algorithm to compare; there are {known}")
    for name in found:
        control(name)
    return found


def _ecn_of(table: dict[str, object]) -> str:
    """Return the mode of ECN that an algorithm responds to: that of its window or model."""
    name = table.get("model") or table.get("window") or "reno"
    marks = next(algorithm.marks for algorithm in algorithms() if algorithm.name == name)
    return _ECN_OF[marks]


def _flow_tables(scenario: Scenario) -> dict[int, set[str]]:
    """The names of the flows of each `[[flow]]` table that is TCP: its own, and those of its copies."""
    found = {}
    for index, table in enumerate(scenario.document["flow"]):
        base, copies = table.get("name", f"flow{index + 1}"), table.get("count", 1)
        if table.get("protocol", "tcp") != "udp":
            found[index] = {base, *(f"{base}-{copy + 1}" for copy in range(copies) if copies > 1)}
    return found


def _position(links: list[dict[str, Any]], name: str) -> int:
    """Return the index of the link of a graph with this name, or whose reverse direction has it."""
    for index, link in enumerate(links):
        ends = link["from"], link["to"]
        own = link.get("name", "-".join(ends))
        if name in {own, f"{own}-reverse", "-".join(reversed(ends)) if "name" not in link else own}:
            return index
    raise ScenarioError(f"queue: no link is named {name!r}")
