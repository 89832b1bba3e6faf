"""Live figures: plots and packets in motion in place of stills, if `make lab` has built the laboratory."""

from __future__ import annotations

import html
import json
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, InclusionLevel

import selfclock as sc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).parents[2]
DIST = ROOT / "lab" / "dist"
#: Files loaded by a page with a live figure; the script fetches the others from the same folder.
FILES = ("embed.js", "embed.css", "worker.js", "selfclock.wasm")

#: A still figure, in both editions, as rendered from Markdown.
STILL = re.compile(r'<p>\s*<img alt="(?P<name>[a-z-]+)" class="figure"[^>]*>\s*<img [^>]*>\s*</p>')


@dataclass(frozen=True)
class Live:
    """A live figure: its plots, whether packets are animated, and its scenarios."""

    panels: tuple[str, ...]
    motion: bool
    variants: dict[str, Callable[[], sc.Scenario]]

    def attribute(self) -> str:
        """The figure as the script reads it."""
        variants = [{"label": label, "toml": scenario().text} for label, scenario in self.variants.items()]
        return json.dumps({"panels": self.panels, "motion": self.motion, "variants": variants})


def _first_trips(**control: object) -> Callable[[], sc.Scenario]:
    transport = {"initial_window": "2 segments", "handshake": False}
    flows: list[Any] = [{"congestion_control": control}]
    return lambda: sc.dumbbell("1 Mbps", "100 ms", "100 packets", flows, duration="0.5 s", transport=transport)


def _start(name: str) -> Callable[[], sc.Scenario]:
    control: dict[str, Any] = {"window": "cubic", "start": name, **({"tick": "1 ms"} if name == "packet-pair" else {})}
    return lambda: sc.dumbbell("50 Mbps", "60 ms", "1 bdp", [{"congestion_control": control}], duration="1.5 s")


def _two(name: str) -> Callable[[], sc.Scenario]:
    flows: list[Any] = [{"congestion_control": name}, {"congestion_control": name, "start": "10 s"}]
    return lambda: sc.dumbbell("100 Mbps", "40 ms", "1 bdp", flows, duration="60 s")


def _layered(name: str) -> Callable[[], sc.Scenario]:
    transport = {"initial_ssthresh": "100 segments"}
    return lambda: sc.dumbbell("200 Mbps", "120 ms", "0.5 bdp", [name], duration="120 s", transport=transport)


#: The scenarios of the stills in figures.py, each alone, by the name of the figure.
LIVE = {
    "clock": Live(("window", "queue"), True, {"slow start": _first_trips(window="reno")}),
    "pairs": Live(("queue",), True, {
        "packet-pair": _first_trips(start="packet-pair", window="reno", tick="1 ms"),
        "slow start": _first_trips(window="reno"),
    }),
    "sawtooth": Live(("window", "queue"), False, {
        "Reno": lambda: sc.dumbbell("10 Mbps", "40 ms", "1 bdp", ["reno"], duration="30 s"),
    }),
    "overshoot": Live(("window", "rate", "queue"), True, {
        name: _start(name) for name in ("slow-start", "hystart++", "packet-pair", "modified-swift-start")
    }),
    "layered": Live(("window",), False, {name: _layered(name) for name in ("altcp", "ltcp", "highspeed", "reno")}),
    "windows": Live(("rate", "queue"), False, {
        name: _two(name) for name in ("reno", "cubic", "highspeed", "scalable")
    }),
    "delay": Live(("rate", "queue"), False, {name: _two(name) for name in ("vegas", "fast")}),
}  # fmt: skip


def built() -> bool:
    """Return whether the laboratory can be embedded."""
    return all((DIST / name).is_file() for name in FILES)


def files(config: MkDocsConfig) -> Iterator[File]:
    """Yield the laboratory's files needed by live figures; none if it was not built."""
    for name in FILES if built() else ():
        path = str(DIST / name)
        yield File.generated(config, f"lab/{name}", abs_src_path=path, inclusion=InclusionLevel.INCLUDED)


def enliven(content: str) -> str:
    """Mark each still that can run in place."""

    def wrapped(match: re.Match[str]) -> str:
        live = LIVE.get(match["name"])
        if live is None:
            return match[0]
        told = html.escape(live.attribute())
        return f'<div class="live" data-live="{told}"><div class="still">{match[0]}</div></div>'

    return STILL.sub(wrapped, content) if built() else content


def load(output: str, page: str) -> str:
    """Load the script on a page with live figures."""
    if '<div class="live"' not in output:
        return output
    up = posixpath.relpath("lab", posixpath.dirname(page) or ".")
    tags = f'<link rel="stylesheet" href="{up}/embed.css"><script defer src="{up}/embed.js"></script>'
    return output.replace("</head>", f"{tags}</head>", 1)
