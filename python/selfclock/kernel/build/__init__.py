"""Objects that decide in the kernel: algorithms in Rust compiled to BPF."""

from selfclock.kernel.build.compile import BuildError, build, build_object
from selfclock.kernel.build.custom import Built, build_crate
from selfclock.kernel.build.parts import Parts, prebuilt

__all__ = ["BuildError", "Built", "Parts", "build", "build_crate", "build_object", "prebuilt"]
