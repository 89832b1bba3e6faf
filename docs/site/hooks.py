"""Fills pages with generated tables and figures: parameters, verdicts, keys. mkdocs calls the functions named on_*."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

import figures
import formulas
import live
import tables
from selfclock.reproduce import PAPERS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]

#: Project files that are also pages, and their page names.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{f"python/{package.replace('.', '/')}/README.md": f"papers/{name}.md" for name, package in PAPERS.items()},
}

#: A Markdown link: its text, target without the anchor, and anchor.
LINK = re.compile(r"(\]\()([^)#\s:/][^)#\s:]*)(#[^)\s]*)?(?=\))")

#: `<!-- parameters: packet-pair -->` is replaced by `tables.TABLES["parameters"]("packet-pair")`.
TABLE = re.compile(r"^<!-- (?P<kind>[a-z-]+): (?P<what>[^>]*?) -->$", re.MULTILINE)

#: Elements whose content a browser fetches automatically.
FETCHED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are files elsewhere, and the figures."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if page.startswith("papers/"):
            text = tables.paper_page(Path(page).stem, text)
        elif page == "index.md":
            text = f"---\nhide: [navigation]\n---\n{text}"
        files.append(File.generated(config, page, content=text))
    for name, image in figures.draw_all():
        files.append(File.generated(config, f"figures/{name}", content=image, inclusion=InclusionLevel.INCLUDED))
    for file in live.files(config):
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Fill in tables, and point links to project files at their pages."""
    source = next((path for path, name in PAGES.items() if name == page.file.src_uri), f"docs/{page.file.src_uri}")
    up = posixpath.relpath(".", posixpath.dirname(page.file.src_uri) or ".")
    return TABLE.sub(_table, _links(markdown, source, page.file.src_uri)).replace("](/figures/", f"]({up}/figures/")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Write formulas as MathML, and prepare figures to be animated."""
    return live.enliven(formulas.mathml(html))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Load live figures, and refuse a page that fetches anything from the network."""
    output = live.load(output, page.file.dest_uri)
    if found := FETCHED.search(output):
        message = f"{page.file.src_uri} needs the network: {found[0]}"
        raise PluginError(message)
    return output


def _table(match: re.Match[str]) -> str:
    kind, what = match["kind"], match["what"]
    if kind not in tables.TABLES:
        message = f"no table is called {kind}; there are {', '.join(tables.TABLES)}"
        raise PluginError(message)
    return tables.TABLES[kind](what)


def _links(markdown: str, source: str, page: str) -> str:
    """Point links that are valid in the project to the file's place among the pages."""

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        there = PAGES.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else None)
        if there is None:
            return match[0]
        return f"{match[1]}{posixpath.relpath(there, posixpath.dirname(page) or '.')}{match[3] or ''}"

    return LINK.sub(lead, markdown)
