"""Phase effects, repetitions that repeat nothing, and two files with one name."""

from __future__ import annotations

import json
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.repeats import Sameness, Trace, sameness

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

#: Two equal UDP senders that offer twice the rate of the link.
EQUAL = [{"name": name, "protocol": "udp", "traffic": {"rate": "10 Mbps"}} for name in ("a", "b")]

#: An AIMD to be registered under one name from two files.
OWN = """
import selfclock as sc

@sc.algorithm("twice")
class Own(sc.CongestionControl):
    \"\"\"Additive increase.\"\"\"

    def on_ack(self, event):
        self.cwnd += 1 / self.cwnd

    def on_loss(self, event):
        self.cwnd = max(self.cwnd / 2, 2)

    on_timeout = on_loss
"""


def equal(overhead: str | None = None) -> sc.Scenario:
    """Return two equal senders on a dumbbell."""
    flows = [flow | ({"overhead": overhead} if overhead else {}) for flow in EQUAL]
    return sc.dumbbell("10 Mbps", "24 ms", "50 packets", flows, duration="5 s")


def test_equal_flows_with_unequal_shares_are_noted(selfclock: Command, tmp_path: Path) -> None:
    (tmp_path / "equal.toml").write_text(equal().text)
    done = selfclock("run", "equal.toml", "--json")
    (said,) = json.loads(done.stdout)["notes"]
    assert "though both are alike" in said
    assert "phase effect" in said
    assert said in done.stderr
    noisy = selfclock("run", "equal.toml", "--json", "--set", "flow.*.overhead=1 packet")
    assert json.loads(noisy.stdout)["notes"] == []


def test_different_flows_with_unequal_shares_are_not_noted() -> None:
    flows = [EQUAL[0], EQUAL[1] | {"traffic": {"rate": "100 kbps"}}]
    different = sc.dumbbell("10 Mbps", "24 ms", "50 packets", flows, duration="2 s")
    assert different.alike == []
    assert sc.dumbbell(flows=[{"count": 3}]).alike == [["flow1-1", "flow1-2", "flow1-3"]]


def test_an_overhead_in_packets_is_the_time_on_the_slowest_link() -> None:
    flow = {"congestion_control": "reno", "overhead": "2 packets"}
    links = sc.dumbbell("12 Mbps", "40 ms", flows=[flow]).network.links
    # 1500 B at 12 Mbit/s take 1 ms.
    assert {link.name: link.jitter_s for link in links if link.jitter_s} == {"source1-left": pytest.approx(0.002)}


@pytest.mark.parametrize(
    "algorithm",
    ["reno", "cubic", "bbr3", "vegas", {"start": "packet-pair", "tick": "1 us"}],
    ids=["reno", "cubic", "bbr3", "vegas", "packet-pair"],
)
def test_an_overhead_does_not_change_what_a_flow_alone_gets(algorithm: str | dict[str, str]) -> None:
    """One flow fills the link with and without it.

    The overhead adds at most one packet's time to a round trip of 33 packets: 3 % of the rate while
    the window is the limit, and nothing where the queue is never empty. Chance moves the overshoot
    of slow start, which is a second of recovery in sixty. A pair keeps the bottleneck's spacing, if
    the clock that reads it is fine enough to have no phase of its own.
    """

    def goodputs(overhead: str) -> list[float]:
        made = sc.dumbbell("10 Mbps", "40 ms", flows=[{"congestion_control": algorithm, "overhead": overhead}],
                           duration="60 s")  # fmt: skip
        runs = [made.with_seed(seed).run() for seed in (1, 2, 3)]
        return [run.summary["flows"][0]["goodput_bps"] for run in runs]

    without, with_it = fmean(goodputs("0 s")), fmean(goodputs("1 packet"))
    assert with_it == pytest.approx(without, rel=0.03)


def test_two_flows_of_dctcp_share_equally() -> None:
    """By symmetry the mean share over seeds is a half; a single second differs by some 6 % between the flows.

    Six seconds are within 5 %, then. Without noise it is 5.8 : 3.9 Gbit/s.
    """

    def ratio(overhead: str) -> float:
        flow = {
            # Without Prague's virtual RTT and pacing this is DCTCP.
            "congestion_control": {"model": "prague", "pacing": False, "virtual_rtt": "0 s"},
            "count": 2, "overhead": overhead, "transport": {"ecn": "accurate"},
        }  # fmt: skip
        queue = {"limit": "1000 packets", "mark_above": "65 packets"}
        link = sc.Link("10 Gbps", "20 us", queue=queue)
        made = sc.Dumbbell(link, access=sc.Link("10 Gbps", "10 us")).scenario([flow], duration="3 s")
        runs = [made.with_seed(seed).run().summary["flows"] for seed in (1, 2)]
        one, other = (fmean(flows[which]["goodput_bps"] for flows in runs) for which in (0, 1))
        return min(one, other) / max(one, other)

    assert ratio("0 s") < 0.75
    assert ratio("1 packet") > 0.95


def test_a_comparison_has_an_overhead_that_can_be_turned_off() -> None:
    def jitters(*overrides: str) -> set[float]:
        compared = sc.compare(["reno"], rate="12 Mbps", duration="1 s", overrides=overrides)
        return {link.jitter_s for link in compared.scenarios[0].network.links}

    # 1500 B at 12 Mbit/s take 1 ms.
    assert jitters() == {0.0, 0.001}
    assert jitters("flow.0.overhead=0s") == {0.0}


def test_runs_without_chance_have_no_interval(tmp_path: Path) -> None:
    settled = sc.dumbbell("10 Mbps", duration="2 s")
    compared = sc.compare(["reno"], scenario=settled, seeds=3)
    assert all(each["half_width"] is None for each in compared.estimates[0]["measures"].values())
    assert any("are equal" in note for note in compared.notes)
    grid = sc.Grid.over(settled, {"flow.0.congestion_control": ["reno", "cubic"]}, seeds=3)
    found = sc.sweep(grid, tmp_path / "sweep")
    assert all(each["half_width"] is None for point in found.points for each in point["measures"].values())
    assert found.notes == [note for note in found.notes if note.startswith("at every point the runs of 3 seeds")]
    assert found.document["notes"] == found.notes
    chance = sc.compare(["reno"], scenario=settled.with_overrides(["flow.0.overhead=1 packet"]), seeds=3)
    assert (chance.estimates[0]["measures"]["rtt_mean_s"]["half_width"] or 0.0) > 0
    assert chance.notes == []


def test_a_sweep_notes_points_with_unequal_equal_flows(tmp_path: Path) -> None:
    grid = sc.Grid.over(equal(), {"network.bottleneck.delay": ["5 ms", "10 ms"]})
    (said,) = sc.sweep(grid, tmp_path / "sweep").notes
    assert "though both are alike" in said
    assert said.endswith("so at 1 other point")


def test_exchanged_flows_are_one_run() -> None:
    def runs(*goodputs: tuple[float, ...]) -> list[Trace]:
        return [Trace(each, (number,)) for number, each in enumerate(goodputs)]

    # Two Reno flows at half a BDP, by the order of their starts.
    assert sameness(runs((21.07, 25.46), (25.46, 21.08), (21.08, 25.46))) is Sameness.EXCHANGED
    assert sameness(runs((21.07, 25.46), (22.46, 24.08))) is Sameness.DIFFERENT
    assert sameness(runs((9.61,), (9.61,))) is Sameness.DIFFERENT
    assert sameness([Trace((1.0,), ())]) is Sameness.DIFFERENT
    assert sameness([Trace((1.0,), ())] * 2) is Sameness.EQUAL


@pytest.mark.parametrize("command", [("compare", "twice"), ("evaluate", "twice"), ("algorithms",)])
def test_one_name_from_two_files_is_refused(selfclock: Command, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "old.py").write_text(OWN)
    (tmp_path / "new.py").write_text(OWN.replace("/ 2", "/ 3"))
    done = selfclock(*command, "--algorithm", "old.py", "--algorithm", "new.py")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "new.py:4: registers 'twice'" in line
    assert "old.py" in line


def test_one_file_named_twice_is_one_file(selfclock: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    done = selfclock("algorithms", "twice", "--algorithm", "own.py", "--algorithm", "./own.py")
    assert done.returncode == 0, done.stderr


def test_an_algorithm_named_twice_is_refused() -> None:
    with pytest.raises(sc.ScenarioError, match="'reno' is named twice"):
        sc.compare(["reno", "cubic", "reno"], duration="1 s")


@pytest.mark.parametrize(
    ("name", "words"),
    [("dctcp", "prague:pacing=false"), ("bbr", "not built in"), ("newreno", "transport.recovery"), ("vivace", "PCC")],
)
def test_a_name_known_elsewhere_has_an_answer(selfclock: Command, name: str, words: str) -> None:
    for command in (("compare", name), ("algorithms", name)):
        done = selfclock(*command)
        (line,) = done.stderr.splitlines()
        assert done.returncode == 2
        assert words in line
        assert "did you mean" not in line
