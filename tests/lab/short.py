"""The short golden scenarios as JSON, for the simulator in node and in browsers: `python short.py FILE`."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def short_scenarios() -> list[dict[str, object]]:
    """Return TOML, overrides and fingerprint of each, in the order of the list that `tests/golden.toml` was made of."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "selfclock-simulator", "--example", "fingerprint"]
    listed = subprocess.run([*command, "--", "--list-short"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    known = tomllib.loads((ROOT / "tests/golden.toml").read_text(encoding="utf-8"))["short"]
    return [
        {
            "name": f"{each['path']}: {each['name']}",
            "source": f"{each['path']}.toml",
            "toml": (ROOT / "tests/golden" / f"{each['path']}.toml").read_text(encoding="utf-8"),
            "overrides": each["overrides"],
            "fingerprint": known[f"{each['path']}: {each['name']}"],
        }
        for each in json.loads(listed)
    ]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(short_scenarios()), encoding="utf-8")
