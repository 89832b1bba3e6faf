"""Runs of documents, and what they measured."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import polars as pl

import selfclock as sc
from laws.law import Document, equal
from selfclock.scenario.toml import to_toml
from selfclock.series import packet_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Bits of a byte, and picoseconds of a second.
BITS, SECOND = 8, 10**12
#: Keys of a summary that are about the computation, not about the network.
ABOUT = ("cpu_s", "events", "packet_hops", "scenario", "seed")


def scenario(document: Document) -> sc.Scenario:
    """Return the checked scenario of a document."""
    return sc.Scenario.parse(to_toml(document))


def run(document: Document, *, threads: int = 1) -> sc.Result:
    """Run a document."""
    return scenario(document).run(threads=threads)


def totals(result: sc.Result, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return every number of the summary that is about the network."""
    found: dict[str, Any] = {
        key: value for key, value in result.summary.items() if key not in ABOUT and key not in without
    }
    return found


def series(result: sc.Result) -> dict[str, Any]:
    """Return every sample."""
    return {"flows": pl.DataFrame(result.flows).to_dicts(), "links": pl.DataFrame(result.links).to_dicts()}


def same(first: Document, second: Document, what: str, *, samples: bool = False) -> None:
    """Break the law unless two documents have the same results to the bit."""
    one, other = run(first), run(second)
    equal(totals(other), totals(one), what)
    if samples:
        equal(series(other), series(one), f"{what}, series")


def changed(document: Document, change: Callable[[Document], object]) -> Document:
    """Return a changed copy."""
    made = copy.deepcopy(document)
    change(made)
    return made


def recorded(document: Document) -> tuple[sc.Result, pl.DataFrame]:
    """Run a document with its packets recorded, times in whole picoseconds as `time`."""
    made = changed(document, lambda each: each.setdefault("record", {}).update(packets=True))
    result = run(made)
    packets = packet_record(result)
    return result, packets.with_columns((pl.col("time_s") * float(SECOND)).round().cast(pl.Int64).alias("time"))


def flow(result: sc.Result, place: int = 0) -> dict[str, Any]:
    """Return the summary of a flow."""
    return dict(result.summary["flows"][place])


def link(result: sc.Result, name: str = "bottleneck") -> dict[str, Any]:
    """Return the summary of a link."""
    return dict(next(each for each in result.summary["links"] if each["name"] == name))


def goodput(result: sc.Result) -> float:
    """Return the goodput of all flows together, bit/s."""
    return sum(each["goodput_bps"] for each in result.summary["flows"])


# --- quantities -----------------------------------------------------------------------------------

TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": SECOND, "min": 60 * SECOND, "h": 3600 * SECOND}
RATES = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "KiB": 1024}


def picoseconds(text: str) -> int:
    """Read a time."""
    number, unit = text.split()
    return round(float(number) * TIMES[unit])


def seconds(text: str) -> float:
    """Read a time, in seconds."""
    return picoseconds(text) / SECOND


def bps(text: str) -> int:
    """Read a rate."""
    number, unit = text.split()
    return round(float(number) * RATES[unit])


def nbytes(text: str) -> int:
    """Read a size."""
    number, unit = text.split()
    return round(float(number) * SIZES[unit])


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:  # noqa: ANN401
    """Yield the place and the value of every text in a document."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(part, (*path, key))


def put(document: Any, path: tuple[Any, ...], value: object) -> None:  # noqa: ANN401
    """Set the value at a place of a document."""
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def rewritten(document: Document, rewrite: Callable[[str, str, tuple[Any, ...]], str | None]) -> Document:
    """Return a copy in which each quantity, of a number and a unit, is rewritten; `None` leaves it."""
    made = copy.deepcopy(document)
    for path, text in list(texts(document)):
        number, _, unit = text.partition(" ")
        if unit and number.replace(".", "").isdigit():
            new = rewrite(number, unit, path)
            if new is not None:
                put(made, path, new)
    return made
