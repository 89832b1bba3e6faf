"""`make kernel-objects`: rebuild the prebuilt objects, or those named."""

import sys
from pathlib import Path

from selfclock.kernel.build import BuildError, build, prebuilt

ROOT = Path(__file__).resolve().parents[4]

if __name__ == "__main__":
    wanted = [each for each in prebuilt() if each.label in sys.argv[1:] or len(sys.argv) == 1]
    failed = False
    for parts in wanted:
        try:
            built = build([parts], ROOT, ROOT / "target/kernel-objects", ROOT / "crates/kernel/objects")
        except BuildError as error:
            failed = True
            print(f"{parts.label}: {error}", file=sys.stderr)
            continue
        print(f"{parts.label}: {built[0].stat().st_size} bytes", flush=True)
    sys.exit(failed)
