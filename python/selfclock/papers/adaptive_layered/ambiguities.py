"""Identifiers of the readings in `claims.toml`, and ALTCP under each combination."""

from __future__ import annotations

from dataclasses import dataclass

from selfclock.papers.adaptive_layered.declared import CLAIMS

TWO, COMPETITION = "two-dimensions", "competition"
RENO, PRINTED = "first-layer-tcp", "first-layer-printed"
CUBE_ROOT, THIRD = "cube-root", "a-third"
PATH_PRODUCT, LINK_PRODUCT = "path-product", "link-product"
UNTIL_DRAINED, TEN_ROUND_TRIPS = "until-drained", "ten-round-trips"
OWN_SETUP, PUBLIC_SETUP = "own-setup", "public-setup"
FAST_LINK, SLOW_LINK = "250-mbps", "10-mbps"
AT_A_QUEUE, AT_THE_SAME_TIMES = "at-a-queue", "at-the-same-times"

_OPTIONS: dict[str, dict[str, object]] = {
    COMPETITION: {"competition": "detect"},
    PRINTED: {"first_layer": "printed"},
    THIRD: {"rtt_form": "third"},
}


@dataclass(frozen=True)
class Altcp:
    """ALTCP under a combination of readings."""

    third: str = TWO
    first: str = RENO
    k_r: str = CUBE_ROOT

    @property
    def readings(self) -> tuple[str, ...]:
        """Their identifiers."""
        return self.third, self.first, self.k_r

    @property
    def control(self) -> dict[str, object]:
        """The congestion control."""
        options = [_OPTIONS[name] for name in self.readings if name in _OPTIONS]
        return {"window": "altcp", **{key: value for each in options for key, value in each.items()}}

    @property
    def name(self) -> str:
        """Part of the names of its scenarios."""
        return "-".join(["altcp", *(name for name in self.readings if name in _OPTIONS)])

    @property
    def variant(self) -> str:
        """As claims say it."""
        options = ", ".join(CLAIMS.readings[name].options for name in self.readings)
        return f"altcp: beta = 0.15, W_T = 50 (Layered TCP's), compensation = paper, {options}"

    @property
    def label(self) -> str:
        """As tables say it."""
        changed = [CLAIMS.readings[name].name for name in self.readings if name in _OPTIONS]
        return f"ALTCP, {', '.join(changed)}" if changed else "ALTCP"


#: Those that are judged, the default first: one change each, what section 4 prints, and that with
#: the third dimension.
COMBINATIONS = (
    Altcp(),
    Altcp(third=COMPETITION),
    Altcp(first=PRINTED),
    Altcp(k_r=THIRD),
    Altcp(first=PRINTED, k_r=THIRD),
    Altcp(third=COMPETITION, first=PRINTED, k_r=THIRD),
)
DEFAULT = COMBINATIONS[0]
