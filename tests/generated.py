"""Write the files that repeat the engine's catalogue in other languages, or check that they are up to date.

`python tests/generated.py` writes; with `--check` a file that would change is an error.
"""

from __future__ import annotations

import importlib
import json
import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import selfclock as sc
from selfclock.catalogue import declared

ROOT = Path(__file__).parent.parent

#: Types by language: of texts, whole and real numbers.
PYTHON = {"text": "str", "count": "int", "real": "float"}
TYPESCRIPT = {"text": "string", "count": "number", "real": "number"}

#: Names in Python, where a run's summary has more keys: CPU time, and those of an emulation.
RENAMED = {"FlowSummary": "RunFlow", "Summary": "RunSummary"}

ABOUT = {
    "SizeClass": "Completion times of the short connections in a range of sizes.",
    "ConnectionsSummary": "The short connections of a flow.",
    "DelaySummary": "Times that packets took: one-way delays of a flow, or waits at a link.",
    "FailureSummary": "The failure of a connection of a QUIC stack.",
    "LinkSummary": "Totals of one link.",
    "Summary": "Totals of a run other than those of its flows and links.",
}

#: Tables that the summary of every table is made of, in the order of their use.
TABLES = ("SizeClass", "ConnectionsSummary", "DelaySummary", "FailureSummary", "FlowSummary", "LinkSummary", "Summary")


def python_type(total: dict[str, Any]) -> str:
    """Return the annotation of a total."""
    kind = PYTHON.get(total["kind"], RENAMED.get(total["kind"], total["kind"]))
    kind = f"list[{kind}]" if total["list"] else kind
    if total["omitted"]:
        return f"NotRequired[{kind}]"
    kind = f"{kind} | None" if total["null"] else kind
    return kind if total["emulated"] else f"NotRequired[{kind}]"


def python() -> str:
    """Return the types of a summary."""
    parts = [
        '"""Totals of a run, as `selfclock run --json` prints them; written by tests/generated.py."""',
        "from __future__ import annotations",
        "from typing import NotRequired, TypedDict",
    ]
    for table in TABLES:
        # A run's summary is read with flows of an emulation, and with its CPU time.
        rows = [row for row in declared()["totals"][table] if table != "Summary" or not row["list"]]
        name = RENAMED.get(table, table)
        if any(keyword.iskeyword(row["name"]) for row in rows):
            keys = [
                f"{comment(row['about'], 8)}\n        {json.dumps(row['name'])}: {python_type(row)}," for row in rows
            ]
            parts.append(f'{name} = TypedDict(\n    "{name}",\n    {{\n' + "\n".join(keys) + "\n    },\n)")
        else:
            keys = [f"{comment(row['about'], 4)}\n    {row['name']}: {python_type(row)}" for row in rows]
            parts.append(f'class {name}(TypedDict):\n    """{ABOUT[table]}"""\n\n' + "\n".join(keys))
    head, body = parts[:3], parts[3:]
    return "\n\n".join(head) + "\n\n\n" + "\n\n\n".join(body) + "\n"


def comment(text: str, indent: int) -> str:
    """Return a text as lines of a comment."""
    lead = " " * indent + "#: "
    return textwrap.fill(text, 100, initial_indent=lead, subsequent_indent=lead)


def typescript_type(total: dict[str, Any]) -> str:
    """Return the type of a total."""
    kind = TYPESCRIPT.get(total["kind"], total["kind"]) + ("[]" if total["list"] else "")
    return kind if total["omitted"] or not total["null"] else f"{kind} | null"


def typescript() -> str:
    """Return the types of a summary, of series and of units, and the headings of totals."""
    parts = ["/** What the engine declares of the names that leave it. Written by tests/generated.py. */"]
    for table in TABLES:
        rows = declared()["totals"][table]
        keys = [
            f"  /** {row['about']} */\n  {row['name']}{'?' if row['omitted'] else ''}: {typescript_type(row)};"
            for row in rows
        ]
        parts.append(f"export interface {table} {{\n" + "\n".join(keys) + "\n}")
    for owner, name in (("flow", "FlowQuantity"), ("link", "LinkQuantity")):
        names = [f'\n  | "{row["name"]}"' for row in declared()["series"][owner]]
        parts.append(f"export type {name} ={''.join(names)};")
    for each in declared()["units"]:
        base = {"a time": "s"}.get(each["dimension"], "")
        of = {unit["name"]: unit["size"] for unit in each["units"]}
        sizes = ", ".join(
            f"{json.dumps(unit, ensure_ascii=False)}: {size / of.get(base, 1)!r}" for unit, size in of.items()
        )
        name = each["dimension"].split()[-1].replace("product", "bdp").upper()
        if name in {"TIME", "RATE", "SIZE"}:
            about = f"Units of {each['dimension']}, in {base or 'bit/s' if name != 'SIZE' else 'bytes'}."
            parts.append(f"/** {about} */\nexport const {name}S: Record<string, number> = {{ {sizes} }};")
    for table, name in (("FlowSummary", "FLOW_HEADINGS"), ("LinkSummary", "LINK_HEADINGS")):
        rows = [row for row in declared()["totals"][table] if row["heading"]]
        heads = "\n".join(f"  {row['name']}: {json.dumps(unitless(row['heading']))}," for row in rows)
        parts.append(f"/** Headings without units. */\nexport const {name} = {{\n{heads}\n}} as const;")
    without = json.dumps([row["name"] for row in declared()["totals"]["FlowSummary"] if not row["udp"]])
    parts.append(
        f"/** Totals without a meaning for UDP. */\nexport const NOT_OF_UDP: ReadonlySet<string> = new Set({without});"
    )
    return "\n\n".join(parts) + "\n"


def unitless(heading: str) -> str:
    """Return a heading without its unit."""
    return heading.replace("{}", "").strip(" ,")


#: Classes of the builder, by key of the schema below `transport`, and what each says.
TRANSPORT = {
    "delayed_ack": ("DelayedAck", "Delayed acknowledgement."),
    "timer": ("Timer", "Retransmission timer."),
    "shaper": ("Shaper", "A leaky bucket that shapes everything a sender sends."),
    "misbehaviour": ("Misbehaviour", "A receiver that is greedy or broken."),
    "": (
        "Transport",
        """Settings of senders and receivers, over those of the profile.

    >>> import selfclock as sc
    >>> sc.Transport(mss=sc.nbytes(1460), recovery="sack", delayed_ack=sc.DelayedAck(every=2, timer="40 ms")).table()
    {'mss': '1.46 kB', 'recovery': 'sack', 'delayed_ack': {'every': 2, 'timer': '40 ms'}}
    """,
    ),
}

#: Classes of quantities, by a unit that only they have.
QUANTITIES = {"ms": "Time", "Mbps": "Rate", "kB": "Size", "segments": "Segments"}


def transport() -> str:
    """Return the tables of the builder that have the transport keys."""
    whole = sc.schema()["properties"]["transport"]
    parts = [
        '"""Settings of senders and receivers; written by tests/generated.py from the schema of scenarios."""\n\n'
        "from __future__ import annotations\n\n"
        "from dataclasses import dataclass\n"
        "from typing import TYPE_CHECKING, ClassVar, Literal\n\n"
        "from selfclock.scenario.quantity import Rate, Segments, Size, Time\n"
        "from selfclock.scenario.table import Kinds, Table\n\n"
        "if TYPE_CHECKING:\n    from collections.abc import Mapping"
    ]
    for key, (name, about) in TRANSPORT.items():
        table = next(form for form in forms(whole["properties"][key] if key else whole) if "properties" in form)
        fields, quantities = [], []
        for one in table["required"] or ordered(key):
            node = table["properties"][one]
            default = "" if one in table["required"] else " = None"
            kind = builder_type(node, TRANSPORT.get(one, ("",))[0]) + (" | None" if default else "")
            fields.append(f"{comment(node['description'], 4)}\n    {one}: {kind}{default}")
            if kinds := quantities_of(node):
                words = "".join(f"{json.dumps(word)}, " for word in words_of(node))
                quantities.append(f'        "{one}": (({"".join(f"{each}, " for each in kinds)}), ({words})),')
        if quantities:
            fields.append("\n    QUANTITIES: ClassVar[Kinds] = {\n" + "\n".join(quantities) + "\n    }")
        parts.append(f'@dataclass(frozen=True)\nclass {name}(Table):\n    """{about}"""\n\n' + "\n".join(fields))
    return formatted("\n\n\n".join(parts) + "\n")


def ordered(table: str) -> list[str]:
    """Return the keys of a table of transport keys as they are declared; the schema sorts them."""
    rows = declared()["transport"]
    return [row["name"] for row in (next(row["below"] for row in rows if row["name"] == table) if table else rows)]


def formatted(text: str) -> str:
    """Return Python as the project formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", "keys.py", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def forms(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the forms of a key's value."""
    return [each for form in node["anyOf"] for each in forms(form)] if "anyOf" in node else [node]


def words_of(node: dict[str, Any]) -> list[str]:
    """Return the words that a key accepts."""
    return [word for form in forms(node) for word in form.get("enum", [form["const"]] if "const" in form else [])]


def quantities_of(node: dict[str, Any]) -> list[str]:
    """Return the classes of the quantities that a key accepts."""
    patterns = [form["pattern"] for form in forms(node) if "pattern" in form]
    units = {unit for pattern in patterns for unit in re.split(r"[()|]", pattern)}
    return [name for unit, name in QUANTITIES.items() if unit in units]


def builder_type(node: dict[str, Any], table: str) -> str:
    """Return the annotation of a key; `table` is the class of its table, if it has one."""
    if kinds := quantities_of(node):
        return f"{' | '.join(kinds)} | str"
    simple = {"boolean": "bool", "integer": "int", "number": "float", "object": f"{table} | Mapping[str, object]"}
    found = [simple[form["type"]] for form in forms(node) if "type" in form]
    words = ", ".join(json.dumps(word) for word in words_of(node))
    return " | ".join([*found, *([f"Literal[{words}]"] if words else [])])


def inserted(page: str, what: str, text: str) -> str:
    """Return a page of the documents with this text between its marks."""
    begin, end = f"<!-- begin of {what}, written by tests/generated.py -->\n", f"<!-- end of {what} -->\n"
    before, _, rest = (ROOT / page).read_text(encoding="utf-8").partition(begin)
    return f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}"


def reference() -> str:
    """Return the scenario reference with its table of transport keys."""
    sys.path.insert(0, str(ROOT / "docs/site"))
    keys = importlib.import_module("tables").keys("transport")
    return inserted("docs/scenario-reference.md", "the transport keys", keys)


def building() -> str:
    """Return the page on building scenarios with its tables of series."""
    said = {
        "flow": "",
        "model": "If a flow has a model these columns follow, with NaN for flows without one, and where a model has no "
        "such quantity.\nThey are variables of draft-ietf-ccwg-bbr; bounds are infinite while there is none:\n\n",
        "link": "",
    }
    tables = []
    for owner, text in said.items():
        lines = [f"| column of a {owner} | unit | meaning |", "|---|---|---|"]
        lines += [] if owner == "model" else [f"| `time_s`, `{owner}` | s | time and name |"]
        lines += [f"| `{row['name']}` | {row['unit']} | {row['about']} |" for row in declared()["series"][owner]]
        tables.append(text + "\n".join(lines))
    return inserted("docs/building.md", "the series", "\n\n".join(tables))


#: Files and their texts.
FILES = {
    "python/selfclock/summaries.py": python,
    "python/selfclock/scenario/keys.py": transport,
    "lab/src/protocol.gen.ts": typescript,
    "docs/building.md": building,
    "docs/scenario-reference.md": reference,
}


def main(arguments: list[str]) -> int:
    """Write the files, or report those that differ; return 1 if any does."""
    texts = {name: text() for name, text in FILES.items()}
    stale = [name for name, text in texts.items() if not is_fresh(ROOT / name, text)]
    if "--check" not in arguments:
        for name in stale:
            (ROOT / name).write_text(texts[name], encoding="utf-8")
        return 0
    for name in stale:
        print(f"{name}: not what the engine declares; run python tests/generated.py")
    return int(bool(stale))


def is_fresh(path: Path, text: str) -> bool:
    """Whether a file has this text."""
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
