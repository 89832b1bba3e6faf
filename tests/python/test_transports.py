"""The same flow in the simulated TCP and in the QUIC driver, whose figures are on the page."""

from pathlib import Path

import pytest

from selfclock.evaluate import transports

PAGE = Path(__file__).parents[2] / "docs" / "transports.md"


def _rows() -> dict[tuple[str, str], list[str]]:
    lines = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {(cells[0].removeprefix("| "), cells[1].strip("`")): cells[2:] for cells in lines[1:]}


def test_the_page_has_every_situation_within_its_tolerance() -> None:
    rows = _rows()
    wanted = [(s, label) for s in transports.SITUATIONS for label in s.labels]
    assert list(rows) == [(s.name, label) for s, label in wanted]
    for situation, label in wanted:
        simulator, driver = (float(cell) for cell in rows[situation.name, label][:2])
        assert abs(driver / simulator - 1) <= situation.tolerance, (situation.name, label)


@pytest.mark.parametrize(
    "name",
    ["slow start, an ACK per 8", "Startup, an ACK per 2", "1 s after a pause of 14 s"],
)
def test_the_simulated_tcp_still_gives_the_windows_of_the_driver(name: str) -> None:
    [situation] = [each for each in transports.SITUATIONS if each.name == name]
    labels = [label for label in situation.labels if label != "bbr3" or situation.at < 1]
    for label, found in zip(labels, transports.simulated([(situation, label) for label in labels]), strict=True):
        driver = float(_rows()[name, label][1])
        assert abs(driver / (found / transports.PACKET) - 1) <= situation.tolerance, (name, label)
