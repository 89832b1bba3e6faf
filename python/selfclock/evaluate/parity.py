"""Our algorithms in QUIC stacks beside our TCP, and the stacks' own: `python -m selfclock.evaluate.parity FILE.md`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock import _core
from selfclock._core import VERSION, ScenarioError
from selfclock.algorithms import algorithms
from selfclock.errors import BadInputError
from selfclock.progress import progress_bar
from selfclock.runs import run_many
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selfclock.result import Result

RATE_MBPS, RTT_MS, SECONDS = 20, 40, 60
BUFFERS_BDP = (0.5, 1, 4)
BUFFERS = ", ".join(f"{buffer:g}" for buffer in BUFFERS_BDP)

#: Suffix of an algorithm's name: in selfclock's TCP, paced like the stacks' unpaced algorithms.
PACED = ", paced"
PACING_GAIN = 1.25

#: Thresholds for selfclock's algorithms in a stack, relative to its TCP.
GOODPUT, DELAY = 0.03, 0.10

SCENARIO = f"""\
schema = 1
name = "{{name}}"
duration = "{SECONDS} s"
[network]
topology = "dumbbell"
bottleneck = {{{{ rate = "{RATE_MBPS} Mbps", delay = "{RTT_MS // 2 - 2} ms", queue = "{{buffer:g}} bdp" }}}}
access = {{{{ rate = "1 Gbps", delay = "1 ms" }}}}
[[flow]]
congestion_control = {{control}}
{{settings}}
"""

HEAD = f"""\
# QUIC: parity

How closely each algorithm in a QUIC stack matches the same algorithm in our TCP: goodput, queueing delay and losses.
`make quic-parity` made this page with selfclock {VERSION}; [QUIC](quic.md) describes the setup.

One flow runs for {SECONDS} s on {RATE_MBPS} Mbit/s with an RTT of {RTT_MS} ms \
and drop-tail buffers of {BUFFERS} BDP.
Goodput is payload: a full packet of 1500 bytes carries 1448 bytes in our TCP and some 1440 in QUIC.
Delay is the mean queueing delay at the bottleneck.
The period is the duration of the run over the number of window reductions.
[Parity](quic.md#parity) has the reasons for the disagreements.

"""


@dataclass(frozen=True)
class Measured:
    """The result of one run."""

    goodput_mbps: float
    delay_ms: float
    losses: int
    reductions: int

    @classmethod
    def of(cls, result: Result) -> Measured:
        """Read it off the summary."""
        [flow] = result.summary["flows"]
        link = result.summary["links"][0]
        return cls(
            flow["goodput_bps"] / 1e6,
            1e3 * link["queue_mean_s"],
            link["drops"],
            flow["fast_retransmits"] + flow["timeouts"],
        )

    @property
    def period(self) -> str:
        """The time for each reduction."""
        return f"{SECONDS / self.reductions:.2g} s" if self.reductions else "-"

    def agrees(self, other: Measured) -> bool:
        """Tell whether another run agrees within the thresholds."""
        goodput = abs(other.goodput_mbps / self.goodput_mbps - 1) <= GOODPUT
        return goodput and abs(other.delay_ms - self.delay_ms) <= DELAY * self.delay_ms


def _scenario(label: str, buffer: float) -> Scenario:
    settings = f"transport = {{ pacing_gain = {PACING_GAIN} }}" if label.endswith(PACED) else ""
    control = _core.control_table(label.removesuffix(PACED))
    return Scenario.parse(
        SCENARIO.format(name=f"{label} {buffer:g} BDP", buffer=buffer, control=control, settings=settings)
    )


def _labels() -> list[str]:
    """Every window, start and model."""
    known = algorithms()
    return [each.name for part in ("window", "start", "model") for each in known if each.part == part]


def _carried(stacks: Sequence[str]) -> tuple[dict[str, list[str]], list[tuple[str, str, str]]]:
    """Return the stacks that carry each algorithm, and the reasons of the others."""
    carried: dict[str, list[str]] = {}
    refused = []
    for label in _labels():
        for stack in stacks:
            try:
                _scenario(f"{label}@{stack}", 1)
            except ScenarioError as error:
                refused.append((label, stack, str(error).splitlines()[0].split(": ", 2)[-1]))
            else:
                carried.setdefault(label, []).append(stack)
    return carried, refused


def _rows(label: str, ours: dict[tuple[str, float], Measured], names: Sequence[str]) -> Iterator[str]:
    for buffer in BUFFERS_BDP:
        tcp = ours[label, buffer]
        for name in names:
            found = ours[name, buffer]
            ratio = found.goodput_mbps / tcp.goodput_mbps - 1
            delay = "-" if tcp.delay_ms == 0 else f"{found.delay_ms / tcp.delay_ms - 1:+.1%}"
            mark = "" if name in (label, label + PACED) or tcp.agrees(found) else " **≠**"
            yield (
                f"| `{name}` | {buffer:g} | {found.goodput_mbps:.2f} | {'' if name == label else f'{ratio:+.1%}'} "
                f"| {found.delay_ms:.2f} | {'' if name == label else delay}{mark} | {found.losses} | {found.period} |\n"
            )


COLUMNS = (
    "| algorithm | buffer, BDP | goodput, Mbit/s | to TCP | delay, ms | to TCP | drops | period |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|\n"
)


def write() -> str:
    """Run everything and return the page."""
    stacks = {row["name"]: row["controllers"] for row in json.loads(_core.stacks())}
    if not stacks:
        raise BadInputError("no QUIC stack is built in: build them in with make quic")
    carried, refused = _carried(list(stacks))
    own = [
        f"{stack}:{controller}"
        for stack, controllers in stacks.items()
        for controller in controllers
        if not controller.endswith("-unseeded")
    ]
    ours = [f"{label}@{stack}" for label, where in carried.items() for stack in where]
    models = {each.name for each in algorithms() if each.part == "model"}
    paced = {label: [] if label in models else [label + PACED] for label in carried}
    labels = [
        *dict.fromkeys([*carried, "cubic", "reno", "bbr3"]),
        *(each for names in paced.values() for each in names),
        *ours,
        *own,
    ]
    keys = [(label, buffer) for label in labels for buffer in BUFFERS_BDP]
    with progress_bar("parity") as progress:
        results = run_many([_scenario(*key) for key in keys], progress=progress)
    found = dict(zip(keys, map(Measured.of, results), strict=True))
    text = HEAD
    if carried:
        pairs = [(label, f"{label}@{stack}", buffer)
                 for label, where in carried.items() for stack in where for buffer in BUFFERS_BDP]  # fmt: skip
        same = sum(found[label, buffer].agrees(found[name, buffer]) for label, name, buffer in pairs)
        either = sum(
            any(found[other, buffer].agrees(found[name, buffer]) for other in (label, *paced[label]))
            for label, name, buffer in pairs
        )
        agreement = f"goodput within {GOODPUT:.0%} and delay within {DELAY:.0%} of our TCP"
        text += f"## Our algorithms in the stacks\n\nAgreement means {agreement}; **≠** marks the exceptions.\n"
        text += f"{same} of {len(pairs)} runs agree, and {either} agree with our TCP either unpaced "
        text += f"or paced at {PACING_GAIN} windows per round trip, like the stacks.\n"
        text += f"\n{COLUMNS}"
        for label, where in carried.items():
            text += "".join(_rows(label, found, [label, *paced[label], *(f"{label}@{stack}" for stack in where)]))
        text += "\n"
    text += f"## The stacks' own algorithms\n\nBeside ours in our TCP:\n\n{COLUMNS}"
    for label, controller in {"cubic": "cubic", "reno": "new_reno", "bbr3": "bbr"}.items():
        text += "".join(_rows(label, found, [label, *(name for name in own if name.endswith(f":{controller}"))]))
    if carried and refused:
        text += "\n## Unsupported algorithms\n\n| algorithm | stack | reason |\n|---|---|---|\n"
        text += "".join(f"| `{label}` | {stack} | {why} |\n" for label, stack, why in refused)
    return text


def main() -> None:
    """Write the page to the file that is named."""
    if len(sys.argv) != 2:
        sys.exit("selfclock.evaluate.parity: name the file to write, such as docs/quic-parity.md")
    try:
        text = write()
    except BadInputError as error:
        sys.exit(f"selfclock.evaluate.parity: {error}")
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
