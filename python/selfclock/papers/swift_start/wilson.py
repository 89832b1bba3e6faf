"""Wilson's interval of a proportion."""

from __future__ import annotations

import math


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion."""
    z, part = 1.959964, hits / of
    middle = (part + z * z / 2 / of) / (1 + z * z / of)
    half = z * math.sqrt(part * (1 - part) / of + z * z / 4 / of / of) / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)
