"""Colours in the forms that pages and drawings need."""

from __future__ import annotations

import re


def six_digits(colour: str) -> str:
    """Return a colour as six hexadecimal digits, which the page can invert in dark mode."""
    if re.fullmatch(r"#[0-9A-Fa-f]{6}", colour):
        return colour.lower()
    if re.fullmatch(r"#[0-9A-Fa-f]{3}", colour):
        return "#" + "".join(2 * digit for digit in colour[1:]).lower()
    raise ValueError(f"a colour of a figure is six hexadecimal digits, as #0072B2, not {colour!r}")


def faint(colour: str, opacity: float) -> str:
    """Return a translucent colour in CSS."""
    red, green, blue = parts(colour)
    return f"rgba({red},{green},{blue},{opacity:.3g})"


def parts(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, from 0 to 255."""
    digits = six_digits(colour)
    return int(digits[1:3], 16), int(digits[3:5], 16), int(digits[5:7], 16)
