"""Requirements of these tests: `make kernel-test`, as root, on Linux 6.10 or later."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from skips import pytest_sessionfinish, pytest_terminal_summary  # noqa: E402

__all__ = ["pytest_collection_modifyitems", "pytest_sessionfinish", "pytest_terminal_summary"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip everything where it cannot run, with the reason."""
    if sys.platform != "linux" or os.geteuid() != 0:
        reason = pytest.mark.skip(reason="controls real connections: needs Linux and root")
        for item in items:
            item.add_marker(reason)
