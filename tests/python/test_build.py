"""The builder of scenarios: it covers everything in a file, and gives the same scenario as the file."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfclock as sc
from conftest import built_in_schema

if TYPE_CHECKING:
    from selfclock.scenario.table import Table

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests/golden"

#: Keys of a file with another form in Python, and the argument that holds them.
ELSEWHERE = {"from": "between", "to": "between", "at": "at"}


def files() -> list[Path]:
    """Return every scenario file of the repository."""
    found = [
        path for folder in ("examples", "python", "tests/golden") for path in sorted((ROOT / folder).rglob("*.toml"))
    ]
    return [path for path in found if "[network]" in path.read_text(encoding="utf-8")]


def cases() -> list[tuple[Path, list[str]]]:
    """Return every scenario file, and those of tests/golden with each set of changed keys."""
    variants = tomllib.loads((GOLDEN / "variants.toml").read_text(encoding="utf-8"))
    changed = [(GOLDEN / f"{name}.toml", keys) for name, sets in variants.items() for keys in sets.values()]
    return [*((path, []) for path in files()), *changed]


# --- from a file's tables to the builder
# -----------------------------------------------------------------------------


def ends(table: dict[str, Any]) -> dict[str, Any]:
    """Put the ends of a link or flow into one argument."""
    rest = {key: value for key, value in table.items() if key not in {"from", "to"}}
    return rest if "from" not in table else {**rest, "between": (table["from"], table["to"])}


def link(table: dict[str, Any]) -> sc.Link:
    """Build a link."""
    keys = ends(table)
    if isinstance(queue := keys.get("queue"), dict):
        keys["queue"] = sc.Queue(**queue) if "discipline" in queue else queue
    if "loss" in keys:
        loss = keys["loss"]
        kind = sc.LossBursts if "good" in loss else sc.GilbertElliott
        keys["loss"] = loss["probability"] if "probability" in loss else kind(**loss)
    if isinstance(trace := keys.get("delivery_trace"), dict):
        keys["delivery_trace"] = sc.DeliveryTrace(**trace)
    if "changes" in keys:
        keys["changes"] = [sc.Change(**change) for change in keys["changes"]]
    return sc.Link(**keys)


def network(table: dict[str, Any]) -> sc.Network:
    """Build a network."""
    keys = {key: link(value) if isinstance(value, dict) else value for key, value in table.items() if key != "topology"}
    match table["topology"]:
        case "dumbbell":
            return sc.Dumbbell(**keys)
        case "parking-lot":
            return sc.ParkingLot(**keys)
        case "fat-tree":
            return sc.FatTree(**keys)
        case "leaf-spine":
            return sc.LeafSpine(**keys)
    return sc.Graph([link(each) for each in keys["link"]], keys["nodes"])


def transport(table: dict[str, Any]) -> sc.Transport:
    """Build the settings of senders and receivers."""
    kinds = {"delayed_ack": sc.DelayedAck, "timer": sc.Timer, "shaper": sc.Shaper, "misbehaviour": sc.Misbehaviour}
    return sc.Transport(
        **{key: kinds[key](**value) if isinstance(value, dict) else value for key, value in table.items()}
    )


SIZES = {"exponential": sc.Exponential, "pareto": sc.Pareto, "lognormal": sc.Lognormal}


def flow(table: dict[str, Any]) -> sc.Flow | sc.Background:
    """Build a flow."""
    keys = ends(table)
    protocol = keys.pop("protocol", "tcp")
    traffic = keys.pop("traffic", "bulk")
    keys |= {} if traffic == "bulk" else traffic
    if isinstance(size := keys.get("size"), dict):
        keys["size"] = SIZES[size["distribution"]](
            **{key: value for key, value in size.items() if key != "distribution"}
        )
    if "transport" in keys:
        keys["transport"] = transport(keys["transport"])
    if protocol == "tcp":
        return sc.Flow(**keys)
    if "steps" in keys:
        keys["steps"] = [(step["at"], step["rate"]) for step in keys["steps"]]
    if isinstance(keys.get("packet"), list):
        keys["packet"] = [(kind["size"], kind["weight"]) for kind in keys["packet"]]
    return sc.Background(**keys)


def rebuilt(text: str) -> sc.Scenario:
    """Rebuild a file's scenario."""
    document = tomllib.loads(text)
    plain = ("duration", "name", "title", "seed", "profile", "measure_from", "measure_delays")
    more = {key: document[key] for key in plain if key in document}
    if "transport" in document:
        more["transport"] = transport(document["transport"])
    if "record" in document:
        more["record"] = sc.Record(**document["record"])
    routers = [sc.Router(**router) for router in document.get("router", [])]
    return network(document["network"]).scenario([flow(each) for each in document["flow"]], routers=routers, **more)


@pytest.mark.parametrize("path", sorted({path for path, _ in cases()}), ids=lambda path: path.name)
def test_what_is_built_is_what_the_file_says(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A relative path of a delivery trace starts at the file.
    monkeypatch.chdir(path.parent)
    for of, overrides in cases():
        if of == path:
            read = sc.Scenario.load(path, overrides)
            assert rebuilt(read.text).settings == read.settings, overrides


# --- everything can be set
# -------------------------------------------------------------------------------------------


def arguments(kind: type[Table]) -> set[str]:
    """Return the arguments of a table's constructor."""
    return {field.name for field in fields(kind)}


def tables(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tables allowed as a value."""
    forms = [form for key in ("oneOf", "anyOf") for form in schema.get(key, [])]
    nested = [table for form in [*forms, *([schema["items"]] if "items" in schema else [])] for table in tables(form)]
    return [*([schema["properties"]] if "properties" in schema else []), *nested]


def missing(table: dict[str, Any], *kinds: type[Table]) -> set[str]:
    """Return the keys of a table that no argument of these classes sets."""
    known = {name for kind in kinds for name in arguments(kind)}
    return {key for key in table if key not in known and ELSEWHERE.get(key) not in known}


def test_every_key_of_a_file_can_be_set() -> None:
    (top,) = tables(built_in_schema())
    whole = set(sc.Network.scenario.__kwdefaults__) | {"duration"}
    # The version is fixed; networks, flows and routers are separate arguments.
    assert set(top) - whole == {"schema", "network", "flow", "router"}
    dumbbell, lot, graph, tree, leaves = tables(top["network"])
    assert missing(tree, sc.FatTree) == missing(leaves, sc.LeafSpine) == {"topology"}
    assert missing(dumbbell, sc.Dumbbell) == missing(lot, sc.ParkingLot) == {"topology"}
    assert missing(graph, sc.Graph) == {"topology", "link"}
    (wire,) = tables(graph["link"])
    assert missing(wire, sc.Link) == set()
    bernoulli, chain, bursts = tables(wire["loss"])
    assert missing(bursts, sc.LossBursts) == set()
    assert set(bernoulli) == {"probability"}
    assert missing(chain, sc.GilbertElliott) == set()
    assert [missing(table, sc.Change) for table in tables(wire["changes"])] == [set()]
    assert [missing(table, sc.DeliveryTrace) for table in tables(wire["delivery_trace"])] == [set()]
    (sender,) = tables(top["flow"])
    (traffic,) = tables(sender["traffic"])
    assert missing(sender | traffic, sc.Flow, sc.Background) == {"protocol", "traffic"}
    (sizes,) = tables(traffic["size"])
    assert missing(sizes, *SIZES.values()) == {"distribution"}
    assert missing(tables(top["record"])[0], sc.Record) == set()
    (settings,) = tables(top["transport"])
    assert missing(settings, sc.Transport) == set()
    for key, kind in (
        ("delayed_ack", sc.DelayedAck),
        ("timer", sc.Timer),
        ("shaper", sc.Shaper),
        ("misbehaviour", sc.Misbehaviour),
    ):
        assert [missing(table, kind) for table in tables(settings[key])] == [set()]


def test_nothing_can_be_set_that_a_file_does_not_have() -> None:
    (top,) = tables(built_in_schema())
    (wire,) = tables(tables(top["network"])[2]["link"])
    (sender,) = tables(top["flow"])
    (traffic,) = tables(sender["traffic"])
    (settings,) = tables(top["transport"])
    assert arguments(sc.Link) - set(wire) == {"between"}
    assert (arguments(sc.Flow) | arguments(sc.Background)) - set(sender) - set(traffic) == {"between", "rtt"}
    assert arguments(sc.Transport) == set(settings)


def test_names_with_the_same_settings_are_equal() -> None:
    codel = sc.Queue("codel", target=sc.ms(5))
    assert codel == sc.Queue("codel", target="5 ms")
    assert codel != sc.Queue("codel", target="6 ms")
    assert len({codel, sc.Queue("codel", target=sc.ms(5))}) == 1
    # `from` is a Python keyword.
    assert sc.Router("loss", links=["bottleneck"], probability=0.1, from_="1 s").table()["from"] == "1 s"


@pytest.mark.parametrize("queue", sc.queues(), ids=lambda queue: queue.name)
def test_every_queue_discipline_by_its_name(queue: sc.Algorithm) -> None:
    path = sc.Path("10 Mbps", "40 ms", queue=sc.Queue(queue.name, limit=sc.packets(100)))
    written = sc.Scenario.parse(path.scenario(["reno"], duration="1 s").text)
    assert written.settings == path.scenario(["reno"], duration="1 s").settings


# --- quantities
# ------------------------------------------------------------------------------------------------------


def test_units_are_those_of_the_simulator() -> None:
    """The simulator reads each unit with the same size."""
    for kind, make in (
        (sc.Time, lambda text: sc.Link("1 Mbps", text)),
        (sc.Rate, lambda text: sc.Link(text, "1 ms")),
        (sc.Size, lambda text: sc.Link("1 Mbps", "1 ms", queue=text)),
    ):
        for unit in kind.READ:
            text = f"7 {unit}"
            ours = sc.Graph([sc.Link(**{**make(text).table(), "between": ("a", "b")})])  # type: ignore[arg-type]
            theirs = ours.scenario([sc.Flow(between=("a", "b"))], duration="1 s").text.replace(str(kind(text)), text)
            assert f'"{text}"' in theirs
            read = sc.Scenario.parse(theirs).settings
            assert ours.scenario([sc.Flow(between=("a", "b"))], duration="1 s").settings == read, text


@given(st.decimals(0, 10**6, places=9), st.sampled_from(list(sc.Time.UNITS)))
def test_a_quantity_is_exact_and_says_what_it_is(number: Any, unit: str) -> None:  # noqa: ANN401  a Decimal
    time = sc.Time(f"{number:f} {unit}")
    assert sc.Time(str(time)).rounded("ps") == time.rounded("ps")
    assert time * 2 == time + time
    assert time * 3 - time == 2 * time
    assert (time < time * 2) == (number > 0)


def test_arithmetic_of_quantities() -> None:
    assert str(sc.ms(0.1) * 3) == "300 us"
    assert str(sc.ms(40) / 3) == "13.333333333333 ms" or str(sc.ms(40) / 3) == "13.333333333 ms"
    assert str(0.3 * sc.ms(40)) == "12 ms"
    assert sc.mbps(np.float64(2.5)) == sc.kbps(2500)
    assert (sc.s(1).seconds, sc.gbps(1).bps, sc.kbytes(2).bytes, sc.packets(3).count) == (1.0, 1e9, 2000.0, 3.0)
    assert (sc.segments(2).count, sc.bdp(0.5).count, sc.us(5), sc.bps(8)) == (
        2.0,
        0.5,
        sc.Time("5 us"),
        sc.Rate("8 bps"),
    )
    assert sc.mbytes(1) == sc.nbytes(10**6)
    assert sc.ms(1) != sc.mbps(1)
    assert sc.ms(1) <= sc.ms(1) < sc.ms(2) > sc.ms(1) >= sc.us(1000)
    assert len({sc.ms(1), sc.us(1000), sc.s(0.001)}) == 1
    assert pickle.loads(pickle.dumps(sc.ms(1.5))) == sc.ms(1.5)  # noqa: S301  of our own making
    with pytest.raises(AttributeError, match="immutable"):
        sc.ms(1).unit = "s"  # type: ignore[attr-defined]
    with pytest.raises(sc.ScenarioError, match="a time"):
        sc.ms(1) + sc.mbps(1)  # type: ignore[operator]


# --- paths
# -----------------------------------------------------------------------------------------------------------


def test_flows_of_a_path_have_their_round_trip_times() -> None:
    path = sc.Path("10 Mbps", "40 ms", queue="unlimited")
    rtts = ("40 ms", "100 ms", "20 ms")
    flows = [sc.Flow(rtt=rtt, size="1448 B", transport={"handshake": False}) for rtt in rtts]
    result = path.scenario(flows, duration="2 s", transport={"delayed_ack": "off"}).run()
    for summary, rtt in zip(result.summary["flows"], rtts, strict=True):
        # A single segment: the propagation RTT, 1.2 ms at the bottleneck and 12 us on each of two
        # access links, and the ACK of 52 B back; two more packets may be ahead of it.
        assert summary["rtt_min_s"] == pytest.approx(sc.Time(rtt).seconds + 1.2e-3, abs=0.15e-3 + 2 * 1.2e-3)


def test_the_way_back_may_be_longer() -> None:
    back = sc.Link(delay="30 ms", queue="unlimited")
    path = sc.Path(sc.Link("100 Mbps", "5 ms"), "60 ms", reverse=back)
    rtt = path.scenario(["reno"], duration="1 s").run().summary["flows"][0]["rtt_min_s"]
    # A segment takes 0.12 ms at the bottleneck.
    assert rtt == pytest.approx(0.060, abs=0.2e-3)


def test_a_path_alone_is_the_dumbbell() -> None:
    built = sc.Path("10 Mbps", "40 ms", queue="1 bdp").scenario([sc.Flow("reno")], duration="5 s").run()
    other = sc.dumbbell("10 Mbps", "40 ms", duration="5 s").run()
    assert built.summary["flows"][0]["goodput_bps"] == other.summary["flows"][0]["goodput_bps"]


def test_a_path_counts_packets_of_its_product() -> None:
    assert sc.Path("12 Mbps", "40 ms").packets() == sc.packets(40)
    assert sc.Path("12 Mbps", "40 ms").packets(0.001) == sc.packets(1)


def test_on_off_sends_and_is_silent() -> None:
    steps = sc.on_off("8 Mbps", on="1 s", off="3 s", until="8 s")
    scenario = sc.Path("100 Mbps", "10 ms").scenario([sc.Background("8 Mbps", steps=steps)], duration="8 s")
    # Two seconds of eight at 8 Mbit/s, 1500 B a packet.
    assert scenario.run().summary["links"][0]["packets"] == pytest.approx(2 * 8e6 / 12000, abs=3)


# --- refusals
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: sc.Link(10, "5 ms"), 'Link.rate: 10 has no unit; write a rate such as "10 Mbps" or mbps(10)'),  # type: ignore[arg-type]
        (lambda: sc.Link("10 Mbit", "5 ms"), "Link.rate: '10 Mbit' has the unknown unit 'Mbit'; allowed units: "),
        (lambda: sc.Link(sc.ms(3)), "Link.rate: Time('3 ms') is out of place; write a rate such as \"10 Mbps\""),  # type: ignore[arg-type]
        (lambda: sc.Link("1 Mbps", "1 ms", queue=5), "Link.queue: 5 has no unit; write a number of packets"),  # type: ignore[arg-type]
        (lambda: sc.Link(sc.mbps(-1)), "Link.rate: -1 Mbps is negative"),
        (lambda: sc.mbps("10"), "Mbps: '10' is not a number"),  # type: ignore[arg-type]
        (lambda: sc.Link(between="ab"), "Link.between: 'ab'; write the names of two nodes"),  # type: ignore[arg-type]
        (lambda: sc.Background("1 Mbps", steps=[3]), "Background.steps: [3]; write pairs of a time and a rate"),  # type: ignore[list-item,misc]
        (lambda: sc.Router("red", links="a"), "Router.links: 'a' is a text; write a list such as ['a']"),
        (lambda: PATH.scenario("reno", duration="1 s"), "flows: 'reno' is not a list; write a list such as ['reno']"),
        (lambda: PATH.scenario(["reno"], duration=1), 'duration: 1 has no unit; write a time such as "40 ms"'),  # type: ignore[arg-type]
        (lambda: sc.Path("10"), "Path.bottleneck: '10' is not a rate; write a rate such as \"10 Mbps\""),
        (lambda: sc.Path("1 Mbps").scenario(["reno"], duration="1 s"), "Path.rtt: missing; write a time such as"),
        (lambda: PATH.scenario([], duration="1 s"), "flows: empty; at least one is needed"),
        (
            lambda: PATH.scenario(["reno"], duration="1 s", routers=sc.Router("xcp")),  # type: ignore[arg-type]
            "routers: Router('xcp') is not a list; write a list such as [Router('xcp')]",
        ),
        (lambda: sc.Path("1 Mbps", "9 ms", access=sc.Link("1 Gbps", "1 ms")), "Path.access.delay: leave it out; the"),
        (
            lambda: sc.Path(sc.Link(delivery_trace="x"), "9 ms").scenario(["reno"], duration="1 s"),
            "Path.access: the bottleneck has no rate to derive it from; write a Link such as",
        ),
        (lambda: PATH.scenario([3], duration="1 s"), "flows[0]: 3; write a Flow, a Background, the name of"),  # type: ignore[list-item]
        (
            lambda: PATH.scenario(["renno"], duration="1 s"),
            'flow[0].congestion_control: unknown algorithm "renno"; did',
        ),
        (
            lambda: sc.Path("1 Mbps", "40 ms", queue=sc.Queue("codel", targett="5 ms")).scenario(
                ["reno"], duration="1 s"
            ),
            'network.link[0].queue.targett: unknown key; did you mean "target"?',
        ),
        (
            lambda: sc.Path(sc.Link("1 Mbps", "20 ms"), "40 ms").scenario([sc.Flow(rtt="30 ms")], duration="1 s"),
            "flows[0].rtt: 30 ms is less than the bottleneck's delays, 20 ms and 20 ms back",
        ),
        (
            lambda: sc.Dumbbell(sc.Link("1 Mbps", "1 ms"), sc.Link("1 Mbps", "1 ms")).scenario(
                [sc.Flow(rtt="9 ms")], duration="1 s"
            ),
            "flows[0].rtt: only in a Path",
        ),
    ],
)
def test_a_refusal_names_the_argument_and_says_what_is_allowed(build: Any, said: str) -> None:  # noqa: ANN401
    with pytest.raises(sc.ScenarioError) as refused:
        build()
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


PATH = sc.Path("10 Mbps", "40 ms")
