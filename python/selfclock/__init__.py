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
from selfclock.dumbbell import dumbbell
from selfclock.evaluate import Scorecard, evaluate
from selfclock.own import AlgorithmError, algorithm, load_algorithms, parameter
from selfclock.report.publish import publish
from selfclock.result import FlowSummary, LinkSummary, Result, Summary
from selfclock.scenario import Scenario, grid_schema, run_many, run_stream, schema
from selfclock.sweep import Grid, Sweep, sweep

__version__ = VERSION

__all__ = [
    "Acknowledged",
    "Algorithm",
    "AlgorithmError",
    "Comparison",
    "CongestionControl",
    "DuplicateAck",
    "EcnEcho",
    "Established",
    "FlowSummary",
    "Grid",
    "LinkSummary",
    "LossDetected",
    "Measures",
    "Parameter",
    "RateSample",
    "RecoveryEnded",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scorecard",
    "Sent",
    "SpuriousLoss",
    "Summary",
    "Sweep",
    "Table",
    "Timeout",
    "__version__",
    "algorithm",
    "algorithms",
    "compare",
    "dumbbell",
    "evaluate",
    "grid_schema",
    "load_algorithms",
    "parameter",
    "publish",
    "queues",
    "routers",
    "run_many",
    "run_stream",
    "schema",
    "sweep",
]
