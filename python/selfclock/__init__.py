"""A laboratory for congestion control.

>>> import selfclock as sc
>>> result = sc.dumbbell(bottleneck="10 Mbps", rtt="40 ms", duration="10 s").run()
>>> result.summary["flows"][0]["goodput_bps"]  # doctest: +SKIP
"""

# ruff: noqa: E402  what follows takes a while to import
from selfclock import interrupts

interrupts.end_silently()

from selfclock._core import (
    VERSION,
    Acknowledged,
    CongestionControl,
    DuplicateAck,
    EcnEcho,
    Established,
    LossDetected,
    RateSample,
    RecoveryEnded,
    RunError,
    ScenarioError,
    Sent,
    SpuriousLoss,
    Table,
    Timeout,
)
from selfclock.algorithms import Algorithm, Parameter, algorithms, queues, routers
from selfclock.compare import Comparison, Measures, compare
from selfclock.evaluate import Scorecard, evaluate
from selfclock.own import AlgorithmError, algorithm, load_algorithms, parameter
from selfclock.report.publish import publish
from selfclock.result import FlowSummary, LinkSummary, Result, Summary
from selfclock.scenario import Scenario, grid_schema, run_many, run_stream, schema
from selfclock.scenario.build import Dumbbell, Graph, Network, ParkingLot, Path, dumbbell
from selfclock.scenario.flow import Background, Exponential, Flow, Lognormal, Pareto, on_off
from selfclock.scenario.link import Change, DeliveryTrace, GilbertElliott, Link, Queue, Router
from selfclock.scenario.quantity import (
    Bdp,
    Packets,
    Rate,
    Segments,
    Size,
    Time,
    bdp,
    bps,
    gbps,
    kbps,
    kbytes,
    mbps,
    mbytes,
    ms,
    nbytes,
    packets,
    s,
    segments,
    us,
)
from selfclock.scenario.transport import DelayedAck, Misbehaviour, Record, Shaper, Timer, Transport
from selfclock.sweep import Grid, Sweep, sweep

__version__ = VERSION

__all__ = [
    "Acknowledged",
    "Algorithm",
    "AlgorithmError",
    "Background",
    "Bdp",
    "Change",
    "Comparison",
    "CongestionControl",
    "DelayedAck",
    "DeliveryTrace",
    "Dumbbell",
    "DuplicateAck",
    "EcnEcho",
    "Established",
    "Exponential",
    "Flow",
    "FlowSummary",
    "GilbertElliott",
    "Graph",
    "Grid",
    "Link",
    "LinkSummary",
    "Lognormal",
    "LossDetected",
    "Measures",
    "Misbehaviour",
    "Network",
    "Packets",
    "Parameter",
    "Pareto",
    "ParkingLot",
    "Path",
    "Queue",
    "Rate",
    "RateSample",
    "Record",
    "RecoveryEnded",
    "Result",
    "Router",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scorecard",
    "Segments",
    "Sent",
    "Shaper",
    "Size",
    "SpuriousLoss",
    "Summary",
    "Sweep",
    "Table",
    "Time",
    "Timeout",
    "Timer",
    "Transport",
    "__version__",
    "algorithm",
    "algorithms",
    "bdp",
    "bps",
    "compare",
    "dumbbell",
    "evaluate",
    "gbps",
    "grid_schema",
    "kbps",
    "kbytes",
    "load_algorithms",
    "mbps",
    "mbytes",
    "ms",
    "nbytes",
    "on_off",
    "packets",
    "parameter",
    "publish",
    "queues",
    "routers",
    "run_many",
    "run_stream",
    "s",
    "schema",
    "segments",
    "sweep",
    "us",
]
