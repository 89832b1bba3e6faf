"""Figures 2 to 9: sequence numbers of one transfer of 10 Mbyte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfclock import style
from selfclock.papers.swift_start import verdicts
from selfclock.papers.swift_start.network import (
    DELAYED_ACK,
    FILE,
    OC1_MBPS,
    PACKET_B,
    SEGMENT_B,
    TRANSPORT,
    Flow,
    completion_s,
    data_sent,
    per_round_trip,
    scenario,
)
from selfclock.papers.swift_start.verdicts import PAPER
from selfclock.reproduce import Claim, Grid, Illustration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selfclock.reproduce import Verdict
    from selfclock.result import Result
    from selfclock.scenario import Scenario

#: Advertised window of figures 2 and 3.
RECEIVE_WINDOW_B = 65_535

SLOW_START = {"start": "slow-start"}
ORIGINAL = {"start": "swift-start", "no_estimate": "freeze"}
MODIFIED = {"start": "modified-swift-start"}

#: Figure 4 shows bursts at the beginning of the second and of the third round trip. With alpha = 1 the capacity is
#: reached in the second; 2 is the smallest whole alpha that leaves something for the third.
FIGURE_4_ALPHA = 2.0
BURSTING = {**ORIGINAL, "burst": "difference", "swift_alpha": FIGURE_4_ALPHA}


@dataclass(frozen=True)
class Run:
    """One transfer of one figure."""

    figure: str
    label: str
    look: str
    control: Mapping[str, object]
    rate_mbps: float
    rtt_ms: float
    transport: Mapping[str, object]
    seconds: float


_WINDOW = {"receive_window": f"{RECEIVE_WINDOW_B} B"}
_MANY: list[tuple[str, str, Mapping[str, object]]] = [
    ("slow start", "slow-start", SLOW_START),
    ("Swift Start", "swift-start", ORIGINAL),
    ("modified Swift Start", "modified-swift-start", MODIFIED),
]

RUNS = [
    *(Run("2", *each, OC1_MBPS, 470, _WINDOW, 100) for each in _MANY[:2]),
    Run("4", "slow start", "slow-start", SLOW_START, 1.544, 348, {}, 80),
    Run("4", "Swift Start", "swift-start", BURSTING, 1.544, 348, {}, 80),
    Run("4, RFC 2001", *_MANY[0], 1.544, 348, {"initial_ssthresh": f"{65_535 / SEGMENT_B:.3f} segments"}, 80),
    *(Run("5", *each, OC1_MBPS, 274, DELAYED_ACK, 500) for each in _MANY[:2]),
    *(Run("8", *each, OC1_MBPS, 274, DELAYED_ACK, 500) for each in _MANY),
    *(Run("9, 386 ms", *each, OC1_MBPS, 386, DELAYED_ACK, 700) for each in _MANY),
    *(Run("9, 486 ms", *each, OC1_MBPS, 486, DELAYED_ACK, 900) for each in _MANY),
    *(Run("without delay", *each, OC1_MBPS, 274, {}, 100) for each in _MANY),
    Run("no option", *_MANY[2], OC1_MBPS, 274, {**DELAYED_ACK, "peer_knows_option": False}, 100),
    *(Run("4 by alpha", f"{alpha}, {burst}", "swift-start", {**ORIGINAL, "swift_alpha": float(alpha), "burst": burst},
          1.544, 348, {}, 80) for alpha in (1, 2, 4, 8) for burst in ("none", "difference")),
]  # fmt: skip


def scenarios() -> list[Scenario]:
    """Return every run of the figures."""
    return [
        scenario(f"figure {run.figure}: {run.label}", run.rate_mbps, run.rtt_ms, [Flow(run.control, FILE)],
                 seconds=run.seconds, transport={**TRANSPORT, **run.transport}, packets=True)
        for run in RUNS
    ]  # fmt: skip


def findings(results: Sequence[Result]) -> tuple[list[Claim], list[Illustration], list[Grid]]:
    """Judge the figures."""
    by = {(run.figure, run.label): (run, result) for run, result in zip(RUNS, results, strict=True)}
    claims = [*_figures_2_and_3(by), *_figure_4(by), *_figures_5_and_6(by)]
    for figure in ("8", "9, 386 ms", "9, 486 ms"):
        claims += _figures_8_and_9(by, figure)
    claims += [_unaffected(by), _absent_partner(by)]
    return claims, _illustrations(by), [_by_alpha(by)]


Found = dict[tuple[str, str], tuple[Run, "Result"]]


def _rounds(found: tuple[Run, Result], rounds: int) -> list[int]:
    run, result = found
    return per_round_trip(result, run.rate_mbps, run.rtt_ms, rounds)


def _text(seconds: float | None) -> str:
    return "not complete" if seconds is None else f"{seconds:.2f} s"


def _claim(identity: str, source: str, says: str, printed: str, measured: str, verdict: Verdict, note: str) -> Claim:
    return Claim(PAPER, identity, source, says, printed, measured, verdict, note)


def _figures_2_and_3(by: Found) -> list[Claim]:
    slow, swift = by["2", "slow start"], by["2", "Swift Start"]
    slow_rounds, swift_rounds = _rounds(slow, 8), _rounds(swift, 8)
    window = RECEIVE_WINDOW_B // SEGMENT_B
    times = completion_s(slow[1]), completion_s(swift[1])
    last = [_rounds(found, 100)[60:100] for found in (slow, swift)]
    per_window = [sum(counts) / len(counts) / window for counts in last]
    source = "section 3, figure 3"
    return [
        _claim("figure-3-point-A", source, "both algorithms start at the same time, with IW of 4 segments", "4 and 4",
               f"{slow_rounds[0]} and {swift_rounds[0]}", verdicts.exact([slow_rounds[0], swift_rounds[0]], [4, 4]),
               "Segments that leave in the first round trip."),
        _claim("figure-3-second-round-trip", source,
               "in the next RTT the window of slow start is very small, and Swift Start can not send more than RWND",
               f"8 and {window} segments", f"{slow_rounds[1]} and {swift_rounds[1]} segments",
               verdicts.exact([slow_rounds[1], swift_rounds[1]], [8, window]),
               f"{RECEIVE_WINDOW_B} B are {window} whole segments of {SEGMENT_B} B."),
        _claim("figure-3-meet", source,
               "the difference increases until slow start reaches its RWND; then both send RWND bytes every RTT",
               "RWND / RTT, both", f"{per_window[0]:.3f} and {per_window[1]:.3f} of it",
               "reproduced" if all(abs(part - 1) < 0.01 for part in per_window) else "not reproduced",
               f"Mean of the 61st to the 100th round trip. Slow start sends {slow_rounds} in its first ones, "
               f"Swift Start {swift_rounds}."),
        _claim("figure-2-transfer", "section 3, figure 2", "Swift Start improves the start up of the connection",
               "sooner", f"{_text(times[1])} against {_text(times[0])}", verdicts.faster(times[1], times[0]),
               "Transfer of the 10 MB file; the window, not the start, sets most of it."),
    ]  # fmt: skip


def _rates_within(found: tuple[Run, Result], number: int, parts: int = 10) -> list[int]:
    """Segments sent in each part of the so-many-th round trip."""
    run, result = found
    counts = per_round_trip(result, run.rate_mbps * 1e9, run.rtt_ms / parts, parts * (number + 1))
    return counts[parts * (number - 1) : parts * number]


def _burstiness(counts: Sequence[int]) -> float:
    """Rate in the first tenth of the round trip in which anything is sent, over the mean of what follows it."""
    first = next((position for position, count in enumerate(counts) if count > 0), 0)
    rest = counts[first + 1 :]
    mean = sum(rest) / len(rest) if rest else 0.0
    return counts[first] / mean if mean > 0 else float("inf")


def _figure_4(by: Found) -> list[Claim]:
    slow, swift = by["4", "slow start"], by["4", "Swift Start"]
    slow_rounds, swift_rounds = _rounds(slow, 6), _rounds(swift, 6)
    ahead = sum(swift_rounds[:3]), sum(slow_rounds[:3])
    points = {name: _burstiness(_rates_within(swift, number)) for name, number in (("A", 2), ("B", 3))}
    source = "section 4.1, figure 4"
    says = {
        "A": "at the second RTT Swift Start starts sending with a high rate, and then decreases this rate",
        "B": "this action also happened at the beginning of the third RTT",
    }
    alpha = f"alpha = {FIGURE_4_ALPHA:g}, burst = difference"
    fall, early_fall = _fall(slow), _fall(by["4, RFC 2001", "slow start"])
    return [
        _claim("figure-4-start-up", source, "the start up of Swift Start is better although the bandwidth is small",
               "more data sent", f"{ahead[0]} against {ahead[1]} segments",
               "reproduced" if ahead[0] > ahead[1] else "not reproduced",
               f"In the first three round trips of 348 ms; {alpha}. Transfer of the file: "
               f"{_text(completion_s(swift[1]))} against {_text(completion_s(slow[1]))}."),
        *(_claim(f"figure-4-point-{name}", source, says[name], "high, then lower", f"{points[name]:.1f} times",
                 verdicts.burst(points[name]),
                 f"Segments in the first tenth of the round trip over the mean of the tenths after it; {alpha}.")
          for name in points),
        _claim("figure-4-point-C", source,
               "in the fifth RTT the sending rate of slow start is high and then decreases suddenly",
               "high, then lower", f"{fall:.2f} times", verdicts.burst(fall),
               f"Rate of the first quarter of the segments of the fifth window over that of the last. The round trips "
               f"have {slow_rounds} segments; from the second on the acknowledgements are a packet time of the link "
               f"apart, so each window leaves evenly. With the initial ssthresh of RFC 2001, 65535 B, slow start ends "
               f"within the fifth window and the rate falls {early_fall:.2f} times; the paper prints no threshold."),
    ]  # fmt: skip


def _fall(found: tuple[Run, Result], window: tuple[int, int] = (60, 124)) -> float:
    """Rate of the first quarter of the segments of a window over that of the last; the fifth window has 64 after 60."""
    rows = data_sent(found[1])
    first, last = window
    times: list[float] = rows.filter(rows["segment"].is_between(first - 0.5, last - 0.5))["time_s"].to_list()
    quarter = len(times) // 4
    return (times[-1] - times[-1 - quarter]) / (times[quarter] - times[0])


def _figures_5_and_6(by: Found) -> list[Claim]:
    slow, swift = by["5", "slow start"], by["5", "Swift Start"]
    counts = _rounds(swift, 400)
    times = completion_s(swift[1]), completion_s(slow[1])
    rate = min(counts), max(counts)
    return [
        _claim("figure-5-four-segments", "section 4.2, figures 5 and 6",
               "with delayed acknowledgements Swift Start sends only 4 segments each RTT", "4",
               f"{rate[0]}" if rate[0] == rate[1] else f"{rate[0]} to {rate[1]}",
               verdicts.exact(counts, [4] * len(counts)),
               f"In each of the first {len(counts)} round trips, with no_estimate = freeze; with the default, "
               f"slow-start, "
               f"it is slow start."),
        _claim("figure-5-transfer", "section 4.2, figure 5", "its sending rate is very low", "later than slow start",
               f"{_text(times[0])} against {_text(times[1])}", verdicts.faster(times[1], times[0]),
               f"Transfer of the 10 MB file, {_ratio(times)} times as long."),
    ]  # fmt: skip


def _ratio(times: tuple[float | None, float | None]) -> str:
    own, other = times
    return "none" if own is None or other is None else f"{own / other:.3g}"


def _figures_8_and_9(by: Found, figure: str) -> list[Claim]:
    slow, swift, modified = (by[figure, label] for label, *_ in _MANY)
    run = modified[0]
    times = [completion_s(found[1]) for found in (modified, slow, swift)]
    third = _rounds(modified, 3)[2]
    at_rate = run.rate_mbps * 1e6 * run.rtt_ms / 1e3 / 8 / PACKET_B
    identity = "figure-8" if figure == "8" else f"figure-9-{run.rtt_ms:g}-ms"
    source = f"section 4.3, figure {figure}"
    return [
        _claim(f"{identity}-order", source,
               "the modified Swift Start performs better than slow start, the traditional one very low",
               "modified < slow start < traditional", " < ".join(map(_text, times)) if times == sorted(
                   times, key=lambda time: float("inf") if time is None else time) else ", ".join(map(_text, times)),
               verdicts.order(times),
               f"Transfer of the 10 MB file: modified over slow start {_ratio((times[0], times[1]))}, "
               f"traditional over "
               f"slow start {_ratio((times[2], times[1]))}."),
        _claim(f"{identity}-rate", source, "it quickly estimates the path capacity",
               "the link's rate in the third round trip", f"{third / at_rate:.3f} of it",
               verdicts.at_link_rate(third / at_rate),
               f"{third} segments leave in it; {at_rate:.0f} are the rate of the link. Round trips of the "
               f"modified one: "
               f"{_rounds(modified, 4)}."),
    ]  # fmt: skip


def _unaffected(by: Found) -> Claim:
    with_delay, without = (completion_s(by[figure, "modified Swift Start"][1]) for figure in ("8", "without delay"))
    original = completion_s(by["without delay", "Swift Start"][1])
    return _claim(
        "delayed-ack", "section 5", "its performance is not affected when using delayed acknowledgement",
        "the same time", f"{_text(with_delay)} with, {_text(without)} without",
        verdicts.same_time(with_delay, without),
        f"Transfer of the 10 MB file at 274 ms. The traditional one without delayed acknowledgements, alpha = 8: "
        f"{_text(original)}.",
    )  # fmt: skip


def _absent_partner(by: Found) -> Claim:
    own, plain = completion_s(by["no option", "modified Swift Start"][1]), completion_s(by["8", "slow start"][1])
    return _claim(
        "absent-partner", "section 3.2, what it implies", "with a receiver that does not know the option it is "
                                                          "slow start",
        "the same time", f"{_text(own)} against {_text(plain)}", verdicts.same_time(own, plain),
        f"Transfer of the 10 MB file, 274 ms, delayed acknowledgements, initial window 4. Tolerance "
        f"{verdicts.SAME_TIME:.0%}.",
    )  # fmt: skip


def _by_alpha(by: Found) -> Grid:
    rows = []
    for (figure, label), found in by.items():
        if figure == "4 by alpha":
            rounds = _rounds(found, 5)
            points = [_burstiness(_rates_within(found, number)) for number in (2, 3)]
            texts = [f"{point:.1f}" for point in points]
            rows.append([label, *map(str, rounds), *texts, _text(completion_s(found[1]))])
    return Grid(
        "Figure 4 by alpha and burst",
        "Segments in each round trip, burstiness of the second and the third as in the claims, and transfer "
        "time; the path holds 46 "
        "segments.",
        ["alpha, burst", "1", "2", "3", "4", "5", "burst at A", "burst at B", "transfer"],
        rows,
    )


#: What is drawn: figure of the paper, time axis in seconds.
_DRAWN = [
    ("2", "Figure 2: 49.5 Mbit/s, 470 ms, receive window 65535 B", 80.0),
    ("2", "Figure 3: its beginning", 4.0),
    ("4", "Figure 4: 1.544 Mbit/s, 348 ms", 3.0),
    ("5", "Figures 5 and 6: 49.5 Mbit/s, 274 ms, delayed acknowledgements", 3.0),
    ("8", "Figure 8: 49.5 Mbit/s, 274 ms, delayed acknowledgements", 3.5),
    ("9, 386 ms", "Figure 9 by the text: 49.5 Mbit/s, 386 ms", 4.0),
    ("9, 486 ms", "Figure 9 by its caption: 49.5 Mbit/s, 486 ms", 5.0),
]


def _illustrations(by: Found) -> list[Illustration]:
    return [_illustration(by, *drawn) for drawn in _DRAWN]


@style.house()
def _illustration(by: Found, figure: str, title: str, seconds: float) -> Illustration:
    drawing, (axes,) = style.figure()
    for (of, label), (run, result) in by.items():
        if of == figure:
            rows = data_sent(result)
            rows = rows.filter(rows["time_s"] <= seconds)
            # Of many points every tenth is enough.
            rows = rows.gather_every(10 if len(rows) > 5000 else 1)
            colour = style.look(run.look).colour
            axes.plot(rows["time_s"], rows["segment"], ".", color=colour, markersize=2.5, label=label)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("segment sent")
    axes.set_xlabel("time since the first segment (s)")
    axes.set_title(title)
    axes.legend(loc="upper left", markerscale=3)
    return Illustration(title, "Every point is a segment that leaves the sender.", drawing)
