"""Where packets are lost, and by what: router mechanism, queue, wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from selfclock.scenario.quantity import Rate
from selfclock.units import RATES, written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selfclock.network import NetworkLink
    from selfclock.result import LinkSummary
    from selfclock.scenario import Scenario

#: The router mechanism that drops by rate.
POLICER = "policer"

#: Links of which a remark tells.
MOST_SAID = 20


def policed_bps(scenario: Scenario) -> dict[str, float]:
    """Return the lowest rate of the policers before each link, bit/s; only of links that have one."""
    found: dict[str, float] = {}
    for router in scenario.document.get("router", []):
        if router.get("mechanism") != POLICER:
            continue
        rate = Rate(router["rate"]).bps
        before = router.get("links")
        for link in scenario.network.links:
            if POLICER in link.mechanisms and (before is None or link.name in before):
                found[link.name] = min(rate, found.get(link.name, rate))
    return found


def said_of(scenario: Scenario, name: str) -> str:
    """Return the name of a link, with the rate of a policer before it that is below its own.

    >>> import selfclock as sc
    >>> said_of(sc.dumbbell(routers=[sc.Router("policer", links=["bottleneck"], rate="1 Mbps")]), "bottleneck")
    'bottleneck (a policer holds it to 1 Mbit/s)'
    """
    held = policed_bps(scenario).get(name)
    link = next(link for link in scenario.network.links if link.name == name)
    if held is None or held >= link.rate_bps:
        return name
    return f"{name} (a policer holds it to {written(held, RATES)})"


def causes(scenario: Scenario, link: LinkSummary) -> list[str]:
    """Return what may have lost the packets that a link lost: its policer, its queue, its wire.

    The totals of a run do not tell them apart; what cannot have been is left out.
    """
    return _Causes(scenario).of(link)


def by(scenario: Scenario, link: LinkSummary) -> str:
    """Return what may have lost the packets of a link, "its policer or its queue"; "" without losses or any doubt."""
    found = causes(scenario, link) if link["drops"] else []
    return "" if found == ["its queue"] else _either(found)


def remarks(scenario: Scenario, links: Iterable[LinkSummary]) -> list[str]:
    """Return a sentence on each link that may have lost packets otherwise than by its queue; `MOST_SAID` at most."""
    lost = [link for link in links if link["drops"]]
    known = _Causes(scenario) if lost else None
    found = [(link["name"], known.of(link)) for link in lost] if known is not None else []
    elsewhere = [(name, own) for name, own in found if any(not cause.startswith("its queue") for cause in own)]
    return [f"Drops of {name} are those by {_either(own)}." for name, own in elsewhere[:MOST_SAID]]


def _either(causes: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(causes[:-1]), *causes[-1:]]))


class _Causes:
    """The causes of loss at the links of a scenario, which may be a hundred thousand."""

    def __init__(self, scenario: Scenario) -> None:
        self._links = {link.name: link for link in scenario.network.links}
        self._lossy = lossy(scenario)
        self._limited = "total_limit" in scenario.text

    def of(self, link: LinkSummary) -> list[str]:
        own = self._links.get(link["name"])
        if own is None:
            return []
        found = ["its policer"] if POLICER in own.mechanisms else []
        if _may_drop(own, link):
            found.append("its queue" if own.discipline == "drop-tail" else f"its queue ({own.discipline})")
        if own.name in self._lossy:
            found.append("random loss on its wire")
        if self._limited:
            found.append("its limit in total")
        return found


def _may_drop(own: NetworkLink, link: LinkSummary) -> bool:
    """Whether the queue can have dropped: a discipline other than drop-tail may at any length."""
    if own.discipline != "drop-tail":
        return True
    if own.limit_packets is None:
        return own.limit_bytes is not None
    # The limit may include the packet in service.
    return link["queue_max_packets"] >= own.limit_packets - 1


def lossy(scenario: Scenario) -> set[str]:
    """Return the names of the links that lose packets at random."""
    network = scenario.document["network"]
    links = scenario.network.links
    if network["topology"] == "graph":
        ends = {(each["from"], each["to"]) for each in network["link"] if "loss" in each}
        both = {(each["to"], each["from"]) for each in network["link"] if "loss" in each and each.get("duplex", True)}
        return {link.name for link in links if (link.source, link.target) in ends | both}
    if network["topology"] in {"fat-tree", "leaf-spine"}:
        of_hosts = "host_link" if "host_link" in network else "link"
        ends_there = ("host",)
        keys = {
            link.name: of_hosts if link.source.startswith(ends_there) or link.target.startswith(ends_there) else "link"
            for link in links
        }
        return {name for name, key in keys.items() if "loss" in network[key]}
    if network["topology"] == "parking-lot":
        keys = {link.name: "access" if _is_access(link) else "hop" for link in links}
    else:
        keys = {link.name: _key(link, network) for link in links}
    return {name for name, key in keys.items() if "loss" in network.get(key, {})}


def _is_access(link: NetworkLink) -> bool:
    return any(node.startswith(("source", "sink")) for node in (link.source, link.target))


def _key(link: NetworkLink, network: dict[str, Any]) -> str:
    """Return the table of a dumbbell that describes a link."""
    if link.name == "reverse":
        return "reverse" if "reverse" in network else "bottleneck"
    if link.name == "bottleneck":
        return "bottleneck"
    far = any(node.startswith("sink") for node in (link.source, link.target))
    return "sink_access" if far and "sink_access" in network else "access"
