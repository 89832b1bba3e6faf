"""Placement of a network's nodes in a drawing, as the compiled part computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Maximum number of routers; a larger network has no layout.
MOST_ROUTERS = 40
#: Layers between a router and hosts beside it.
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
    """A drawing of a network, without styles.

    >>> import selfclock as sc
    >>> [(place.name, place.x) for place in sc.dumbbell().network.layout.places]
    [('left', 0.6), ('right', 1.6), ('source1', 0.0), ('sink1', 2.2)]
    """

    places: tuple[Place, ...]
    cables: tuple[Cable, ...]
    #: Greatest x and y; the least are 0.
    width: float
    height: float

    @classmethod
    def read(cls, layout: Mapping[str, Any]) -> Layout:
        """Read a layout of the compiled part."""
        return cls(
            tuple(Place(**place) for place in layout["places"]),
            tuple(
                Cable(**{**cable, "there": tuple(cable["there"]), "back": tuple(cable["back"])})
                for cable in layout["cables"]
            ),
            layout["width"],
            layout["height"],
        )

    @property
    def folded(self) -> int:
        """Hosts that are drawn as bundles."""
        return sum(place.count for place in self.places if place.kind == "bundle")
