"""The paper's statements, rules and readings, from `claims.toml`."""

from __future__ import annotations

from selfclock.papers.declared import claims_of

CLAIMS = claims_of(__package__)
#: Bounds that measurements and drawings share with the rules.
FAIR, NEAR_OFTEN, PRINTED_SHARE = (CLAIMS.numbers[name] for name in ("fair", "near_often", "printed_share"))
