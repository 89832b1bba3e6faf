"""Our algorithms in quinn and noq beside the stacks' own: `python -m selfclock.evaluate.quic_others FILE.md`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

import pyarrow as pa

from selfclock import _core
from selfclock._core import VERSION
from selfclock.errors import BadInputError
from selfclock.progress import progress_bar
from selfclock.runs import run_many
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.result import Result

#: noq's BBRv3 takes no seed.
UNSEEDED_RUNS = 3

RATE_MBPS, RTT_MS = 20, 40

#: Thresholds for the stacks' own, relative to ours.
GOODPUT, DELAY = 0.05, 0.15

PAIRS = {
    "CUBIC": (("cubic@quinn", "quinn:cubic"), ("cubic@noq", "noq:cubic")),
    "Reno": (("reno@quinn", "quinn:new_reno"), ("reno@noq", "noq:new_reno")),
}
BBR = ("bbr3@noq", "noq:bbr-unseeded")

SCENARIO = """\
schema = 1
duration = "{seconds} s"
[network]
topology = "dumbbell"
bottleneck = {{ rate = "{rate} Mbps", delay = "18 ms", queue = "{queue} bdp"{changes} }}
access = {{ rate = "1 Gbps", delay = "1 ms" }}
{more}
[record]
interval = "10 ms"
[[flow]]
congestion_control = "{label}"
{traffic}
"""

LOSS = '[[router]]\nmechanism = "loss"\nlinks = ["bottleneck"]\nkinds = ["datagram"]\nprobability = 0.01'
POLICER = '[[router]]\nmechanism = "policer"\nlinks = ["bottleneck"]\nrate = "10 Mbps"\nburst = "100 kB"'
CHANGE = ', changes = [{{ at = "10 s", rate = "{rate}" }}]'


@dataclass(frozen=True)
class Situation:
    """A path and an application."""

    name: str
    seconds: int = 20
    queue: float = 1
    more: str = ""
    traffic: str = ""
    changes: str = ""
    #: From when figures count, seconds.
    begin: float = 0

    def scenario(self, label: str) -> Scenario:
        """Return the scenario of this algorithm."""
        return Scenario.parse(SCENARIO.format(label=label, rate=RATE_MBPS, **vars(self)))


PAUSE = 'traffic = { rate = "4 Mbps", write = "8 MB" }'
WINDOW_SITUATIONS = (
    Situation("clean, 60 s", 60),
    Situation("1 % loss, 60 s", 60, more=LOSS),
    Situation("8 MB every 16 s", 40, traffic=PAUSE),
)
BBR_SITUATIONS = (
    Situation("Startup and Drain, 2 s", 2, 4),
    Situation("ProbeBW and ProbeRTT, 30 s", 30, 4),
    Situation("application-limited, 30 s", 30, 4, traffic='traffic = { rate = "4 Mbps", write = "100 kB" }'),
    Situation("1 % loss, 20 s", 20, 1, LOSS),
    Situation("a tenth of the buffer, 20 s", 20, 0.1),
    Situation("a pause of 13 s, 40 s", 40, 4, traffic=PAUSE),
    Situation("policer of 10 Mbit/s, 20 s", 20, 4, POLICER),
    Situation("ten times the rate at 10 s", 20, 4, changes=CHANGE.format(rate="200 Mbps"), begin=10),
    Situation("a tenth of the rate at 10 s", 20, 4, changes=CHANGE.format(rate="2 Mbps"), begin=10),
)

HEAD = f"""\
# QUIC: other implementations

Our algorithms in quinn and noq beside the stacks' own: CUBIC and New Reno of both, and noq's BBRv3.
`make quic-others` made this page with selfclock {VERSION}; [QUIC](quic.md) describes the setup.

One flow on {RATE_MBPS} Mbit/s with an RTT of {RTT_MS} ms; the BDP is {RATE_MBPS * RTT_MS / 8:g} kB. \
Goodput is payload per second of the run or, after a change of the rate, since then.
The delay is that of the smoothed RTT above {RTT_MS} ms, on average.
The window is the median, in kB.
**≠** marks goodput that differs by more than {GOODPUT:.0%}, or a delay by more than {DELAY:.0%} and 1 ms.
"""

UNSEEDED = f"""
noq's BBRv3 draws the times of its probes from the operating system and takes no seed, so its figures differ
from run to run: they are the median of {UNSEEDED_RUNS} runs, with the smallest and the largest goodput in parentheses.
"""

COLUMNS = (
    "| situation | algorithm | goodput, Mbit/s | delay, ms | lost packets | window, kB |\n"
    "|---|---|---:|---:|---:|---:|\n"
)

PAUSES = """\
The CUBICs of quinn and noq lose three to six times as many packets after a pause: they count it as elapsed time,
and the first ACK after it sends the window up the curve.
The elapsed time "MUST NOT include periods during which cwnd has not been updated due to application-limited behavior"
(RFC 9438, section 4.2); ours does not.

"""

#: Differences of noq 1.4, each with the sentence that decides.
DIFFERENCES = """\
## noq's BBRv3 and the draft

noq-proto 1.4 names draft-ietf-ccwg-bbr as its source.
Its text differs from the draft, and from ours, in these places:

* **The bandwidth decays while cruising.**
  `ack_phase` stays at `ProbeStopping` after a probe, so the filter of the bandwidth advances in every round trip,
  not once in a cycle, and forgets the probe after two.
  Paced at 99 % of what it then measures, noq slows down by a few percent in every second of ProbeBW_CRUISE:
  from 17.5 to 15.6 Mbit/s between two probes.
  The filter is to cover two ProbeBW cycles (section 5.5.5), and Linux leaves the phase once it has advanced; so do we.
  This is the difference in ProbeBW; the other rows have not been traced to one cause.
  `on_ack` updates the model for every packet, and `on_end_acks` computes the delivery rate after them.
  An update therefore uses the rate of the frame before.
  The draft generates the sample first and then updates the model once per ACK (sections 4.1.2.3 and 5.2.3); so do we.
* **The first pacing rate stays.**
  It is the initial window in 1 ms, some 266 Mbit/s, and Startup never lowers it.
  An application-limited flow is therefore not paced (noq issue 800).
  The draft divides by the smoothed RTT if there is one (section 5.6.2).
  Linux computes the rate again at the first RTT, and so do we.
* **A restart from idle keeps the aggregated volume.**
  noq moves the interval of `extra_acked` alone, as the draft's letter says (section 5.4.1).
  The volume from before the pause then counts in an interval of no length (quinn pull request 2798).
  Linux sets it to zero, and so do we.
* **Persistent congestion** leaves four packets.
  RFC 9002 (section 7.6.2) has two, and so do we.
* **Losses are forgotten.**
  `RS.lost` is set to zero at the end of each frame.
  In the draft it is the volume lost since the acknowledged packet was sent (section 4.1.2.4).
"""


@dataclass(frozen=True)
class Measured:
    """The result of one run."""

    goodput_mbps: float
    delay_ms: float
    lost: int
    window_kb: float

    @classmethod
    def of(cls, situation: Situation, result: Result) -> Measured:
        """Read it off the summary and the series."""
        [flow] = result.summary["flows"]
        table = pa.table(result.flows)
        columns = ("time_s", "delivered_bytes", "srtt_s", "cwnd_bytes")
        rows = [row for row in zip(*(table.column(name).to_pylist() for name in columns), strict=True)
                if row[0] >= situation.begin]  # fmt: skip
        delivered = 8e-6 * (rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0])
        delays = [1e3 * srtt - RTT_MS for _, _, srtt, _ in rows if srtt == srtt and srtt > 0]  # noqa: PLR0124
        return cls(delivered, mean(delays), flow["retransmitted_segments"], median(row[3] for row in rows) / 1e3)

    def agrees(self, other: Measured) -> bool:
        """Tell whether another run agrees within the thresholds."""
        delay = abs(other.delay_ms - self.delay_ms)
        near = delay <= 1 or delay <= DELAY * self.delay_ms
        return near and abs(other.goodput_mbps / self.goodput_mbps - 1) <= GOODPUT


def _row(situation: Situation, label: str, runs: Sequence[Measured], ours: Measured | None) -> str:
    goodputs = sorted(run.goodput_mbps for run in runs)
    typical = sorted(runs, key=lambda run: run.goodput_mbps)[len(runs) // 2]
    span = f" ({goodputs[0]:.2f} to {goodputs[-1]:.2f})" if len(runs) > 1 else ""
    mark = "" if ours is None or ours.agrees(typical) else " **≠**"
    return (
        f"| {situation.name} | `{label}` | {typical.goodput_mbps:.2f}{span}{mark} | {typical.delay_ms:.1f} "
        f"| {typical.lost} | {typical.window_kb:.0f} |\n"
    )


def _table(situations: Sequence[Situation], pairs: Sequence[tuple[str, str]]) -> str:
    """Run each pair, ours first, in each situation."""
    keys = [(situation, label) for situation in situations for pair in pairs for label in pair]
    counted = [key for key in keys for _ in range(UNSEEDED_RUNS if key[1].endswith("-unseeded") else 1)]
    with progress_bar("others") as progress:
        results = run_many([situation.scenario(label) for situation, label in counted], progress=progress)
    found: dict[tuple[Situation, str], list[Measured]] = {}
    for key, result in zip(counted, results, strict=True):
        found.setdefault(key, []).append(Measured.of(key[0], result))
    text = COLUMNS
    for situation in situations:
        for ours, theirs in pairs:
            text += _row(situation, ours, found[situation, ours], None)
            text += _row(situation, theirs, found[situation, theirs], found[situation, ours][0])
    return text + "\n"


def write() -> str:
    """Run everything and return the page."""
    if not json.loads(_core.stacks()):
        raise BadInputError("no QUIC stack is built in: build them in with make quic")
    text = HEAD
    for name, pairs in PAIRS.items():
        text += f"\n## {name}\n\n{_table(WINDOW_SITUATIONS, pairs).rstrip()}\n"
    text += f"\n{PAUSES}"
    return f"{text}## BBRv3\n{UNSEEDED}\n{_table(BBR_SITUATIONS, (BBR,))}{DIFFERENCES}"


def main() -> None:
    """Write the page to the file that is named."""
    if len(sys.argv) != 2:
        sys.exit("selfclock.evaluate.quic_others: name the file to write, such as docs/quic-others.md")
    try:
        text = write()
    except BadInputError as error:
        sys.exit(f"selfclock.evaluate.quic_others: {error}")
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
