"""The way of each flow through a network: of least delay, or by a hash of equal ones."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfclock.verify.specification import Link


class UnknownRouteError(ValueError):
    """No links lead from one end of a flow to the other."""


def splitmix64(number: int) -> int:
    """Return the output of splitmix64 (Steele, Lea and Flood, OOPSLA 2014) for a state before its first step."""
    mask = (1 << 64) - 1
    bits = (number + 0x9E3779B97F4A7C15) & mask
    bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & mask
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & mask
    return bits ^ bits >> 31


class Ways:
    """Routes: of least delay, then of fewest links, then of the links listed first."""

    def __init__(self, links: dict[str, Link], nodes: list[str]) -> None:
        self.names = list(links)
        self.links = links
        self.nodes = {name: number for number, name in enumerate(nodes)}
        self.leaving: dict[str, list[tuple[int, Link]]] = {}
        self.entering: dict[str, list[tuple[int, Link]]] = {}
        for position, link in enumerate(links.values()):
            self.leaving.setdefault(link.start, []).append((position, link))
            self.entering.setdefault(link.end, []).append((position, link))
        self.known: dict[tuple[str, str], tuple[int, ...]] = {}
        self.distances: dict[str, dict[str, tuple[int, int]]] = {}

    def through(self, stops: list[str]) -> list[str] | None:
        """Return the names of the links from stop to stop, the first of each; `None` if one is missing."""
        found = []
        for start, end in pairwise(stops):
            direct = [name for name, link in self.links.items() if (link.start, link.end) == (start, end)]
            if not direct:
                return None
            found.append(direct[0])
        return found

    def _spread(self, start: str, end: str, number: int) -> list[str]:
        """Return the links from one node to another, at each node one of those on a shortest path by the hash.

        The hash is splitmix64 of the number of the flow's way and, below it, of the node.
        """
        way: list[str] = []
        while start != end:
            least = self._distance(start, end)
            equal = [
                self.names[position]
                for position, link in self.leaving.get(start, [])
                if (rest := self._distance(link.end, end)) is not None and (rest[0] + link.delay, rest[1] + 1) == least
            ]
            name = equal[splitmix64((number << 32) | self.nodes[start]) % len(equal)]
            way.append(name)
            start = self.links[name].end
        return way

    def _distance(self, start: str, end: str) -> tuple[int, int] | None:
        """Return the least delay between two nodes, and of the paths with it the fewest links."""
        if end not in self.distances:
            # From the end, against the links.
            found: dict[str, tuple[int, int]] = {}
            frontier = [(0, 0, end)]
            while frontier:
                delay, hops, node = heapq.heappop(frontier)
                if node in found:
                    continue
                found[node] = delay, hops
                for _, link in self.entering.get(node, []):
                    if link.start not in found:
                        heapq.heappush(frontier, (delay + link.delay, hops + 1, link.start))
            self.distances[end] = found
        return self.distances[end].get(start)

    def between(self, start: str, end: str, number: int | None = None) -> list[str]:
        """Return the names of the links from one node to another; with a number for the hash, one of equal paths."""
        if number is not None:
            return self._spread(start, end, number)
        first: tuple[int, ...] = ()
        last: tuple[int, ...] = ()
        # A host has a single link, so the route between its routers serves all their hosts.
        if len(self.leaving.get(start, [])) == 1:
            position, link = self.leaving[start][0]
            first, start = (position,), link.end
        if start != end and len(self.entering.get(end, [])) == 1:
            position, link = self.entering[end][0]
            last, end = (position,), link.start
        if (start, end) not in self.known:
            self.known[start, end] = self._search(start, end)
        return [self.names[position] for position in (*first, *self.known[start, end], *last)]

    def _search(self, start: str, end: str) -> tuple[int, ...]:
        # Whole paths are compared: the continuation of the smallest label at a node is its best
        # one.
        frontier: list[tuple[int, int, tuple[int, ...], str]] = [(0, 0, (), start)]
        settled: set[str] = set()
        while frontier:
            delay, hops, path, node = heapq.heappop(frontier)
            if node == end:
                return path
            if node in settled:
                continue
            settled.add(node)
            for position, link in self.leaving.get(node, []):
                if link.end not in settled:
                    heapq.heappush(frontier, (delay + link.delay, hops + 1, (*path, position), link.end))
        raise UnknownRouteError(f"no way from {start} to {end}")
