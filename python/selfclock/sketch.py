"""A sketch of a network: hosts, routers, links with rate, delay and queue, and the paths of the flows, as SVG."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock import style, units
from selfclock.layout import BESIDE, Cable, Layout, Place
from selfclock.svg import LETTER, LINE, svg, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from selfclock.network import Network, NetworkLink

#: Pixels: width of the default sketch and of one for a phone, and height of a row of hosts.
WIDE, NARROW, ROW = 820, 350, 30
#: Letters of a name in the middle of a drawing that are never cut, however many nodes there are in
#: a row.
WHOLE = 10
#: Flows with a line and a legend entry of their own; more share those of their algorithm.
MOST_FLOWS = 8
#: Entries of the list below the drawing.
MOST_ENTRIES = 12


@dataclass(frozen=True)
class Group:
    """Flows that share a colour: a single flow, or all flows of one algorithm."""

    name: str
    algorithm: str
    colour: str
    #: Indices of its flows.
    flows: tuple[int, ...]


def groups_of(network: Network) -> list[Group]:
    """Give each flow a colour; with more than `MOST_FLOWS`, each algorithm."""
    if len(network.flows) > MOST_FLOWS:
        members: dict[str, list[int]] = defaultdict(list)
        for index, flow in enumerate(network.flows):
            members[flow.algorithm].append(index)
        return [Group(f"{len(flows):,} × {algorithm}", algorithm, style.look(algorithm).colour, tuple(flows))
                for algorithm, flows in members.items()]  # fmt: skip
    colours = [style.look(flow.algorithm).colour for flow in network.flows]
    # As in the figures of a run, which omit short connections.
    among = [(colour, flow.connections) for colour, flow in zip(colours, network.flows, strict=True)]
    return [
        Group(flow.name, flow.algorithm, style.shade(colours[index], number), (index,))
        for index, (flow, number) in enumerate(zip(network.flows, style.numbers(among), strict=True))
    ]


class Sketch:
    """A drawing for notebooks and pages; `save` writes it."""

    def __init__(self, svg: str) -> None:
        #: The drawing as SVG text.
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing to a file that ends in .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise ValueError(f"{path}: a sketch is SVG; its file name must end in .svg")
        Path(path).write_text(self.svg, encoding="utf-8")


def sketch(network: Network, width: int = WIDE, *, flows: bool = True) -> Sketch:
    """Draw a network, this many pixels wide, with or without its flows.

    The drawing is wider if a row of nodes needs more room for names; a page then scrolls it. Beyond
    eight hosts of a router the rest are drawn as a bundle; of a network with more than 40 routers,
    only counts are shown.
    """
    if network.layout is None:
        words = f"{len(network.nodes):,} nodes, {len(network.links):,} links, {len(network.flows):,} flows"
        return Sketch(svg(width, 40, [text(10, 24, f"Too large to draw: {words}")], words))
    return Sketch(_Drawing(network, network.layout, width, groups_of(network) if flows else []).svg())


def _cut(name: str, letters: int) -> str:
    """Shorten a name in its middle: names differ at their ends."""
    return name if len(name) <= letters else f"{name[: max(letters - 3, 1)]}…{name[-2:]}"


def pace(link: NetworkLink) -> str:
    """Write a link's rate and delay, as "10 Mbit/s, 12 ms"; the rate of a delivery trace is its mean."""
    delay = units.written(link.delay_s, units.TIMES) if link.delay_s else "0 s"
    return f"{units.written(link.rate_bps, units.RATES)}{' mean' * link.trace}, {delay}"


def queue(link: NetworkLink) -> str:
    """Write a queue's discipline and limit, as "codel, 1,000 packets"; empty for drop-tail without a limit."""
    limit = "" if link.limit_packets is None else f"{link.limit_packets:,} packet{'s' * (link.limit_packets != 1)}"
    if link.limit_bytes is not None:
        limit = units.written(link.limit_bytes, units.SIZES)
    return ", ".join(filter(None, ("" if link.discipline == "drop-tail" and not limit else link.discipline, limit)))


def _about(link: NetworkLink) -> str:
    """Describe a link in one line."""
    return ", ".join(filter(None, (pace(link), queue(link), *link.mechanisms, "changing" if link.changes else "")))


@dataclass
class _Drawing:
    """The drawing of a layout, in pixels."""

    network: Network
    layout: Layout
    width: int
    groups: list[Group]
    parts: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        longest = max((len(place.name) for place in self.layout.places if place.kind != "router"), default=4)
        #: Letters of a host's name that fit beside it.
        self.letters = min(longest, 18 if self.width > NARROW * 1.5 else 9)
        self.margin = 24 + LETTER * self.letters
        #: Width of the page, which bounds the list below the drawing.
        self.page = self.width
        self.step = max((self.width - 2 * self.margin) / max(self.layout.width, BESIDE), self._least())
        self.width = max(self.width, math.ceil(2 * self.margin + self.step * self.layout.width))
        bends = [cable.bend for cable in self.layout.cables]
        self.top = 40 + ROW * max(-min(bends, default=0) - 1, 0)

    def _least(self) -> float:
        """Return the smallest step at which names between the ends are not cut."""
        inner = [place for place in self.layout.places if place.kind == "router" or not self._at_an_end(place)]
        rooms = [LETTER * min(len(place.name) + 2, WHOLE) if place.kind == "router"
                 else LETTER * min(len(place.name), WHOLE) + 31 for place in inner]  # fmt: skip
        return max(rooms, default=0.0)

    def _at_an_end(self, place: Place) -> bool:
        """Whether one side of a place is free."""
        return place.x in {0, self.layout.width}

    def spot(self, place: Place) -> tuple[float, float]:
        return self.margin + place.x * self.step, self.top + place.y * ROW

    def svg(self) -> str:
        self._cables()
        self._ways()
        self._labels()
        for place in self.layout.places:
            self._node(place)
        bends = [cable.bend for cable in self.layout.cables]
        height = self._list(self.top + self.layout.height * ROW + 44 + ROW * max(*bends, 0.0))
        network = self.network
        title = f"{len(network.nodes):,} nodes, {len(network.links):,} links, {len(network.flows):,} flows"
        return svg(self.width, height, self.parts, title, shrinks=self.width == self.page)

    def curve(self, cable: Cable, aside: float = 0.0) -> tuple[list[tuple[float, float]], str]:
        """Return the ends and middle of a cable's line, shifted sideways by this many pixels, and its SVG path."""
        (ax, ay), (bx, by) = (self.spot(self.layout.places[end]) for end in (cable.a, cable.b))
        length = max(((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5, 1e-9)
        dx, dy = -(by - ay) / length * aside, (bx - ax) / length * aside
        ax, ay, bx, by = ax + dx, ay + dy, bx + dx, by + dy
        middle = ((ax + bx) / 2, (ay + by) / 2 + cable.bend * ROW)
        if not cable.bend:
            return [(ax, ay), middle, (bx, by)], f"M{ax:.1f} {ay:.1f}L{bx:.1f} {by:.1f}"
        # A quadratic curve deviates from the line by half the distance of its control point.
        control = (middle[0], (ay + by) / 2 + 2 * cable.bend * ROW)
        return [(ax, ay), middle, (bx, by)], f"M{ax:.1f} {ay:.1f}Q{control[0]:.1f} {control[1]:.1f} {bx:.1f} {by:.1f}"

    def _cables(self) -> None:
        for cable in self.layout.cables:
            bundle = "bundle" in {self.layout.places[end].kind for end in (cable.a, cable.b)}
            self.parts.append(f'<path d="{self.curve(cable)[1]}" fill="none" stroke="currentColor" '
                              f'stroke-opacity="0.22" stroke-width="{11 if bundle else 7}"/>')  # fmt: skip

    def _ways(self) -> None:
        """Draw the data path of each group, beside those of the others."""
        links = self.network.links
        ways = [(at, there, members) for at, cable in enumerate(self.layout.cables)
                for there, members in ((True, cable.there), (False, cable.back))]  # fmt: skip
        of_link = {links[link].name: (at, there) for at, there, members in ways for link in members}
        on: dict[int, list[str]] = defaultdict(list)
        for group in self.groups[:MOST_FLOWS]:
            flows = [self.network.flows[flow] for flow in group.flows]
            for at, _ in sorted({of_link[link.name] for flow in flows for link in flow.forward}):
                on[at].append(group.colour)
        for at, colours in on.items():
            for number, colour in enumerate(colours):
                apart = min(2.6, 7 / len(colours))
                _, path = self.curve(self.layout.cables[at], (number - (len(colours) - 1) / 2) * apart)
                self.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{apart * 0.75:.1f}"/>')

    def _labels(self) -> None:
        """Write rate, delay and queue at links between routers if there is room, otherwise in the list."""
        of_hosts: dict[object, list[NetworkLink]] = defaultdict(list)
        for cable in self.layout.cables:
            a, b = (self.layout.places[end] for end in (cable.a, cable.b))
            said = [(arrow, self.network.links[links[0]]) for arrow, links in (("→", cable.there), ("←", cable.back))
                    if links]  # fmt: skip
            if {a.kind, b.kind} != {"router"}:
                for link in cable.there + cable.back:
                    each = self.network.links[link]
                    alike = (each.rate_bps, each.delay_s, each.limit_packets, each.limit_bytes, each.discipline,
                             each.mechanisms, each.trace, each.constant)  # fmt: skip
                    of_hosts[alike].append(each)
                continue
            if a.x > b.x:
                said = [("←" if arrow == "→" else "→", link) for arrow, link in said]
            ((ax, ay), (x, y), (bx, by)), _ = self.curve(cable)
            if len({_about(link) for _, link in said}) == 1:
                said = [("", said[0][1])]
            lines = [(f"{arrow} {pace(link)}".strip(), ", ".join(filter(None, (queue(link), *link.mechanisms))))
                     for arrow, link in said]  # fmt: skip
            widest = max(len(line) for pair in lines for line in pair) * LETTER
            if abs(ay - by) < ROW and widest < abs(bx - ax) - 30:
                self._beside(x, y, lines)
            else:
                number = str(len(self.entries) + 1)
                ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="var(--paper, #fff)" stroke="currentColor"/>'
                self.parts.append(ring + text(x, y + 4, number, "middle", stroke="none"))
                self.entries.append((number, ", ".join(f"{link.name} {_about(link)}" for _, link in said)))
        for links in of_hosts.values():
            more = f" and {len(links) - 2:,} more" if len(links) > 2 else ""
            names = ", ".join(link.name for link in links[:2]) + more if len(of_hosts) > 1 else "links of hosts"
            self.entries.append(("–", f"{names}: {_about(links[0])}"))

    def _beside(self, x: float, y: float, lines: Sequence[tuple[str, str]]) -> None:
        """Write the forward path's properties above the line, the reverse path's below it."""
        above, below = [*lines[0]], [word for pair in lines[1:] for word in pair]
        above, below = [word for word in above if word], [word for word in below if word]
        if not below and len(above) > 1:
            above, below = above[:1], above[1:]
        for row, words in enumerate(reversed(above)):
            self.parts.append(text(x, y - 10 - row * LINE, words, "middle"))
        for row, words in enumerate(below):
            self.parts.append(text(x, y + 20 + row * LINE, words, "middle"))

    def _node(self, place: Place) -> None:
        x, y = self.spot(place)
        tip = f"<title>{escape(place.name)}</title>"
        paper = 'fill="var(--paper, #fff)" stroke="currentColor" stroke-width="1.4"'
        if place.kind == "router":
            self.parts.append(
                f'<g>{tip}<rect x="{x - 11:.1f}" y="{y - 11:.1f}" width="22" height="22" rx="5" {paper}/>'
                f'<path d="M{x - 6:.1f} {y - 6:.1f}l12 12m0 -12l-12 12" stroke="currentColor" stroke-width="1.4"/>'
                f"{text(x, y - 17, _cut(place.name, max(int(self.step / LETTER) - 1, 6)), 'middle')}</g>"
            )
            return
        shift = 4 if place.kind == "bundle" else 0
        behind = f'<circle cx="{x + shift}" cy="{y - shift}" r="7" {paper}/>' if shift else ""
        leftmost = place.x < self.layout.width / 2 if self._at_an_end(place) else _hangs_left(place)
        at, anchor = (x - 13, "end") if leftmost else (x + 13 + shift, "start")
        letters = self.letters if self._at_an_end(place) else min(self.letters, max(int((self.step - 30) / LETTER), 4))
        self.parts.append(f'<g>{tip}{behind}<circle cx="{x:.1f}" cy="{y:.1f}" r="7" {paper}/>'
                          f"{text(at, y + 4, _cut(place.name, letters), anchor)}</g>")  # fmt: skip

    def _list(self, y: float) -> float:
        """Write the list of links and flows below the drawing; return its lower end."""
        letters = int((self.page - 30) / LETTER)
        flows = [(group.colour, self._flow(group)) for group in self.groups]
        rows: list[tuple[str, str, str]] = [("", mark, words) for mark, words in self.entries]
        rows += [(colour, "●", words) for colour, words in flows]
        left_out = len(rows) - MOST_ENTRIES - len(flows[:MOST_FLOWS])
        if left_out > 1:
            rows = rows[: len(rows) - left_out]
            rows.append(("", "", f"and {left_out:,} more"))
        for colour, mark, words in rows:
            fill = {"fill": colour} if colour else {}
            self.parts.append(text(8, y, mark, **fill))
            for line in textwrap.wrap(words, letters)[:3]:
                self.parts.append(text(24, y, line))
                y += LINE
        return y

    def _flow(self, group: Group) -> str:
        if len(group.flows) > 1:
            return f"{group.name} flows" if group.algorithm != "udp" else f"{len(group.flows):,} UDP flows"
        flow = self.network.flows[group.flows[0]]
        names = flow.nodes if len(flow.nodes) <= 3 else [flow.nodes[0], flow.nodes[-1]]
        algorithm = "UDP" if flow.algorithm == "udp" else flow.algorithm
        return f"{flow.name}: {algorithm}, {' → '.join(names)}{', short connections' * flow.connections}"


def _hangs_left(place: Place) -> bool:
    """Whether a host below a router hangs to its left."""
    return (place.x - BESIDE) % 1 > 0.5
