"""The kernel's TCP on the emulator against the simulator, on the same six paths: `make live-validation`.

Each row is one flow of the kernel's own reno, cubic or bbr through `selfclock emulate`, and one of
the simulator's through `selfclock run`, both for 30 s. Existing rows are not repeated; `--write`
puts the table into docs/validation-linux.md. A row with a packet that left too late is repeated, up
to `--attempts` times; then the attempt whose worst packet was least late is used and marked. Only
lateness decides, not the measurements. The paths were chosen before the first run, so that each
rate, round-trip time, buffer and queue discipline occurs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

import selfclock as sc

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "validation-linux.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"

#: Length of a run, and the start of averaging of levels and rates: the slowest slow start has ended
#: by then.
DURATION_S, SETTLED_S = 30.0, 5.0


@dataclass(frozen=True)
class Case:
    """A path of the comparison."""

    rate_mbps: int
    rtt_ms: int
    buffer_bdp: float
    queue: str

    @property
    def name(self) -> str:
        """Name in files."""
        return f"{self.rate_mbps}m-{self.rtt_ms}ms-{self.buffer_bdp:g}bdp-{self.queue}"

    @property
    def title(self) -> str:
        """Its description, for readers."""
        return f"{self.rate_mbps} Mbit/s, {self.rtt_ms} ms, {self.buffer_bdp:g} BDP, {self.queue}"

    def scenario(self, control: str) -> str:
        """Return it as a scenario with one flow."""
        return f"""schema = 1
title = "{self.title}"
duration = "{DURATION_S:g} s"

[network]
topology = "dumbbell"
access = {{ rate = "1 Gbps", delay = "1 ms" }}
reverse = {{ rate = "1 Gbps", delay = "{self.rtt_ms / 2 - 2:g} ms", queue = "1000 packets" }}

[network.bottleneck]
rate = "{self.rate_mbps} Mbps"
delay = "{self.rtt_ms / 2 - 2:g} ms"
queue = {{ discipline = "{self.queue}", limit = "{self.buffer_bdp:g} bdp" }}

[[flow]]
congestion_control = {control}

[record]
interval = "20 ms"
"""


CASES = (
    Case(10, 20, 1, "drop-tail"),
    Case(10, 80, 4, "fq-codel"),
    Case(50, 20, 4, "drop-tail"),
    Case(50, 80, 1, "drop-tail"),
    Case(100, 20, 0.5, "drop-tail"),
    Case(100, 80, 1, "codel"),
)

#: The kernel's algorithm, and its closest counterpart here. Linux counts acknowledged segments
#: without a limit in slow start, halves the window instead of the flight, and rounds to whole
#: segments (net/ipv4/tcp_cong.c).
ALGORITHMS = {
    "reno": '{ window = "reno", counting = "per-byte", halved = "window", threshold = "whole-segments", '
    "segments_per_ack = 1000 }",
    "cubic": '{ window = "cubic", start = "hystart++" }',
    "bbr": '"bbr3"',
}


@dataclass(frozen=True)
class Measured:
    """Compared measurements, after `SETTLED_S`; drops are those of the whole run."""

    goodput_mbps: float
    srtt_ms: float
    window_segments: float
    drops: int
    retransmissions: int


def simulated(case: Case, control: str) -> Measured:
    """Run the simulator."""
    result = sc.Scenario.parse(case.scenario(control), case.name).run()
    series = pl.DataFrame(result.flows).filter(pl.col("time_s") >= SETTLED_S)
    flow = result.summary["flows"][0]
    acknowledged, times = series["acknowledged_bytes"], series["time_s"]
    payload = result.scenario.network.flows[0].payload_bytes or 1
    return Measured(
        (acknowledged[-1] - acknowledged[0]) * 8e-6 / (times[-1] - times[0]),
        statistics.fmean(series["srtt_s"]) * 1e3,
        statistics.fmean(series["cwnd_bytes"]) / payload,
        _drops(result.summary["links"]),
        flow["retransmitted_segments"],
    )


def emulated(case: Case, name: str, directory: Path) -> tuple[Measured, dict[str, Any]]:
    """Run the kernel; return its sender's measurements, and the lateness of the emulator."""
    directory.mkdir(parents=True, exist_ok=True)
    scenario, samples = directory / f"{case.name}.toml", directory / f"{case.name}-{name}.json"
    scenario.write_text(case.scenario('"reno"'), encoding="utf-8")
    out = directory / f"{case.name}-{name}"
    traffic = [sys.executable, str(HERE / "traffic.py")]
    # Room for four BDPs: the kernel's default of 4 MB includes its own overhead.
    words = [
        sys.executable, "-m", "selfclock", "emulate", str(scenario), "--out", str(out), "--no-live",
        "--sysctl", "net.ipv4.tcp_wmem=4096 16384 67108864", "--sysctl", "net.ipv4.tcp_rmem=4096 131072 67108864",
        "--host", "b", "--", *traffic, "receive", "5001",
        "--host", "a", "--", *traffic, "send", "b", "5001", "--for", str(DURATION_S), "--control", name, "--samples",
        str(samples),
    ]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if not (out / "summary.json").exists() or not samples.exists():
        sys.exit(f"{case.title}, {name}: {done.stderr}")
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    every = json.loads(samples.read_text(encoding="utf-8"))
    settled = [sample for sample in every if sample["time_s"] >= SETTLED_S]
    first, last = settled[0], settled[-1]
    measured = Measured(
        (last["bytes_acked"] - first["bytes_acked"]) * 8e-6 / (last["time_s"] - first["time_s"]),
        statistics.fmean(sample["srtt_us"] for sample in settled) / 1e3,
        statistics.fmean(sample["cwnd"] for sample in settled),
        _drops(summary["links"]),
        last["total_retrans"],
    )
    late = {key: value for key, value in summary["emulation"]["lateness"].items() if key != "histogram"}
    limited = {key: last[key] / 1e6 for key in ("rwnd_limited_us", "sndbuf_limited_us")}
    return measured, {**late, **limited}


def _drops(links: list[Any]) -> int:
    return next(int(link["drops"]) for link in links if link["name"] == "bottleneck")


def row(case: Case, name: str, directory: Path, attempts: int) -> dict[str, Any]:
    """Return a row of the comparison: from its file if valid, else from the first valid or least late attempt."""
    kept = directory / f"{case.name}-{name}.row.json"
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    kernel, late = emulated(case, name, directory)
    for attempt in range(1, attempts):
        sys.stderr.write(f"{case.title}, {name}: attempt {attempt}, worst {late['worst_s'] * 1e3:.1f} ms\n")
        if late["valid"]:
            break
        kernel, late = min((kernel, late), emulated(case, name, directory), key=lambda each: each[1]["worst_s"])
    found = {"path": case.title, "algorithm": name, "kernel": asdict(kernel), "lateness": late}
    found["simulator"] = asdict(simulated(case, ALGORITHMS[name]))
    if late["valid"]:
        kept.write_text(json.dumps(found, indent=2), encoding="utf-8")
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Return the comparison as a Markdown table."""
    lines = [
        "| path | algorithm | goodput, Mbit/s | smoothed RTT, ms | window, segments | drops | late, ms: 99 %, worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in rows:
        kernel, simulator, late = each["kernel"], each["simulator"], each["lateness"]
        pairs = [
            f"{kernel[key]:.{places}f} / {simulator[key]:.{places}f} ({_difference(kernel[key], simulator[key])})"
            for key, places in (("goodput_mbps", 2), ("srtt_ms", 1), ("window_segments", 1))
        ]
        invalid = "" if late["valid"] else " invalid"
        lines.append(
            f"| {each['path']} | {each['algorithm']} | {' | '.join(pairs)} | {kernel['drops']} / {simulator['drops']} "
            f"| {late['p99_s'] * 1e3:.2f}, {late['worst_s'] * 1e3:.1f}{invalid} |"
        )
    return "\n".join(lines) + "\n"


def _difference(kernel: float, simulator: float) -> str:
    return f"{(simulator / kernel - 1) * 100:+.1f} %" if kernel else "-"


def main() -> None:
    """Run the missing rows, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("results/live-validation"))
    parser.add_argument("--write", action="store_true", help="write the table into docs/validation-linux.md")
    parser.add_argument("--attempts", type=int, default=5, help="runs of a row until none of its packets is too late")
    given = parser.parse_args()
    rows = [row(case, name, given.out, given.attempts) for case in CASES for name in ALGORITHMS]
    made = table(rows)
    sys.stdout.write(made)
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{made}{END}{rest.partition(END)[2]}", encoding="utf-8")
    if not all(each["lateness"]["valid"] for each in rows):
        sys.exit("some runs were invalid, because packets left too late: run it again on an idle machine")


if __name__ == "__main__":
    main()
