"""Many scenarios: every point of a grid with every seed, each run once, resumable after any interruption."""

from selfclock.sweep.dataset import BusyError, DamagedError
from selfclock.sweep.grid import Grid
from selfclock.sweep.run import Sweep, sweep
from selfclock.sweep.workers import ClusterError

__all__ = ["BusyError", "ClusterError", "DamagedError", "Grid", "Sweep", "sweep"]
