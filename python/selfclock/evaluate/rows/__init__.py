"""The rows, in the order of the scorecard."""

from __future__ import annotations

from selfclock.evaluate.rows import aqm, changes, faults, misbehaviour, papers, queues, sharing, short, smoothness

#: S1 to S20, for RFC 9743; then tests of single mechanisms, for the algorithms that have them.
ROWS = [
    faults.OUTAGE,
    queues.BUFFERBLOAT,
    queues.LOSS,
    queues.UTILIZATION,
    sharing.INTRA,
    sharing.RTT,
    sharing.HARM,
    sharing.STARVATION,
    short.SHORT_FLOWS,
    changes.CONVERGENCE,
    changes.TRANSIENT,
    changes.PATH_CHANGE,
    aqm.AQM,
    aqm.ECN,
    faults.REORDERING,
    faults.RANDOM_LOSS,
    changes.WIRELESS,
    misbehaviour.MISBEHAVIOUR,
    misbehaviour.ABSENCE,
    smoothness.SMOOTHNESS,
    *papers.ROWS,
]
