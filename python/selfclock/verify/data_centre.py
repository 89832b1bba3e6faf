"""Fat trees and leaf-spine networks: their nodes and cables, and the usual ends of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = ("fat-tree", "leaf-spine")


def nodes_of(network: dict[str, Any]) -> list[str]:
    """Return the nodes of a network with equal paths, in order; none of one without."""
    match network["topology"]:
        case "graph":
            return list(network["nodes"])
        case "fat-tree":
            half = int(network["k"]) // 2
            nodes = [f"core{core + 1}" for core in range(half * half)]
            for pod in range(2 * half):
                nodes += [f"agg-{pod + 1}-{index + 1}" for index in range(half)]
                for index in range(half):
                    first = (pod * half + index) * half
                    nodes += [f"edge-{pod + 1}-{index + 1}", *(f"host{first + host + 1}" for host in range(half))]
            return nodes
        case "leaf-spine":
            hosts = int(network["hosts"])
            nodes = [f"spine{spine + 1}" for spine in range(int(network["spines"]))]
            for leaf in range(int(network["leaves"])):
                nodes += [f"leaf{leaf + 1}", *(f"host{leaf * hosts + host + 1}" for host in range(hosts))]
            return nodes
    return []


def cables(network: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the ends of every cable in order, a host's first."""
    half = int(network.get("k", 0)) // 2
    switch = ""
    for node in nodes_of(network):
        kind, _, place = node.partition("-")
        if kind == "agg":
            index = int(place.rpartition("-")[2])
            yield from ((node, f"core{core + 1}") for core in range((index - 1) * half, index * half))
        elif kind == "edge":
            switch = node
            yield from ((node, f"agg-{place.partition('-')[0]}-{index + 1}") for index in range(half))
        elif node.startswith("leaf"):
            switch = node
            yield from ((node, f"spine{spine + 1}") for spine in range(int(network["spines"])))
        elif node.startswith("host"):
            yield node, switch


def usual_ends(network: dict[str, Any], flow: int, host: int | None) -> tuple[str, str]:
    """Return the ends of a flow that names none: of a data centre's, half of the hosts apart."""
    match network["topology"]:
        case "fat-tree":
            hosts = int(network["k"]) ** 3 // 4
        case "leaf-spine":
            hosts = int(network["leaves"]) * int(network["hosts"])
        case _:
            return f"source{host}", f"sink{host}"
    return f"host{flow % hosts + 1}", f"host{(flow + hosts // 2) % hosts + 1}"
