"""The sequence plot of a flow: segments sent, retransmitted, acknowledged and lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfclock import style

if TYPE_CHECKING:
    import polars as pl

    from selfclock.figure import Panel
else:
    from selfclock.lazy import pl


def sequence(panel: Panel, packets: pl.DataFrame, colour: str, name: str) -> None:
    """Add the packets of one flow to a panel, in segments; `event` and `kind` of the records are texts."""
    segment = packets["payload_bytes"].max() or 1
    data = packets.filter(pl.col("kind").is_in(["data", "datagram"])).with_columns(
        number=pl.col("sequence") / segment + 1
    )
    sent = data.filter(pl.col("event") == "send")
    first, again = sent.filter(~pl.col("retransmission")), sent.filter(pl.col("retransmission"))
    lost = data.filter(pl.col("event").is_in(["drop", "lose"]))
    acknowledged = packets.filter((pl.col("kind") == "ack") & (pl.col("event") == "deliver"))
    if len(acknowledged):
        numbers = acknowledged["acknowledgement"] / segment
        panel.line(acknowledged["time_s"], numbers, colour="#777777", width=0.8, step="after",
                   label="acknowledged")  # fmt: skip
    for some, what, look in (
        (first, "sent", {"colour": colour, "marker": "."}),
        (again, "retransmitted", {"colour": colour, "marker": "o", "hollow": True}),
        (lost, "lost", {"colour": style.DROP.colour, "marker": style.DROP.marker}),
    ):
        if len(some):
            label = what if what == "lost" else f"{name}: {what}"
            panel.points(some["time_s"], some["number"], **look, label=label)
