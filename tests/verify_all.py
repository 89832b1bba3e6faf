"""Verifies the packet records of every scenario in the repository and of random ones: make verify, make verify-night.

Scenarios that would record more than some million packet events run for less simulated time here,
as listed in `SHORTENED`. Of the scenarios that papers build in Python, some of each part run, for a
time with about `PAPER_HOPS` expected packet-hops.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

import selfclock as sc

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/python"))

from random_scenarios import scenarios  # noqa: E402
from selfclock.reproduce import PAPERS  # noqa: E402
from selfclock.verify import verify  # noqa: E402
from test_verify import recorded  # noqa: E402

#: Overrides that keep the record of a scenario small, by its path; the others run unchanged.
SHORTENED = {
    "examples/holes.toml": "1.2 s",
    "examples/two-paths-graph.toml": "25 s",
    "python/selfclock/benches/A1.toml": "1.5 s",
    "python/selfclock/benches/A100.toml": "0.6 s",
    "python/selfclock/benches/A100L.toml": "0.6 s",
    "python/selfclock/benches/B1.toml": "0.5 s",
    "python/selfclock/benches/B100.toml": "1.2 s",
    "python/selfclock/benches/C10k.toml": "0.06 s",
    "python/selfclock/benches/D100G.toml": "0.2 s",
    "python/selfclock/benches/H100.toml": "0.6 s",
    "python/selfclock/benches/H1000.toml": "0.1 s",
    "python/selfclock/benches/J100.toml": "0.6 s",
    "python/selfclock/benches/L100.toml": "1.2 s",
    "python/selfclock/benches/P.toml": "0.2 s",
    "python/selfclock/benches/Q100.toml": "0.6 s",
    "python/selfclock/benches/R1.toml": "0.5 s",
    "python/selfclock/benches/U100.toml": "0.5 s",
    "python/selfclock/benches/W.toml": "0.5 s",
}

#: Scenarios per part of a paper's study, spread over the part, until about this many packet-hops.
PAPER_RUNS, PAPER_HOPS = 6, 30_000
#: Minimum duration, s: before it some networks send nothing.
LEAST_S = 0.3


def files() -> list[Path]:
    """Return every scenario file of the repository."""
    found = [path for folder in ("examples", "python") for path in sorted((ROOT / folder).rglob("*.toml"))]
    return [
        path
        for path in found
        if "schema = 1" in path.read_text(encoding="utf-8") and "[network]" in path.read_text(encoding="utf-8")
    ]


def verify_file(path: Path) -> bool:
    """Run and verify one file; report the outcome."""
    name = str(path.relative_to(ROOT))
    length = [f"duration={SHORTENED[name]}"] if name in SHORTENED else []
    clock = time.process_time()
    record = recorded(sc.Scenario.load(path, [*length, "record.packets=true"]))
    findings = verify(record)
    spent = time.process_time() - clock
    shortened = f" ({SHORTENED[name]} of it)" if length else ""
    sys.stdout.write(f"{name}{shortened}: {record.packets.height:,} events, {findings.verdict()}; {spent:.0f} s\n")
    for violation in findings.violations[:20]:
        sys.stdout.write(f"  {violation}\n")
    sys.stdout.flush()
    return not findings.violations


def verify_paper(paper: str) -> bool:
    """Verify some of the networks that a paper builds in Python; report the outcome."""
    clock = time.process_time()
    events = runs = 0
    failed = False
    for part in importlib.import_module(PAPERS[paper]).study().parts:
        for scenario in part.scenarios[:: -(-len(part.scenarios) // PAPER_RUNS) or 1]:
            share = PAPER_HOPS / max(scenario.expected_packet_hops, 1)
            duration = max(min(1.0, share) * scenario.duration_s, min(LEAST_S, scenario.duration_s))
            shorter = [f"duration={duration:.6f} s", "record.packets=true", "seed=" + str(scenario.seed)]
            record = recorded(sc.Scenario.parse(scenario.text, overrides=shorter))
            findings = verify(record)
            events += record.packets.height
            runs += 1
            if findings.violations:
                failed = True
                sys.stdout.write(f"{paper}, {scenario.name}, {duration:g} s of it: {findings.verdict()}\n")
                for violation in findings.violations[:5]:
                    sys.stdout.write(f"  {violation}\n")
    spent = time.process_time() - clock
    sys.stdout.write(
        f"{paper}: {runs} networks, {events:,} events, {'FAILED' if failed else 'no violation'}; {spent:.0f} s\n"
    )
    sys.stdout.flush()
    return not failed


def verify_random(count: int, start: int) -> None:
    """Verify this many random scenarios; shrink and show the first that fails."""
    events = 0

    @seed(start)
    @settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(scenarios())
    def each(text: str) -> None:
        nonlocal events
        record = recorded(sc.Scenario.parse(text))
        events += record.packets.height
        findings = verify(record)
        assert not findings.violations, "\n".join(map(str, findings.violations[:20])) + "\n\n" + text

    each()
    sys.stdout.write(f"{count} random scenarios from seed {start}: {events:,} events, no violation\n")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=200, metavar="COUNT", help="random scenarios")
    parser.add_argument("--seed", type=int, help="of the random scenarios; any, and printed, if not given")
    parser.add_argument("--only-random", action="store_true", help="leave the files out")
    arguments = parser.parse_args()
    start = random.SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    failed: list[object] = []
    if not arguments.only_random:
        failed = [path for path in files() if not verify_file(path)]
        failed += [paper for paper in PAPERS if not verify_paper(paper)]
    sys.stdout.write(f"random scenarios from seed {start}\n")
    verify_random(arguments.random, start)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
