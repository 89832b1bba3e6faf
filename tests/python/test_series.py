"""Reading series: rates of running totals, means of levels, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

import selfclock as sc
from selfclock.series import (
    Samples,
    all_flows,
    all_links,
    between,
    by_flow,
    flow_series,
    goodput_bps,
    goodputs_bps,
    jain,
    link_series,
    mean_between,
    packet_record,
    rate_between,
    weighted_mean,
)

if TYPE_CHECKING:
    from pathlib import Path

#: Ten samples per second: 125 bytes in each tenth, and a level equal to the sample's index.
FRAME = pl.DataFrame({
    "time_s": [number * 0.1 for number in range(101)],
    "acknowledged_bytes": [125 * number for number in range(101)],
    "level": list(range(101)),
})  # fmt: skip


@pytest.fixture(scope="module")
def result() -> sc.Result:
    """Two connections, short ones, and UDP."""
    flows = [
        sc.Flow("cubic"),
        sc.Flow("reno", rtt="80 ms"),
        sc.Flow("cubic", load="500 kbps", size="20 kB"),
        sc.Background("1 Mbps"),
    ]
    return sc.Path("10 Mbps", "40 ms").scenario(flows, duration="10 s", record=sc.Record("100 ms", packets=True)).run()


def test_a_sample_at_either_end_counts() -> None:
    # 0.1 x 3 is 0.30000000000000004, and 0.1 x 7 is 0.7000000000000001.
    assert between(FRAME, 0.3, 0.7)["level"].to_list() == [3, 4, 5, 6, 7]
    assert between(FRAME, 0.30000000000000004, 0.31)["level"].to_list() == [3]
    assert between(FRAME, 0.31, 0.39).is_empty()


def test_rates_and_means() -> None:
    assert rate_between(FRAME, "acknowledged_bytes", 2.0, 9.0) == pytest.approx(1250, rel=1e-12)
    # With ends between samples, the rate is that of the samples inside.
    assert rate_between(FRAME, "acknowledged_bytes", 2.05, 8.95) == pytest.approx(1250, rel=1e-12)
    assert goodput_bps(FRAME, 0.0, 10.0) == pytest.approx(10_000, rel=1e-12)
    assert mean_between(FRAME, "level", 1.0, 2.0) == 15.0
    assert mean_between(FRAME, "level", 11.0, 12.0) == 0.0


def test_goodputs_are_those_of_the_summary(result: sc.Result) -> None:
    both = result.summary["flows"][:2]
    # Acknowledged data is delivered data minus the ACKs in flight: less than a window of 100 kB of
    # some 5 MB.
    assert goodputs_bps(result, 0.0, 10.0) == pytest.approx([flow["goodput_bps"] for flow in both], rel=0.05)


def test_one_flow_and_one_link(result: sc.Result) -> None:
    assert list(by_flow(result)) == ["flow1", "flow2"]
    assert flow_series(result, "flow2").equals(by_flow(result)["flow2"])
    assert set(all_links(result)["link"]) >= {"bottleneck", "reverse"}
    carried = rate_between(link_series(result), "bytes", 0.0, 10.0) * 8
    assert carried == pytest.approx(result.summary["links"][0]["utilization"] * 10e6, rel=0.01)


def test_samples_are_those_of_the_data_frames(result: sc.Result, tmp_path: Path) -> None:
    """Figures read them without a data frame: from memory, and from the files of a run."""
    sc.publish(result, tmp_path / "out")
    for each in (result, sc.Result.load(tmp_path / "out")):
        for frame, samples, owner in (
            (all_flows(result), Samples(each.flows, "flow"), "flow"),
            (all_links(result), Samples(each.links, "link"), "link"),
        ):
            assert samples.names == frame[owner].unique(maintain_order=True).to_list()
            for quantity in set(frame.columns) - {"time_s", owner, "phase"}:
                values = samples[quantity]
                assert values.shape == (len(samples.names), len(samples.times))
                for name, row in zip(samples.names, values, strict=True):
                    own = frame.filter(pl.col(owner) == name)
                    assert np.array_equal(samples.times, own["time_s"].to_numpy())
                    assert np.array_equal(row, own[quantity].to_numpy(), equal_nan=row.dtype.kind == "f"), quantity


def test_columns_hold_their_memory_and_say_what_they_are_not(result: sc.Result) -> None:
    times = np.asarray(cast("Any", sc.dumbbell(duration="1 s").run().links.column("time_s")))
    # The run is gone; it was sampled a thousand times.
    assert times[:3] == pytest.approx([0.001, 0.002, 0.003])
    assert not times.flags.writeable
    phases = result.flows.column("phase")
    assert phases.names is not None
    named = [phases.names[place] for place in np.asarray(cast("Any", phases))]
    assert named == all_flows(result)["phase"].to_list()
    with pytest.raises(KeyError, match='no column "cwnd"'):
        result.flows.column("cwnd")
    # Some of these connections are incomplete at the end, and have no completion time.
    overload = sc.Path("1 Mbps", "40 ms").scenario([sc.Flow("cubic", load="2 Mbps", size="20 kB")], duration="1 s")
    completed = np.asarray(cast("Any", overload.run().connections.column("completion_s")))
    assert np.isnan(completed).any()
    assert (completed[~np.isnan(completed)] > 0.04).all()


def test_packets_have_texts(result: sc.Result) -> None:
    sent = packet_record(result, "event", "flow").filter((pl.col("event") == "send") & (pl.col("flow") == "flow4"))
    assert len(sent) == pytest.approx(10 * 1e6 / 12000, abs=2)


def test_shares_and_means() -> None:
    assert jain([2.0, 2.0, 2.0]) == pytest.approx(1)
    assert jain([3.0, 0.0, 0.0]) == pytest.approx(1 / 3)
    assert jain([0.0, 0.0]) is None
    assert weighted_mean([(1.0, 1), (4.0, 2), (None, 5), (9.0, 0)]) == pytest.approx(3)
    assert weighted_mean([(None, 1)]) is None
