"""The thesis's statements, rules and readings, from `claims.toml`."""

from __future__ import annotations

from selfclock.papers.declared import claims_of

CLAIMS = claims_of(__package__)
