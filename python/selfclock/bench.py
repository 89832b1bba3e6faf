"""The standard speed cases, each in a separate process so that its memory can be measured."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from selfclock._core import bare_loop, footprint
from selfclock.errors import WorkError
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: In the order in which they are reported.
CASES = (
    *("B1", "A1", "A100", "A100L", "U100", "C10k", "D100G", "P", "W"),
    *("H100", "H1000", "J100", "Q100", "B100", "L100", "R1"),
)

#: Below this divisor, the quotient shows the page size and the allocator rather than flows or
#: packets.
FEWEST_FLOWS = 1000
PACKETS_PER_FLOW = 10_000

#: The bare loop: hops of a round trip, and enough round trips to measure.
HOPS_PER_TRIP = 6
FEWEST_TRIPS, MOST_TRIPS = 1_000_000, 20_000_000

#: Runs of each mechanism.
REPEATED = 3

#: Total CPU time below which a case is repeated, s.
WORTH_MEASURING = 1.0


class Case(TypedDict):
    """One measured case.

    `cpu_s` is that of the quickest run, if a case is short enough to repeat. `of_bare_loop` is its
    speed relative to a loop that moves as many packets of as many flows without a protocol,
    measured in the same process just after it. `events_per_packet` is for a data packet with its
    ACK. `bytes_per_flow` is a simulation's memory before the first event, including the hosts' own
    links; `bytes_per_packet_in_flight` its additional memory per packet when most packets are in
    flight. Both exclude series; both are differences of a process's memory, and null with too few
    flows, or too few packets per flow, for a result.
    """

    case: str
    packet_hops: int
    events: int
    cpu_s: float
    packet_hops_per_cpu_s: float
    of_bare_loop: float
    peak_rss_bytes: int
    events_per_packet: float
    bytes_per_flow: float | None
    bytes_per_packet_in_flight: float | None


class Mechanism(TypedDict):
    """The cost of a queue discipline or router mechanism relative to drop-tail: time per packet, memory per flow.

    `cpu_s_per_packet` is CPU time of a run over packets at the bottleneck; `of_drop_tail` the same
    over drop-tail's.
    """

    mechanism: str
    cpu_s_per_packet: float
    of_drop_tail: float
    bytes_per_flow: float | None


#: Queue disciplines and router mechanisms, as overrides of the scenario below.
MECHANISMS: dict[str, list[str]] = {
    "drop-tail": [],
    **{
        name: [f'network.bottleneck.queue={{ discipline = "{name}", limit = "1 bdp" }}']
        for name in ("codel", "fq-codel", "pie", "red", "dualpi2", "drr")
    },
    "step marking": ['network.bottleneck.queue={ limit = "1 bdp", mark_above = "5 ms" }'],
    **{
        name: [f'router=[{{ mechanism = "{name}", {keys} }}]']
        for name, keys in (
            ("policer", 'links = ["bottleneck"], rate = "2 Gbps", burst = "1 MB"'),
            ("loss", 'links = ["bottleneck"], kinds = ["data"], probability = 0.0'),
            ("reordering", 'links = ["bottleneck"], probability = 0.0, delay = "1 ms"'),
            ("xcp", 'links = ["bottleneck"]'),
            ("csfq", 'links = ["bottleneck"]'),
            ("ack-thinning", 'links = ["reverse"], interval = "1 us"'),
            ("forwarding-limit", 'links = ["bottleneck"], packets_per_second = 1000000'),
            ("quick-start", 'links = ["bottleneck"]'),
        )
    },
}

#: Windows a tenth above the BDP: a queue stands at the bottleneck.
_ROUTED = """
schema = 1
name = "mechanism"
duration = "4 s"
transport = { receive_window = "368 segments" }
record = { interval = "off" }
flow = [{ count = 10, congestion_control = "cubic", start_jitter = "100 ms" }]

[network]
topology = "dumbbell"
hosts = 1
bottleneck = { rate = "1 Gbps", delay = "10 ms", queue = "1 bdp" }
access = { rate = "10 Gbps", delay = "5 ms" }
"""


class BenchError(WorkError):
    """A case did not run."""


def _peak_rss() -> int:
    # Linux's ru_maxrss includes the process before it became this program; VmHWM begins with the
    # program.
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _scenario(case: str) -> Scenario:
    text = (resources.files("selfclock") / "benches" / f"{case}.toml").read_text(encoding="utf-8")
    return Scenario.parse(text, f"{case}.toml")


def measure_memory(case: str) -> tuple[int, int, int] | None:
    """Return a simulation's memory before its first event, the maximum of packets in flight, and its memory then."""
    return footprint(_scenario(case).unrecorded()._core)


def measure(case: str) -> Case:
    """Run a case in this process, and measure its memory in a fresh one."""
    scenario = _scenario(case)
    summary = scenario.run().summary
    peak = _peak_rss()
    flows, hops = len(summary["flows"]), summary["packet_hops"]
    cpu_s = taken = summary["cpu_s"]
    while taken < WORTH_MEASURING:
        again = max(scenario.run().summary["cpu_s"], 1e-3)
        cpu_s, taken = min(cpu_s, again), taken + again
    speed = hops / max(cpu_s, 1e-9)
    memory: tuple[int, int, int] | None = _in_a_process("--memory", case)
    built, in_flight, then = memory or (0, 0, 0)
    trips = min(max(hops // HOPS_PER_TRIP, FEWEST_TRIPS), MOST_TRIPS)
    bare_hops, bare_s = bare_loop(flows, max(1, round(in_flight / flows)), trips)
    sent = sum(flow["sent_segments"] for flow in summary["flows"])
    return Case(
        case=case,
        packet_hops=hops,
        events=summary["events"],
        cpu_s=cpu_s,
        packet_hops_per_cpu_s=speed,
        of_bare_loop=speed * bare_s / bare_hops,
        peak_rss_bytes=peak,
        events_per_packet=summary["events"] / max(sent, 1),
        bytes_per_flow=built / flows if memory and flows >= FEWEST_FLOWS else None,
        bytes_per_packet_in_flight=(then - built) / in_flight
        if memory and in_flight >= PACKETS_PER_FLOW * flows
        else None,
    )


def measure_mechanism(name: str) -> tuple[float, float, int | None]:
    """Return CPU time of a packet with a mechanism and with drop-tail, and the memory of a run of a thousand flows."""
    scenarios = [Scenario.parse(_ROUTED, "mechanism", MECHANISMS[each]) for each in (name, "drop-tail")]
    many = scenarios[0].with_overrides(["flow.0.count=1000", "duration=200 ms", "transport.receive_window=1 segments"])
    memory = footprint(many._core)
    best = [float("inf")] * 2
    # In turns, taking each minimum: other load on the machine affects both.
    for _ in range(REPEATED):
        for number, scenario in enumerate(scenarios):
            summary = scenario.run().summary
            packets = next(link["packets"] for link in summary["links"] if link["name"] == "bottleneck")
            best[number] = min(best[number], summary["cpu_s"] / packets)
    return best[0], best[1], memory[2] if memory else None


def bench(cases: Sequence[str], progress: Callable[[float], object]) -> list[Case]:
    """Run every case in a fresh process."""
    measured: list[Case] = []
    for number, case in enumerate(cases):
        progress(number / len(cases))
        measured.append(_in_a_process(case))
    return measured


def bench_mechanisms(progress: Callable[[float], object], names: Sequence[str] = tuple(MECHANISMS)) -> list[Mechanism]:
    """Measure every mechanism in a fresh process."""
    found: dict[str, tuple[float, float, int | None]] = {}
    for number, name in enumerate(names):
        progress(number / len(names))
        found[name] = _in_a_process("--mechanism", name)
    _, _, plain = found.get("drop-tail", (0.0, 0.0, None))
    return [
        Mechanism(
            mechanism=name,
            cpu_s_per_packet=own,
            of_drop_tail=own / drop_tail,
            bytes_per_flow=None if memory is None or plain is None else max(0, memory - plain) / FEWEST_FLOWS,
        )
        for name, (own, drop_tail, memory) in found.items()
    ]


def _in_a_process(*arguments: str) -> Any:  # noqa: ANN401
    command = [sys.executable, "-m", "selfclock.bench", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise BenchError(f"{arguments[-1]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    what = {"--mechanism": measure_mechanism, "--memory": measure_memory}.get(sys.argv[1], measure)
    sys.stdout.write(json.dumps(what(sys.argv[-1])))
