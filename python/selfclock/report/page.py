"""One self-contained HTML file: tables that sort, and figures that zoom and show values."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import secrets
from dataclasses import KW_ONLY, dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from selfclock import formatting, provenance
from selfclock.report.chart import chart
from selfclock.report.packing import pack_document, pack_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.figure import Figure
    from selfclock.page_parts import Illustration, Table


@dataclass(frozen=True)
class Part:
    """A special part of a page, such as a player: a template, scripts, and the template's data."""

    #: Name of a template, which sees this object as `part`.
    template: str
    _: KW_ONLY
    #: Names of scripts among the package's templates; each runs once per page, however many parts
    #: use it.
    scripts: tuple[str, ...] = ()
    #: For the template. `{{ part.content.NAME | packed }}` holds a text for `selfclock.unpack`, and
    #: `packed_document` one with arrays of numbers for `selfclock.unpackDocument`.
    content: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A page and its figures, by the names of their files."""

    text: str
    figures: dict[str, Figure]


def page(
    title: str,
    about: Sequence[str],
    tables: Sequence[Table] = (),
    figures: Sequence[Illustration] = (),
    *,
    parts: Sequence[Part] = (),
    files: Mapping[str, str] | None = None,
    source: str = "",
    algorithms: Mapping[str, str] | None = None,
    above: int = 1,
) -> Page:
    """Return a page: a few paragraphs, special parts, tables, figures.

    `files` maps the files beside it to their contents; `source` is the text of the scenario;
    `algorithms` has digests of user-defined algorithms by name. The first tables, as many as
    `above` says, stand above the figures.
    """
    text = render(
        "tables.html.j2", algorithms, title=title, about=about, tables=tables, figures=figures, parts=parts,
        files=files or {}, source=source, above=above,
    )  # fmt: skip
    return Page(text, {figure.id or str(number): figure.figure for number, figure in enumerate(figures, 1)})


def render(template: str, algorithms: Mapping[str, str] | None = None, **content: Any) -> str:  # noqa: ANN401
    """Return the text of a page from a template."""
    text: str = (
        _environment()
        .get_template(template)
        .render(
            version=provenance.version_text(),
            algorithms=algorithms or {},
            date=provenance.now(),
            command=provenance.command(),
            library=_library(),
            css=script("page.css"),
            script=script("page.js"),
            script_of=script,
            nonce=_NONCE,
            **content,
        )
    )
    # Scripts of the page's own run; one smuggled into it would have to contain a digest of itself.
    return text.replace(_NONCE, hashlib.sha256(text.encode()).hexdigest()[:32])


#: Stands for the nonce of a page until its text is complete.
_NONCE = secrets.token_hex(16)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("selfclock"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "chart": _chart,
        "number": formatting.number,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "markdown": _markdown,
        # A drawing is the package's own, and escapes its texts.
        "drawing": Markup,
        "packed": pack_text,
        "packed_document": pack_document,
    }
    return environment


def script(name: str) -> Markup:
    """Return a style sheet or a script of the package."""
    return Markup((resources.files("selfclock") / "templates" / name).read_text(encoding="utf-8"))  # noqa: S704


@dataclass(frozen=True)
class _Drawn:
    """A figure as embedded in a page."""

    packed: str
    #: Pixels; the width is the minimum at which it is legible.
    width: int
    height: int
    #: The remark below it.
    notes: list[str]


def _chart(figure: Figure, heading: str = "") -> _Drawn:
    made = chart(figure, titled=figure.title != heading)
    notes = list(figure.notes)
    if made.bins:
        parts = f"{made.bins:,} parts of the axis"
        notes.append(f"Long series are reduced to the minimum and maximum in each of {parts}.")
    document = pack_document({"data": made.traces, "layout": made.layout})
    return _Drawn(document, made.width, made.layout["height"], notes)


@functools.cache
def _library() -> str:
    """The chart library, compressed: Plotly, from `report/library`."""
    held = resources.files("selfclock.report") / "library" / "plotly-basic.min.js.gz"
    return base64.b64encode(held.read_bytes()).decode()


def _markdown(text: str) -> Markup:
    # Only papers have Markdown, and the import is slow.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    # The texts are the package's own files, and MarkdownIt escapes HTML in them.
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))  # noqa: S704


def shortened(scenario: str) -> str:
    """Return the text of a scenario with its delivery traces shortened; the tables' metadata has them in full."""
    return re.sub(r'(opportunities\s*=\s*"[^"]{80})[^"]+"', r'\1 ..."', scenario)
