"""The learning environment: Gymnasium's own checks, closed forms, and many environments that equal single ones."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import gymnasium
import numpy as np
import polars as pl
import pytest
from gymnasium.utils.env_checker import check_env

import selfclock as sc
from selfclock import rl
from selfclock.rl import bench as rl_bench
from selfclock.rl.action import Kind

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
UDP = {"protocol": "udp", "traffic": {"rate": "1 Mbps"}}
SHORT = {"rate": "5 Mbps", "duration": "2 s", "competitors": ["cubic"]}


def make(**settings: object) -> rl.CongestionEnv:
    environment = gymnasium.make(rl.ID, **{**SHORT, **settings}).unwrapped
    assert isinstance(environment, rl.CongestionEnv)
    return environment


def play(environment: rl.CongestionEnv, action: float, seed: int = 1) -> list[tuple[Any, ...]]:
    environment.reset(seed=seed)
    steps: list[tuple[Any, ...]] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(environment.step(np.array([action], np.float32)))
    return steps


@pytest.mark.parametrize("action", get_args(Kind))
def test_gymnasiums_checker_has_nothing_to_say(action: str) -> None:
    """Warnings are errors here: `filterwarnings` of pytest."""
    check_env(make(action=action))


def test_random_paths_pass_the_checker_too() -> None:
    check_env(make(rate=("1 Mbps", "50 Mbps"), rtt=("10 ms", "100 ms"), buffer=("0.5 bdp", "3 bdp"), loss=(0.0, 0.02)))


def test_same_seed_same_episode() -> None:
    environment = make(rate=("1 Mbps", "50 Mbps"), loss=0.01)
    one, again, other = (play(environment, 0.1, seed) for seed in (1, 1, 2))
    assert [step[1] for step in one] == [step[1] for step in again]
    assert all(np.array_equal(step[0], same[0]) for step, same in zip(one, again, strict=True))
    assert [step[1] for step in one] != [step[1] for step in other]
    assert one[-1][3], "the end of the run truncates"
    assert not one[-1][2]


def test_many_are_as_many_single_ones() -> None:
    """Gymnasium's own vector of single environments is the oracle; episodes end and restart during the test."""
    settings = {**SHORT, "rate": ("2 Mbps", "20 Mbps"), "action": "window-factor"}
    many = gymnasium.make_vec(rl.ID, num_envs=3, threads=2, **settings)
    singles = gymnasium.make_vec(rl.ID, num_envs=3, vectorization_mode="sync", **settings)
    assert isinstance(many.unwrapped, rl.CongestionVectorEnv)
    pairs = [(many.reset(seed=5), singles.reset(seed=5))]
    random = np.random.default_rng(1)
    ended = 0
    for _ in range(120):
        actions = random.uniform(-1, 1, (3, 1)).astype(np.float32)
        stepped, expected = many.step(actions), singles.step(actions)
        ended += int(np.sum(stepped[3]))
        for mine, theirs in zip(stepped[:4], expected[:4], strict=True):
            np.testing.assert_array_equal(mine, theirs)
        pairs.append(((stepped[0], stepped[4]), (expected[0], expected[4])))
    assert ended >= 3
    for (observation, info), (expected_observation, expected_info) in pairs:
        np.testing.assert_array_equal(observation, expected_observation)
        assert info.keys() == expected_info.keys()
        for name in info:
            np.testing.assert_array_equal(info[name], expected_info[name])


def test_threads_change_nothing() -> None:
    def rewards(threads: int) -> list[Any]:
        many = rl.CongestionVectorEnv(5, threads=threads, rate=("2 Mbps", "20 Mbps"), duration="1 s", loss=0.01)
        many.reset(seed=[3, 1, 4, 1, 5])
        return [many.step(np.full((5, 1), 0.2, np.float32))[1].tolist() for _ in range(30)]

    assert rewards(1) == rewards(3)


def test_each_of_many_has_a_result() -> None:
    """The second of two environments equals, after twenty steps, a single one with its seed and actions."""
    many = rl.CongestionVectorEnv(2, record=True, **SHORT)
    many.reset(seed=[3, 4])
    alone = make(record=True)
    alone.reset(seed=4)
    for _ in range(20):
        many.step(np.array([[0.5], [0.1]], np.float32))
        alone.step(np.array([0.1], np.float32))
    found, expected = many.result(1), alone.result()
    assert found.summary["flows"] == expected.summary["flows"]
    assert pl.DataFrame(found.flows).equals(pl.DataFrame(expected.flows))
    assert many.result(0).summary["flows"] != expected.summary["flows"]


def test_the_steps_of_a_second_are_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(rl_bench, "STEPS", 4 * rl_bench.ENVIRONMENTS)
    rl_bench.main()
    rows = capsys.readouterr().out.splitlines()[-3:]
    assert [row.split()[0] for row in rows] == ["one", "64", "64"]
    assert all(int(number.replace(",", "")) > 0 for row in rows for number in row.split()[1:])


def test_a_constant_window_is_a_window_per_round_trip() -> None:
    """Half the BDP of 10 Mbit/s and 40 ms: half the rate, no queue, and a matching reward."""
    window = 0.5 * 10e6 * 0.04 / (1500 * 8)
    low, high = window, 2 * window
    environment = make(rate="10 Mbps", competitors=[], action="window", window_bounds_segments=(low, high),
                       transport={"delayed_ack": "off"}, duration="5 s")  # fmt: skip
    names = [feature.name for feature in rl.FEATURES]
    for observation, reward, *_, info in play(environment, -1.0)[5:-1]:
        seen = dict(zip(names, observation.tolist(), strict=True))
        # 16 whole segments fit in the window of 16.67; a round trip is 40 ms and a segment's
        # transmission times.
        expected = 16 * 1448 * 8 / info["path_rtt_s"] * 1e-6
        # An interval of one round trip ends between two ACKs: within one segment.
        assert seen["delivered"] == pytest.approx(expected, rel=1.01 / 16)
        assert seen["window"] == pytest.approx(window)
        assert seen["rtt"] == pytest.approx(info["path_rtt_s"] * 1e3, rel=1e-6)
        assert (seen["lost"], seen["timeouts"], seen["pacing"]) == (0, 0, 0)
        assert reward == pytest.approx(seen["delivered"] / 10, rel=1e-6)
    goodput = environment.result().summary["flows"][0]["goodput_bps"]
    # The handshake takes one of the 122 round trips of five seconds.
    assert goodput == pytest.approx(16 * 1448 * 8 / info["path_rtt_s"], rel=0.02)


def test_a_rate_is_paced_and_an_overload_is_punished() -> None:
    settings = {
        "competitors": [],
        "action": "rate",
        "rate_bounds_bps": (2e6, 8e6),
        "interval_s": 0.1,
        "duration": "5 s",
    }
    calm = play(make(**settings), -1.0)
    assert len(calm) == 50
    # 2 Mbit/s on the wire carry 1448/1500 of it as payload, in segments of 6 ms: within one in 100
    # ms.
    assert [step[0][0] for step in calm[5:]] == pytest.approx([2 * 1448 / 1500] * 45, rel=1 / 16)
    mad = play(make(**settings), 1.0)
    # 8 Mbit/s into 5: the queue is full after the first second, and three eighths are lost.
    lost = [step[0][2] for step in mad[20:]]
    assert np.mean(lost) == pytest.approx(3 / 8, abs=0.03)
    # Payload at the full rate, the queue of 16 packets (1 BDP) full, three eighths lost.
    queue_s = 16 * 1500 * 8 / 5e6
    expected = 1448 / 1500 - 0.5 * queue_s / mad[-1][4]["path_rtt_s"] - 3 / 8
    assert np.mean([step[1] for step in mad[20:]]) == pytest.approx(expected, abs=0.05)


def test_factors_multiply_within_bounds() -> None:
    environment = make(competitors=[], step=4.0, window_bounds_segments=(2.0, 100.0), interval_s=0.05)
    environment.reset(seed=1)
    windows = [environment.step(np.array([action]))[0][7] for action in (0.0, 0.5, 1.0, 1.0, -1.0)]
    # The initial window of the modern profile is 10; after 80 segments the upper bound applies.
    assert windows == pytest.approx([10, 20, 80, 100, 25])


def test_a_transfer_that_completes_terminates_the_episode() -> None:
    scenario = sc.dumbbell(
        "10 Mbps", flows=["cubic", {"name": "mine", "congestion_control": "reno", "traffic": {"size": "200 kB"}}]
    )
    last = play(make(scenario=scenario, flow="mine"), 0.0)[-1]
    assert (last[2], last[3]) == (True, False)


def test_a_reward_of_ones_own() -> None:
    environment = make(reward=lambda interval: -interval.rtt_s * 1e3)
    observation, reward, *_ = play(environment, 0.0)[10]
    assert reward == pytest.approx(-float(observation[4]), rel=1e-6)


def test_a_recorded_episode_has_series_and_figures() -> None:
    environment = make(record=True)
    play(environment, 0.0)
    result = environment.result()
    assert [flow["algorithm"] for flow in result.summary["flows"]] == ["agent", "cubic"]
    series = pl.DataFrame(result.flows).filter(pl.col("flow").cast(pl.String) == "agent")
    # The neutral action keeps the initial window, except after a timeout.
    assert set(series["cwnd_bytes"].to_list()) <= {10 * 1448, 1448}
    assert result.plot.window().panel.elements


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("learn_window", ROOT / "examples" / "learn_window.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_agent_that_does_as_reno_does_is_about_reno() -> None:
    """AIMD in steps of a round trip, against the built-in event-driven algorithm.

    The agent halves its window up to a round trip late, and counts its round trips from step to
    step: 5 % of goodput and 10 % of round-trip time are tolerated for that.
    """
    settings = {"rate": "10 Mbps", "competitors": [], "duration": "60 s",
                "transport": {"initial_ssthresh": "2 segments", "initial_window": "2 segments"}}  # fmt: skip
    environment = make(**settings)
    aimd = example().Aimd()
    observation, _ = environment.reset(seed=1)
    truncated = False
    while not truncated:
        observation, _, _, truncated, _ = environment.step(aimd(observation[None]))
    agent = environment.result()
    (mine,) = agent.summary["flows"]
    (reno,) = agent.scenario.run().summary["flows"]
    assert reno["algorithm"] == "reno"
    assert mine["goodput_bps"] == pytest.approx(reno["goodput_bps"], rel=0.05)
    assert mine["rtt_mean_s"] == pytest.approx(reno["rtt_mean_s"], rel=0.1)
    assert mine["fast_retransmits"] > 5


def test_the_example_learns_something() -> None:
    """The policy learned in a minute, on unseen paths; the docs give the figures for a hundred."""
    module = example()
    learnt = module.linear(np.array([0.518, -2.912, -1.119, 0.546, 1.598, 0.112]))
    environments = rl.CongestionVectorEnv(8, **module.PATHS)
    seeds = list(range(8))
    rewards = {
        name: module.score(policy, environments, seeds)[:, 0].mean()
        for name, policy in {"learnt": learnt, "by hand": module.keep_a_short_queue, "aimd": module.Aimd()}.items()
    }
    assert rewards["learnt"] > rewards["by hand"] > 0.4
    assert rewards["learnt"] > rewards["aimd"] > 0.4


def test_the_guide_lists_every_feature() -> None:
    guide = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    for number, feature in enumerate(rl.FEATURES):
        low, high = (f"{bound:g}".replace("e+0", "e").replace("1000", "1e3") for bound in (feature.low, feature.high))
        row = f"| {number} | `{feature.name}` | {feature.unit} | {low} to {high} | {feature.about} |"
        assert row in guide, row


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"rate": "10"}, "is not a rate"),
        ({"rate": ("1 Mbps", "1 Gbps")}, "one unit"),
        ({"loss": 2}, "0 to 1"),
        ({"action": "both"}, "window-factor"),
        ({"step": 1.0}, "above 1"),
        ({"window_bounds_segments": (10, 2)}, "the smaller first"),
        ({"interval_s": 0.0}, "interval_s"),
        ({"interval_rtts": -1}, "interval_rtts"),
        ({"start": "2 s"}, "starts when the run is over"),
        ({"scenario": "nowhere.toml"}, "nowhere.toml"),
        ({"scenario": sc.dumbbell(), "flow": "mine"}, "no flow is named"),
        ({"scenario": sc.dumbbell(flows=[UDP])}, "not one TCP connection"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(sc.ScenarioError, match=word):
        make(**settings).reset(seed=1)


@pytest.mark.parametrize("action", [1.5, float("nan")])
def test_an_action_out_of_range_is_refused(action: float) -> None:
    environment = make()
    environment.reset(seed=1)
    with pytest.raises(ValueError, match="from -1 to 1"):
        environment.step(np.array([action], np.float32))
    with pytest.raises(ValueError, match="options"):
        environment.reset(options={"rate": "1 Mbps"})


def test_without_gymnasium_a_message_says_what_to_install() -> None:
    program = "import sys; sys.modules['gymnasium'] = None\nimport selfclock.rl"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "pip install 'selfclock[rl]'" in done.stderr.splitlines()[-1]
