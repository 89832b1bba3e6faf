"""Starter files: a commented scenario, the examples, and their delivery traces."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from selfclock import _core


@dataclass(frozen=True)
class Example:
    """An example: its description and files."""

    about: str
    files: tuple[str, ...]


#: All of it is made up by this project, the traces by lte_trace.py, under the program's licence.
EXAMPLES = {
    "one-flow": Example("one flow over 10 Mbit/s and 40 ms", ("one-flow.toml",)),
    "packet-pair-vs-reno": Example("slow start beside packet pairs on a slow link", ("packet-pair-vs-reno.toml",)),
    "two-paths-graph": Example("a graph with two paths, TCP and UDP", ("two-paths-graph.toml",)),
    "holes": Example("a quarter of a window of 50,000 segments is lost", ("holes.toml",)),
    "drops": Example("three packets of a slow start are lost, and the timer expires", ("drops.toml",)),
    "dctcp-queue": Example("DCTCP keeps a queue at its marking threshold", ("dctcp-queue.toml",)),
    "fat-tree": Example("flows spread over the equal paths of a fat tree", ("fat-tree.toml",)),
    "buffers": Example("a grid: three algorithms with four buffer sizes", ("buffers.toml", "one-flow.toml")),
    "lte": Example(
        "a synthetic cellular link of varying rate, and the trace of a worse one",
        ("lte.toml", "lte.trace", "train.trace", "lte_trace.py"),
    ),
}


def text(file: str) -> str:
    """Return the text of a file of the examples."""
    return dict(_core.examples())[file]


def commented_scenario() -> str:
    """Return a scenario with a comment on every line that one would change."""
    return (resources.files("selfclock") / "templates" / "scenario.toml.in").read_text(encoding="utf-8")
