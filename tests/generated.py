"""Write the files that repeat the engine's catalogue in other languages, or check that they are up to date.

`python tests/generated.py` writes; with `--check` a file that would change is an error.
"""

from __future__ import annotations

import importlib
import inspect
import json
import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import polars as pl

import selfclock as sc
from selfclock import catalogue
from selfclock.catalogue import declared
from selfclock.compare.differences import Difference, Differences
from selfclock.compare.measures import Estimates, Measures
from selfclock.estimate import Estimate
from selfclock.sweep.row import column_types

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


#: Meanings of the columns of packets and connections, which no series declares.
COLUMNS = {
    "packets": {
        "time_s": "time of the event, s",
        "event": "what happened: sent, in a queue, dropped, lost, delivered",
        "link": "link of the event; null at an end",
        "flow": "name of the flow",
        "connection": "number of a short connection of the flow",
        "kind": "data, ACK, SYN and so on",
        "ecn": "codepoint of the IP header",
        "ece": "ECE flag",
        "cwr": "CWR flag",
        "marked_bytes": "accurate ECN: payload reported as CE-marked",
        "retransmission": "whether it repeats data",
        "packet": "number of the packet, the same at all its events",
        "sequence": "first payload byte",
        "payload_bytes": "payload",
        "size_bytes": "size on the wire",
        "acknowledgement": "next byte expected",
        "receive_window_bytes": "advertised window",
        "timestamp_us": "timestamp option: value",
        "timestamp_echo_us": "timestamp option: echo",
        "sack": "SACK blocks: first byte, and the byte after the last",
        "option": "other options, as text",
    },
    "connections": {
        "flow": "name of the flow",
        "start_s": "start, s",
        "size_bytes": "payload",
        "completion_s": "until the last byte was acknowledged, s; null if it was not",
        "delivery_s": "until the last byte was delivered, s; null if it was not",
        "retransmitted_segments": "retransmissions",
        "timeouts": "expiries of the retransmission timer",
    },
}


def listed(title: str, rows: list[tuple[str, str, str]]) -> str:
    """Return a table of names with type or unit, and meaning."""
    cells = [" | ".join(cell.replace("|", "\\|") for cell in (f"`{name}`", kind, about)) for name, kind, about in rows]
    return "\n".join([title, "", "| name | | meaning |", "|---|---|---|", *(f"| {row} |" for row in cells)])


def commented(own: type) -> list[tuple[str, str, str]]:
    """Return the keys that a TypedDict itself has, with the comments above them."""
    rows, about = [], ""
    fresh = True
    for line in inspect.getsource(own).splitlines():
        key = re.fullmatch(r"    (\w+): (.+)", line)
        if line.strip().startswith("#:"):
            text = line.strip()[2:].strip()
            about = text if fresh else f"{about} {text}"
            fresh = False
        elif key:
            # A comment also holds for the keys that follow without one.
            rows.append((key[1], f"`{key[2]}`", about))
            fresh = True
    return rows


def recorded() -> dict[str, pl.DataFrame]:
    """Return the tables of a run that records everything."""
    flows = [sc.Flow("reno"), sc.Flow("cubic", interval="100 ms", size="10 kB")]
    made = sc.dumbbell(flows=flows, duration="1 s").with_overrides(["record.packets=true"])
    result = made.run()
    return {"packets": pl.DataFrame(result.packets), "connections": pl.DataFrame(result.connections)}


def stable_tables() -> str:
    """Return the columns of every Parquet table."""
    series = declared()["series"]
    parts = []
    for owner in ("flow", "link"):
        rows = [("time_s", "s", "time"), (owner, "name", "name")]
        rows += [(row["name"], row["unit"], row["about"]) for row in series[owner]]
        if owner == "flow":
            rows += [
                (row["name"], row["unit"], f"{row['about']} Only if a flow has a model.") for row in series["model"]
            ]
        parts.append(listed(f"### `{owner}s.parquet`", rows))
    for name, frame in recorded().items():
        about = COLUMNS[name]
        if list(about) != frame.columns:
            raise SystemExit(f"COLUMNS has {list(about)} for {name}, and the table {frame.columns}")
        rows = [(column, f"`{str(kind).partition('(')[0]}`", about[column]) for column, kind in frame.schema.items()]
        parts.append(listed(f"### `{name}.parquet`", rows))
    own = {
        "key": "digest of the run",
        "seed": "seed",
        "version": "version of selfclock",
        "algorithms": "digests of user-defined algorithms",
        "error": "null, or why it failed",
        "busiest_link": "link with the highest utilization",
        "flows": "as in `summary.json`",
        "links": "as in `summary.json`",
    }
    known = {**{name: total.about for name, total in catalogue.measures().items()}, **own}
    rows = [(column, f"`{str(kind).partition('(')[0]}`", known[column]) for column, kind in column_types().items()]
    parts.append(listed("### `runs.parquet`\nBefore these: `point`, and a column for each setting of the grid.", rows))
    return "\n\n".join(parts)


def stable_documents() -> str:
    """Return the keys of the JSON documents."""
    totals = declared()["totals"]
    names = {
        "Summary": "### `summary.json`",
        "FlowSummary": "Of `flows`:",
        "LinkSummary": "Of `links`:",
        "ConnectionsSummary": "Of `connections` of a flow:",
        "SizeClass": "Of `by_size`:",
        "DelaySummary": "Of `delays` of a flow and `waits` of a link:",
        "FailureSummary": "Of `failure` of a flow:",
    }
    parts = []
    for table, title in names.items():
        rows = [(row["name"], kind_of(row), row["about"]) for row in totals[table]]
        if table == "Summary":
            rows += [
                ("cpu_s", "`real`", "CPU time; depends on the machine."),
                ("measure_from_s", "`real`, may be omitted", "Goodput, utilization and mean queues begin here."),
                ("notes", "list of `text`", "Notes on the scenario."),
                ("made", "`object`", "Provenance."),
            ]
        parts.append(listed(title, rows))
    compared = [
        ("path", "`text`", "Path and number of flows."),
        ("seeds", "list of `count`", "Seeds of each algorithm."),
        ("confidence", "`real`", "Probability that an interval covers the mean."),
        ("runs", "list", "A run of an algorithm: the keys of `summary.json`, and those below."),
        ("estimates", "list", "Means over the seeds."),
        ("differences", "list", "Paired differences."),
        ("notes", "list of `text`", "Notes, with the algorithms concerned."),
        ("made", "`object`", "Provenance."),
    ]
    parts.append(listed("### `compare.json`", compared))
    for title, own in {
        "Of `runs`:": Measures,
        "Of `estimates`:": Estimates,
        "Of each of its `measures`:": Estimate,
        "Of `differences`:": Differences,
        "Of each of its `measures`, besides:": Difference,
    }.items():
        parts.append(listed(title, commented(own)))
    return "\n\n".join(parts)


def kind_of(total: dict[str, Any]) -> str:
    """Return the type of a total in words."""
    kind = f"{'list of ' if total['list'] else ''}`{RENAMED.get(total['kind'], total['kind'])}`"
    return kind + (", may be null" if total["null"] else "") + (", may be omitted" if total["omitted"] else "")


def stable() -> str:
    """Return the page on stability with its tables."""
    page = inserted("docs/stable.md", "the columns", stable_tables())
    begin, end = "<!-- begin of the keys, written by tests/generated.py -->\n", "<!-- end of the keys -->\n"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{stable_documents()}\n\n{end}{rest.partition(end)[2]}"


#: Files and their texts.
FILES = {
    "python/selfclock/summaries.py": python,
    "python/selfclock/scenario/keys.py": transport,
    "lab/src/protocol.gen.ts": typescript,
    "docs/building.md": building,
    "docs/scenario-reference.md": reference,
    "docs/stable.md": stable,
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
