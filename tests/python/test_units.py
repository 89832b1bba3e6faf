"""Every reader of a quantity knows every unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import selfclock as sc
from selfclock.cli.run import recorded
from selfclock.verify.specification import rate_of, size_of, time_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: A quantity of each kind once.
SCENARIO = """
schema = 1
duration = "1 s"
[network]
topology = "graph"
nodes = ["a", "b"]
[[network.link]]
from = "a"
to = "b"
rate = "1 Mbps"
delay = "1 ms"
[[flow]]
protocol = "udp"
from = "a"
to = "b"
traffic = { rate = "9 kbps", packet = "100 B" }
"""


@pytest.mark.parametrize(
    ("right", "wrong", "read", "build"),
    [
        ("1 ms", "1 day", time_of, sc.Time),
        ("1 Mbps", "1 baud", rate_of, sc.Rate),
        ("100 B", "1 acre", size_of, sc.Size),
    ],
)
def test_every_unit_of_the_engine_is_read(
    right: str, wrong: str, read: Callable[[str], object], build: Callable[[str], object]
) -> None:
    # The engine's own list, from its message. The verifier's table is a second one on purpose; it
    # lacked the Greek letter of "μs" (U+03BC), which keyboards have, beside the micro sign.
    with pytest.raises(sc.ScenarioError, match="allowed units: ") as refused:
        sc.Scenario.parse(SCENARIO.replace(right, wrong))
    units = str(refused.value).partition("allowed units: ")[2].splitlines()[0].split(", ")
    assert len(units) > 5
    for unit in units:
        read(f"3 {unit}")
        build(f"3 {unit}")


def test_a_span_of_a_replay_is_written_like_any_time() -> None:
    assert recorded("500 μs..2 ms")[1:] == ["record.packets_from=500 μs", "record.packets_until=2 ms"]
