"""The replay of a packet record: the drawing of the network, and each packet's position over time."""

from __future__ import annotations

import base64
import gzip
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from selfclock import _core
from selfclock.hops import Hops, hops_of
from selfclock.layout import MOST_ROUTERS
from selfclock.sketch import MOST_FLOWS, Group, groups_of, pace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from selfclock.layout import Layout
    from selfclock.network import Network
    from selfclock.result import Result

#: Maximum packet-hops of one replay, for a page of at most some 3 MB.
MOST_HOPS = 250_000
#: Null time in the columns of a replay.
NEVER = 2**32 - 1


@dataclass(frozen=True)
class Motion:
    """A replay: a document for the player, and columns of numbers."""

    document: dict[str, Any]
    columns: bytes
    #: Remarks for the reader: packets cut or folded.
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The document as JSON."""
        return json.dumps(self.document, separators=(",", ":"), allow_nan=False)

    @property
    def packed(self) -> str:
        """The columns one behind the other: gzip in Base64."""
        return base64.b64encode(gzip.compress(self.columns, 9, mtime=0)).decode()


def motion_of(result: Result, most: int = MOST_HOPS) -> Motion | None:
    """Prepare the replay of a run, or of its first `most` packet-hops; `None` for a network too large to draw.

    Raises `UnrecordedError` if the scenario does not record packets.
    """
    hops = hops_of(result, most)
    layout = hops.network.layout
    if layout is None:
        return None
    groups = groups_of(hops.network)
    edges, of_link = _edges(hops.network, layout)
    # Packets in flight when the record began had left before.
    origin = min(hops.begin, float(np.nanmin(hops.start, initial=hops.begin)))
    tick = max(1e-9, math.ceil((hops.end - origin) / 3.5) * 1e-9)
    group_of = np.zeros(len(hops.network.flows), dtype=np.int64)
    for index, group in enumerate(groups):
        group_of[list(group.flows)] = index
    columns, described = _columns(hops, of_link[hops.link], group_of, (origin, tick))
    document = {
        "origin": origin,
        "begin": hops.begin,
        "end": hops.end,
        "tick": tick,
        "rtt": _shortest_round_trip(hops.network),
        "quantity": "in flight" if "emulation" in result.summary else "window",
        "layout": {
            "places": [vars(place) for place in layout.places],
            "width": layout.width,
            "height": layout.height,
        },
        "edges": edges,
        "groups": [
            {
                "name": group.name,
                "algorithm": group.algorithm,
                "colour": group.colour,
                "window": _window(result, group, hops),
            }
            for group in groups
        ],
        "kinds": [{"word": word, "returns": back, "data": data} for _, word, back, data in _core.packet_kinds()],
        "columns": described,
    }
    return Motion(document, columns, tuple(_notes(hops, layout)))


def _notes(hops: Hops, layout: Layout) -> list[str]:
    notes = []
    if hops.cut:
        notes.append(f"Only the first {hops.end - hops.begin:.3g} s: a replay has at most {MOST_HOPS:,} packet-hops.")
    if layout.folded:
        notes.append(f"{layout.folded:,} hosts are drawn as bundles.")
    if len(hops.network.flows) > MOST_FLOWS:
        notes.append(f"One colour per algorithm: there are {len(hops.network.flows):,} flows.")
    return notes


def _edges(network: Network, layout: Layout) -> tuple[list[dict[str, Any]], NDArray[np.int64]]:
    """Return links as drawn, one direction between two places each, and the row of each link."""
    rows: list[dict[str, Any]] = []
    of_link = np.zeros(len(network.links), dtype=np.int64)
    for cable in layout.cables:
        for links, start, end in ((cable.there, cable.a, cable.b), (cable.back, cable.b, cable.a)):
            if not links:
                continue
            of_link[list(links)] = len(rows)
            link, one = network.links[links[0]], len(links) == 1
            rows.append({
                "name": link.name if one else f"{len(links):,} links",
                "a": start, "b": end, "bend": cable.bend, "about": pace(link),
                "limit_packets": link.limit_packets if one else None,
                "limit_bytes": link.limit_bytes if one else None,
            })  # fmt: skip
    return rows, of_link


def _shortest_round_trip(network: Network) -> float:
    """Return the least round-trip time of an empty network, without transmission times."""
    return min((flow.delay_s for flow in network.flows if flow.reverse), default=0.0)


def _window(result: Result, group: Group, hops: Hops) -> list[list[float]] | None:
    """Return times and window, in segments, of a flow with its own colour; for emulations the flight."""
    if len(group.flows) > 1 or group.algorithm == "udp" or not result.flows.num_rows:
        return None
    series = pl.DataFrame(result.flows).filter(
        (pl.col("flow").cast(pl.String) == group.name) & pl.col("time_s").is_between(hops.begin, hops.end)
    )
    flow = next(flow for flow in result.summary["flows"] if flow["name"] == group.name)
    if "emulation" in result.summary:
        path = next(flow for flow in result.scenario.network.flows if flow.name == group.name)
        column, segment = "in_flight_bytes", float(path.payload_bytes or 0)
    else:
        column, segment = "cwnd_bytes", flow["delivered_bytes"] / max(flow["delivered_segments"], 1)
    if not segment or not len(series):
        return None
    window = (series[column].cast(pl.Float64).fill_nan(0.0).fill_null(0.0) / segment).round(2)
    return [series["time_s"].round(9).to_list(), window.to_list()]


def _columns(
    hops: Hops, edge: NDArray[np.int64], group_of: NDArray[np.int64], clock: tuple[float, float]
) -> tuple[bytes, list[list[Any]]]:
    """Return the columns as bytes, and the name, type and length of each.

    Times are whole ticks since the origin: `enter` as differences from the row before, the others
    from another column.
    """
    origin, tick = clock

    def ticks(times: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.where(np.isnan(times), NEVER, np.round((np.nan_to_num(times) - origin) / tick)).astype(np.int64)

    enter, start = ticks(hops.enter), ticks(hops.start)
    still = start >= NEVER
    sent, arrive, leave = (np.where(still, start, ticks(times)) for times in (hops.sent, hops.arrive, hops.leave))
    parts: list[tuple[str, NDArray[Any]]] = [
        ("enter", np.diff(enter, prepend=0).astype(np.uint32)),
        ("start", (start - enter).astype(np.uint32)),
        ("sent", (sent - start).astype(np.uint32)),
        ("arrive", (arrive - start).astype(np.uint32)),
        ("leave", (leave - arrive).astype(np.uint32)),
        ("packet", hops.packet.astype(np.uint32)),
        ("number", hops.number.astype(np.uint32)),
        ("marked", np.minimum(ticks(hops.marked), NEVER).astype(np.uint32)),
        ("size", np.minimum(hops.size, 65_535).astype(np.uint16)),
        ("edge", edge.astype(np.uint16)),
        ("fate", hops.fate.astype(np.uint8)),
        ("group", group_of[np.maximum(hops.flow, 0)].astype(np.uint8)),
        ("again", hops.again.astype(np.uint8)),
        ("kind", hops.kind.astype(np.uint8)),
    ]
    kinds = {"uint32": "Uint32Array", "uint16": "Uint16Array", "uint8": "Uint8Array"}
    described = [[name, kinds[values.dtype.name], len(values)] for name, values in parts]
    return b"".join(values.astype(values.dtype.newbyteorder("<")).tobytes() for _, values in parts), described


def too_large(network: Network) -> str:
    """Say why a network has no replay."""
    return f"No replay: {len(network.nodes):,} nodes, and more than {MOST_ROUTERS} of them are routers."
