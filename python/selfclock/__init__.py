"""A laboratory for congestion control.

>>> import selfclock as sc
>>> result = sc.dumbbell(bottleneck="10 Mbps", rtt="40 ms", duration="10 s").run()
>>> result.summary["flows"][0]["goodput_bps"]  # doctest: +SKIP
"""

# ruff: noqa: E402  the following imports take time
from selfclock import interrupts

interrupts.end_silently()

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from selfclock._core import VERSION

if TYPE_CHECKING:
    from selfclock._core import Acknowledged as Acknowledged
    from selfclock._core import CongestionControl as CongestionControl
    from selfclock._core import DuplicateAck as DuplicateAck
    from selfclock._core import EcnEcho as EcnEcho
    from selfclock._core import Established as Established
    from selfclock._core import LossDetected as LossDetected
    from selfclock._core import RateSample as RateSample
    from selfclock._core import RecoveryEnded as RecoveryEnded
    from selfclock._core import Resumed as Resumed
    from selfclock._core import RunError as RunError
    from selfclock._core import ScenarioError as ScenarioError
    from selfclock._core import Sent as Sent
    from selfclock._core import SpuriousLoss as SpuriousLoss
    from selfclock._core import Table as Table
    from selfclock._core import Timeout as Timeout
    from selfclock.algorithms import Algorithm as Algorithm
    from selfclock.algorithms import Parameter as Parameter
    from selfclock.algorithms import algorithms as algorithms
    from selfclock.algorithms import queues as queues
    from selfclock.algorithms import routers as routers
    from selfclock.compare import Comparison as Comparison
    from selfclock.compare import Measures as Measures
    from selfclock.compare import compare as compare
    from selfclock.custom import AlgorithmError as AlgorithmError
    from selfclock.custom import algorithm as algorithm
    from selfclock.custom import load_algorithms as load_algorithms
    from selfclock.custom import parameter as parameter
    from selfclock.errors import BadInputError as BadInputError
    from selfclock.errors import WorkError as WorkError
    from selfclock.evaluate import Scorecard as Scorecard
    from selfclock.evaluate import evaluate as evaluate
    from selfclock.report.publish import publish as publish
    from selfclock.result import FlowSummary as FlowSummary
    from selfclock.result import LinkSummary as LinkSummary
    from selfclock.result import Result as Result
    from selfclock.result import Summary as Summary
    from selfclock.runs import run_many as run_many
    from selfclock.runs import run_stream as run_stream
    from selfclock.scenario import Scenario as Scenario
    from selfclock.scenario import grid_schema as grid_schema
    from selfclock.scenario import schema as schema
    from selfclock.scenario.build import Dumbbell as Dumbbell
    from selfclock.scenario.build import FatTree as FatTree
    from selfclock.scenario.build import Graph as Graph
    from selfclock.scenario.build import LeafSpine as LeafSpine
    from selfclock.scenario.build import Network as Network
    from selfclock.scenario.build import ParkingLot as ParkingLot
    from selfclock.scenario.build import Path as Path
    from selfclock.scenario.build import dumbbell as dumbbell
    from selfclock.scenario.flow import Background as Background
    from selfclock.scenario.flow import Exponential as Exponential
    from selfclock.scenario.flow import Flow as Flow
    from selfclock.scenario.flow import Lognormal as Lognormal
    from selfclock.scenario.flow import Pareto as Pareto
    from selfclock.scenario.flow import on_off as on_off
    from selfclock.scenario.link import Change as Change
    from selfclock.scenario.link import DeliveryTrace as DeliveryTrace
    from selfclock.scenario.link import GilbertElliott as GilbertElliott
    from selfclock.scenario.link import Link as Link
    from selfclock.scenario.link import LossBursts as LossBursts
    from selfclock.scenario.link import Queue as Queue
    from selfclock.scenario.link import Router as Router
    from selfclock.scenario.quantity import Bdp as Bdp
    from selfclock.scenario.quantity import Packets as Packets
    from selfclock.scenario.quantity import Rate as Rate
    from selfclock.scenario.quantity import Segments as Segments
    from selfclock.scenario.quantity import Size as Size
    from selfclock.scenario.quantity import Time as Time
    from selfclock.scenario.quantity import bdp as bdp
    from selfclock.scenario.quantity import bps as bps
    from selfclock.scenario.quantity import gbps as gbps
    from selfclock.scenario.quantity import kbps as kbps
    from selfclock.scenario.quantity import kbytes as kbytes
    from selfclock.scenario.quantity import mbps as mbps
    from selfclock.scenario.quantity import mbytes as mbytes
    from selfclock.scenario.quantity import ms as ms
    from selfclock.scenario.quantity import nbytes as nbytes
    from selfclock.scenario.quantity import packets as packets
    from selfclock.scenario.quantity import s as s
    from selfclock.scenario.quantity import segments as segments
    from selfclock.scenario.quantity import us as us
    from selfclock.scenario.transport import DelayedAck as DelayedAck
    from selfclock.scenario.transport import Misbehaviour as Misbehaviour
    from selfclock.scenario.transport import Record as Record
    from selfclock.scenario.transport import Shaper as Shaper
    from selfclock.scenario.transport import Timer as Timer
    from selfclock.scenario.transport import Transport as Transport
    from selfclock.sweep import Grid as Grid
    from selfclock.sweep import Sweep as Sweep
    from selfclock.sweep import sweep as sweep

#: Public names, by the module that each is imported from on first use. The imports above are for
#: type checkers; `import selfclock` itself takes a tenth of the time of all of them.
_HOMES = {
    "_core": (
        "Acknowledged CongestionControl DuplicateAck EcnEcho Established LossDetected RateSample "
        "RecoveryEnded Resumed RunError ScenarioError Sent SpuriousLoss Table Timeout"
    ),
    "algorithms": "Algorithm Parameter algorithms queues routers",
    "compare": "Comparison Measures compare",
    "evaluate": "Scorecard evaluate",
    "custom": "AlgorithmError algorithm load_algorithms parameter",
    "errors": "BadInputError WorkError",
    "report.publish": "publish",
    "result": "FlowSummary LinkSummary Result Summary",
    "runs": "run_many run_stream",
    "scenario": "Scenario grid_schema schema",
    "scenario.build": "Dumbbell FatTree Graph LeafSpine Network ParkingLot Path dumbbell",
    "scenario.flow": "Background Exponential Flow Lognormal Pareto on_off",
    "scenario.link": "Change DeliveryTrace GilbertElliott Link LossBursts Queue Router",
    "scenario.quantity": (
        "Bdp Packets Rate Segments Size Time bdp bps gbps kbps kbytes mbps mbytes ms nbytes packets s segments us"
    ),
    "scenario.transport": "DelayedAck Misbehaviour Record Shaper Timer Transport",
    "sweep": "Grid Sweep sweep",
}
_HOME = {name: f"selfclock.{module}" for module, names in _HOMES.items() for name in names.split()}

__version__ = VERSION

__all__ = ["__version__", *_HOME]  # noqa: PLE0604


class _Package(ModuleType):
    """The package. Python binds an imported submodule to its name here: `selfclock.compare` stays the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found: object = getattr(importlib.import_module(_HOME[name]), name)
        # Found directly the next time.
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_HOME})


sys.modules[__name__].__class__ = _Package
