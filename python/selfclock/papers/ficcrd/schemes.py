"""Figures 1 and 2: the loop of the RD packets, and the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock.diagram import Arrow, Box
from selfclock.papers.drawing import chart_of, network_of
from selfclock.papers.ficcrd.mechanisms import USUAL

if TYPE_CHECKING:
    from selfclock.page_parts import Scheme


def schemes() -> list[Scheme]:
    """Draw them."""
    boxes = {
        "source": Box(60, 24, "TCP source", width=90, kind="end"),
        "ingress": Box(60, 110, "source edge: measures APR, sends RD packets, holds the source", width=112),
        "core": Box(
            185,
            240,
            "core routers: MAPR from forward RD packets; ER = min(ER, DPF · MAPR) into backward ones",
            width=200,
        ),
        "egress": Box(298, 110, "destination edge: turns RD packets around", width=100),
        "sink": Box(298, 24, "TCP sink", width=90, kind="end"),
    }
    arrows = [
        Arrow("source", "ingress", "data"),
        Arrow("ingress", "core", "RD: APR"),
        Arrow("core", "egress", "RD"),
        Arrow("egress", "ingress", "RD back: ER"),
        Arrow("egress", "sink"),
    ]
    return [
        network_of(
            USUAL.scenario(),
            "Figure 2, the network",
            "The figure is lost: source 0 passes 10, 11, 12, 13, the others 11 and 12.",
            "figure-2",
        ),
        chart_of(
            boxes,
            arrows,
            "Figure 1, the loop of the resource discovery packets",
            "Drawn from section 2.1. Core routers update RD packets in both directions; the source edge limits the "
            "source by its advertised window or by withholding ACKs.",
            "figure-1",
        ),
    ]
