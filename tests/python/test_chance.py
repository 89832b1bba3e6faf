"""Algorithms that read what no seed determines are noted."""

from __future__ import annotations

import datetime
import random
import time
from random import gauss
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import selfclock as sc

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Base(sc.CongestionControl):
    """An algorithm without chance."""

    def on_ack(self, event: sc.Acknowledged) -> None:
        self.cwnd += event.size_bytes / 1e6

    def on_loss(self, event: sc.LossDetected) -> None: ...

    def on_timeout(self, event: sc.Timeout) -> None: ...


def _drawn(self: Any, event: object) -> None:  # noqa: ANN401, ARG001
    self.cwnd = 2 + random.random()  # noqa: S311


def _named(self: Any, event: object) -> None:  # noqa: ANN401, ARG001
    self.cwnd = 2 + abs(gauss(0, 1))


def _array(self: Any, event: object) -> None:  # noqa: ANN401, ARG001
    self.cwnd = 2 + np.random.uniform()


def _clock(self: Any, event: object) -> None:  # noqa: ANN401, ARG001
    self.cwnd = 2 + time.time() % 1


def _date(self: Any, event: object) -> None:  # noqa: ANN401, ARG001
    self.cwnd = 2 + datetime.datetime.now(datetime.UTC).second


def _seeded(self: Any, event: object) -> None:  # noqa: ANN401, ARG001
    own, more = random.Random(1), np.random.default_rng(1)  # noqa: S311
    self.cwnd = 2 + own.random() + more.random()


def _plain(self: Any, event: sc.LossDetected) -> None:  # noqa: ANN401
    self.cwnd = max(2.0, event.flight_size_bytes / 2e3)


@pytest.mark.parametrize(
    ("method", "read"),
    [
        (_drawn, "random.random"), (_named, "random.gauss"), (_array, "numpy.random.uniform"), (_clock, "time.time"),
        (_date, "datetime.datetime"), (_seeded, None), (_plain, None),
    ],
)  # fmt: skip
def test_chance_without_a_seed_is_noted(method: Callable[..., None], read: str | None, tmp_path: Path) -> None:
    """Regression: two runs of one seed differed, and a sweep kept both as the same run."""
    sc.algorithm("test-chance")(type("Own", (Base,), {"on_loss": method}))
    scenario = sc.dumbbell(flows=["test-chance"], duration="200 ms")
    notes = [note for note in scenario.notes if note.startswith('algorithm "test-chance" reads')]
    grid = sc.Grid.over(sc.dumbbell(), {"flow.*.congestion_control": ["reno", "test-chance"]})
    assert [note.split(",")[0].rpartition(" ")[2] for note in notes] == ([read] if read else [])
    assert [note for note in grid.notes if "test-chance" in note] == notes
    sc.publish(scenario.run(), tmp_path)
    assert ("no seed determines" in (tmp_path / "summary.json").read_text(encoding="utf-8")) == bool(read)
