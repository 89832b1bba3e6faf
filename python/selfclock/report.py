"""The HTML report: one file that asks the network for nothing."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from selfclock import style
from selfclock._core import VERSION
from selfclock.save import staged

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from selfclock.reproduce import PaperReport


def render(reports: list[PaperReport]) -> str:
    """Return the report as HTML text."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("selfclock"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["data_uri"] = _data_uri
    environment.filters["markdown"] = _markdown
    return environment.get_template("report.html.j2").render(reports=reports, version=VERSION)


def write_report(reports: list[PaperReport], directory: Path) -> Path:
    """Write the report into a directory; return its path."""
    with staged(directory) as aside:
        (aside / "report.html").write_text(render(reports), encoding="utf-8")
    return directory / "report.html"


def _data_uri(figure: Figure) -> str:
    # As images, not inline: the identifiers inside one drawing then cannot meet those of another.
    buffer = io.BytesIO()
    with style.house():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()


def _markdown(text: str) -> Markup:
    # The texts are the package's own files, and MarkdownIt escapes HTML in them.
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))  # noqa: S704
