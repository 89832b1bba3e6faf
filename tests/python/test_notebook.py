"""A notebook displays a result automatically."""

from __future__ import annotations

from typing import TYPE_CHECKING

import selfclock as sc

if TYPE_CHECKING:
    from pathlib import Path


def test_a_result_shows_its_tables_and_its_figure() -> None:
    flows = [{"name": f"<b>{number}", "congestion_control": "reno"} for number in range(25)]
    html = sc.dumbbell("10 Mbps", flows=flows, duration="1 s").run()._repr_html_()
    assert "&lt;b&gt;0" in html
    assert "<b>0" not in html
    assert "<p>… 5 more</p>" in html
    assert 'src="data:image/png;base64,iVBOR' in html


def test_comparisons_scorecards_and_sweeps_do_too(tmp_path: Path) -> None:
    compared = sc.compare(["reno", "cubic"], rate="5 Mbps", duration="1 s")._repr_html_()
    assert compared.count("<tr>") == 3
    assert "data:image/png" in compared
    card = sc.evaluate("vegas", against=["reno"], rows=["S1"])._repr_html_()
    assert "<td>S1</td>" in card
    grid = sc.Grid.over(sc.dumbbell(duration="1 s"), {"flow.*.congestion_control": ["reno", "cubic"]})
    assert sc.sweep(grid, tmp_path / "out")._repr_html_().count("<tr>") == 3
