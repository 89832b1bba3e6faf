"""One dumbbell three times: simulated, and on real kernels under the library's algorithm and under the kernel's own."""

from selfclock.kernel.twin.measures import Measures, Series, measured
from selfclock.kernel.twin.run import Column, Twin, TwinSettings, twin

__all__ = ["Column", "Measures", "Series", "Twin", "TwinSettings", "measured", "twin"]
