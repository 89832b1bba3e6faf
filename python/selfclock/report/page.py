"""HTML reports: one file each, which asks the network for nothing."""

from __future__ import annotations

import functools
import io
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from selfclock import cells, provenance, style
from selfclock.chart import BINS, UntranslatableError, translate
from selfclock.figure import Figure
from selfclock.parts import Illustration, Table
from selfclock.report.chart import chart
from selfclock.report.packing import pack_document, pack_text
from selfclock.report.papers import content
from selfclock.save import digests, staged, write_document, write_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure as Drawing

    from selfclock.claims import Findings
    from selfclock.compare import Comparison
    from selfclock.evaluate import Scorecard
    from selfclock.reproduce import PaperReport
    from selfclock.result import Result, Summary
    from selfclock.sweep import Sweep

#: Rows of a table of a run, so that ten thousand flows remain a page.
MOST_ROWS = 500


def draw(findings: Findings) -> None:
    """Turn the figures of a paper into charts, so that `write_report` need not."""
    for illustration in findings.figures:
        drawn = _translated(illustration.figure)
        if drawn is not None:
            _charts[illustration.figure] = drawn


def write_report(reports: list[PaperReport], directory: Path, *, formats: Sequence[str] = ()) -> Path:
    """Write the report of papers into a directory, and its figures as files in these formats; return its path."""
    with staged(directory) as aside:
        page = _render("reproduce.html.j2", rows_script=_template("rows.js"), **content(reports))
        (aside / "report.html").write_text(page, encoding="utf-8")
        for report in reports if formats else []:
            for number, illustration in enumerate(report.findings.figures, 1):
                write_figure(illustration.figure, aside / f"{report.name}-{number}", formats)
        claims = [claim.row() for report in reports for claim in report.claims]
        papers = [report.summary() for report in reports]
        run = " ".join(report.name for report in reports)
        document = {"claims": claims, "papers": papers, "notes": []}
        write_document(aside, "claims.json", document, f"{provenance.version_text()} {run}", {})
    return directory / "report.html"


def page(
    title: str,
    about: str,
    tables: Sequence[Table],
    figures: Sequence[Illustration],
    source: str = "",
    algorithms: Mapping[str, str] | None = None,
) -> str:
    """Return a page of tables that sort and figures that zoom, as HTML text."""
    return _render(
        "tables.html.j2", algorithms, title=title, about=about, tables=tables, figures=figures, source=source
    )


def _shown(text: str) -> str:
    """Return the text of a scenario with its delivery traces cut short: whole they stand in the tables' metadata."""
    return re.sub(r'(opportunities\s*=\s*"[^"]{80})[^"]+"', r'\1 ..."', text)


def run_page(result: Result) -> str:
    """Return the report of one run."""
    summary, scenario, plot = result.summary, result.scenario, result.plot
    about = (
        f"Seed {summary['seed']}, {summary['simulated_s']:g} s simulated: {summary['packet_hops']:,} packet-hops, "
        f"{summary['events']:,} events."
    )
    figures = []
    if result.flows.num_rows:
        caption = "One time axis: zooming one zooms all, and what is pointed at is read in all."
        figures.append(Illustration("Window, rate, round-trip time and queue", caption, plot.overview()))
    if result.flows.num_rows or result.packet_events:
        caption = "What was sent, what was acknowledged, what was lost."
        figures.append(Illustration("Sequence numbers", caption, plot.sequence()))
    return page(scenario.title or scenario.name, about, _run_tables(summary), figures, _shown(scenario.text),
                digests([scenario]))  # fmt: skip


def comparison_page(comparison: Comparison) -> str:
    """Return the report of a comparison."""
    rows = [cells.of_algorithm(row) for row in comparison.measures]
    columns = ["Algorithm", "Goodput Mbit/s", "Busy %", "Jain", "RTT mean ms", "RTT 95 % ms", "Sent again", "Timeouts",
               "Queue packets"]  # fmt: skip
    caption = "Goodput and retransmissions are sums over the flows; queue and use are the bottleneck's."
    figure = Illustration(
        "Window, rate and queue", "One column an algorithm, one scale a row; crosses: drops.", comparison.figure()
    )
    about = "The same path under each algorithm."
    return page(comparison.path, about, [Table("Algorithms", caption, columns, rows, texts=1)], [figure],
                algorithms=digests(comparison.scenarios))  # fmt: skip


def sweep_page(found: Sweep) -> str:
    """Return the report of a sweep."""
    from selfclock.sweep.figure import figure  # noqa: PLC0415

    grid, points, failed = found.grid, found.points, bool(found.errors)
    about = (
        f"{cells.plural(grid.points, 'point')}, {cells.plural(len(grid.seeds), 'seed')} each: means over the seeds, "
        f"with intervals that hold the mean with {grid.confidence * 100:g} % confidence."
    )
    if failed:
        about += (
            f" {len(found.errors):,} of {cells.plural(grid.runs, 'run')} failed, the first of them: {found.errors[0]}"
        )
    rows = [cells.of_point(point, failed=failed) for point in points[:MOST_ROWS]]
    caption = f"The first {len(rows)} of {len(points):,}." if len(rows) < len(points) else ""
    columns = [*cells.short_paths(grid.paths), *(["failed"] if failed else []), *(name for name, *_ in cells.OF_POINT)]
    illustration = Illustration("What the points came to", "Bars: confidence intervals.", figure(found))
    tables = [Table("Points", caption, columns, rows, texts=len(grid.paths))]
    source = f"{grid.text}\n# The scenario\n{_shown(grid.scenario.text)}"
    return page(grid.name, about, tables, [illustration], source, found.algorithms)


def scorecard_page(card: Scorecard) -> str:
    """Return the report of a scorecard."""
    from selfclock.evaluate.figures import figure  # noqa: PLC0415

    figures = {line.row.id: figure(line, card) for line in card.lines if line.found.verdict != "not applicable"}
    return _render("scorecard.html.j2", digests(card.lab.scenarios), card=card, figures=figures)


def _run_tables(summary: Summary) -> list[Table]:
    flows = [cells.of_flow(flow) for flow in summary["flows"][:MOST_ROWS]]
    links = [cells.of_link(link) for link in summary["links"][:MOST_ROWS]]

    def some(rows: list[list[str]], of: Sequence[object]) -> str:
        return f"The first {len(rows)} of {len(of):,}." if len(rows) < len(of) else ""

    return [
        Table("Flows", some(flows, summary["flows"]),
             ["Flow", "Algorithm", "Goodput Mbit/s", "Segments sent", "Sent again", "Timeouts", "Fast retransmits",
              "RTT min ms", "RTT mean ms", "RTT 95 % ms"], flows, texts=2),
        Table("Links", some(links, summary["links"]),
             ["Link", "Rate Mbit/s", "Busy %", "Packets", "Drops", "Queue mean, packets", "Queue max, packets",
              "Wait ms"], links, texts=1),
    ]  # fmt: skip


def _render(template: str, algorithms: Mapping[str, str] | None = None, **content: object) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("selfclock"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["chart"] = _chart
    environment.filters["number"] = cells.number
    environment.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
    environment.filters["markdown"] = _markdown
    environment.filters["packed"] = pack_text
    return environment.get_template(template).render(
        version=provenance.version_text(),
        algorithms=algorithms or {},
        date=provenance.now(),
        command=provenance.command(),
        bins=f"{BINS:,}",
        library=_library(),
        css=_template("page.css"),
        script=_template("page.js"),
        **content,
    )


def _template(name: str) -> Markup:
    """Return a style sheet or a script of the package."""
    return Markup((resources.files("selfclock") / "templates" / name).read_text(encoding="utf-8"))  # noqa: S704


@dataclass(frozen=True)
class _Drawn:
    """A figure as a page holds it: a chart, or the drawing itself."""

    packed: str = ""
    width: int = 0
    height: int = 0
    thinned: bool = False
    svg: str = ""


#: Gives every drawing of a process identifiers of its own.
_numbers: Iterator[int] = iter(range(10**9))


#: Charts that were made before they are wanted.
_charts: WeakKeyDictionary[Any, _Drawn] = WeakKeyDictionary()


def _chart(figure: Figure | Drawing) -> _Drawn:
    return _charts.pop(figure, None) or _translated(figure) or _Drawn(svg=_drawing(figure))  # type: ignore[arg-type]


def _translated(figure: Figure | Drawing) -> _Drawn | None:
    if isinstance(figure, Figure):
        made = chart(figure)
        document = pack_document({"data": made.traces, "layout": made.layout})
        return _Drawn(document, made.width, made.layout["height"], bool(made.bins))
    try:
        old = translate(figure)
        document = pack_document({"data": old.traces, "layout": old.layout})
    except (UntranslatableError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # matplotlib can draw more than is known here, and a report must not be lost for one of its figures.
        return None
    return _Drawn(document, old.width, old.layout["height"], old.thinned)


def _drawing(figure: Drawing) -> Markup:
    buffer = io.StringIO()
    with style.house():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    # The identifiers inside one drawing must not meet those of another.
    mark = f"d{next(_numbers)}-"
    svg = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{mark}", svg)
    return Markup(svg)  # noqa: S704


@functools.cache
def _library() -> str:
    """The chart library, packed: Plotly, from its Python package."""
    from plotly.offline import get_plotlyjs  # noqa: PLC0415

    return pack_text(get_plotlyjs())


def _markdown(text: str) -> Markup:
    # The texts are the package's own files, and MarkdownIt escapes HTML in them.
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))  # noqa: S704
