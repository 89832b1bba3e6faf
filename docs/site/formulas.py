"""Converts TeX formulas to MathML, which browsers draw without scripts or network."""

from __future__ import annotations

import html as entities
import re

from latex2mathml.converter import convert

#: Markup that the Markdown extension arithmatex produces for `$x$` and for blocks of the language
#: math.
FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL)


def mathml(html: str) -> str:
    """Write every formula of a page as MathML."""
    return FORMULA.sub(_formula, html)


def _formula(match: re.Match[str]) -> str:
    inline, block = match[2], match[3]
    if block is None:
        return convert(entities.unescape(inline))
    return f'<div class="formula">{convert(entities.unescape(block).strip(), display="block")}</div>'
