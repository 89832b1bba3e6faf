"""Display of a result in a notebook: its tables, shortened, and its figure."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.figure import Figure
    from selfclock.page_parts import Table

#: Maximum number of rows; `summary`, `measures` and the like contain all.
MOST_SHOWN = 20


def shown(title: str, tables: Sequence[Table], figure: Figure | None = None) -> str:
    """Return the HTML of a result."""
    parts = [f"<p><b>{escape(title)}</b></p>", *map(_table, tables)]
    if figure is not None:
        image = base64.b64encode(figure._repr_png_()).decode()
        parts.append(f'<img alt="{escape(title)}" src="data:image/png;base64,{image}">')
    return "\n".join(parts)


def _table(table: Table) -> str:
    heads = "".join(f"<th>{escape(heading).replace(chr(10), '<br>')}</th>" for heading in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows[:MOST_SHOWN]
    )
    more = len(table.rows) - MOST_SHOWN
    rest = f"<p>… {more:,} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{rest}"
