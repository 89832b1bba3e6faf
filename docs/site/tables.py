"""Tables of the pages, generated from the program and the recorded verdicts."""

from __future__ import annotations

import importlib.resources
import json
import re
from typing import TYPE_CHECKING, Any

import click

import selfclock as sc
from api import api
from selfclock.claims import OF
from selfclock.cli.app import COMMANDS, app
from selfclock.papers.on_record import Recorded, on_record
from selfclock.reproduce import PAPERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from selfclock.algorithms import Algorithm

#: Parts of an algorithm, and the titles of their lists.
PARTS = {
    "start": "Starts",
    "window": "Windows",
    "model": "Models",
    "estimate": "Estimators",
    "queue": "Queue disciplines",
    "router": "Router mechanisms",
}

#: Names of the schema's values, by the end of their pattern.
KINDS = {
    "ps|ns|us|µs|μs|ms|s|min|h": "time",
    "bps|kbps|Mbps|Gbps|Tbps|bit/s|kbit/s|Mbit/s|Gbit/s|Tbit/s": "rate",
    "B|kB|MB|GB|KiB|MiB|GiB": "size",
    "packets|packet": "packets",
    "segments|segment": "segments",
    "bdp": "bdp",
}

#: The schema's text on a key's default.
DEFAULT = re.compile(r"\s*Default: (.*?)\.?$", re.DOTALL)
PROFILES = re.compile(r"\s*(Modern: .*?; classic: .*?)\.?$", re.DOTALL)
BOTH_PROFILES = re.compile(r"(?<=[.)])\s((?:\"[^\"]*\"|true|false|[0-9.]+))\.$")

#: Links have the keys of a bottleneck, which are listed once.
OTHER_LINKS = re.compile(r"^network\.(?:access|sink_access|reverse|hop|link\[\])\.")


def parameters(name: str) -> str:
    """Parameters of one algorithm."""
    return _parameters(next(each for each in _everything() if each.name == name))


def _parameters(algorithm: Algorithm) -> str:
    if not algorithm.parameters:
        return "No parameters."
    rows = [
        [
            f"`{parameter.name}`",
            f"`{parameter.default}`{_unit(parameter.default, parameter.unit)}" if parameter.default else "required",
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
    for algorithm in _everything():
        if algorithm.part == part:
            pieces += [f"### {algorithm.name}", algorithm.about, f"*{algorithm.source}*", _parameters(algorithm)]
    return "\n\n".join(pieces)


def overview(part: str) -> str:
    """The list of one part, one entry per line."""
    return _table(
        ["name", "what it does", "source"],
        [
            [f"[`{each.name}`](../algorithms.md#{_anchor(each)})", each.about, each.source]
            for each in _everything()
            if each.part == part
        ],
    )


def claims(paper: str) -> str:
    """Return a paper's statements, those of other programs and our tests, with what was measured and the outcome."""
    rows, verdicts = _record(paper)
    pieces = []
    for of, name in OF.items():
        own = _statements(row for row in rows if row.declared.of == of)
        if not own:
            continue
        found = [[verdicts[row.key] for row in every] for every in own]
        heads = [every[0] for every in own]
        table = _table(
            ["statement", "where", _printed_heading(heads), "measured", "reproduced"],
            [
                [row.declared.says, row.declared.source, _printed(row), row.measured, _outcome(each)]
                for row, each in zip(heads, found, strict=True)
            ],
        )
        counts = [sum(all(one == "reproduced" for one in each) for each in found)]
        counts.append(sum("reproduced" in each for each in found) - counts[0])
        text = (
            f"{counts[0]} reproduced under every reading, {counts[1]} under some, {len(found) - sum(counts)} under none"
        )
        pieces += [f"**{name[0].upper()}{name[1:]}**: {text}.", table]
    about = (
        "A statement is judged under every reading of the paper that bears on it, and what was measured is that of the "
        "default readings. "
        "`reproduced` meets the criterion of its row, `direction` has sign and order right and the size not, `not "
        "reproduced` not even that. Where nothing is printed the criterion is ours, in *italics*. Verdicts are those "
        "on record; `selfclock reproduce` fails if a run comes to another, and its page shows every row with its "
        "criterion, its variant, its figure and its scenarios."
    )
    return "\n\n".join([*pieces, readings(paper), about])


def readings(paper: str) -> str:
    """Return the readings of a paper: what is open, and what each does."""
    module = importlib.import_module(PAPERS[paper])
    if not module.AMBIGUITIES:
        return ""
    table = _table(
        ["open", "reading", "the text allows it", "against it"],
        [
            [
                f"{each.asks} ({each.source})" if one is each.default else "",
                f"**{one.name}**: {one.does}" + (f" Default: {each.default_by}" if one is each.default else ""),
                one.allowed_by,
                one.against,
            ]
            for each in module.AMBIGUITIES
            for one in each.readings
        ],
    )
    return f"**Readings of the text**:\n\n{table}"


def _statements(rows: Iterable[Recorded]) -> list[list[Recorded]]:
    """Return the rows by statement; the one under the default readings comes first."""
    by_id: dict[str, list[Recorded]] = {}
    for row in rows:
        by_id.setdefault(row.declared.id, []).append(row)
    return list(by_id.values())


def _outcome(verdicts: list[str]) -> str:
    if len(verdicts) == 1:
        return f"**{verdicts[0]}**"
    held = verdicts.count("reproduced")
    return f"**{verdicts[0]}**; reproduced under {held} of {len(verdicts)} combinations of readings"


def _printed_heading(rows: list[Recorded]) -> str:
    printed = [bool(row.printed) for row in rows]
    return "printed" if all(printed) else "printed, or *our criterion*" if any(printed) else "our criterion"


def _printed(row: Recorded) -> str:
    return row.printed or f"*{row.declared.criterion}*"


def paper_page(paper: str, readings: str) -> str:
    """Return the page of a paper: its title, reference, and README."""
    module = importlib.import_module(PAPERS[paper])
    # The report puts the readings below its own headings, so they start at the third level.
    text = re.sub(r"^#(?=##)", "", readings, flags=re.MULTILINE)
    title = re.sub(r"^(\w+) paper: ", "", module.TITLE)
    return f"# {title}\n\n*{module.REFERENCE}*\n\n## Claims\n\n<!-- claims: {paper} -->\n\n{text}"


def commands(_: str) -> str:
    """The help text of every command."""
    context = app.make_context("selfclock", [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    texts = {}
    for name in COMMANDS:
        if one := app.get_command(context, name):
            own = one.make_context(name, [], parent=context, resilient_parsing=True)
            texts[name] = one.get_help(own)
            for below, each in one.commands.items() if isinstance(one, click.Group) else ():
                texts[f"{name} {below}"] = each.get_help(
                    each.make_context(below, [], parent=own, resilient_parsing=True)
                )
    return "\n\n".join(f"## {name}\n\n```text\n{text.strip()}\n```" for name, text in texts.items())


def figure(name: str) -> str:
    """Return a figure in both editions."""
    images = ((name, "light"), (f"{name}-dark", "dark"))
    return "\n".join(f"![{name}](/figures/{file}.svg#only-{edition}){{ .figure }}" for file, edition in images)


def keys(what: str) -> str:
    """Every key of one table of a scenario, from the JSON Schema."""
    rows: dict[tuple[str, ...], None] = {}
    every = list(_walk(sc.schema(), "", ""))
    paths = {path for path, *_ in every}
    for path, kind, node, required in every:
        if OTHER_LINKS.match(path) and OTHER_LINKS.sub("network.bottleneck.", path) in paths:
            continue
        top = path.split(".")[0].removesuffix("[]")
        if (what == "run") if "." not in path else (what == top):
            name = path.removeprefix(f"{what}.").removeprefix(f"{what}[].")
            about, default = _split(node.get("description", ""))
            rows[f"`{name}`", kind, _value(node), "required" if required else default, about] = None
    columns = ["key", "of", "value", "default", "meaning"]
    if all(not row[1] for row in rows):
        return _table(columns[:1] + columns[2:], [[row[0], *row[2:]] for row in rows])
    return _table(columns, [list(row) for row in rows])


def _walk(node: dict[str, Any], path: str, kind: str) -> Iterator[tuple[str, str, dict[str, Any], bool]]:
    """Yield every key below a node: its path, the form of its table, the key itself, and whether it is required."""
    below = node.get("properties", {})
    for choice in ("topology", "mechanism", "discipline"):
        words = below.get(choice, {}).get("enum", [])
        kind = words[0] if len(words) == 1 else kind
    for key, child in below.items():
        name = f"{path}.{key}".lstrip(".")
        yield name, kind, child, key in node.get("required", [])
        # Parameters of algorithms have their own page.
        if key != "congestion_control":
            yield from _walk(child, name, kind)
    for form in ("anyOf", "oneOf", "allOf"):
        for child in node.get(form, []):
            yield from _walk(child, path, kind)
    if isinstance(node.get("items"), dict):
        yield from _walk(node["items"], f"{path}[]", kind)


def _value(node: dict[str, Any]) -> str:
    """Describe the values of a key."""
    if words := node.get("enum") or [node[word] for word in ("const",) if word in node]:
        return ", ".join(f"`{json.dumps(each, ensure_ascii=False)}`" for each in words)
    if forms := node.get("anyOf") or node.get("oneOf"):
        return ", ".join(dict.fromkeys(_value(each) for each in forms))
    if "pattern" in node:
        return _units(node["pattern"])
    kind = node.get("type", "table")
    if kind == "array" and isinstance(node.get("items"), dict):
        each = _value(node["items"])
        return f"list of {each}" + ("" if "`" in each else "s")
    span = _span(node) if kind in ("number", "integer") else ""
    return {"boolean": "true, false", "object": "table", "array": "list"}.get(kind, kind) + span


def _units(pattern: str) -> str:
    """Return the quantities whose units a pattern ends with."""
    units = re.search(r"\(([^()]*)\)\\s\*\$$", pattern)
    kinds = [name for listed, name in KINDS.items() if units and set(listed.split("|")) <= set(units[1].split("|"))]
    return ", ".join(kinds) or "string"


def _span(node: dict[str, Any]) -> str:
    """Describe a number's bounds; the largest integers mean no bound."""
    low, high = node.get("minimum"), node.get("maximum")
    if low is None or high is None:
        return ""
    if low == high:
        return f", {low:g}"
    return f", from {low:g}" if high > 1e9 else f", {low:g} to {high:,g}"


def _split(description: str) -> tuple[str, str]:
    """Split the default off the schema's description of a key."""
    for pattern in (DEFAULT, PROFILES, BOTH_PROFILES):
        if found := pattern.search(description):
            return description[: found.start()], found[1]
    return description, ""


def _everything() -> list[Algorithm]:
    return [*sc.algorithms(), *sc.queues(), *sc.routers()]


def _record(paper: str) -> tuple[list[Recorded], dict[str, str]]:
    folder = importlib.resources.files(PAPERS[paper])
    return on_record(PAPERS[paper]), json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))


def _unit(default: str, unit: str) -> str:
    """Return the unit of a default that does not carry it."""
    return f" {unit}" if unit and not re.search(r"[A-Za-z]", default) else ""


def _anchor(algorithm: Algorithm) -> str:
    """Return the anchor of an algorithm on its page: repeated names get a number."""
    parts = [part for part in PARTS for each in _everything() if each.part == part and each.name == algorithm.name]
    name = re.sub(r"[^\w-]", "", algorithm.name.lower())
    place = parts.index(algorithm.part)
    return f"{name}_{place}" if place else name


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", r"\|").replace("<", "&lt;")


#: Tables for pages, by the word before the colon.
TABLES: dict[str, Callable[[str], str]] = {
    "algorithms": algorithms,
    "api": api,
    "claims": claims,
    "command": commands,
    "figure": figure,
    "keys": keys,
    "overview": overview,
    "parameters": parameters,
}
