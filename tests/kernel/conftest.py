"""Where these tests can run: `make kernel-test`, as root, on Linux 6.10 or later."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave everything out where it cannot run, and say why."""
    if sys.platform != "linux" or os.geteuid() != 0:
        reason = pytest.mark.skip(reason="controls real connections: needs Linux and root")
        for item in items:
            item.add_marker(reason)
