"""Slow packages, imported on first use.

`from selfclock.lazy import np, pl` stands for `import numpy as np` and `import polars as pl`.
"""

from __future__ import annotations

import importlib
from types import ModuleType


class _Lazy(ModuleType):
    """A module imported on first attribute access."""

    def __getattr__(self, name: str) -> object:
        found = getattr(importlib.import_module(self.__name__), name)
        # Found directly the next time.
        setattr(self, name, found)
        return found


np = _Lazy("numpy")
pl = _Lazy("polars")
