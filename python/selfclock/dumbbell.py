"""The commonest network without a file."""

from __future__ import annotations

import json
import re
from os import fspath
from typing import TYPE_CHECKING

from selfclock._core import ScenarioError
from selfclock.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike


def dumbbell(
    bottleneck: str = "10 Mbps",
    rtt: str = "40 ms",
    buffer: str = "1 bdp",
    flows: Sequence[str | Mapping[str, object]] = ("reno",),
    *,
    loss: float = 0.0,
    delivery_trace: str | PathLike[str] | None = None,
    duration: str = "30 s",
    seed: int = 1,
    profile: str = "modern",
    access: str | None = None,
    name: str = "dumbbell",
    transport: Mapping[str, object] | None = None,
    record: Mapping[str, object] | None = None,
) -> Scenario:
    """Build hosts in pairs across one bottleneck.

    A flow is the name of a congestion control or a table with the keys of `[[flow]]` in a scenario file. `rtt` is
    the round-trip time of an empty network without transmission times: three fifths of it on the bottleneck, the
    rest on the access links, which have a hundred times the bottleneck's rate unless `access` says another. `loss` is
    the probability with which the bottleneck loses a packet at random. With a `delivery_trace`, the path of a file, the
    bottleneck sends when that lets it, each way; its rate then only says what the access links have.

    The arguments become the text of a scenario file, which is then read like any other: `scenario.text` shows it.
    """
    for argument, given, example in (("bottleneck", bottleneck, "10 Mbps"), ("rtt", rtt, "40 ms"),
                                     ("buffer", buffer, "1 bdp"), ("duration", duration, "30 s"),
                                     ("access", access or "", "1 Gbps")):  # fmt: skip
        if not isinstance(given, str) and not (argument == "buffer" and isinstance(given, dict)):
            raise ScenarioError(f'{argument}: {given!r} has no unit; write a text such as "{example}"')
    if isinstance(flows, str):
        raise ScenarioError(f"flows: {flows!r} is a text; write a list such as [{flows!r}]")
    at_random = {"loss": {"probability": loss}} if loss else {}
    speed = {"rate": bottleneck} if delivery_trace is None else {"delivery_trace": fspath(delivery_trace)}
    document = {
        "schema": 1,
        "name": name,
        "duration": duration,
        "seed": seed,
        "profile": profile,
        "network": {
            "topology": "dumbbell",
            "bottleneck": {**speed, "delay": _times(rtt, "rtt", 0.3), "queue": buffer, **at_random},
            "access": {
                "rate": access or _times(bottleneck, "bottleneck", 100),
                "delay": _times(rtt, "rtt", 0.1),
            },
        },
        "transport": dict(transport or {}),
        "record": dict(record or {}),
        "flow": [{"congestion_control": flow} if isinstance(flow, str) else dict(flow) for flow in flows],
    }
    return Scenario.parse(to_toml(document), f"dumbbell {name!r}")


def _times(quantity: str, argument: str, factor: float) -> str:
    """Multiply a quantity such as "40 ms"; the unit is checked when the scenario is read."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(\D.*?)\s*", quantity)
    if match is None:
        raise ScenarioError(f'{argument}: {quantity!r} is not a number with a unit, such as "40 ms" or "10 Mbps"')
    product = format(float(match[1]) * factor, ".12f").rstrip("0").rstrip(".")
    return f"{product} {match[2]}"


def to_toml(document: Mapping[str, object]) -> str:
    """Write a document of scalars, lists and tables as TOML: top-level tables as sections, deeper ones inline."""
    lines = [f"{key} = {to_toml_value(value)}" for key, value in document.items() if not _sections(value)]
    for key, value in document.items():
        heading = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        for section in _sections(value):
            lines += ["", heading, *(f"{name} = {to_toml_value(item)}" for name, item in section.items())]
    return "\n".join(lines) + "\n"


def _sections(value: object) -> list[dict[str, object]]:
    """The tables that a top-level value is, none if it is something else."""
    candidates = value if isinstance(value, list) else [value]
    tables = [candidate for candidate in candidates if isinstance(candidate, dict)]
    return tables if len(tables) == len(candidates) else []


def to_toml_value(value: object) -> str:
    """Write a value as TOML, tables inline."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            # A TOML basic string has the escapes of a JSON string.
            return json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return f"[{', '.join(map(to_toml_value, value))}]"
        case dict():
            return f"{{ {', '.join(f'{json.dumps(key)} = {to_toml_value(item)}' for key, item in value.items())} }}"
        case _:
            raise ScenarioError(f"{value!r}: a scenario holds text, numbers, true, false, lists and tables")
