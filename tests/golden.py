"""Makes tests/golden.toml: a fingerprint of the results of each scenario in the repository.

It also has fingerprints of many short runs, which `crates/simulator/tests/common/short.rs` derives
from those in `tests/golden`.

They are computed in a release build and in a debug build, and must be equal. They may differ from
the recorded ones only if CHANGELOG.md says so: its first entry that begins with **Results:**, whose
start the file keeps, must be a new one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests/golden.toml"
#: Number of letters kept from the entry of CHANGELOG.md.
LETTERS = 60
HEAD = """\
# What every scenario leaves behind: fingerprints of its results and of its packet record, and how long it ran for each,
# ps; then one fingerprint of each of the short scenarios of tests/golden.
# Made by `make golden`, which refuses to change them until the first **Results:** of CHANGELOG.md is another than this.
"""


def scenarios() -> list[str]:
    """Return every scenario file of the repository."""
    found = [path for folder in ("examples", "python") for path in sorted((ROOT / folder).rglob("*.toml"))]
    return [str(path.relative_to(ROOT)) for path in found if "[network]" in path.read_text(encoding="utf-8")]


def latest_entry() -> str:
    """Return the start of the newest entry that changes results; entries are newest first."""
    _, _, entry = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("- **Results:** ")
    return entry[:LETTERS]


def printed(profile: list[str], what: list[str]) -> list[str]:
    """Return the output of the example `fingerprint`, in a build with this profile."""
    command = [
        "cargo",
        "run",
        "--quiet",
        "--locked",
        *profile,
        "--package",
        "selfclock-simulator",
        "--example",
        "fingerprint",
        "--",
        *what,
    ]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def fingerprints(profile: list[str]) -> dict[str, dict[str, str]]:
    """Return the fingerprints of the scenarios and those of the short ones."""
    files = scenarios()
    lines = printed(profile, files)
    short = (line.split(" ", 1) for line in printed(profile, ["--short"]))
    return {
        "fingerprints": dict(zip(files, (line.rsplit(" ", 1)[0] for line in lines), strict=True)),
        "short": {name: fingerprint for fingerprint, name in short},
    }


def text(made: dict[str, dict[str, str]]) -> str:
    """Return the file."""
    lines = [f"entry = {json.dumps(latest_entry(), ensure_ascii=False)}"]
    for kind, of_kind in made.items():
        lines += ["", f"[{kind}]"]
        lines += [f"{json.dumps(name)} = {json.dumps(fingerprint)}" for name, fingerprint in of_kind.items()]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["release", "debug"], help="make them in this build alone")
    only = parser.parse_args().only
    made = fingerprints(["--release"] if only != "debug" else [])
    if only is None and (debug := fingerprints([])) != made:
        differ = [name for kind in made for name in made[kind] if made[kind][name] != debug[kind][name]]
        sys.stderr.write(f"a debug build gives other results than a release build: {', '.join(differ)}\n")
        return 1
    if GOLDEN.exists():
        known = tomllib.loads(GOLDEN.read_text(encoding="utf-8"))
        changed = [
            f"{name}: {was} is now {made[kind][name]}"
            for kind in made
            for name, was in known.get(kind, {}).items()
            if made[kind].get(name, was) != was
        ]
        for line in changed:
            sys.stderr.write(f"{line}\n")
        if changed and known["entry"] == latest_entry():
            sys.stderr.write("these results changed: say why in a new first **Results:** entry of CHANGELOG.md\n")
            return 1
    GOLDEN.write_text(text(made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
