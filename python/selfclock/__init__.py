"""A laboratory for congestion control.

>>> import selfclock as sc
>>> result = sc.dumbbell(bottleneck="10 Mbps", rtt="40 ms", duration="10 s").run()
>>> result.summary["flows"][0]["goodput_bps"]  # doctest: +SKIP
"""

from selfclock._core import VERSION, RunError, ScenarioError, Table
from selfclock.algorithms import Algorithm, Parameter, algorithms
from selfclock.compare import Comparison, Measures, compare
from selfclock.dumbbell import dumbbell
from selfclock.result import FlowSummary, LinkSummary, Result, Summary
from selfclock.scenario import Scenario, grid_schema, run_many, run_stream, schema
from selfclock.sweep import Grid, Sweep, sweep

__version__ = VERSION

__all__ = [
    "Algorithm",
    "Comparison",
    "FlowSummary",
    "Grid",
    "LinkSummary",
    "Measures",
    "Parameter",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Summary",
    "Sweep",
    "Table",
    "__version__",
    "algorithms",
    "compare",
    "dumbbell",
    "grid_schema",
    "run_many",
    "run_stream",
    "schema",
    "sweep",
]
