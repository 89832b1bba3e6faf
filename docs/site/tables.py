"""Tables of the pages, made from what the program itself knows and from the verdicts on record."""

from __future__ import annotations

import importlib.resources
import json
import re
from typing import TYPE_CHECKING, Any

import typer

import selfclock as sc
from selfclock.cli import app
from selfclock.reproduce import PAPERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selfclock.algorithms import Algorithm

#: Parts of an algorithm, and what their list is called.
PARTS = {"start": "Starts", "window": "Windows", "model": "Models", "estimate": "Estimators"}

#: What a value of the schema is called, by what its pattern ends with.
KINDS = {
    "ps|ns|us|µs|μs|ms|s|min|h": "time",
    "bps|kbps|Mbps|Gbps|Tbps|bit/s|kbit/s|Mbit/s|Gbit/s|Tbit/s": "rate",
    "B|kB|MB|GB|KiB|MiB|GiB": "size",
    "packets|packet": "packets",
    "segments|segment": "segments",
    "bdp": "bdp",
}

#: Where the schema says what holds if a key is not written.
DEFAULT = re.compile(r"\s*Default: (.*?)\.?$", re.DOTALL)
PROFILES = re.compile(r"\s*(Modern: .*?; classic: .*?)\.?$", re.DOTALL)


def parameters(name: str) -> str:
    """Parameters of one algorithm."""
    algorithm = _algorithm(name)
    if not algorithm.parameters:
        return "No parameters."
    rows = [
        [
            f"`{parameter.name}`",
            f"`{parameter.default}`{_unit(parameter.default, parameter.unit)}",
            parameter.allowed_text,
            parameter.about,
            parameter.source,
        ]
        for parameter in algorithm.parameters
    ]
    return _table(["parameter", "default", "allowed", "meaning", "where the default comes from"], rows)


def algorithms(part: str) -> str:
    """Every algorithm of one part, with its parameters."""
    pieces = [f"## {PARTS[part]}"]
    for algorithm in sc.algorithms():
        if algorithm.part == part:
            pieces += [f"### {algorithm.name}", algorithm.about, f"*{algorithm.source}*", parameters(algorithm.name)]
    return "\n\n".join(pieces)


def overview(part: str) -> str:
    """What there is of one part, a line each."""
    return _table(
        ["name", "what it does", "source"],
        [
            [f"[`{each.name}`](../algorithms.md#{_anchor(each.name)})", each.about, each.source]
            for each in sc.algorithms()
            if each.part == part
        ],
    )


def claims(paper: str) -> str:
    """What a paper claims, what was measured, and the verdict on record."""
    rows, verdicts = _record(paper)
    counts = [f"{list(verdicts.values()).count(word)} {word}" for word in dict.fromkeys(verdicts.values())]
    table = _table(
        ["claim", "where", "printed", "measured", "verdict"],
        [[row["says"], row["source"], row["printed"], row["measured"], f"**{verdicts[row['id']]}**"] for row in rows],
    )
    return f"{table}\n\nOf {len(verdicts)} claims: {', '.join(counts)}."


def paper_page(paper: str, readings: str) -> str:
    """Return the page of a paper: its title, its reference, what its folder says."""
    module = importlib.import_module(PAPERS[paper])
    # The report shows the readings below headings of its own, so they begin at the third level.
    text = re.sub(r"^#(?=##)", "", readings, flags=re.MULTILINE)
    title = re.sub(r"^(\w+) paper: ", "", module.TITLE)
    return f"# {title}\n\n*{module.REFERENCE}*\n\n## Claims\n\n<!-- claims: {paper} -->\n\n{text}"


def commands(_: str) -> str:
    """What every command says of itself."""
    group = typer.main.get_command(app)
    context = group.make_context("selfclock", [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    texts = {
        name: one.get_help(one.make_context(name, [], parent=context, resilient_parsing=True))
        for name, one in group.commands.items()
        if not one.hidden
    }
    return "\n\n".join(f"## {name}\n\n```text\n{text.strip()}\n```" for name, text in texts.items())


def figure(name: str) -> str:
    """A figure, in the edition that goes with the page."""
    images = ((name, "light"), (f"{name}-dark", "dark"))
    return "\n".join(f"![{name}](/figures/{file}.svg#only-{edition}){{ .figure }}" for file, edition in images)


def keys(what: str) -> str:
    """Every key of one table of a scenario, from the JSON Schema; alternatives that only differ in form are one row."""
    rows: dict[str, list[str]] = {}
    for path, node, required in _walk(sc.schema(), ""):
        top = path.split(".")[0].removesuffix("[]")
        if (what == "run") if "." not in path else (what == top):
            about, default = _split(node.get("description", ""))
            row = [f"`{path}`", _value(node), "required" if required else default, about]
            key = path if path not in rows or rows[path][1:] == row[1:] else f"{path} {len(rows)}"
            rows[key] = row
    return _table(["key", "value", "default", "meaning"], list(rows.values()))


def _walk(node: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    for key, child in node.get("properties", {}).items():
        below = f"{path}.{key}".lstrip(".")
        child_ = {**child, "description": child.get("description", "")}
        yield below, child_, key in node.get("required", [])
        # Parameters of algorithms have a page of their own.
        if not below.endswith("congestion_control"):
            yield from _walk(child, below)
    for form in ("anyOf", "oneOf", "allOf"):
        for child in node.get(form, []):
            yield from _walk(child, path)
    if isinstance(node.get("items"), dict):
        yield from _walk(node["items"], f"{path}[]")


def _value(node: dict[str, Any]) -> str:
    """Say what a value may be."""
    if "enum" in node:
        return ", ".join(f"`{json.dumps(each, ensure_ascii=False)}`" for each in node["enum"])
    for form in ("anyOf", "oneOf"):
        if form in node:
            return ", ".join(dict.fromkeys(_value(each) for each in node[form]))
    if "pattern" in node:
        units = re.search(r"\(([^()]*)\)\\s\*\$$", node["pattern"])
        kinds = [name for listed, name in KINDS.items() if units and set(listed.split("|")) <= set(units[1].split("|"))]
        return ", ".join(kinds) or "string"
    if node.get("type") in ("number", "integer"):
        low, high = node.get("minimum"), node.get("maximum")
        span = f", {low:g} to {high:g}" if low is not None and high is not None else ""
        return f"{node['type']}{span}"
    if node.get("type") == "array":
        return f"list of {_value(node['items'])}" if isinstance(node.get("items"), dict) else "list"
    return {"boolean": "true, false", "object": "table"}.get(node.get("type", ""), node.get("type", "table"))


def _split(description: str) -> tuple[str, str]:
    """Take the default out of what the schema says of a key."""
    for pattern in (DEFAULT, PROFILES):
        if found := pattern.search(description):
            return description[: found.start()], found[1]
    return description, ""


def _algorithm(name: str) -> Algorithm:
    return next(each for each in sc.algorithms() if each.name == name)


def _record(paper: str) -> tuple[list[dict[str, str]], dict[str, str]]:
    folder = importlib.resources.files(PAPERS[paper])
    rows = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    return rows, json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))


def _unit(default: str, unit: str) -> str:
    """Return the unit of a default that does not carry it."""
    return f" {unit}" if unit and not re.search(r"[A-Za-z]", default) else ""


def _anchor(name: str) -> str:
    return re.sub(r"[^\w-]", "", name.lower())


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", r"\|").replace("<", "&lt;")


#: What a page can ask for, by the word before the colon.
TABLES: dict[str, Callable[[str], str]] = {
    "algorithms": algorithms,
    "claims": claims,
    "command": commands,
    "figure": figure,
    "keys": keys,
    "overview": overview,
    "parameters": parameters,
}
