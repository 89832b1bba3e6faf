"""Algorithms written in Python: the guide's example equals Reno, errors are reported, threads change nothing."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import selfclock as sc

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

GUIDE = (Path(__file__).parents[2] / "docs" / "own-algorithm.md").read_text(encoding="utf-8")
[CLASS, _] = re.findall(r"```python[^\n]*\n(.*?)```", GUIDE, re.DOTALL)
[SCENARIO] = re.findall(r"```toml[^\n]*\n(.*?)```", GUIDE, re.DOTALL)

BROKEN = """\
import selfclock as sc

@sc.algorithm("broken")
class Broken(sc.CongestionControl):
    def on_ack(self, event):
        self.cwnd += 0.1
        if event.now_s > 0.5:
            self.cwnd = {value}
    def on_loss(self, event): pass
    def on_timeout(self, event): pass
"""


@pytest.fixture
def my_aimd(tmp_path: Path) -> Path:
    """The file of the guide."""
    path = tmp_path / "my_aimd.py"
    path.write_text(CLASS, encoding="utf-8")
    sc.load_algorithms(path)
    return path


def base(**events: Callable[..., object]) -> type[sc.CongestionControl]:
    """Return a class with these methods and attributes, and the required ones."""
    nothing = dict.fromkeys(("on_ack", "on_loss", "on_timeout"), lambda _self, _event: None)
    return type("Own", (sc.CongestionControl,), {**nothing, **events})


def test_the_guide_needs_forty_lines() -> None:
    assert len(CLASS.strip().splitlines()) <= 40


@pytest.mark.parametrize(
    "settings",
    [
        {"profile": "modern"},
        {"profile": "classic"},
        {"transport": {"recovery": "newreno"}},
        {"transport": {"ecn": "classic"}, "queue": {"limit": "12 packets", "mark_above": "4 packets"}},
        {"transport": {"ecn": "accurate"}, "queue": {"limit": "12 packets", "mark_above": "4 packets"}},
    ],
    ids=str,
)
@pytest.mark.usefixtures("my_aimd")
def test_the_class_of_the_guide_is_reno_to_the_packet(settings: dict[str, Any]) -> None:
    bottleneck = {"rate": "5 Mbps", "delay": "15 ms", "queue": settings.get("queue", "12 packets")}
    text = (
        f'schema = 1\nname = "same"\nduration = "8 s"\nprofile = "{settings.get("profile", "modern")}"\n'
        '[network]\ntopology = "dumbbell"\naccess = { rate = "100 Mbps", delay = "1 ms" }\n'
        f"bottleneck = {toml({**bottleneck, 'loss': {'probability': 0.01}})}\n"
        f"[transport]\n{''.join(f'{key} = {toml(value)}' for key, value in settings.get('transport', {}).items())}\n"
        "[record]\npackets = true\n"
        '[[flow]]\ncount = 3\nstart_jitter = "50 ms"\ncongestion_control = '
    )
    reno, own, other = sc.run_many(
        sc.Scenario.parse(text + control)
        for control in ('"reno"', '"my-aimd"', '{ model = "my-aimd", decrease = 0.7 }')
    )
    packets = pl.DataFrame(reno.packets)
    assert packets.filter(pl.col("event") == "drop").height >= 5
    assert pl.DataFrame(own.packets).equals(packets)
    assert pl.DataFrame(own.flows).equals(pl.DataFrame(reno.flows))
    assert not pl.DataFrame(other.packets).equals(packets), "the parameter matters"
    expected = [{**flow, "algorithm": "my-aimd"} for flow in reno.summary["flows"]]
    assert own.summary["flows"] == expected


@pytest.mark.parametrize("counted", [True, False])
def test_the_class_of_the_guide_gives_nothing_for_divided_acks(counted: bool, tmp_path: Path) -> None:
    """A receiver that sends ten ACKs per segment gains nothing over one that sends one (RFC 3465).

    If an ACK counted for a whole segment whatever it acknowledges, the window would grow ten times
    as fast, and at a loss probability p its mean would be up to the root of 10 times as large; the
    queue's losses leave more than a factor of two. At p = 0.005 some hundred losses in 60 s leave 5
    % between two runs.
    """
    text = CLASS if counted else re.sub(r"self\.(slow_start_step|counted)\(event\.size_bytes\)", "1.0", CLASS)
    assert counted == (text == CLASS)
    (tmp_path / "divided.py").write_text(text.replace("my-aimd", "divided"), encoding="utf-8")
    sc.load_algorithms(tmp_path / "divided.py")

    def goodput(control: str, transport: dict[str, object]) -> float:
        bottleneck = {"rate": "100 Mbps", "delay": "24 ms", "queue": "1 bdp", "loss": {"probability": 0.005}}
        document = (
            'schema = 1\nduration = "60 s"\n[network]\ntopology = "dumbbell"\n'
            f'access = {{ rate = "1 Gbps", delay = "0.5 ms" }}\nbottleneck = {toml(bottleneck)}\n'
            f'[[flow]]\ncongestion_control = "{control}"\ntransport = {toml(transport)}\n'
        )
        flow: sc.FlowSummary = sc.Scenario.parse(document).run().summary["flows"][0]
        return flow["goodput_bps"]

    divided, honest = {"misbehaviour": {"ack_parts": 10}}, {"delayed_ack": "off"}
    reno, own, fair = goodput("reno", divided), goodput("divided", divided), goodput("divided", honest)
    if counted:
        assert own == reno
        assert own == pytest.approx(fair, rel=0.05)
    else:
        assert own > 2 * fair


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def test_every_command_takes_it(selfclock: Command, my_aimd: Path, tmp_path: Path) -> None:
    """Reno under another name has Reno's numbers in every command."""
    file = ("--algorithm", my_aimd)
    compared = selfclock("compare", "my-aimd", "reno", "--rate", "5Mbps", "--duration", "3s", "--json", *file)
    assert compared.returncode == 0, compared.stderr
    mine, reno = json.loads(compared.stdout)["runs"]
    assert mine["goodput_bps"] == reno["goodput_bps"]
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    # A short queue, so that there are losses.
    short = 'duration = "2 s"\n"network.bottleneck.queue" = "10 packets"\n'
    grid = f'schema = 1\nscenario = "scenario.toml"\nseeds = 2\n[set]\n{short}[grid]\n'
    paths = '"flow.0.congestion_control" = ["my-aimd", "reno", { model = "my-aimd", decrease = 0.9 }]\n'
    (tmp_path / "grid.toml").write_text(grid + paths, encoding="utf-8")
    swept = selfclock("sweep", "grid.toml", "--json", *file)
    assert swept.returncode == 0, swept.stderr
    first, second, other = (point["measures"]["goodput_bps"]["mean"] for point in json.loads(swept.stdout)["points"])
    assert first == second != other
    # One row, and one baseline: the other measurements are tested elsewhere.
    judged = selfclock("evaluate", "my-aimd", "--against", "reno", "--rows", "S1", "--json", *file)
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["algorithm"] == "my-aimd"


def test_the_schema_for_editors_has_it_where_its_file_is_named(selfclock: Command, my_aimd: Path) -> None:
    """Without the file, a name that is not built in is a typo."""

    def words(*arguments: object) -> tuple[list[str], list[str], dict[str, Any]]:
        document = json.loads(selfclock("schema", *arguments).stdout)
        names, table, _ = document["properties"]["flow"]["items"]["properties"]["congestion_control"]["anyOf"]
        return names["enum"], table["properties"]["model"]["enum"], table["properties"]

    names, models, _ = words()
    assert "my-aimd" not in names + models
    names, models, properties = words("--algorithm", my_aimd)
    assert names[-1] == models[-1] == "my-aimd"
    assert "my-aimd: Increase of the window per round trip." in properties["increase"]["description"]
    assert "type" not in properties["decrease"]


@pytest.mark.usefixtures("my_aimd")
def test_tables_carry_the_source_of_the_class(selfclock: Command, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    done = selfclock("run", "scenario.toml", "--algorithm", "my_aimd.py")
    assert done.returncode == 0, done.stderr
    assert "my-aimd" in done.stdout
    carried = pl.read_parquet_metadata(tmp_path / "results" / "scenario" / "flows.parquet")
    assert "class Aimd" in carried["selfclock.algorithm.my-aimd"]


@pytest.mark.usefixtures("my_aimd")
def test_it_is_listed_with_its_parameters() -> None:
    [listed] = [one for one in sc.algorithms() if one.name == "my-aimd"]
    assert (listed.part, listed.source) == ("model", "RFC 5681")
    assert listed.about == "Additive increase, multiplicative decrease."
    increase, decrease = listed.parameters
    assert (increase.name, increase.kind, increase.unit, increase.default) == ("increase", "number", "segments", "1")
    assert decrease.allowed == {"minimum": 0.1, "maximum": 0.99}


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ({"model": "my-aimd", "decrease": 1.0}, ["decrease", "out of range", "0.1 to 0.99"]),
        ({"model": "my-aimd", "decreese": 0.5}, ["decreese", "did you mean"]),
        ({"model": "my-aimd", "decrease": "half"}, ["decrease", "a number"]),
        ("my-aimb", ["my-aimb", "did you mean"]),
    ],
)
@pytest.mark.usefixtures("my_aimd")
def test_parameters_are_checked_like_built_in_ones(control: object, words: list[str]) -> None:
    with pytest.raises(sc.ScenarioError) as caught:
        sc.dumbbell(flows=[{"congestion_control": control}])
    for word in words:
        assert word in str(caught.value)


def test_parameters_of_every_kind() -> None:
    seen: dict[str, object] = {}

    def begin(self: Any) -> None:  # noqa: ANN401
        seen.update({name: getattr(self, name) for name in ("on", "gain", "span", "size", "rate", "word")})

    declared = {
        "on": sc.parameter(True),
        "gain": sc.parameter(2, minimum=0),
        "span": sc.parameter(0.01, unit="s", minimum=0, maximum=1),
        "size": sc.parameter(3000, unit="B", minimum=0),
        "rate": sc.parameter(1e6, unit="bit/s", minimum=0),
        "word": sc.parameter("fast", choices=["fast", "slow"]),
    }
    sc.algorithm("kinds")(base(__init__=begin, **declared))
    sc.dumbbell(flows=["kinds"], duration="10 ms").run()
    assert seen == {"on": True, "gain": 2.0, "span": 0.01, "size": 3000, "rate": 1_000_000, "word": "fast"}
    values = {"on": False, "gain": 3, "span": "20 ms", "size": "64 kB", "rate": "5 Mbps", "word": "slow"}
    sc.dumbbell(flows=[{"congestion_control": {"model": "kinds", **values}}], duration="10 ms").run()
    assert seen == {"on": False, "gain": 3.0, "span": 0.02, "size": 64000, "rate": 5_000_000, "word": "slow"}
    with pytest.raises(sc.ScenarioError, match="has no unit"):
        sc.dumbbell(flows=[{"congestion_control": {"model": "kinds", "span": 0.02}}])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("float('nan')", ["ValueError: cwnd = nan"]),
        ("-1", ["ValueError: cwnd = -1"]),
        ("float('inf')", ["ValueError: cwnd = inf"]),
        ("'wide'", ["TypeError: cwnd = 'wide'"]),
        ("None", ["TypeError: cwnd = None"]),
        ("1 / 0", ["ZeroDivisionError"]),
        ("self.cwmd", ["AttributeError", "cwmd"]),
    ],
)
def test_an_error_ends_the_run_where_it_is(tmp_path: Path, value: str, words: list[str]) -> None:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN.format(value=value), encoding="utf-8")
    sc.load_algorithms(path)
    with pytest.raises(sc.RunError, match=r"seed 1, flow1: broken failed at 0\.5\d+ s of simulated time") as caught:
        sc.dumbbell(flows=["broken"]).run()
    assert caught.value.__cause__ is not None
    frames = "".join(traceback.format_exception(caught.value.__cause__))
    for word in [*words, "broken.py", "line 8", "in on_ack"]:
        assert word in frames


def test_the_command_line_says_where(selfclock: Command, tmp_path: Path, small: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN.format(value="float('nan')"), encoding="utf-8")
    done = selfclock("run", small, "--algorithm", "broken.py", "--set", "flow.0.congestion_control=broken")
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.search(r"small, seed 1, flow1: broken failed at 0\.5\d+ s of simulated time", done.stderr)
    for word in ["ValueError: cwnd = nan", "broken.py", "line 8", "in on_ack"]:
        assert word in done.stderr
    assert "selfclock/" not in done.stderr, "only the author's own part of the traceback"
    assert not (tmp_path / "results").exists()


def test_the_exception_is_the_cause(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN.format(value="{}['key']"), encoding="utf-8")
    sc.load_algorithms(path)
    with pytest.raises(sc.RunError, match=r"seed 7, flow1: broken failed at 0\.5") as caught:
        sc.dumbbell(flows=["broken"], seed=7).run()
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(sc.RunError, match="broken failed"):
        sc.run_many([sc.dumbbell(flows=["broken"]).with_seed(seed) for seed in range(3)])


def test_an_error_in_init_and_a_returned_value_end_the_run() -> None:
    def fail(_self: object) -> None:
        raise LookupError("no such thing")

    sc.algorithm("no-beginning")(base(__init__=fail))
    with pytest.raises(sc.RunError, match=r"failed at 0\.000000 s.*no such thing"):
        sc.dumbbell(flows=["no-beginning"]).run()
    sc.algorithm("returns")(base(on_ack=lambda self, _event: self.cwnd + 1))
    with pytest.raises(sc.RunError, match=r"Own\.on_ack returned 11\.0: an event returns nothing"):
        sc.dumbbell(flows=["returns"]).run()


def test_short_connections_run_it_too() -> None:
    def fail(_self: object, event: sc.Acknowledged) -> None:
        if event.now_s > 1:
            raise LookupError("enough")

    sc.algorithm("short")(base(on_ack=fail))
    traffic = {"size": {"mean": "30 kB", "distribution": "exponential"}, "load": "2 Mbps"}
    scenario = sc.dumbbell(flows=[{"congestion_control": "short", "traffic": traffic}], duration="3 s")
    with pytest.raises(sc.RunError, match=r"flow1: short failed at 1\.0.*enough"):
        scenario.run()


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"on_acks": print}, "on_acks is not an event; did you mean on_ack"),
        ({"on_loss": sc.CongestionControl.on_loss}, "no on_loss"),
        ({"cwnd": sc.parameter(1.0)}, "cannot have this name"),
        ({"start": sc.parameter(1.0)}, '"start"'),
        ({"gain": sc.parameter(2.0, maximum=1)}, "is not from"),
        ({"gain": sc.parameter(float("nan"))}, "a default is"),
        ({"word": sc.parameter("c", choices=["a", "b"])}, "is not one of a, b"),
    ],
)
def test_a_class_that_cannot_be_registered(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(sc.AlgorithmError, match=re.escape(words)):
        sc.algorithm("refused")(base(**attributes))


@pytest.mark.parametrize("name", ["reno", "bbr3", "Mine", "my aimd", "", "a+b", "x" * 61])
def test_a_name_that_cannot_be_registered(name: str) -> None:
    with pytest.raises(sc.AlgorithmError, match=re.escape(repr(name))):
        sc.algorithm(name)(base())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["no such file"]),
        ("x = 1\n", ["registers no algorithm"]),
        ("import selfclock as sc\nsc.algorithm('mine')(object)\n", ["does not derive"]),
        ("def broken(:\n", ["SyntaxError", "line 1"]),
        ("import no_such_module_anywhere\n", ["ModuleNotFoundError", "line 1"]),
    ],
)
def test_a_file_that_cannot_be_loaded(tmp_path: Path, content: str | None, words: list[str]) -> None:
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(sc.AlgorithmError) as caught:
        sc.load_algorithms(path)
    for word in [str(path), *words]:
        assert word in str(caught.value)
    assert "importlib" not in str(caught.value)


def test_the_command_line_refuses_a_bad_file(selfclock: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import no_such_module_anywhere\n", encoding="utf-8")
    done = selfclock("algorithms", "--algorithm", "mine.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "mine.py cannot be loaded" in done.stderr
    assert "importlib" not in done.stderr


def test_pacing_is_at_the_rate_that_was_set() -> None:
    def pace(self: Any, _event: object) -> None:  # noqa: ANN401
        self.cwnd, self.pacing_bps = 100.0, 2e6

    sc.algorithm("paced")(base(on_ack=pace))
    result = sc.dumbbell(bottleneck="10 Mbps", flows=["paced"], duration="10 s").run()
    steady = pl.DataFrame(result.flows).filter(pl.col("time_s") > 1)
    assert (steady["pacing_bps"] - 2e6).abs().max() < 10  # type: ignore[operator]
    # 1448 of 1500 wire bytes are payload; the first second, before releases queue up, is 10 %.
    assert result.summary["flows"][0]["goodput_bps"] == pytest.approx(2e6 * 1448 / 1500, rel=0.02)
    for rate in (0, -1.0, float("nan"), "fast"):
        with pytest.raises((TypeError, ValueError), match="pacing_bps"):
            sc.CongestionControl().pacing_bps = rate  # type: ignore[assignment]


def test_delivery_rates_come_if_wanted() -> None:
    rates: list[float] = []

    def look(_self: object, event: sc.Acknowledged) -> None:
        assert (event.rate is not None) or event.now_s < 0.1
        if event.rate is not None and event.now_s > 1:
            rates.append(event.rate.delivery_rate_bps)

    sc.algorithm("looks")(base(on_ack=look, wants_rate_samples=True))  # type: ignore[arg-type]
    # A window of 10 segments per 40 ms: 2.9 Mbit/s of payload.
    sc.dumbbell(bottleneck="100 Mbps", flows=["looks"], duration="2 s").run()
    assert sum(rates) / len(rates) == pytest.approx(10 * 1448 * 8 / 0.0404, rel=0.05)


def test_a_pause_of_the_application_is_an_event() -> None:
    """Bursts of 20 kB every 160 ms, over in less than 100 ms: a pause before each but the first."""
    heard: list[tuple[float, float, float]] = []

    def on_resumed(_self: sc.CongestionControl, event: sc.Resumed) -> None:
        heard.append((event.now_s, event.idle_s, event.timeout_s))

    sc.algorithm("pauses")(base(on_resumed=on_resumed))
    sc.dumbbell(bottleneck="10 Mbps", flows=[sc.Flow("pauses", rate="1 Mbps", write="20 kB")], duration="2 s").run()
    assert 9 <= len(heard) <= 12
    assert all(0.05 < idle < 0.16 and timeout >= 0.2 for _, idle, timeout in heard)


def test_who_sets_the_window_in_recovery_is_declared() -> None:
    """Proportional rate reduction makes no difference for a class that says so, and some for another."""
    for owns in (False, True):

        def on_loss(self: sc.CongestionControl, _event: sc.LossDetected) -> None:
            self.cwnd = 0.7 * self.cwnd

        def on_ack(self: sc.CongestionControl, event: sc.Acknowledged) -> None:
            self.cwnd += self.segments(event.size_bytes) / self.cwnd

        own = base(on_ack=on_ack, on_loss=on_loss, owns_window_in_recovery=owns)
        sc.algorithm(f"recovers-{owns}".lower())(own)
        [listed] = [each for each in sc.algorithms() if each.name == f"recovers-{owns}".lower()]
        assert ("alone" in listed.recovery) == owns
        scenario = sc.dumbbell(bottleneck="20 Mbps", flows=[listed.name], duration="10 s")
        sent = {
            scenario.with_overrides(["network.bottleneck.loss={probability=0.01}", f"transport.prr={prr}"])
            .run()
            .summary["flows"][0]["sent_segments"]
            for prr in ("true", "false")
        }
        assert (len(sent) == 1) == owns


def test_any_number_of_threads_gives_the_same() -> None:
    def begin(self: Any) -> None:  # noqa: ANN401
        self.random = random.Random(self.seed)  # noqa: S311

    def grow(self: Any, _event: object) -> None:  # noqa: ANN401
        self.cwnd += self.random.random() / self.cwnd

    def halve(self: Any, _event: object) -> None:  # noqa: ANN401
        self.ssthresh = self.cwnd = self.cwnd / 2

    sc.algorithm("drawn")(base(__init__=begin, on_ack=grow, on_loss=halve))
    scenarios = [
        sc.dumbbell(bottleneck="5 Mbps", flows=["drawn", "drawn", "cubic"], duration="5 s", seed=seed)
        for seed in range(1, 7)
    ]
    single = [scenario.run() for scenario in scenarios]
    assert single[0].summary["flows"] != single[1].summary["flows"], "the seed matters"
    for threads in (1, 4):
        for one, many in zip(single, sc.run_many(scenarios, threads=threads), strict=True):
            assert pl.DataFrame(one.flows).equals(pl.DataFrame(many.flows))


def test_ctrl_c_ends_a_run_in_python(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "import selfclock as sc\n"
        "@sc.algorithm('interrupted')\n"
        "class Own(sc.CongestionControl):\n"
        "    def on_ack(self, event):\n"
        "        if event.now_s > 0.2: os.kill(os.getpid(), signal.SIGINT)\n"
        "    def on_loss(self, event): pass\n"
        "    def on_timeout(self, event): pass\n"
        "try:\n    sc.dumbbell(flows=['interrupted'], duration='100000 s').run()\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.stdout == "stopped\n", done.stderr


def test_events_can_be_printed() -> None:
    printed: list[str] = []
    sc.algorithm("prints")(base(on_ack=lambda _self, event: printed.append(repr(event))))
    # Linux's receivers acknowledge each of the first segments at once (tcp_enter_quickack_mode).
    sc.dumbbell(flows=["prints"], duration="100 ms").run()
    assert re.match(r"Acknowledged\(now_s=0\.08\d+, acknowledged_total_bytes=1448, .*size_bytes=1448, ", printed[0])
