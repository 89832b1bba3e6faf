"""Identifiers of the readings in `claims.toml`."""

from __future__ import annotations

DIFFERENCE, SPREAD = "difference", "spread"
FREEZE, FALL_BACK = "freeze", "fall-back"
NO_THRESHOLD, RFC_2001 = "no-threshold", "rfc-2001"
TEXT_386, CAPTION_486 = "386-ms", "486-ms"

#: Figure 4's alpha. With 4 and 8 a tenth of a round trip has no segment or one: no burst can be
#: seen.
ALPHAS = (2, 1)


def alpha(value: int) -> str:
    """Return the identifier of a reading of alpha."""
    return f"alpha-{value}"
