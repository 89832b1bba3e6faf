"""The page of a twin: a scenario in the simulator and on real kernels, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.documents import Document, write_document
from selfclock.kernel.twin.figures import overlay
from selfclock.kernel.twin.tables import document, samples, tables
from selfclock.page_parts import Illustration
from selfclock.report.page import Page, page, shortened
from selfclock.report.run_parts import network_part
from selfclock.save import digests, identity, staged

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from selfclock.kernel.twin.run import Twin
else:
    from selfclock.lazy import pl

#: Flows with a figure of their own.
MOST_FIGURES = 8

FILES = {"twin.json": "the numbers of the tables, with provenance", "twin.parquet": "series of every flow"}


def twin_page(twin: Twin) -> Page:
    """Return the page."""
    scenario = twin.scenario
    what = ", ".join(f"{column.title} ({', '.join(dict.fromkeys(column.controls))})" for column in twin.columns)
    about = [
        f"One scenario of {scenario.duration_s:g} s in {len(twin.columns)} runs: {what}. Links and queues are the "
        "simulator's in all of them; real TCP is Linux, which sends and receives through them in real time.",
        *(f"{each[0].upper()}{each[1:]}." for each in twin.notes),
        *(f"{each[0].upper()}{each[1:]}." for each in twin.complaints),
    ]
    shown = twin.senders[:MOST_FIGURES]
    figures = [
        Illustration(
            f"{sender.name}: window, rate, RTT, queue",
            "The panels share a time axis. The queue is that of the bottleneck.",
            overlay(twin, index),
            id=f"twin-{index + 1}",
        )
        for index, sender in enumerate(shown)
    ]
    return page(
        scenario.title or scenario.name, about, tables(twin), figures, parts=[network_part(scenario.network)],
        files=FILES, source=shortened(scenario.text), algorithms=digests([scenario]),
    )  # fmt: skip


def publish_twin(twin: Twin, directory: Path) -> Path:
    """Write page, document and series into a directory; return the path of the page."""
    with staged(directory) as aside:
        (aside / "report.html").write_text(twin_page(twin).text, encoding="utf-8")
        pl.DataFrame(samples(twin)).write_parquet(aside / "twin.parquet")
        scenarios = [twin.scenario]
        write_document(aside, Document("twin.json", document(twin), identity(scenarios), digests(scenarios)))
    return directory / "report.html"
