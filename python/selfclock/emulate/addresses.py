"""The hosts of a scenario as programs see them: names, addresses, peers."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock.errors import BadInputError
from selfclock.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selfclock.scenario import Scenario

#: Addresses of the hosts, unless the machine has a route there (`outside.free_network`).
NETWORK = ipaddress.IPv4Network("10.201.0.0/16")

#: Each host is three processes; more hosts would only load the machine.
MOST_HOSTS = 64


@dataclass(frozen=True)
class EmulatedHost:
    """A host of the scenario, with the names and addresses that its programs need."""

    #: As the scenario names it.
    node: str
    #: As programs name it.
    name: str
    address: str
    #: Names of the hosts with which it has flows, those of its own flows first.
    peers: tuple[str, ...]


def emulated_hosts(scenario: Scenario, network: ipaddress.IPv4Network = NETWORK) -> list[EmulatedHost]:
    """Return the hosts of a scenario, in the order in which its flows name them.

    A pair of a dumbbell or parking lot is `a` and `b`, of several `a1` and `b1`, `a2` and `b2`;
    hosts of a graph have the names of their nodes.

    >>> import selfclock as sc
    >>> [(host.name, host.peers) for host in emulated_hosts(sc.dumbbell(flows=["reno", "cubic"]))]
    [('a1', ('b1',)), ('b1', ('a1',)), ('a2', ('b2',)), ('b2', ('a2',))]
    """
    nodes = scenario.host_names
    if len(nodes) > MOST_HOSTS:
        raise BadInputError(f"{scenario.name}: {len(nodes)} hosts; an emulation has at most {MOST_HOSTS}")
    names = dict(zip(nodes, _names(nodes), strict=True))
    ways = [(flow.nodes[0], flow.nodes[-1]) for flow in scenario.network.flows if len(flow.nodes) > 1]
    peers = {node: tuple(dict.fromkeys(names[one] for one in _peers(node, ways))) for node in nodes}
    addresses = map(str, network.hosts())
    return [
        EmulatedHost(node, names[node], address, peers[node]) for node, address in zip(nodes, addresses, strict=False)
    ]


def _peers(node: str, ways: Iterable[tuple[str, str]]) -> list[str]:
    ways = list(ways)
    return [end for begin, end in ways if begin == node] + [begin for begin, end in ways if end == node]


def _names(nodes: Sequence[str]) -> list[str]:
    """Return names valid for programs: letters, digits, hyphens."""
    pairs = [re.fullmatch(r"(source|sink)([0-9]+)", node) for node in nodes]
    if all(pairs):
        one = len(nodes) == 2
        return [("a" if pair[1] == "source" else "b") + ("" if one else pair[2]) for pair in pairs if pair]
    found = [re.sub(r"[^a-z0-9-]+", "-", node.lower()).strip("-") or "host" for node in nodes]
    return [
        name if found.count(name) == 1 else f"{name}-{found[: at + 1].count(name)}" for at, name in enumerate(found)
    ]


def named(hosts: Sequence[EmulatedHost], name: str, where: str = "--host") -> EmulatedHost:
    """Return the host with this name, or with a node of this name; errors begin with `where`."""
    for host in hosts:
        if name in {host.name, host.node}:
            return host
    raise BadInputError(f"{where}: {unknown('host', name, [host.name for host in hosts])}")


def hosts_file(hosts: Iterable[EmulatedHost]) -> str:
    """Return the lines of /etc/hosts that name the hosts, each by its own name and that of its node."""
    lines = [" ".join(dict.fromkeys((host.address, host.name, *_spoken(host.node)))) for host in hosts]
    return "".join(f"{line}\n" for line in lines)


def _spoken(node: str) -> list[str]:
    return [node] if re.fullmatch(r"[A-Za-z0-9.-]+", node) else []


def environment(host: EmulatedHost, hosts: Sequence[EmulatedHost]) -> dict[str, str]:
    """Return the environment variables of a command: its host, address and peer."""
    at = {one.name: one.address for one in hosts}
    found = {"SELFCLOCK_HOST": host.name, "SELFCLOCK_ADDRESS": host.address}
    if host.peers:
        found |= {"SELFCLOCK_PEER": host.peers[0], "SELFCLOCK_PEER_ADDRESS": at[host.peers[0]]}
        found["SELFCLOCK_PEERS"] = " ".join(host.peers)
    return found
