"""Groups of parallel A-TCP flows that share what they know of their path: alone, and beside TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.adaptive_layered.network import DELAYED_ACK, TCP, Flow, control, scenario, throughputs_mbps
from selfclock.papers.adaptive_layered.overlap import ALONE_S, BUFFER, JITTER_S, RATE_MBPS, RTT_MS, SEEDS
from selfclock.papers.adaptive_layered.verdicts import PAPER, median, share_verdict
from selfclock.reproduce import Claim, Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.result import Result
    from selfclock.scenario import Scenario

SIZES = (1, 2, 4, 8, 16)

#: The part of figure 3 in which one flow is alone.
SKIPPED_S, SECONDS = ALONE_S


def scenarios(scale: float = 1.0) -> list[Scenario]:
    """Return each group of several alone, then A-TCP, each group and TCP beside TCP.

    What A-TCP and TCP have alone is measured in the runs of figure 3, before their second flow starts.
    """
    groups = [Flow(control("adaptive"), RTT_MS, jitter_s=JITTER_S * scale, count=size, group="group") for size in SIZES]
    tcp = Flow(TCP, RTT_MS, jitter_s=JITTER_S * scale)
    return [
        scenario("group", RATE_MBPS, flows, seconds=SECONDS * scale, buffer=BUFFER, seed=seed,
                 transport=DELAYED_ACK, samples_s=1.0 * scale)
        for flows in [*([group] for group in groups[1:]), *([group, tcp] for group in [*groups, tcp])]
        for seed in SEEDS
    ]  # fmt: skip


def findings(
    results: Sequence[Result], alone_mbps: Mapping[str, float], scale: float = 1.0
) -> tuple[list[Claim], list[Grid]]:
    """Compare groups with one flow, with what A-TCP and TCP have alone from the runs of figure 3."""
    rates = [throughputs_mbps(result, SKIPPED_S * scale, SECONDS * scale) for result in results]
    points = [rates[first : first + len(SEEDS)] for first in range(0, len(rates), len(SEEDS))]
    several = len(SIZES) - 1
    together = [median(sum(run) for run in runs) for runs in points[:several]]
    alone = [alone_mbps["adaptive"], *together, alone_mbps["reno"]]
    shares = [median(sum(run[:-1]) / max(sum(run), 1e-9) for run in runs) for runs in points[several:]]
    # Each group against one A-TCP flow alone, and against TCP beside TCP.
    one, tcp = alone[0], shares[-1]
    worst_alone = min(min(group, one) / max(group, one) for group in alone[1:-1])
    worst_beside = min(min(group, tcp) / max(group, tcp) for group in shares[1:-1])
    sizes = ", ".join(str(size) for size in SIZES[1:])
    claims = [
        Claim(PAPER, "group-alone", "section 7",
              "A group of parallel flows utilizes the link as one aggressive flow does",
              "as one: 0.8 or more", round(worst_alone, 3), share_verdict(worst_alone),
              f"Groups of {sizes} alone: {', '.join(f'{rate:.0f}' for rate in alone[1:-1])} Mbit/s; one A-TCP "
              f"{one:.0f}, one TCP {alone[-1]:.0f}. The group farthest from one A-TCP, smaller over larger."),
        Claim(PAPER, "group-beside-tcp", "section 7",
              "A group of parallel flows maintains TCP-friendliness against single TCP flows",
              "TCP's share beside TCP: 0.8 or more", round(worst_beside, 3), share_verdict(worst_beside),
              f"Shares of groups of {sizes} beside one TCP: "
              f"{', '.join(f'{share:.2f}' for share in shares[1:-1])}; one A-TCP "
              f"{shares[0]:.2f}, TCP beside TCP {tcp:.2f}. The group farthest from TCP, smaller over larger."),
    ]  # fmt: skip
    names = [f"group of {size}" if size > 1 else "one A-TCP" for size in SIZES] + ["one TCP"]
    rows = [[name, f"{rate:.0f}", f"{share:.3f}"] for name, rate, share in zip(names, alone, shares, strict=True)]
    grid = Grid(
        "Groups of parallel A-TCP flows",
        f"{RATE_MBPS:g} Mbit/s, {RTT_MS:g} ms, buffer a fifth of the product, "
        f"{SECONDS:g} s without the first {SKIPPED_S:g} s, medians of {len(SEEDS)} runs with random starts. "
        "Together the members are as strong as one A-TCP, and a loss of one is a loss of all.",
        ["flows", "alone, Mbit/s", "share beside one TCP"],
        rows,
    )
    return claims, [grid]
