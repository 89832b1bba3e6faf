"""The page of each kind of result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from selfclock import formatting, tables
from selfclock.compare.differences import is_certain
from selfclock.emulate import lateness
from selfclock.page_parts import Illustration, Table
from selfclock.report.page import Page, page, render, shortened
from selfclock.report.run_parts import network_part, path_figures, replay_part
from selfclock.save import digests
from selfclock.scenario.drops import by, remarks, said_of
from selfclock.units import RATES, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selfclock.compare import Comparison
    from selfclock.evaluate import Scorecard
    from selfclock.report.page import Part
    from selfclock.result import FlowSummary, LinkSummary, Result
    from selfclock.sweep import Sweep
    from selfclock.sweep.run import PointSummary

#: Maximum rows of a table, so that a page with ten thousand flows stays usable.
MOST_ROWS = 500


def run_page(result: Result, files: Mapping[str, str] | None = None) -> Page:
    """Return the report of one run."""
    summary, scenario = result.summary, result.scenario
    done = "emulated" if "emulation" in summary else "simulated"
    about = [
        _run_sentence(result),
        f"Seed {summary['seed']}, {summary['simulated_s']:,g} s {done}: {summary['packet_hops']:,} packet-hops, "
        f"{summary['events']:,} events.",
    ]
    if "emulation" in summary:
        about.append(lateness.sentence(summary["emulation"]["lateness"]))
        about += [_as_sentence(said) for said in summary["emulation"]["notes"]]
    return page(
        scenario.title or scenario.name, about, _run_tables(result), _run_figures(result), parts=_run_parts(result),
        files=files, source=shortened(scenario.text), algorithms=digests([scenario]),
    )  # fmt: skip


def _as_sentence(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}."


def _run_figures(result: Result) -> list[Illustration]:
    """Return the figures of a run, which `--format` writes, too."""
    figures = []
    if result.flows.num_rows:
        caption = "The panels share a time axis: zooming and hovering apply to all."
        first = "In flight" if "emulation" in result.summary else "Window"
        title = f"{first}, rate, RTT and queue"
        figures.append(Illustration(title, caption, result.plot.overview(), id="overview"))
    if result.flows.num_rows or result.scenario.records_packets:
        caption = "Data sent, acknowledged and lost."
        figures.append(Illustration("Sequence numbers", caption, result.plot.sequence(), id="sequence"))
    if result.scenario.records_packets:
        figures += path_figures(result)
    if "emulation" in result.summary:
        figures.append(lateness.illustration(result.summary["emulation"]["lateness"]))
    return figures


def _run_parts(result: Result) -> list[Part]:
    """Return the parts of a run's page above its tables."""
    parts = [network_part(result.scenario.network)]
    return [*parts, replay_part(result)] if result.scenario.records_packets else parts


def _run_sentence(result: Result) -> str:
    """Summarize a run: the flows' goodput, the link that lost most with what may have lost there, and the busiest."""
    summary = result.summary
    flows, links = summary["flows"], summary["links"]
    said = []
    if flows:
        # Over the whole run: goodputs of flows active at different times have no sum.
        delivered = sum(flow["delivered_bytes"] for flow in flows) * 8 / summary["simulated_s"]
        who = f"{flows[0]['name']} ({flows[0]['algorithm']})" if len(flows) == 1 else f"{len(flows):,} flows together"
        said.append(f"{who} delivered {_rate(delivered)} on average")
    if links:
        busiest = max(links, key=lambda link: link["utilization"])
        lossiest = max(links, key=lambda link: link["drops"])
        apart = lossiest["drops"] > 0 and lossiest is not busiest
        if apart:
            where = said_of(result.scenario, lossiest["name"])
            said.append(
                f"most losses were at {where}: {_share(_dropped(lossiest))} of its packets{_by(result, lossiest)}"
            )
        said.append(
            f"the busiest link, {busiest['name']}, was busy {busiest['utilization']:.1%} of the time, its packets "
            f"waited {formatting.milliseconds(busiest['queue_mean_s'])} ms on average, and "
            f"it dropped {_share(_dropped(busiest))} of them{_by(result, busiest)}"
        )
    text = "; ".join(said)
    return f"{text if flows else text[:1].upper() + text[1:]}." if said else "Nothing was sent."


def _dropped(link: LinkSummary) -> float:
    """Return the lost part of a link's packets."""
    return link["drops"] / max(1, link["packets"] + link["drops"])


def _by(result: Result, link: LinkSummary) -> str:
    said = by(result.scenario, link)
    return f", by {said}" if said else ""


def _rate(bits_per_second: float) -> str:
    """Return a rate in a suitable unit."""
    return written(bits_per_second, RATES)


def _share(part: float) -> str:
    return "none" if part == 0 else f"{part:.2g}" if part < 1e-5 else f"{part:.2%}"


def _first(rows: Sequence[object], of: Sequence[object], where: str) -> str:
    return f"The first {len(rows):,} of {len(of):,}; {where} has all of them." if len(rows) < len(of) else ""


def _run_tables(result: Result) -> list[Table]:
    summary = result.summary
    changed = result.scenario.network.changed_rates(summary["simulated_s"])
    lost = remarks(result.scenario, summary["links"][:MOST_ROWS])
    found = [
        _flow_table(summary["flows"], formatting.of_measure(summary)),
        _link_table(summary["links"], changed, lost),
    ]
    if (delays := tables.of_delays(summary, whole=True)).rows:
        shown = delays.rows[:MOST_ROWS]
        found.append(replace(delays, rows=shown, caption=_first(shown, delays.rows, "summary.json")))
    if any(flow["connections"] for flow in summary["flows"]):
        found.append(_connection_table(summary["flows"]))
    return found


def _flow_table(flows: Sequence[FlowSummary], measured: str) -> Table:
    table = tables.of_flows(flows, MOST_ROWS, whole=True)
    failures = formatting.of_failures(flows)
    said = [
        measured,
        _first(table.rows, flows, "summary.json"),
        *failures[:MOST_ROWS],
        _first(failures[:MOST_ROWS], failures, "summary.json"),
    ]
    return replace(table, caption=" ".join(filter(None, said)))


def _link_table(links: Sequence[LinkSummary], changed: Mapping[str, tuple[int, ...]], lost: Sequence[str]) -> Table:
    table = tables.of_links(links, changed, MOST_ROWS, whole=True)
    return replace(table, caption=" ".join(filter(None, [_first(table.rows, links, "summary.json"), *lost])))


def _connection_table(flows: Sequence[FlowSummary]) -> Table:
    """Return the completion times of each flow's short connections, by size."""
    table = tables.of_connections(flows, whole=True)
    shown = table.rows[:MOST_ROWS]
    return replace(table, rows=shown, caption=_first(shown, table.rows, "connections.parquet"))


def comparison_page(comparison: Comparison, files: Mapping[str, str] | None = None) -> Page:
    """Return the report of a comparison."""
    scatter = Illustration(
        "Goodput against delay",
        "Up and to the left is better: more goodput, less delay. A large marker is the mean of an algorithm, a small "
        "one a run, and the ellipse, drawn for three seeds or more, one standard deviation of the runs.",
        comparison.scatter(), id="scatter",
    )  # fmt: skip
    columns = Illustration(
        "Window, goodput, RTT and queue",
        "One column per algorithm, with a common scale in each row and one time axis: zooming applies to all."
        + (f" The runs are those of seed {comparison.seeds[0]} alone." if len(comparison.seeds) > 1 else ""),
        comparison.figure(), id="compare",
    )  # fmt: skip
    about = [_comparison_sentence(comparison), "All algorithms ran on the same path."]
    # The table lists the algorithms; this is the path that they share.
    source = shortened(comparison.scenarios[0].text)
    return page(
        comparison.path, about, comparison.tables(room=True), [scatter, columns],
        parts=[network_part(comparison.scenarios[0].network, flows=False)], files=files, source=source,
        algorithms=digests(comparison.scenarios), above=3,
    )  # fmt: skip


def _comparison_sentence(comparison: Comparison) -> str:
    means = {each["algorithm"]: each["measures"] for each in comparison.estimates}
    goodputs = {name: own["goodput_bps"]["mean"] for name, own in means.items()}
    seeds = len(comparison.seeds)
    most, goodput = _written_alike(max(goodputs.values()), goodputs, _rate)
    if len(most) == len(means):
        who = {1: most[0], 2: "Both algorithms"}.get(len(means), f"All {len(means):,} algorithms")
        said = f"{who} had a goodput of {goodput}"
    else:
        said = f"Of {len(means):,} algorithms {_listed(most)} had the largest goodput, {goodput}"
    timed = {name: own["rtt_mean_s"]["mean"] for name, own in means.items() if "rtt_mean_s" in own}
    if len(timed) > 1:
        names, shortest = _written_alike(min(timed.values()), timed, formatting.milliseconds)
        said += f", and {_listed(names)} the shortest mean RTT, {shortest} ms"
    return f"{said}{_chance(comparison) if seeds > 1 else ''}."


def _chance(comparison: Comparison) -> str:
    """Say over how many seeds the means are, and which goodputs are not told from the first algorithm's by chance."""
    said = f": means over {len(comparison.seeds):,} seeds"
    alike = [each["algorithm"] for each in comparison.differences if not is_certain(each["measures"]["goodput_bps"])]
    if alike:
        said += f"; the goodput of {_listed(alike)} may differ from that of {comparison.differences[0]['against']} "
        said += "by chance"
    return said


def _written_alike(value: float, of: Mapping[str, float], written: Callable[[float], str]) -> tuple[list[str], str]:
    """Return the names of all values with the same text, and that text."""
    said = written(value)
    return [name for name, own in of.items() if written(own) == said], said


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def sweep_page(found: Sweep, files: Mapping[str, str] | None = None) -> Page:
    """Return the report of a sweep."""
    from selfclock.sweep.figure import figure  # noqa: PLC0415
    from selfclock.sweep.table import of_point, point_headings, sharers, short_paths  # noqa: PLC0415

    grid, points, failed = found.grid, found.points, bool(found.errors)
    about = [
        *_sweep_sentences(points),
        f"{formatting.plural(grid.points, 'point')}, {formatting.plural(len(grid.seeds), 'seed')} each: "
        f"means over the seeds with {grid.confidence * 100:g} % confidence intervals.",
    ]
    about += [f"{each[0].upper()}{each[1:]}." for each in found.notes]
    if failed:
        about.append(
            f"{len(found.errors):,} of {formatting.plural(grid.runs, 'run')} failed, "
            f"the first of them: {found.errors[0]}"
        )
    who = sharers(points)
    rows = [of_point(point, found.shown, failed=failed, who=who) for point in points[:MOST_ROWS]]
    columns = [*short_paths(grid.paths), *(["failed"] if failed else []), *point_headings(found.shown, who)]
    caption = "Means over the seeds, with confidence intervals."
    network = network_part(grid.scenario.network, flows=False, caption="The network, before the changes of the grid.")
    illustration = Illustration("Results of the points", caption, figure(found), id="sweep")
    points_table = [Table("Points", _first(rows, points, "summary.json"), columns, rows, texts=len(grid.paths))]
    source = f"{grid.text}\n# The scenario\n{shortened(grid.scenario.text)}"
    return page(
        grid.name, about, points_table, [illustration], parts=[network], files=files,
        source=source, algorithms=found.algorithms,
    )  # fmt: skip


def _sweep_sentences(points: Sequence[PointSummary]) -> list[str]:
    """Summarize a sweep: where goodput is lowest and highest."""
    means = [
        (point["measures"]["goodput_bps"]["mean"], point) for point in points if "goodput_bps" in point["measures"]
    ]
    if len(means) < 2:
        return []
    (least, low), (most, high) = (choose(means, key=lambda each: each[0]) for choose in (min, max))
    where = [", ".join(map(str, point["settings"].values())) for point in (low, high)]
    return [f"Goodput ranges from {_rate(least)} ({where[0]}) to {_rate(most)} ({where[1]})."]


def scorecard_page(card: Scorecard, files: Mapping[str, str] | None = None) -> Page:
    """Return the report of a scorecard."""
    from selfclock.evaluate.figures import figure  # noqa: PLC0415

    figures = {line.row.id: figure(line, card) for line in card.lines if line.found.verdict != "not applicable"}
    text = render(
        "scorecard.html.j2", digests(card.lab.scenarios), card=card, figures=figures, files=files or {},
        sentence=_scorecard_sentence(card),
    )  # fmt: skip
    return Page(text, {name: illustration.figure for name, illustration in figures.items()})


def _scorecard_sentence(card: Scorecard) -> str:
    """Summarize a scorecard: how many rows pass, and which do not."""
    judged = [line for line in card.lines if line.found.verdict in {"pass", "warn", "fail"}]
    passed = sum(line.found.verdict == "pass" for line in judged)
    said = f"{card.algorithm} passes {passed} of {formatting.plural(len(judged), 'row')} with a threshold"
    for verdict, what in (("warn", "warnings"), ("fail", "failures")):
        if rows := [line.row.id for line in judged if line.found.verdict == verdict]:
            said += f"; {what}: {', '.join(rows)}"
    return f"{said}."
