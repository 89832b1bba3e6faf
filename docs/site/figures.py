"""Figures of the pages, each from runs of the simulator, in a light and a dark edition."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import selfclock as sc
from selfclock import style
from selfclock.figure import Figure
from selfclock.lotka_volterra import limit, populations
from selfclock.papers.ficcrd import network as ficcrd
from selfclock.path_diagram import draw_path
from selfclock.report import drawing
from selfclock.series import flow_series, link_series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from selfclock.figure import Panel
    from selfclock.result import Result

#: Colours of lines and words by edition; pages are white, or nearly black.
INK = {"": "#222222", "-dark": "#dddddd"}
GRID = {"": "#dddddd", "-dark": "#444444"}
PALE = "#888888"
#: Colours of the palette too dark for the dark edition, and their replacements.
LIGHTER = {"#0072b2": "#4da6e0", "#009e73": "#2fc79b", "#d55e00": "#f0803c"}


def draw_all() -> Iterator[tuple[str, str]]:
    """Draw every figure; yield its file name and contents."""
    for name, make in FIGURES.items():
        figure = make()
        for edition, ink in INK.items():
            stream = io.BytesIO()
            drawing.save(figure, stream, format="svg", transparent=True, settings=_settings(ink, GRID[edition]))
            text = stream.getvalue().decode()
            for dark, light in LIGHTER.items() if edition else ():
                text = text.replace(dark, light)
            yield f"{name}{edition}.svg", text


def _settings(ink: str, grid: str) -> dict[str, Any]:
    words = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    return {**words, "grid.color": grid, "svg.fonttype": "none", "font.family": "sans-serif"}


_RESULTS: dict[str, Result] = {}


def _run(scenario: sc.Scenario) -> Result:
    """Run a scenario; the second edition of a figure reuses the first one's result."""
    if scenario.text not in _RESULTS:
        _RESULTS[scenario.text] = scenario.run()
    return _RESULTS[scenario.text]


def _rate_mbps(series: pl.DataFrame, span: int = 20) -> pl.Series:
    """Rate of delivered data, averaged over this many samples."""
    delivered = series["delivered_bytes"].cast(pl.Float64)
    return delivered.diff(span) * 8e-6 / series["time_s"].diff(span)


def _space_time(panel: Panel, congestion_control: Mapping[str, object], until_s: float) -> None:
    """Draw every packet of a connection in transit."""
    result = _run(
        sc.dumbbell(
            bottleneck="1 Mbps",
            rtt="100 ms",
            buffer="100 packets",
            flows=[{"congestion_control": congestion_control}],
            duration=f"{until_s} s",
            transport={"initial_window": "2 segments", "handshake": False},
            record={"packets": True},
        )
    )
    draw_path(panel, result, duration_s=until_s)
    panel.y.label = ""
    panel.y.names = dict(zip(panel.y.names, ("sender", "router", "router", "receiver"), strict=True))


def clock() -> Figure:
    """The first round trips of a connection."""
    figure = Figure(x="time (ms)", height=3.4)
    _space_time(figure.panel, {"window": "reno"}, 0.5)
    return figure


def pairs() -> Figure:
    """The same connection in slow start, and in pairs whose interval the receiver measures."""
    figure = Figure(2, x="time (ms)", height=5.4)
    slow, paired = figure.column
    _space_time(slow, {"window": "reno"}, 0.5)
    _space_time(paired, {"start": "packet-pair", "window": "reno", "tick": "1 ms"}, 0.5)
    slow.title, paired.title = "slow start", "packet-pair"
    slow.x.label = ""
    return figure


def sawtooth() -> Figure:
    """Reno's window and queue."""
    result = _run(sc.dumbbell("10 Mbps", "40 ms", "1 bdp", ["reno"], duration="30 s"))
    flow, link = flow_series(result), link_series(result)
    figure = Figure(2, x="time (s)", height=3.8)
    window, queue = figure.column
    window.line(flow["time_s"], flow["cwnd_bytes"] / 1448, colour="#0072B2", label="window")
    window.line(flow["time_s"], flow["in_flight_bytes"] / 1448, colour=PALE, width=0.8, label="in flight")
    window.rule("y", 10e6 * 0.04 / 8 / 1500, colour="#D55E00", width=1.2, label="bandwidth-delay product")
    window.y.label, window.y.low, window.y.high = "window (segments)", 0.0, 120.0
    queue.line(link["time_s"], link["queue_packets"], colour="#009E73", label="queue")
    queue.y.label = "queue (packets)"
    return figure


def overshoot() -> Figure:
    """The first second of four start-up algorithms on one path."""
    figure = Figure(2, x="time (s)", height=4.2)
    sent, queue = figure.column
    for start in ("slow-start", "hystart++", "packet-pair", "modified-swift-start"):
        control = {"window": "cubic", "start": start, **({"tick": "1 ms"} if start == "packet-pair" else {})}
        result = _run(sc.dumbbell("50 Mbps", "60 ms", "1 bdp", [{"congestion_control": control}], duration="1.5 s"))
        flow, link, look = flow_series(result), link_series(result), style.look(start)
        sent.line(flow["time_s"], flow["acknowledged_bytes"] / 1e6, dash=look.line, colour=look.colour, label=start)
        queue.line(link["time_s"], link["queue_packets"], dash=look.line, colour=look.colour, label=start)
    sent.y.label, queue.y.label = "acknowledged (MB)", "queue (packets)"
    return figure


def swift_start() -> Figure:
    """1 MB over a long path, with delayed acknowledgements."""
    figure = Figure(x="time (s)", y="acknowledged (MB)", height=3.2)
    for start in ("slow-start", "swift-start", "modified-swift-start", "quick-start"):
        flow = sc.Flow({"start": start, "window": "reno"}, size="5 MB")
        routers = [sc.Router("quick-start")] if start == "quick-start" else []
        made = sc.dumbbell("49.5 Mbps", "274 ms", "1 bdp", [flow], duration="4 s", routers=routers)
        series, look = flow_series(_run(made)), style.look(start)
        figure.panel.line(series["time_s"], series["acknowledged_bytes"] / 1e6, dash=look.line, colour=look.colour,
                          label=start)  # fmt: skip
    return figure


def species() -> Figure:
    """Two and ten species of the model, which join one after another and share the capacity."""
    figure = Figure(2, x="time (s)", height=3.8)
    for panel, number, apart_s in zip(figure.column, (2, 10), (10.0, 2.0), strict=True):
        times, series = populations([apart_s * each for each in range(number)], seconds=60.0)
        for sizes in series:
            panel.line(times[::20], sizes[::20], colour="#0072B2", width=0.9)
        panel.rule("y", limit(number), colour="#D55E00", width=1.2)
        panel.y.label, panel.y.low, panel.y.high = f"population of\n{number} species", 0.0, 105.0
    return figure


def inline() -> Figure:
    """A window that follows the bandwidth left by a UDP source, with its measurements."""
    steps = [(0, 0), (10, 400), (20, 700), (30, 200)]
    udp = {
        "rate": "1 kbps",
        "steps": [{"at": f"{at} s", "rate": f"{rate} Mbps"} for at, rate in steps[1:]],
    }
    flows = [{"congestion_control": "lotka-volterra"}, {"protocol": "udp", "traffic": udp}]
    result = _run(sc.dumbbell("1 Gbps", "60 ms", "1 bdp", flows, duration="40 s"))
    flow, link = flow_series(result), link_series(result)
    figure = Figure(2, x="time (s)", height=4.0)
    rate, queue = figure.column
    times = [*(at for at, _ in steps), 40]
    left = [*(1000 - used for _, used in steps), 800]
    rate.line(times, left, dash=":", step="after", colour=PALE, label="left by UDP")
    rate.line(flow["time_s"], flow["available_bps"] / 1e6, colour="#D55E00", width=0.7, label="A, as measured")
    rate.line(flow["time_s"], _rate_mbps(flow), colour="#0072B2", label="goodput")
    rate.y.label, rate.y.low, rate.y.high = "rate (Mbit/s)", 0.0, 1150.0
    queue.line(link["time_s"], link["queue_packets"], colour="#009E73")
    queue.y.label = "queue (packets)"
    return figure


def layered() -> Figure:
    """Windows of single flows on a long fast path, from a slow start that ends early."""
    figure = Figure(x="time (s)", y="window (segments)", height=3.4)
    for window in ("reno", "highspeed", "ltcp", "altcp"):
        transport = {"initial_ssthresh": "100 segments"}
        result = _run(sc.dumbbell("200 Mbps", "120 ms", "0.5 bdp", [window], duration="120 s", transport=transport))
        flow, look = flow_series(result), style.look(window)
        figure.panel.line(flow["time_s"], flow["cwnd_bytes"] / 1448, dash=look.line, colour=look.colour, label=window)
    figure.panel.y.low = 0.0
    return figure


def _shares(algorithms: list[str], rate: str, rtt: str, buffer: str, until: str) -> Figure:
    """Two flows of one algorithm, the second of which starts later."""
    figure = Figure(len(algorithms), x="time (s)", height=1.4 * len(algorithms) + 0.6)
    for panel, algorithm in zip(figure.column, algorithms, strict=True):
        flows = [{"congestion_control": algorithm}, {"congestion_control": algorithm, "start": "10 s"}]
        result = _run(sc.dumbbell(rate, rtt, buffer, flows, duration=until))
        colour = style.look(algorithm).colour
        for name, dash in (("flow1", "-"), ("flow2", "--")):
            series = flow_series(result, name)
            panel.line(series["time_s"], _rate_mbps(series), dash=dash, colour=colour)
        panel.y.label, panel.y.low = f"{algorithm}\n(Mbit/s)", 0.0
    return figure


def windows() -> Figure:
    """Rates of two flows, for the loss-based windows."""
    return _shares(["reno", "cubic", "highspeed", "scalable"], "100 Mbps", "40 ms", "1 bdp", "60 s")


def delay() -> Figure:
    """Rates of two flows, for the windows that watch the delay."""
    return _shares(["vegas", "fast"], "100 Mbps", "40 ms", "1 bdp", "60 s")


def feedback() -> Figure:
    """The queue of the FICCRD paper's bottleneck, with and without it."""
    figure = Figure(x="time (s)", y="queue (packets)", height=3.0)
    for router, colour, label in ((None, PALE, "tail drop"), (ficcrd.WINDOW, "#0072B2", "FICCRD, window adaptation")):
        link = link_series(_run(ficcrd.scenario("queue", router, seconds=60)), ficcrd.BOTTLENECK)
        figure.panel.line(link["time_s"], link["queue_packets"], colour=colour, label=label, width=0.9)
    return figure


def cell() -> Figure:
    """Deployed algorithms over the synthetic cell of the examples: rate, queue, window."""
    figure = Figure(3, 3, x="time (s)", width=8.4, height=5.4, same_scale=True)
    example = sc.Scenario.load(Path(__file__).parents[2] / "examples" / "lte.toml")
    dualpi2 = 'network.bottleneck.queue={ discipline = "dualpi2", limit = "100 packets" }'
    deployed = (
        ("CUBIC", "cubic", []),
        ("BBRv3", "bbr3", []),
        ("Prague over DualPI2", "prague", [dualpi2, "transport.ecn=accurate"]),
    )
    for (rate, queue, window), (title, name, changes) in zip(zip(*figure.panels, strict=True), deployed, strict=True):
        scenario = example.with_overrides([f"flow.0.congestion_control={name}", *changes])
        result = _run(scenario)
        colour, link, flow = style.look(name).colour, link_series(result), flow_series(result)
        times = link["time_s"].to_list()
        offered = pl.Series(scenario.offered_bytes("bottleneck", times), dtype=pl.Float64)
        rate.band(times, 0.0, offered.diff(20) * 8e-6 / link["time_s"].diff(20), colour=PALE, opacity=0.35)
        rate.line(flow["time_s"], _rate_mbps(flow), colour=colour)
        queue.line(times, link["queue_packets"], colour=PALE, width=0.8)
        window.line(flow["time_s"], flow["cwnd_bytes"] / 1448, colour=colour)
        rate.title = title
    for row, label in zip(figure.panels, ("goodput\n(Mbit/s)", "queue\n(packets)", "window\n(segments)"), strict=True):
        for panel in row:
            panel.y.label, panel.y.low = "", 0.0
        row[0].y.label = label
    return figure


#: Name and drawing function of every figure of the pages.
FIGURES: dict[str, Callable[[], Figure]] = {
    draw.__name__.replace("_", "-"): draw
    for draw in (
        clock, pairs, sawtooth, overshoot, swift_start, species, inline, layered, windows, delay, feedback, cell,
    )
}  # fmt: skip


def today() -> Figure:
    """Deployed algorithms side by side: the figure of the README, which `selfclock compare` draws.

    It is narrower, so that its text is legible on a phone.
    """
    figure = sc.compare(
        ["cubic", "bbr3", "prague"], rate="50 Mbps", rtt="40 ms", flows=2, duration="40 s", queue="dualpi2", ecn="auto"
    ).figure()
    figure.title, figure.width, figure.height = "", 5.4, 6.2
    return figure


def sequence() -> Figure:
    """Two flows packet by packet: the figure of the first page, which `selfclock run` draws."""
    changes = ["record.packets=true", "duration=12 s"]
    scenario = sc.Scenario.load(Path(__file__).parents[2] / "examples" / "packet-pair-vs-reno.toml", changes)
    figure = scenario.run().plot.sequence()
    figure.title, figure.height = "", 3.6
    return figure


def main() -> None:
    """Draw the figures of the README and the first page: `make figures`."""
    folder = Path(__file__).parents[1] / "figures"
    for name, draw in (("today", today), ("packet-pair-vs-reno", sequence)):
        draw().savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
