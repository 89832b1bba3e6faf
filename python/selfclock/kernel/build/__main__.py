"""`make kernel-objects`: the prebuilt objects again, into the package. Names after it limit which."""

import sys
from pathlib import Path

from selfclock.kernel.build import BuildError, build, prebuilt

ROOT = Path(__file__).resolve().parents[4]

if __name__ == "__main__":
    wanted = [each for each in prebuilt() if each.label in sys.argv[1:] or len(sys.argv) == 1]
    for parts in wanted:
        try:
            built = build([parts], ROOT, ROOT / "target/kernel-objects", ROOT / "python/selfclock/kernel/objects")
        except BuildError as error:
            sys.exit(f"{parts.label}: {error}")
        print(f"{parts.label}: {built[0].stat().st_size} bytes")
