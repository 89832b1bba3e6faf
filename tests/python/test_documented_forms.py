"""Every key of a scenario in every form in the schema: words, units, tables, lists, both ends of a range.

The documents are generated from the JSON schema. Each must be accepted and run, and a quantity must
give the same run in any unit.
"""

from __future__ import annotations

import copy
import functools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import selfclock as sc
from conftest import built_in_schema
from selfclock.custom import registered
from selfclock.scenario.toml import to_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Document = dict[str, Any]
    Put = Callable[[object], Document]

#: Units, as multiples of the smallest of their dimension.
UNITS = {
    "ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ms": 10**9, "s": 10**12, "min": 6 * 10**13,
    "h": 36 * 10**14,
    "bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12,
    "bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9, "Tbit/s": 10**12,
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    "packets": 1, "packet": 1, "segments": 1, "segment": 1, "bdp": 1,
}  # fmt: skip
#: The test value, by the dimension's smallest unit: exact in every unit with 20 decimal places.
TRIED = {"ps": 36 * 10**9, "bps": 10**7, "B": 2048, "packets": 50, "segments": 20, "bdp": 1}

TRACE = Path(__file__).parents[2] / "examples/lte.trace"
WIRE = {"rate": "10 Mbps", "delay": "5 ms"}
BASE: Document = {
    "schema": 1,
    "duration": "100 ms",
    "network": {"topology": "dumbbell", "bottleneck": WIRE, "access": {"rate": "1 Gbps", "delay": "1 ms"}},
    "flow": [{}],
}
UDP: Document = {"flow": [{"protocol": "udp"}]}
GRAPH: Document = {"topology": "graph", "nodes": ["a", "b"], "link": [{"from": "a", "to": "b"}]}
BACK: Document = {"name": "back", "from": "b", "to": "a", "duplex": False, **WIRE}

#: Requirements in the same table, by the key's path; that of a table ends with a dot.
SIBLINGS: list[tuple[str, Document]] = [
    (r"^network\[leaf-spine\]\.(?!hosts$)\w*$", {"hosts": 2}),
    (r"^network\[leaf-spine\]\.hosts$", {"leaves": 2}),
    (r"^router\[loss\]\.counts$", {"packets": [14, 26]}),
    (r"\.peak_rate$", {"rate": "5 Mbps", "burst": "100 kB"}),
    (r"\.(bottleneck|reverse|access|sink_access|hop|link|host_link)\.(?!rate$|peak_rate$|delivery_trace$)\w*$",
     {"rate": "10 Mbps"}),
    (r"^router\[loss\]\.(links|kinds|from|until|mechanism)?$", {"probability": 0.1}),
    (r"\.timer\.maximum$", {"minimum": "10 ms"}),
    (r"\.changes\.(at)?$", {"delay": "40 ms"}),
    (r"^flow\.protocol=udp", {"traffic": {"rate": "1 Mbps"}}),
    (r"\.beta_ecn$", {"abe": True}),
    (r"\.linux_count$", {"variant": "linux"}),
    (r"\.(physical_rate|physical=oracle)$", {"physical": "oracle", "physical_rate": "10 Mbps"}),
    (r"\.pair_spacing$", {"capacity": "pairs"}),
    (r"\.(available_rate|available=oracle)$", {"available": "oracle", "available_rate": "10 Mbps"}),
    (r"^flow\.traffic\.(load|interval)?$", {"size": "30 kB"}),
    (r"^flow\.traffic\.(arrivals|packet|steps|write)$", {"rate": "1 Mbps"}),
    (r"\.size\.(mean|distribution=exponential)?$", {"mean": "30 kB"}),
    (r"\.size\.(sigma|distribution=lognormal)$", {"distribution": "lognormal", "mean": "30 kB", "sigma": 1.5}),
    (r"\.size\.(minimum|maximum|shape|distribution=pareto)$",
     {"distribution": "pareto", "minimum": "1 kB", "maximum": "1 MB", "shape": 1.2}),
]  # fmt: skip
#: Requirements elsewhere, by the start of the path.
ELSEWHERE: dict[str, Document] = {
    "network[graph]": {"network": GRAPH, "flow": [{"from": "a", "to": "b"}]},
    "network[graph].link.duplex": {"network": {"link": [{}, BACK]}},
    "flow.group": {"flow": [{"congestion_control": "adaptive"}]},
    "flow.traffic.size": {"flow": [{"traffic": {"load": "1 Mbps"}}]},
    "flow.traffic.ecn": {"flow": [{"protocol": "udp", "traffic": {"rate": "1 Mbps"}}]},
    "flow.traffic.arrivals": UDP, "flow.traffic.packet": UDP,
}  # fmt: skip
PARTS = ("window", "start", "estimate", "model")
#: Names that must refer to something, by the end of the path.
NAMES = {
    "flow.from": "source1", "flow.to": "sink1", "[graph].link.from": "a", "[graph].link.to": "b", "[graph].nodes": "a",
    "].links": "bottleneck", "[ficcrd].nodes": "left", ".delivery_trace": str(TRACE), ".opportunities": "1 2x3 5",
}  # fmt: skip


#: Keys of QUIC stacks, which are only built by `make quic`.
STACKS = (".stack", ".controller")
#: A list of all nodes on the way, and not of any: test_traffic.py.
WHOLE = ("flow.route",)


@dataclass
class Case:
    """A document with a value at a path; cases of one quantity are one value in several units."""

    place: str
    value: Any
    document: Document
    quantity: str | None = None


def fill(target: object, more: object) -> object:
    """Add missing parts."""
    if isinstance(target, dict) and isinstance(more, dict):
        for key, value in more.items():
            target[key] = fill(target[key], value) if key in target else copy.deepcopy(value)
    elif isinstance(target, list) and isinstance(more, list):
        for index, value in enumerate(more):
            if index < len(target):
                target[index] = fill(target[index], value)
            else:
                target.append(copy.deepcopy(value))
    return target


def in_unit(unit: str, tried: int) -> str:
    """Write a quantity, given in the smallest unit of its dimension, in this unit."""
    number = Fraction(tried, UNITS[unit])
    text = f"{number.numerator * 10**20 // number.denominator:021d}"
    digits = f"{text[:-20]}.{text[-20:]}".rstrip("0").rstrip(".")
    return f"{digits} {unit}"


def quantities(schema: Mapping[str, Any], place: str, tried: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Return a quantity in every unit of a schema."""
    units = re.search(r"\(([^()]+)\)\\s\*\$$", schema["pattern"])
    assert units is not None, schema["pattern"]
    dimension = ""
    for unit in units[1].split("|"):
        dimension = unit if unit in TRIED else dimension
        yield in_unit(unit, tried[dimension]), f"{place} {dimension}"
        yield in_unit(unit, tried[dimension]).replace(" ", ""), f"{place} {dimension}"


def scalars(schema: Mapping[str, Any], place: str) -> Iterator[tuple[Any, str | None]]:
    """Return the values of a schema that is neither table nor list, each with the quantity it represents."""
    if "const" in schema:
        yield schema["const"], None
    elif "enum" in schema:
        for word in schema["enum"]:
            yield word, None
    elif schema["type"] == "boolean":
        yield from ((False, None), (True, None))
    elif schema["type"] == "integer":
        low, high = schema["minimum"], schema["maximum"]
        yield low, None
        # Half of a fat tree's ports lead up.
        yield min(low + (2 if place == "network[fat-tree].k" else 1), high), None
        # "From 1" in the reference is bounded by the feasible size of a run.
        if high < 2**32:
            yield high, None
    elif schema["type"] == "number":
        low, high = schema["minimum"], schema["maximum"]
        yield from ((float(low), None), (float(high), None))
        if low <= round(low + 1) <= high:
            yield round(low + 1), None
    elif "pattern" in schema:
        yield from quantities(schema, place, TRIED)
    else:
        yield next((name for end, name in NAMES.items() if place.endswith(end)), "some name"), None


def required(schema: Mapping[str, Any], place: str) -> Document:
    """Return the required keys of a table."""
    return {key: first(schema["properties"][key], f"{place}.{key}") for key in schema["required"]}


def first(schema: Mapping[str, Any], place: str) -> object:
    """Return a minimal value for a table."""
    for alternative in ("anyOf", "oneOf"):
        if alternative in schema:
            return first(schema[alternative][0], place)
    if schema.get("type") == "object":
        place += kind(schema)
        return required(schema, place) | siblings(f"{place}.")
    if schema.get("type") == "array":
        return [first(schema["items"], place)]
    return next(scalars(schema, place))[0]


def kind(schema: Mapping[str, Any]) -> str:
    """Distinguish tables at the same path by the keyword that selects them."""
    for chooser in ("topology", "mechanism", "discipline"):
        words = schema.get("properties", {}).get(chooser, {}).get("enum", [])
        if len(words) == 1:
            return f"[{words[0]}]"
    return ""


def siblings(place: str, value: object = None) -> Document:
    """Return the keys required beside a key with this value."""
    found: Document = {}
    for pattern, beside in SIBLINGS:
        if re.search(pattern, place) or re.search(pattern, f"{place}={value}"):
            found |= beside
    return found


def needs_stacks(schema: Mapping[str, Any], place: str) -> bool:
    """Return whether it needs QUIC stacks, which are only built by `make quic`: test_stacks.py has their forms."""
    return place.endswith(STACKS) or "quinn" in schema.get("pattern", "")


def walk(schema: Mapping[str, Any], place: str, put: Put) -> Iterator[Case]:
    """Yield the cases of a schema; `put` puts a value at the schema's place."""
    if needs_stacks(schema, place) or place in WHOLE:
        return
    for alternative in ("anyOf", "oneOf"):
        for one in schema.get(alternative, ()):
            yield from walk(one, place, put)
        if alternative in schema:
            return
    if schema.get("type") == "object":
        whole = first(schema, place)
        place += kind(schema)
        yield Case(place, whole, put(whole))
        least = required(schema, place)
        for key, value_schema in schema["properties"].items():

            def put_key(value: object, key: str = key) -> Document:
                return put({**least, **siblings(f"{place}.{key}", value), key: value})

            yield from walk(value_schema, f"{place}.{key}", put_key)
    elif schema.get("type") == "array":
        yield from walk(schema["items"], place, lambda value: put([value]))
    else:
        for value, quantity in scalars(schema, place):
            yield Case(place, value, put(value), quantity)


def parameter_cases(schema: Mapping[str, Any]) -> Iterator[Case]:
    """Every parameter of every algorithm. For a name with several schemas, they are in the registry's order."""
    table = schema["properties"]["flow"]["items"]["properties"]["congestion_control"]["anyOf"][1]["properties"]
    seen: Counter[str] = Counter()
    # Other tests may have registered algorithms in this process.
    for algorithm in (each for each in sc.algorithms() if each.name not in registered()):
        for parameter in algorithm.parameters:
            own = table[parameter.name]
            own = own["anyOf"][seen[parameter.name]] if "anyOf" in own else own
            seen[parameter.name] += 1
            place = f"{algorithm.name}.{parameter.name}"
            values = scalars(own, place)
            if parameter.unit == "s" and isinstance(parameter.allowed, dict):
                least, most = (round((parameter.allowed[end] or 0) * 1e12) for end in ("minimum", "maximum"))
                values = quantities(own, place, {"ps": min(max(TRIED["ps"], least), most)})
            for value, quantity in values:
                control = {algorithm.part: algorithm.name, **siblings(place, value), parameter.name: value}
                yield Case(place, value, copy.deepcopy(BASE) | {"flow": [{"congestion_control": control}]}, quantity)


def document_of(key: str, value: object) -> Document:
    return {key: value}


def cases() -> Iterator[Case]:
    """Every key in every form."""
    schema = built_in_schema()
    yield from parameter_cases(schema)
    for key, value_schema in schema["properties"].items():
        for case in walk(value_schema, key, functools.partial(document_of, key)):
            # The schema has one table of parameters for all algorithms.
            if case.place.startswith("flow.congestion_control.") and case.place.rpartition(".")[2] not in PARTS:
                continue
            case.document = copy.deepcopy(BASE) | case.document
            if case.document["network"]["topology"] == "dumbbell":
                case.document["network"] = copy.deepcopy(BASE["network"]) | case.document["network"]
            for place, beside in ELSEWHERE.items():
                if case.place.startswith(place):
                    fill(case.document, beside)
            yield case


@pytest.fixture(scope="module")
def runs() -> list[tuple[Case, sc.Summary | str]]:
    """Run every case; return its result, or the error."""
    found: list[tuple[Case, sc.Summary | str]] = []
    for case in cases():
        try:
            found.append((case, sc.Scenario.parse(to_toml(case.document), "forms").run().summary))
        except sc.ScenarioError as error:
            found.append((case, str(error)))
    return found


def test_every_key_takes_every_form_that_the_schema_documents(runs: list[tuple[Case, sc.Summary | str]]) -> None:
    refused = [f"{case.place} = {case.value!r}\n{found}" for case, found in runs if isinstance(found, str)]
    assert not refused, "\n\n".join(refused)
    assert len(runs) > 4000


def test_a_quantity_is_the_same_in_every_unit(runs: list[tuple[Case, sc.Summary | str]]) -> None:
    of: defaultdict[str, list[tuple[Case, object]]] = defaultdict(list)
    for case, found in runs:
        if case.quantity is not None:
            assert not isinstance(found, str), found
            of[case.quantity].append((case, [found[part] for part in ("events", "flows", "links")]))
    for quantity, several in of.items():
        (first_case, expected), *others = several
        for case, result in others:
            assert result == expected, f"{quantity}: {first_case.value!r} and {case.value!r}"
    assert len(of) > 100


def test_every_key_of_the_schema_is_tried() -> None:
    tried = {re.sub(r"\[[^]]*\]", "", case.place).rpartition(".")[2] for case in cases()}
    tried |= {place.rpartition(".")[2] for place in WHOLE}
    keys: set[str] = set()

    def collect(schema: object) -> None:
        if isinstance(schema, dict):
            own = schema["properties"] if isinstance(schema.get("properties"), dict) else {}
            keys.update(key for key in own if not f".{key}".endswith(STACKS))
            for each in schema.values():
                collect(each)
        elif isinstance(schema, list):
            for each in schema:
                collect(each)

    collect(built_in_schema())
    assert keys <= tried
