"""Placement of a network's nodes: routers in layers from left to right by hops, hosts beside their router."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selfclock.network import Network

#: Hosts drawn at one side of a router; more are folded into a bundle.
MOST_HOSTS = 8
#: Maximum number of routers; a drawing of more is illegible.
MOST_ROUTERS = 40
#: Rows between routers of one layer, and between a router and hosts below it.
APART, BELOW = 5.0, 2.2
#: Layers between a router and hosts beside it: the space is for the links between routers.
BESIDE = 0.6

Kind = Literal["host", "router", "bundle"]


@dataclass(frozen=True)
class Place:
    """A node, or a bundle of hosts, in the drawing: x in layers, y in rows, downwards."""

    name: str
    x: float
    y: float
    kind: Kind
    #: Number of nodes it represents.
    count: int = 1


@dataclass(frozen=True)
class Cable:
    """The links between two places, both ways; those of a bundle are one cable."""

    a: int
    b: int
    #: Indices of the links of the network, from a to b and from b to a.
    there: tuple[int, ...]
    back: tuple[int, ...]
    #: Offset of its middle from the straight line, in rows, to avoid obstacles.
    bend: float = 0.0


@dataclass(frozen=True)
class Layout:
    """A drawing of a network, without styles."""

    places: tuple[Place, ...]
    cables: tuple[Cable, ...]
    #: Index of the place of each node.
    place_of: tuple[int, ...]
    #: Greatest x and y; the least are 0.
    width: float
    height: float

    @property
    def folded(self) -> int:
        """Hosts that are drawn as bundles."""
        return sum(place.count for place in self.places if place.kind == "bundle")


def layout_of(network: Network) -> Layout | None:
    """Place a network; `None` if it has more than `MOST_ROUTERS` routers.

    >>> import selfclock as sc
    >>> [(place.name, place.x) for place in layout_of(sc.dumbbell().network).places]
    [('left', 0.6), ('right', 1.6), ('source1', 0.0), ('sink1', 2.2)]
    """
    node_of = {name: node for node, name in enumerate(network.nodes)}
    neighbours: list[set[int]] = [set() for _ in network.nodes]
    for link in network.links:
        source, target = node_of[link.source], node_of[link.target]
        neighbours[source].add(target)
        neighbours[target].add(source)
    ways = list(dict.fromkeys(tuple(node_of[name] for name in flow.nodes) for flow in network.flows))
    ends = {node for way in ways for node in (*way[:1], *way[-1:])} - {node for way in ways for node in way[1:-1]}
    inner = {node for node, near in enumerate(neighbours) if len(near) != 1}
    # If two nodes have only each other, neither is a router.
    inner |= {node for node, near in enumerate(neighbours) if node not in inner and not near & inner}
    if len(inner) > MOST_ROUTERS:
        return None
    routes = list(dict.fromkeys(tuple(node for node in way if node in inner) for way in ways))
    layers = _layers(sorted(inner), routes, neighbours)
    spots = _rows(layers, routes)
    drawn: list[tuple[Place, tuple[int, ...]]] = [
        (Place(network.nodes[node], *spots[node], "host" if node in ends else "router"),
         (node,)) for node in sorted(inner)
    ]  # fmt: skip
    drawn += _hosts(network.nodes, {way[0] for way in ways if way}, neighbours, layers, spots)
    left, top = min(place.x for place, _ in drawn), min(place.y for place, _ in drawn)
    places = tuple(Place(place.name, place.x - left, place.y - top, place.kind, place.count) for place, _ in drawn)
    place_of = [0] * len(network.nodes)
    for index, (_, nodes) in enumerate(drawn):
        for node in nodes:
            place_of[node] = index
    return Layout(
        places,
        tuple(_cables(network, place_of, places)),
        tuple(place_of),
        max(place.x for place in places),
        max(place.y for place in places),
    )


def _layers(inner: Sequence[int], routes: Iterable[tuple[int, ...]], neighbours: Sequence[set[int]]) -> dict[int, int]:
    """Give each router the number of hops on the longest path to it; return paths are not counted."""
    after: dict[int, set[int]] = defaultdict(set)

    def reaches(node: int, other: int) -> bool:
        return node == other or any(reaches(following, other) for following in after[node])

    for route in routes:
        for node, following in pairwise(route):
            if following not in after[node] and not reaches(following, node):
                after[node].add(following)
    layers: dict[int, int] = {}

    def layer(node: int) -> int:
        if node not in layers:
            layers[node] = 1 + max((layer(other) for other in inner if node in after[other]), default=-1)
        return layers[node]

    routed = [node for node in inner if after[node] or any(node in following for following in after.values())]
    for node in routed or inner[:1]:
        layer(node)
    waiting = [node for node in inner if node not in layers]
    while waiting:
        near = [node for node in waiting if neighbours[node] & layers.keys()] or waiting[:1]
        for node in near:
            layers[node] = 1 + min((layers[other] for other in neighbours[node] if other in layers), default=-1)
        waiting = [node for node in waiting if node not in layers]
    return layers


def _rows(layers: dict[int, int], routes: Sequence[tuple[int, ...]]) -> dict[int, tuple[float, float]]:
    """Put the longest path on one line, and everything else in layers below and above it."""
    main = max(routes, key=len, default=())
    spots: dict[int, tuple[float, float]] = {}
    for at in range(max(layers.values(), default=0) + 1):
        of_layer = sorted((node for node in layers if layers[node] == at), key=lambda node: (node not in main, node))
        for place, node in enumerate(of_layer):
            aside = place + (of_layer[0] not in main)
            spots[node] = (float(at), APART * ((aside + 1) // 2) * (1 if aside % 2 else -1))
    return spots


def _hosts(
    names: Sequence[str],
    starts: set[int],
    neighbours: Sequence[set[int]],
    layers: dict[int, int],
    spots: dict[int, tuple[float, float]],
) -> list[tuple[Place, tuple[int, ...]]]:
    """Place the nodes around one router, beside it where there is room, below it otherwise."""
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    # Where the routers beside each router are, in layers from it.
    beside = {router: {layers[other] - layers[router] for other in neighbours[router] if other in layers}
              for router in layers}  # fmt: skip
    for node, near in enumerate(neighbours):
        if node in layers:
            continue
        (router,) = near
        left, right = min(beside[router], default=0) >= 0, max(beside[router], default=0) <= 0
        source = node in starts
        if left and right:
            side = "left" if source else "right"
        elif left or right:
            side = "left" if left else "right"
        else:
            side = "below right" if source else "below left"
        groups[router, side].append(node)
    drawn: list[tuple[Place, tuple[int, ...]]] = []
    for (router, side), nodes in groups.items():
        shown = nodes if len(nodes) <= MOST_HOSTS else nodes[: MOST_HOSTS - 1]
        bundles: list[tuple[tuple[int, ...], str]] = [((node,), names[node]) for node in shown]
        if len(shown) < len(nodes):
            rest = tuple(nodes[len(shown) :])
            bundles.append((rest, f"{len(rest):,} more"))
        x, y = spots[router]
        for row, (members, name) in enumerate(bundles):
            if side in {"left", "right"}:
                spot = (x - BESIDE if side == "left" else x + BESIDE, y + row - (len(bundles) - 1) / 2)
            else:
                spot = (x + (0.3 if side == "below right" else -0.3), y + BELOW + (side == "below right") + row)
            drawn.append((Place(name, *spot, "bundle" if len(members) > 1 else "host", len(members)), members))
    return drawn


def _cables(network: Network, place_of: Sequence[int], places: Sequence[Place]) -> Iterable[Cable]:
    """Pair the links between two places; parallel cables bend apart, and a long one bends around obstacles."""
    node_of = {name: node for node, name in enumerate(network.nodes)}
    there: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, link in enumerate(network.links):
        there[place_of[node_of[link.source]], place_of[node_of[link.target]]].append(index)
    for a, b in dict.fromkeys((a, b) if (a, b) in there and (a <= b or (b, a) not in there) else (b, a)
                              for a, b in there):  # fmt: skip
        forward, backward = there.get((a, b), []), there.get((b, a), [])
        between = any(
            abs(place.y - places[a].y) < 1 and min(places[a].x, places[b].x) < place.x < max(places[a].x, places[b].x)
            for place in places
        ) and places[a].y == places[b].y  # fmt: skip
        if "bundle" in {places[a].kind, places[b].kind}:
            yield Cable(a, b, tuple(forward), tuple(backward))
            continue
        for number in range(max(len(forward), len(backward))):
            aside = number + between
            yield Cable(a, b, tuple(forward[number : number + 1]), tuple(backward[number : number + 1]),
                        2.4 * ((aside + 1) // 2) * (-1 if aside % 2 else 1))  # fmt: skip
