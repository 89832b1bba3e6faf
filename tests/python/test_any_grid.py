"""Sweep files that are nearly right: each is a grid, or gives an error with its location; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfclock import ScenarioError
from selfclock.sweep.grid import Grid

ROOT = Path(__file__).parents[2]

#: Fragments of sweep files, right and wrong; a file consists of some of them in any order.
LINES = [
    "schema = 1",
    "schema = 2",
    f'scenario = "{ROOT}/examples/one-flow.toml"',
    'scenario = "nowhere.toml"',
    'name = "any"',
    "seeds = 2",
    "seeds = [1, 1]",
    "seeds = -1",
    "confidence = 0.9",
    "[set]",
    "[grid]",
    "[[point]]",
    "[random]",
    "draws = 3",
    "seed = 5",
    "[random.over]",
]
PATHS = [
    "duration",
    "seed",
    "network.bottleneck.rate",
    "network.bottleneck.delay",
    "flow.0.congestion_control",
    "flow",
    "",
]
VALUES = st.one_of(
    st.sampled_from(['"1 s"', '"10 Mbps"', '"20 ms"', '"cubic"', "true", "[]", "{}", "nan", '""']),
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
RANGES = st.builds(
    '{{ from = {}, to = {}, steps = {}, scale = "{}" }}'.format,
    VALUES, VALUES, st.integers(-1, 5), st.sampled_from(["linear", "log", "other"]),
)  # fmt: skip
SETTINGS = st.builds('"{}" = {}'.format, st.sampled_from(PATHS), st.one_of(VALUES, VALUES.map("[{}]".format), RANGES))
FILES = st.lists(st.one_of(st.sampled_from(LINES), SETTINGS, SETTINGS, st.text(max_size=8)), max_size=10)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(lines=FILES, right=st.booleans())
def test_any_sweep_file(tmp_path: Path, lines: list[str], right: bool) -> None:
    head = [f'schema = 1\nscenario = "{ROOT}/examples/one-flow.toml"'] if right else []
    path = tmp_path / "any.toml"
    path.write_text("\n".join(head + lines), encoding="utf-8")
    try:
        grid = Grid.load(path)
    except ScenarioError as error:
        message = str(error)
    else:
        assert grid.points >= 1
        assert grid.settings(0) is not None
        assert grid.scenario_at(grid.points - 1) is not None
        return
    assert "any.toml" in message or "nowhere.toml" in message


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "any.toml"
    path.write_bytes(bytes(range(128, 256)))
    with pytest.raises(ScenarioError, match=r"any\.toml"):
        Grid.load(path)
