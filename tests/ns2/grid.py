"""200 random networks in ns-2.35 and here: goodput, retransmissions and timeouts.

`make oracles` compares with the results of ns-2 that are recorded beside this file, and runs ns-2
again where it is installed; `--write` writes docs/ns2-grid.md, `--record` the results of ns-2.
Networks depend on their number alone: recovery, ACKs and queue are walked through by counting, the
rest is drawn. Each runs SEEDS times, with starts and delays that differ a little, and means are
compared. Several flows have a random processing time of up to a packet in both programs, against
phase effects; one flow has none, because ns-2 delays only the first packet of those that an ACK
releases, and no retransmission.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import polars as pl

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent.parent / "python"))

import selfclock as sc
from selfclock.scenario.toml import to_toml
from selfclock.series import packet_record

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
RECORD, PROGRAM = HERE / "recorded.json", HERE / "network.tcl"
PAGE = HERE.parent.parent / "docs/ns2-grid.md"
NETWORKS, SEEDS, SECONDS = 200, 4, 60

#: Segments acknowledged, segments retransmitted, timeouts, of all flows together; packets dropped
#: at the bottleneck.
Run = tuple[int, int, int, int]
QUANTITIES = ("goodput", "retransmissions", "timeouts")


@dataclass(frozen=True)
class Network:
    """A network of the grid. Times in ms."""

    recovery: str
    delayed: bool
    red: bool
    rate_kbps: int
    delay: float
    limit: int
    minimum: int
    flows: int
    step: float
    limited: bool = True

    @property
    def overhead(self) -> float:
        """The random processing time of the senders, at most: a packet's, against phase effects."""
        return 12_000 / self.rate_kbps if self.flows > 1 else 0.0

    def label(self) -> str:
        """Return it in a few words."""
        queue = f"RED {self.minimum}" if self.red else f"{self.limit}"
        acks = "delayed" if self.delayed else "plain"
        return f"{self.recovery}, {acks}, {self.rate_kbps / 1000:g} Mbit/s, {self.delay:g} ms, {queue}, {self.flows}"


def network(number: int) -> Network:
    """Return the network of a number."""
    chance = random.Random(f"grid {number}")  # noqa: S311 - not for secrets
    kinds = list(product(("reno", "newreno", "sack"), (False, True), (False, True)))
    recovery, delayed, red = kinds[number % len(kinds)]
    rate = round(500 * 20 ** chance.random())
    delay = round(5 * 20 ** chance.random(), 1)
    bdp = rate * (2 * delay + 4) / 12_000
    limit = max(6, round(bdp * chance.uniform(0.3, 2)))
    minimum = 5
    if red:
        minimum = max(5, round(bdp * chance.uniform(0.1, 0.3)))
        limit = 8 * minimum
    return Network(recovery, delayed, red, rate, delay, limit, minimum, chance.choice([1, 1, 2, 4]),
                   round(chance.uniform(0, 10), 1))  # fmt: skip


def phase(seed: int) -> float:
    """Return when the flows of a seed begin, s: another part of a tick each."""
    return 0.0137 * seed


def near(seed: int) -> float:
    """Return the delay of the senders' links, ms: that of each seed is somewhat longer."""
    return round(1 + 0.13 * (seed - 1), 2)


def in_ns2(given: Network) -> list[Run]:
    """Run a network in ns-2, as often as there are seeds."""
    words = {
        "times": SEEDS, "recovery": given.recovery, "delayed": int(given.delayed), "rate": f"{given.rate_kbps}kb",
        "delay": f"{given.delay}ms", "queue": "RED" if given.red else "DropTail", "limit": given.limit,
        "minimum": given.minimum, "flows": given.flows, "access": 1, "step": given.step,
        "overhead": given.overhead / 1000, "limited": int(given.limited), "seconds": SECONDS,
    }  # fmt: skip
    command = ["ns", str(PROGRAM), *(str(word) for pair in words.items() for word in pair)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        one, two, three, four = (int(word) for word in line.split())
        found.append((one, two, three, four))
    return found


def document(given: Network, seed: int) -> dict[str, Any]:
    """Return the scenario of a network, with the defaults of ns-2's agents."""
    bottleneck: dict[str, Any] = {
        "rate": f"{given.rate_kbps} kbps", "delay": f"{given.delay} ms", "queue": f"{given.limit} packets",
        "queue_counts": "in-system",
    }  # fmt: skip
    if given.red:  # whose limit and average in ns-2 are of the packets that wait
        bottleneck["queue_counts"] = "waiting"
        bottleneck["queue"] = {"discipline": "red", "limit": f"{given.limit} packets", "minimum":
                               f"{given.minimum} packets", "ecn": False}  # fmt: skip
    return {
        "schema": 1,
        "profile": "classic",
        "duration": f"{SECONDS} s",
        "seed": seed,
        "network": {
            "topology": "dumbbell",
            "bottleneck": bottleneck,
            "reverse": {"rate": "100 Mbps", "delay": f"{given.delay} ms", "queue": "unlimited"},
            "access": {"rate": "100 Mbps", "delay": f"{near(seed)} ms"},
            "sink_access": {"rate": "100 Mbps", "delay": "1 ms"},
            "access_step": f"{given.step} ms",
        },
        "transport": {
            "mss": "1460 B",
            "recovery": given.recovery,
            "limited_transmit": given.limited,
            "handshake": True,
            "initial_window": "2 segments",
            "receive_window": "unlimited",
            "delayed_ack": {"every": 2 if given.delayed else 1, "timer": "100 ms", "clock": "segment", "quick": False},
            "timer": {"minimum": "200 ms", "maximum": "60 s", "granularity": "10 ms"},
        },
        "record": {"interval": "off"},
        "flow": [
            {
                "congestion_control": {"window": "reno", "halved": "window"},
                "start": f"{1000 * (0.37 * place + phase(seed)):.1f} ms",
                "overhead": f"{given.overhead:.6f} ms",
            }
            for place in range(given.flows)
        ],
    }


def here(given: Network, seed: int) -> Run:
    """Run a network in this simulator."""
    summary = sc.Scenario.parse(to_toml(document(given, seed))).run(threads=1).summary
    flows = summary["flows"]
    return (
        sum(each["delivered_segments"] for each in flows),
        sum(each["retransmitted_segments"] for each in flows),
        sum(each["timeouts"] for each in flows),
        summary["links"][0]["drops"],
    )


# --- comparison -----------------------------------------------------------------------------------

#: Means agree within this part, or within this number of standard errors of their difference.
NEAR, ERRORS = 0.05, 3.0
#: Part of RED's drops that meet a queue of at most one packet, from which on they are a cause.
SHORT = 0.02

#: Differences that have a name, in the order in which they are looked for.
NAMES = {
    "limited transmit": (
        "With limited transmit off in both, the quantity agrees. After a timeout ns-2's limited transmit sends old "
        "segments again on the first two duplicates, which brings more duplicates; RFC 3042 allows new data only."
    ),
    "spurious": (
        "The bottleneck drops as many packets in both; ns-2 retransmits more than were dropped, because after a "
        "timeout it forgets what was SACKed, and sends it again. RFC 6675, 5.1, keeps it."
    ),
    "short queue": (
        "ns-2's RED drops nothing early while at most one packet waits. Floyd and Jacobson 1993, and Linux, have no "
        f"such rule: here {100 * SHORT:g} % or more of the early drops meet such a queue. "
        "With the rule in RED here, networks 3, 37, 61 and 149 have 10904, 7500, 22962 and 8390 segments."
    ),
    "pipe": (
        "With SACK the bottleneck drops another number of packets: ns-2's Sack1 counts lost segments as in flight, "
        "so that it waits where RFC 6675 sends, and loses fewer retransmissions. Packet by packet this is (e) of "
        "[the tables](validation-ns2.md)."
    ),
}


def compared(theirs: Sequence[Run], ours: Sequence[Run]) -> list[tuple[float, float, str]]:
    """Return, of each quantity and the drops, the mean in ns-2 and here, and how they agree."""
    found = []
    for one, two in zip(zip(*theirs, strict=True), zip(*ours, strict=True), strict=True):
        first, second = mean(one), mean(two)
        error = math.sqrt((stdev(one) ** 2 + stdev(two) ** 2) / len(one))
        apart = abs(first - second)
        found.append((first, second, "5 %" if apart <= NEAR * first else "chance" if apart <= ERRORS * error else ""))
    return found


@cache
def short_drops(given: Network) -> float:
    """Return the part of the bottleneck's drops that meet a queue of at most one packet."""
    made = document(given, 1)
    made["record"]["packets"] = True
    packets = packet_record(sc.Scenario.parse(to_toml(made)).run(threads=1))
    events = packets.filter(pl.col("link").cast(pl.String) == "bottleneck")["event"].cast(pl.String)
    waiting = drops = short = 0
    for event in events:
        waiting += {"enqueue": 1, "transmit": -1, "drop": -1}.get(event, 0)
        if event == "drop":
            drops += 1
            short += waiting <= 1
    return short / max(drops, 1)


@dataclass(frozen=True)
class Row:
    """A network, and how each quantity agrees."""

    number: int
    found: list[tuple[float, float, str]]


def row(number: int, record: dict[str, list[Run]]) -> Row:
    """Compare a network, and name what differs."""
    given = network(number)
    ours = [here(given, seed) for seed in range(1, SEEDS + 1)]
    found = compared(record[str(number)], ours)
    if all(agrees for _, _, agrees in found[:3]):
        return Row(number, found)
    plain = replace(given, limited=False)
    without = compared(record[f"{number} plain"], [here(plain, seed) for seed in range(1, SEEDS + 1)])
    same_drops = bool(found[3][2] or without[3][2])
    named = []
    for place, (first, second, agrees) in enumerate(found):
        causes = {
            "limited transmit": bool(without[place][2]),
            "spurious": place == 1 and first > second and same_drops,
            "short queue": given.red and short_drops(given) >= SHORT,
            "pipe": given.recovery == "sack" and not same_drops,
        }
        named.append((first, second, agrees or next((name for name, holds in causes.items() if holds), "none")))
    return Row(number, named)


# --- what ns-2 says -------------------------------------------------------------------------------


def recorded() -> dict[str, list[Run]]:
    """Return the recorded results of ns-2, by number, without limited transmit by "number plain"."""
    stored = json.loads(RECORD.read_text(encoding="utf-8"))
    return {key: [(each[0], each[1], each[2], each[3]) for each in runs] for key, runs in stored.items()}


def record() -> dict[str, list[Run]]:
    """Run ns-2, in every network with and without limited transmit, and write its results."""
    cases = {f"{number}{word}": replace(network(number), limited=not word) for number in range(NETWORKS)
             for word in ("", " plain")}  # fmt: skip
    with ThreadPoolExecutor() as pool:
        found = dict(zip(cases, pool.map(in_ns2, cases.values()), strict=True))
    lines = [f" {json.dumps(key)}: {json.dumps(runs)}" for key, runs in found.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return found


# --- the page -------------------------------------------------------------------------------------


def counts(rows: Sequence[Row]) -> list[str]:
    """Return the table of how many networks agree, and why the others do not."""
    words = ("5 %", "chance", *NAMES, "none")
    lines = [
        "| quantity | within 5 % | within chance | " + " | ".join(NAMES) + " | no name |",
        "|---|" + "---|" * len(words),
    ]
    for place, quantity in enumerate(QUANTITIES):
        number = Counter(each.found[place][2] for each in rows)
        lines.append(f"| {quantity} | " + " | ".join(str(number[word]) for word in words) + " |")
    return lines


def page(rows: Sequence[Row]) -> str:
    """Return docs/ns2-grid.md."""
    worst = {
        queue: max(abs(each.found[0][1] / each.found[0][0] - 1) for each in rows if network(each.number).red == red)
        for queue, red in (("drop-tail", False), ("RED", True))
    }
    lines = [
        "# 200 networks in ns-2",
        "",
        "Random networks in ns-2.35 and here, generated by `make ns2-grid`; `make oracles` runs them.",
        "One bottleneck of 0.5 to 10 Mbit/s, 5 to 100 ms each way, a drop-tail queue of 0.3 to 2 BDP or RED, one to "
        "four flows of other RTTs, for 60 s; Reno, NewReno and SACK, an ACK per segment or delayed ACKs, by turns.",
        f"Each network runs {SEEDS} times in both, with starts and delays that differ a little; of several flows each "
        "sender has a random processing time of up to a packet.",
        f"Goodput, retransmissions and timeouts of all flows together are means; they agree within {100 * NEAR:g} %, "
        f"or within {ERRORS:g} standard errors of their difference, which is chance, or the difference has a name.",
        f"Goodput differs by at most {100 * worst['drop-tail']:.1f} % behind drop-tail, and behind RED by at most "
        f"{100 * worst['RED']:.1f} %.",
        "",
        *counts(rows),
        "",
        *(f"* {name}: {text}" for name, text in NAMES.items()),
        "",
        "Settings are those of ns-2's agents: an initial window of two segments, a tick of 10 ms with a minimum of "
        "200 ms, halves of the window, no options; RED with `wait_` off, as in the paper of 1993.",
        "",
        "| number | recovery, ACKs, rate, one way, queue, flows | segments: ns-2, here | retransmissions | timeouts |",
        "|---|---|---|---|---|",
    ]
    for each in rows:
        cells = [f"{first:.6g}, {second:.6g}" + ("" if name == "5 %" else f": {name}") for first, second, name in
                 each.found[:3]]  # fmt: skip
        lines.append(f"| {each.number} | {network(each.number).label()} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="run ns-2 in every network, and record its results")
    parser.add_argument("--write", action="store_true", help="write docs/ns2-grid.md")
    arguments = parser.parse_args()
    known = record() if arguments.record else recorded()
    if shutil.which("ns") and not arguments.record:
        for number in range(0, NETWORKS, 40):
            assert in_ns2(network(number)) == known[str(number)], f"ns-2 has other results in network {number}"
    rows = [row(number, known) for number in range(NETWORKS)]
    text = page(rows)
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write("\n".join(counts(rows)) + "\n")
    unnamed = [each.number for each in rows if "none" in [name for _, _, name in each.found[:3]]]
    if unnamed:
        sys.stdout.write(f"without a name: {', '.join(map(str, unnamed))}\n")
    if text != PAGE.read_text(encoding="utf-8"):
        sys.stdout.write("docs/ns2-grid.md has other results: make ns2-grid writes it\n")
        return 1
    return int(bool(unnamed))


if __name__ == "__main__":
    sys.exit(main())
