"""Looks of algorithms, flows and links: distinguishable, and visible on light and dark pages."""

from __future__ import annotations

from itertools import combinations

import pytest

import selfclock as sc
from selfclock import style
from selfclock.custom import registered

BUILT_IN = [algorithm.name for algorithm in sc.algorithms() if algorithm.name not in registered()]

#: Names of user-defined algorithms, and some more.
OWN = ["my-aimd", "delay-aimd", "mine", "x", "agent", "copa", "swift", "bbr-mine", "cubic-2"]

#: Backgrounds of pages.
WHITE, DARK = "#FFFFFF", "#16181A"


def luminance(colour: str) -> float:
    """Relative luminance according to WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_every_algorithm_has_a_look_of_its_own() -> None:
    looks = [style.LOOKS[name] for name in BUILT_IN]
    assert len({look.marker for look in looks}) == len(looks)
    assert len({(look.colour, look.line) for look in looks}) == len(looks)


@pytest.mark.parametrize(
    "together",
    [
        ("cubic", "bbr3", "reno", "prague"),
        ("packet-pair", "reno", "cubic"),
        ("reno", "cubic", "highspeed", "fast", "altcp", "adaptive"),
        ("slow-start", "hystart++", "packet-pair", "swift-start"),
        ("cubic", "bbr3", "reno", "my-aimd"),
    ],
)
def test_what_is_commonly_drawn_together_differs_in_colour_or_dash_and_in_marker(together: tuple[str, ...]) -> None:
    for one, other in combinations(map(style.look, together), 2):
        assert (one.colour, one.line) != (other.colour, other.line)
        assert one.marker != other.marker


@pytest.mark.parametrize("name", OWN)
def test_a_users_algorithm_has_a_colour_that_no_built_in_has(name: str) -> None:
    look = style.look(name)
    assert look.colour not in {built_in.colour for built_in in style.LOOKS.values()}
    assert look.marker not in {built_in.marker for built_in in style.LOOKS.values()}
    assert look == style.look(name), "it does not depend on what else is drawn"


def test_variants_of_an_algorithm_are_told_apart() -> None:
    labels = ["cubic", "cubic:beta=0.8", "cubic+hystart++:beta=0.5", "reno", "cubic"]
    looks = style.looks(labels)
    assert list(looks) == labels[:4]
    assert looks["cubic"] == style.look("cubic")
    assert looks["reno"] == style.look("reno")
    assert len({look.colour for look in looks.values()}) == len({look.marker for look in looks.values()}) == 4


def test_no_flow_link_or_algorithm_has_the_line_of_a_threshold() -> None:
    assert style.THRESHOLD not in style.LINE_STYLES
    assert style.THRESHOLD not in {style.look(name).line for name in [*BUILT_IN, *OWN]}


def test_every_colour_is_seen_on_white_and_in_the_dark() -> None:
    """At least 2:1: orange, the palette's lightest, has 2.2 on white; its yellow, which is omitted, 1.3.

    Greys and black are inverted on dark pages.
    """
    greys = {"#000000", "#666666"}
    used = {style.look(name).colour for name in [*BUILT_IN, *OWN]} - greys
    flows = {style.shade(colour, number) for colour in used for number in range(4)}
    for colour in flows | set(style.LINKS) | {style.MARK.colour}:
        assert contrast(colour, WHITE) >= 2, colour
        assert contrast(colour, DARK) >= 2, colour
    assert contrast("#E69F00", WHITE) == pytest.approx(2.25, abs=0.01)
    assert contrast("#F0E442", WHITE) == pytest.approx(1.32, abs=0.01)


def test_flows_and_links_have_different_colours() -> None:
    for colour in {style.look(name).colour for name in BUILT_IN}:
        assert len({style.shade(colour, number) for number in range(4)}) == 4 or colour == "#000000"
        assert style.shade(colour, 0) == colour
    assert len(set(style.LINKS)) == len(style.LINKS)
    assert not set(style.LINKS) & {style.look(name).colour for name in [*BUILT_IN, *OWN]}
