"""Objects that decide in the kernel: algorithms in Rust compiled to BPF. docs/kernel-build.md has how."""

from selfclock.kernel.build.compile import BuildError, build, build_object
from selfclock.kernel.build.parts import Parts, prebuilt, user_defined

__all__ = ["BuildError", "Parts", "build", "build_object", "prebuilt", "user_defined"]
