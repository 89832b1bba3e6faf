"""An independent check of a packet record: `selfclock verify`.

Nothing here uses the engine. The scenario is parsed again from the text in the record, links and
queues are recomputed, and receivers and senders are followed packet by packet; the record must be
consistent with all of that. The rules are listed in the documentation, docs/verify.md.
"""

from __future__ import annotations

import gc
from itertools import accumulate
from typing import TYPE_CHECKING

from selfclock.verify.emulated import check_emulated
from selfclock.verify.links import check_links
from selfclock.verify.packet_lives import lives
from selfclock.verify.receivers import check_receivers
from selfclock.verify.record import Record, UnreadableError, load
from selfclock.verify.routers import check_entrances, check_losses_in_turn
from selfclock.verify.senders import check_senders
from selfclock.verify.specification import UnknownError, specification
from selfclock.verify.totals import Replayed, check_totals
from selfclock.verify.violation import Findings, Violation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Findings", "Record", "UnknownError", "UnreadableError", "Violation", "load", "verify", "verify_path"]


#: The steps of `verify`, and the fraction of the time that each takes.
STEPS = {
    "packets": 0.35,
    "losses": 0.02,
    "links": 0.2,
    "entrances": 0.03,
    "senders": 0.25,
    "receivers": 0.1,
    "totals": 0.05,
}


def verify(record: Record, progress: Callable[[float, str], object] = lambda _done, _step: None) -> Findings:
    """Check a record; the findings are in order of time.

    `progress` is called with the fraction done and the name of the next step.

    Raises `UnreadableError` if the record's scenario cannot be read.
    """
    try:
        promised = specification(record.scenario, record.seed)
    except UnknownError as error:
        raise UnreadableError(str(error)) from error
    findings = Findings()
    # Millions of small objects without cycles: cyclic garbage collection would take half of the
    # time.
    collecting = gc.isenabled()
    gc.disable()
    begun = dict(zip(STEPS, accumulate(STEPS.values(), initial=0.0), strict=False))

    def begin(step: str) -> None:
        progress(begun[step], step)

    try:
        begin("packets")
        all_lives = lives(record, promised, findings)
        begin("losses")
        check_losses_in_turn(all_lives, promised, findings)
        begin("links")
        check_links(all_lives, promised, findings)
        begin("entrances")
        check_entrances(all_lives, promised, findings)
        begin("senders")
        senders = check_senders(all_lives, promised, findings)
        begin("receivers")
        held = check_receivers(all_lives, promised, senders, findings)
        begin("totals")
        check_totals(record, all_lives, promised, Replayed(senders, held), findings)
    finally:
        if collecting:
            gc.enable()
    findings.violations.sort(key=lambda violation: -1 if violation.time is None else violation.time)
    return findings


def verify_path(path: Path, progress: Callable[[float, str], object] = lambda _done, _step: None) -> Findings:
    """Check a run's directory, or its packets.parquet alone."""
    record = load(path)
    if record.summary is None or "emulation" not in record.summary:
        return verify(record, progress)
    findings = Findings()
    progress(0.0, "packets")
    check_emulated(record, path / "packets.parquet", findings, progress)
    findings.violations.sort(key=lambda violation: -1 if violation.time is None else violation.time)
    return findings
