"""The columns of a twin: one simulation, and emulations of the same links under real TCP."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import tempfile
import time
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfclock.emulate.addresses import emulated_hosts
from selfclock.emulate.lateness import complaint
from selfclock.emulate.session import Command, Files, Settings
from selfclock.emulate.session import Session as Emulation
from selfclock.errors import WorkError
from selfclock.kernel.machine import KernelError, check, need_linux
from selfclock.kernel.resident import NotCompiledError, load, residents, unload_residents
from selfclock.kernel.session import Session
from selfclock.kernel.twin import traffic
from selfclock.kernel.twin.measures import Measures, Series, measured
from selfclock.kernel.twin.plan import ECN_SYSCTL, Sender, available, senders
from selfclock.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from selfclock.emulate.addresses import EmulatedHost
    from selfclock.figure import Values
    from selfclock.kernel.session import Status
    from selfclock.scenario import Scenario

PORT = 5001

#: Time between the readiness of all senders and the beginning of the run, s.
HEADWAY_S = 0.3

#: Socket buffers may grow to 64 MB, so that neither end limits a flow; path metrics of earlier runs
#: are not used.
SYSCTLS = {
    "net.ipv4.tcp_wmem": "4096 16384 67108864",
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_congestion_control": "reno",
}

#: Links and flows are sampled as often in the simulator as on the hosts.
INTERVAL = f"{traffic.INTERVAL_S * 1e3:g} ms"

SIMULATED, BRIDGED, RESIDENT, OWN = "simulated", "bridge", "resident", "own"

#: Names of algorithms that decide in the kernel begin so; the process follows.
PREFIX = "sct"


class TwinRunError(WorkError):
    """A run of a twin failed."""


@dataclass(frozen=True)
class TwinSettings:
    """Settings of a twin."""

    #: The kernel's algorithm for every flow; None for that of each flow's name.
    own: str | None = None
    bound_p99_s: float = 1e-3
    bound_worst_s: float = 10e-3
    #: Receives the current step.
    tell: Callable[[str], object] = lambda _: None


@dataclass(frozen=True)
class Column:
    """A run of the scenario: its flows in order, and the bottleneck's queue."""

    key: str
    title: str
    #: The algorithm of each flow.
    controls: tuple[str, ...]
    flows: tuple[Series, ...]
    _: KW_ONLY
    queue_time_s: Values
    queue_packets: Values
    drops: int
    #: ACKs under the algorithm, and under Reno for lack of answers; of the bridge.
    answered: tuple[int, int] | None = None
    #: Why the run is not valid.
    complaint: str | None = None

    @property
    def measures(self) -> list[Measures]:
        """Measures of each flow."""
        return [measured(flow) for flow in self.flows]


@dataclass(frozen=True)
class Twin:
    """A scenario and its columns."""

    scenario: Scenario
    senders: tuple[Sender, ...]
    columns: list[Column]
    notes: list[str] = field(default_factory=list)

    @property
    def complaints(self) -> list[str]:
        """Runs with late packets, and why they are not valid."""
        return [f"{column.title}: {column.complaint}" for column in self.columns if column.complaint]


def need_kernel() -> None:
    """Refuse if algorithms cannot control real connections."""
    need_linux()
    if os.geteuid() != 0:
        raise KernelError("a twin runs algorithms in the kernel: run it as root (sudo selfclock kernel twin ...)")
    for finding in check():
        if finding.good is False:
            raise KernelError(f"a twin cannot run here: {finding.what}: {finding.found}")


def twin(scenario: Scenario, settings: TwinSettings = TwinSettings()) -> Twin:
    """Run a scenario in the simulator and on this machine's kernel; needs root."""
    sampled = scenario.with_overrides([f'record.interval="{INTERVAL}"'])
    flows, notes = senders(sampled)
    need_kernel()
    own = _own(flows, settings, notes)
    labels = tuple(sender.label for sender in flows)
    settings.tell("simulation")
    columns = [simulated(sampled, flows)]
    with bridged(sampled, flows) as (names, sessions):
        settings.tell("real connections under the library's algorithm")
        column = real(sampled, flows, names, settings, (BRIDGED, "real TCP, library's algorithm", labels))
    columns.append(_with_answers(column, [session.status() for session in sessions]))
    with resident(sampled, flows, notes) as loaded:
        if loaded is not None:
            settings.tell("real connections under the library's algorithm, decided in the kernel")
            what = (RESIDENT, "real TCP, decided in the kernel", labels)
            column = real(sampled, flows, loaded, settings, what)
            counts = [each for each in residents() if each.name in loaded]
            answered = sum(each.acks for each in counts), sum(each.fallback_acks for each in counts)
            columns.append(replace(column, answered=answered))
    if own is not None:
        settings.tell("real connections under the kernel's own algorithm")
        columns.append(real(sampled, flows, own, settings, (OWN, "real TCP, kernel's own", tuple(own))))
    return Twin(scenario, tuple(flows), columns, notes)


def _own(flows: Sequence[Sender], settings: TwinSettings, notes: list[str]) -> list[str] | None:
    """Return the kernel's algorithm for each flow; None, with a note, if it lacks one."""
    known = available()
    if settings.own is not None:
        if settings.own not in known:
            raise KernelError(f"--own {settings.own}: the kernel has {', '.join(known)}")
        return [settings.own] * len(flows)
    found = [sender.kernels_own(known) for sender in flows]
    missing = [sender.label for sender, name in zip(flows, found, strict=True) if name is None]
    if missing:
        notes.append(f"the kernel has no {missing[0]} of its own; it has {', '.join(known)} (--own chooses one)")
        return None
    return [name for name in found if name is not None]


def simulated(scenario: Scenario, flows: Sequence[Sender]) -> Column:
    """Run the simulator."""
    result = scenario.run()
    table = result.flows
    names = _names(table, "flow")
    columns = {name: np.asarray(table.column(name), float)
               for name in ("time_s", "cwnd_bytes", "srtt_s", "acknowledged_bytes")}  # fmt: skip
    by_name = {flow["name"]: flow for flow in result.summary["flows"]}
    series = []
    for sender in flows:
        rows = names == sender.name
        series.append(
            Series(
                columns["time_s"][rows],
                columns["cwnd_bytes"][rows] / sender.payload_bytes,
                columns["srtt_s"][rows],
                columns["acknowledged_bytes"][rows],
                by_name[sender.name]["retransmitted_segments"],
            )
        )
    labels = tuple(sender.label for sender in flows)
    time_s, packets, drops = _queue(result)
    return Column(SIMULATED, "simulated", labels, tuple(series), queue_time_s=time_s, queue_packets=packets,
                  drops=drops)  # fmt: skip


def _names(table: Any, name: str) -> Any:  # noqa: ANN401  of NumPy
    column = table.column(name)
    return np.array(column.names)[np.asarray(column)]


def _queue(result: Result) -> tuple[Values, Values, int]:
    """Return the queue of the bottleneck over time, and its drops."""
    links = result.links
    rows = _names(links, "link") == "bottleneck"
    drops = next(link["drops"] for link in result.summary["links"] if link["name"] == "bottleneck")
    return np.asarray(links.column("time_s"))[rows], np.asarray(links.column("queue_packets"), float)[rows], drops


@contextlib.contextmanager
def bridged(scenario: Scenario, flows: Sequence[Sender]) -> Iterator[tuple[list[str], list[Session]]]:
    """Register the algorithms of the flows; yield the name for each flow, and the sessions, which the block ends."""
    # A process number is not unique: every container counts for itself.
    mark = secrets.token_hex(4)
    with contextlib.ExitStack() as stack:
        sessions: dict[str, tuple[str, Session]] = {}
        for sender in flows:
            if sender.control not in sessions:
                name = f"sc{mark}_{len(sessions)}"
                session = Session((scenario, sender.index), name, realtime=True)
                sessions[sender.control] = name, stack.enter_context(session)
        yield [sessions[sender.control][0] for sender in flows], [session for _, session in sessions.values()]


@contextlib.contextmanager
def resident(scenario: Scenario, flows: Sequence[Sender], notes: list[str]) -> Iterator[list[str] | None]:
    """Load the algorithms of the flows to decide in the kernel; give the name of each flow's.

    None, with a note, if one of them is not compiled for the kernel. The block unloads them.
    """
    for left in residents():
        # Of a twin that was killed; whether another container's lives is not known here.
        if left.name.startswith(PREFIX) and left.loader_lives is False:
            unload_residents(left.name)
    names: dict[str, str] = {}
    mark = secrets.token_hex(4)
    try:
        for sender in flows:
            if sender.control not in names:
                name = f"{PREFIX}{mark}_{len(names)}"
                try:
                    load((scenario, sender.index), name)
                except NotCompiledError as error:
                    notes.append(f"not decided in the kernel: {error.what}")
                    yield None
                    return
                names[sender.control] = name
        yield [names[sender.control] for sender in flows]
    finally:
        for name in names.values():
            unload_residents(name)


def _with_answers(column: Column, statuses: Sequence[Status]) -> Column:
    """Add the numbers of ACKs under the algorithms, and under Reno for lack of answers."""
    counts = [status.ended for status in statuses] + [flow.counts for status in statuses for flow in status.flows]
    total = [sum(count[key] for count in counts) for key in ("applied", "fallback_acks")]
    return replace(column, answered=(total[0], total[1]))


def real(
    scenario: Scenario,
    flows: Sequence[Sender],
    names: Sequence[str],
    settings: TwinSettings,
    what: tuple[str, str, tuple[str, ...]],
) -> Column:
    """Run the flows on the emulator, each under the congestion control named for it."""
    with tempfile.TemporaryDirectory(prefix="selfclock-twin-") as folder:
        result, failed = _emulated(scenario, flows, names, settings, Path(folder))
        said = [_samples(Path(folder, f"{sender.index}.json")) for sender in flows]
    missing = [sender.name for sender, document in zip(flows, said, strict=True) if document is None]
    if failed or missing:
        raise TwinRunError(f"{what[1]}: the sender of {', '.join(missing) or 'a flow'} failed: see above")
    documents = [document for document in said if document is not None]
    time_s, packets, drops = _queue(result)
    # The emulator saw the first packet of the first flow when its sender opened the connection.
    opened = min(document["opened_s"] for document in documents)
    first = min((flow.start_s for flow in result.scenario.network.flows), default=opened)
    shift = opened - first
    key, title, controls = what
    return Column(
        key, title, controls, tuple(map(_series, documents)), queue_time_s=time_s + shift, queue_packets=packets,
        drops=drops, complaint=complaint(result),
    )  # fmt: skip


def _samples(path: Path) -> dict[str, Any] | None:
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    except OSError:
        return None
    return document


def _series(document: Mapping[str, Any]) -> Series:
    columns = {name: np.array(values, float) for name, values in document["columns"].items()}
    srtt = columns["srtt_us"]
    return Series(
        columns["time_s"],
        columns["cwnd"],
        np.where(srtt > 0, srtt, np.nan) * 1e-6,
        columns["acknowledged_bytes"],
        int(columns["retransmissions"][-1]),
    )


def _emulated(
    scenario: Scenario, flows: Sequence[Sender], names: Sequence[str], settings: TwinSettings, folder: Path
) -> tuple[Result, bool]:
    """Run receivers and senders; return the emulator's result, and whether the last sender failed."""
    hosts = emulated_hosts(scenario)
    program = [sys.executable, traffic.__file__]
    go = folder / "go"
    receivers, sending = [], []
    for sender, name in zip(flows, names, strict=True):
        source, sink = _ends(scenario, sender, hosts)
        order = {
            "number": sender.index,
            "to": sink.address, "port": PORT, "control": name, "go": str(go), "start_s": sender.start_s,
            "stop_s": sender.stop_s, "end_s": scenario.duration_s, "bytes": sender.bytes, "rate_bps": sender.rate_bps,
            "write_bytes": sender.write_bytes, "segment": sender.segment,
            "samples": str(folder / f"{sender.index}.json"),
        }  # fmt: skip
        receivers.append(Command(sink, (*program, "receive", str(PORT))))
        sending.append(Command(source, (*program, "send", json.dumps(order))))

    def begin(_: Callable[[], str]) -> None:
        if not go.exists() and len(list(folder.glob("ready-*"))) == len(flows):
            partial = folder / "go.partial"
            partial.write_text(f"{time.monotonic() + HEADWAY_S!r}", encoding="ascii")
            partial.rename(go)

    how = Settings(
        sysctls={**SYSCTLS, "net.ipv4.tcp_ecn": ECN_SYSCTL[flows[0].ecn]} if flows else SYSCTLS,
        watch=begin,
        # Only root may choose any congestion control.
        as_root=True,
        bound_p99_s=settings.bound_p99_s,
        bound_worst_s=settings.bound_worst_s,
    )
    found = Emulation(scenario, hosts, [*receivers, *sending], how, Files()).run()
    if found.status > 128:
        raise KeyboardInterrupt
    return Result(scenario.emulated(found.outcome), found.outcome), bool(found.status)


def _ends(scenario: Scenario, sender: Sender, hosts: Sequence[EmulatedHost]) -> tuple[EmulatedHost, EmulatedHost]:
    """Return the two hosts of a flow."""
    nodes = scenario.network.flows[sender.index].nodes
    at = {host.node: host for host in hosts}
    return at[nodes[0]], at[nodes[-1]]
