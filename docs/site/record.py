"""Write down what the papers' claims came to, for the pages that show it: `make record`.

Verdicts are on record in `verdicts.json`, which decides whether `selfclock reproduce` fails; `claims.json` beside it
holds the words and the figures of the last run, for people.
"""

from __future__ import annotations

import importlib.resources
import json
import sys
from pathlib import Path

from selfclock.reproduce import PAPERS, PaperReport, find, reproduce


def record(report: PaperReport) -> list[str]:
    """Write the claims of a paper down, and say where its verdicts are not those on record."""
    claims = [
        {
            "id": claim.id,
            "source": claim.source,
            "says": claim.says,
            "printed": claim.printed_text,
            "measured": claim.measured_text,
        }
        for claim in report.claims
    ]
    path = Path(str(importlib.resources.files(PAPERS[report.name]))) / "claims.json"
    path.write_text(json.dumps(claims, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return report.differences()


def main() -> int:
    """Reproduce and record the papers that are named, or all."""
    differences = [difference for report in reproduce(find(sys.argv[1:])) for difference in record(report)]
    sys.stderr.writelines(f"{difference}\n" for difference in differences)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
