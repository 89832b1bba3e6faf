"""Flows that are alike and get very different shares: a note on each run that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: A flow with less than this fraction of another's goodput is noted.
UNEQUAL = 0.1


def unequal(result: Result) -> list[str]:
    """Return a note on each kind of equal flows of which one gets less than a tenth of another."""
    summary = result.summary
    # An emulation observes connections of real programs, of which the scenario knows nothing.
    if "emulation" in summary:
        return []
    # A flow that has sent all its data has the goodput of its own time.
    rates = {flow["name"]: flow["goodput_bps"] for flow in summary["flows"] if flow["completion_s"] is None}
    return shares(result.scenario, rates)


def shares(scenario: Scenario, rates: Mapping[str, float]) -> list[str]:
    """Return the notes on a scenario's equal flows with these goodputs."""
    if len(rates) < 2 or min(rates.values()) >= UNEQUAL * max(rates.values()):
        return []
    noted = []
    for kind in scenario.alike:
        known = [name for name in kind if name in rates]
        if len(known) < 2:
            continue
        least, most = min(known, key=rates.__getitem__), max(known, key=rates.__getitem__)
        if rates[least] < UNEQUAL * rates[most]:
            part = f"{100 * rates[least] / rates[most]:.2g} %"
            said = f'flow "{least}" gets {part} of the goodput of "{most}", though both are alike'
            noted.append(said if _is_noisy(scenario, (least, most)) else f"{said}: {CAUSE}")
    return noted


#: Without noise on the path.
CAUSE = (
    "a run without noise keeps the phase of equal senders, as no real network does "
    '(phase effect); overhead = "1 packet" on the flows shows whether it is that'
)


def _is_noisy(scenario: Scenario, names: tuple[str, ...]) -> bool:
    """Whether the first link of each of these flows has jitter, as their own overhead gives it."""
    flows = [flow for flow in scenario.network.flows if flow.name in names]
    return all(any(link.jitter_s > 0 for link in flow.forward) for flow in flows)
