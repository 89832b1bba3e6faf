"""What the paper prints, and the verdict on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.papers.packet_pair.ensemble import BASELINE, EXPERIMENTS, SEEDS, Ensemble, segments_sent
from selfclock.reproduce import Claim, Grid, Verdict, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from selfclock.result import Result

PAPER = "packet-pair"

#: Segments sent, as printed in section 5.
PRINTED_COUNTS = {8: 173, 9: 212, 11: 308, 12: 407, 13: 433}

#: Gains as they follow from the printed counts, percent. The text rounds them down: 22, 32, 40.
PRINTED_GAINS = {
    figure: round(100 * (PRINTED_COUNTS[figure] / PRINTED_COUNTS[baseline] - 1), 1)
    for figure, baseline in BASELINE.items()
}

#: A count agrees within 10 %: several settings that the paper does not print change it by more.
COUNT_TOLERANCE = 0.10

#: A gain agrees within 5 percentage points.
GAIN_TOLERANCE = 5.0

_EXPERIMENTS = {experiment.figure: experiment for experiment in EXPERIMENTS}


def count_verdict(measured: float, printed: float) -> Verdict:
    """A count has no sign: it agrees or it does not."""
    return "reproduced" if within(measured, printed, COUNT_TOLERANCE * printed) else "not reproduced"


def gain_verdict(measured: float, printed: float) -> Verdict:
    """A gain of the right sign and another size is the right direction."""
    if within(measured, printed, GAIN_TOLERANCE):
        return "reproduced"
    return "direction" if measured * printed > 0 else "not reproduced"


def order_verdict(*, both_over_sender: float, sender_over_reno: float) -> Verdict:
    """Both sides >= sender only > Reno; half of it is not the order."""
    return "reproduced" if both_over_sender >= 0 and sender_over_reno > 0 else "not reproduced"


def counts_and_gains(headline: Ensemble, delayed: Ensemble, single: Mapping[int, Result]) -> list[Claim]:
    """Return the claims of section 5. `delayed` is the ensemble with a random delay of every packet, for the notes."""
    return [
        _count(headline, delayed, single, 8),
        _gain(headline, delayed, single, 9),
        _count(headline, delayed, single, 11),
        _gain(headline, delayed, single, 12),
        _gain(headline, delayed, single, 13),
        _order(headline, delayed),
    ]


def _count(headline: Ensemble, delayed: Ensemble, single: Mapping[int, Result], figure: int) -> Claim:
    experiment, printed = _EXPERIMENTS[figure], PRINTED_COUNTS[figure]
    counts = headline.count(figure)
    measured = round(_mean(counts), 1)
    return Claim(
        PAPER,
        f"figure-{figure}-count",
        f"section 5, figure {figure}",
        f"Reno sends {printed} segments in {experiment.seconds} s",
        printed,
        measured,
        count_verdict(measured, printed),
        f"Mean of {len(SEEDS)} runs, {_quartiles(counts)}; the run from time 0 alone sends "
        f"{segments_sent(single[figure], experiment.seconds)}. With a random delay of every packet as well: mean "
        f"{_mean(delayed.count(figure)):.0f}, {_quartiles(delayed.count(figure))}. Tolerance {COUNT_TOLERANCE:.0%}.",
        "segments",
    )


def _gain(headline: Ensemble, delayed: Ensemble, single: Mapping[int, Result], figure: int) -> Claim:
    experiment, baseline = _EXPERIMENTS[figure], BASELINE[figure]
    gains = headline.gain_percent(figure)
    measured = round(_median(gains), 1)
    alone = segments_sent(single[figure], experiment.seconds)
    baseline_alone = segments_sent(single[baseline], experiment.seconds)
    return Claim(
        PAPER,
        f"figure-{figure}-gain",
        f"section 5, figure {figure}",
        f"{experiment.label}: {PRINTED_COUNTS[figure]} segments in {experiment.seconds} s, "
        f"{PRINTED_GAINS[figure]} % more than Reno",
        PRINTED_GAINS[figure],
        measured,
        gain_verdict(measured, PRINTED_GAINS[figure]),
        f"Median over {len(SEEDS)} pairs of runs with the same start, {_quartiles(gains)}; "
        f"{_positive(gains)} of {len(SEEDS)} gain, mean count {_mean(headline.count(figure)):.0f}. The runs "
        f"from time 0 alone: {alone} against {baseline_alone}, {100 * (alone / baseline_alone - 1):+.1f} %, with "
        f"{_timeouts(single[figure])} against {_timeouts(single[baseline])} timeouts. With a random delay of every "
        f"packet as well: {_median_and_quartiles(delayed.gain_percent(figure))} %. "
        f"Tolerance {GAIN_TOLERANCE:g} percentage points.",
        "%",
    )


def _timeouts(result: Result) -> int:
    return result.summary["flows"][0]["timeouts"]


def _order(headline: Ensemble, delayed: Ensemble) -> Claim:
    both_over_sender = _median(headline.gain_percent(13, baseline=12))
    sender_over_reno = _median(headline.gain_percent(12))
    return Claim(
        PAPER,
        "order",
        "section 5.2",
        "probing on both sides sends at least as much as on the sender's side only, and that more than Reno",
        "both sides >= sender only > Reno",
        f"both sides {both_over_sender:+.1f} % on sender only, sender only {sender_over_reno:+.1f} % on Reno",
        order_verdict(both_over_sender=both_over_sender, sender_over_reno=sender_over_reno),
        f"Medians over {len(SEEDS)} pairs of runs with the same start on the network of figure 10. With a random delay "
        f"of every packet as well: both sides {_median(delayed.gain_percent(13, baseline=12)):+.1f} % on sender only, "
        f"sender only {_median(delayed.gain_percent(12)):+.1f} % on Reno.",
    )


def distribution(headline: Ensemble, single: Mapping[int, Result]) -> Grid:
    """Return the counts of every figure."""
    rows = []
    for experiment in EXPERIMENTS:
        figure = experiment.figure
        counts = headline.count(figure)
        gain = _median_and_quartiles(headline.gain_percent(figure)) if figure in BASELINE else "-"
        rows.append([
            f"{figure}: {experiment.label}",
            str(PRINTED_COUNTS[figure]),
            f"{_mean(counts):.0f}",
            *(f"{_quantile(counts, share):.0f}" for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
            str(segments_sent(single[figure], experiment.seconds)),
            gain,
        ])  # fmt: skip
    return Grid(
        "Segments sent",
        f"Over {len(SEEDS)} random starts within a second. Gain on Reno: median and quartiles over pairs of runs with "
        "the same start, percent.",
        [
            "figure",
            "printed",
            "mean",
            "least",
            "quarter",
            "median",
            "three quarters",
            "most",
            "from time 0",
            "gain",
        ],
        rows,
    )


def sensitivity(ensembles: list[Ensemble]) -> Grid:
    """Return counts and gains under other settings."""
    return Grid(
        "Sensitivity to what the paper does not print",
        f"One change each from the setting of the claims. Reno: mean segments sent. Gains: median and quartiles over "
        f"{len(SEEDS)} pairs of runs, percent.",
        ["setting", "figure 8: Reno", "figure 9: sender only", "figure 11: Reno", "figure 12: sender only",
         "figure 13: both sides"],
        [
            [
                ensemble.setting.label,
                f"{_mean(ensemble.count(8)):.0f}",
                _median_and_quartiles(ensemble.gain_percent(9)),
                f"{_mean(ensemble.count(11)):.0f}",
                _median_and_quartiles(ensemble.gain_percent(12)),
                _median_and_quartiles(ensemble.gain_percent(13)),
            ]
            for ensemble in ensembles
        ],
    )  # fmt: skip


def _quantile(values: pl.Series, share: float) -> float:
    quantile = values.quantile(share, interpolation="linear")
    if quantile is None:
        raise ValueError("no runs")
    return float(quantile)


def _median(values: pl.Series) -> float:
    return _quantile(values, 0.5)


def _mean(values: pl.Series) -> float:
    return float(values.sum()) / len(values)


def _positive(values: pl.Series) -> int:
    return int((values > 0).sum())


def _quartiles(values: pl.Series) -> str:
    return f"quartiles {_quantile(values, 0.25):.1f} and {_quantile(values, 0.75):.1f}"


def _median_and_quartiles(values: pl.Series) -> str:
    return f"{_median(values):+.1f} ({_quantile(values, 0.25):+.1f} to {_quantile(values, 0.75):+.1f})"
