"""Reports lines that no test runs, of Rust and Python, and fails if no test calls a public function.

`make test` first writes two reports in the lcov format: one for the crates under `cargo test`, and
one for the package under the Python tests and the commands that they start. Without cargo-llvm-cov
there is no report of Rust. Lines and functions of Rust's own tests do not count. A function is
public by its declaration: `pub fn` in a library, no leading underscore in Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
REPORTS = ROOT / "target/coverage"
#: Run in processes outside coverage: programs of hosts in namespaces, and a compiler that not every
#: machine has.
ELSEWHERE = ("kernel/twin/traffic.py", "kernel/build/compile.py", "kernel/build/parts.py")
#: The folders of each report that get a separate figure.
PARTS = {
    "rust": ["crates/congestion/src", "crates/simulator/src", "crates/emulator/src", "crates/kernel/src"],
    "python": ["python/selfclock"],
}
#: Crates that are not counted, and what tests them.
OTHERS = {
    "browser": "a module for browsers: make lab-test",
    "python": "the extension module, which the Python tests run",
    "quic": "a workspace of its own: make adapters",
    "stacks": "empty without real stacks: make quic-test",
}
#: Rust that only root's tests run, in the extension module and without a count: make kernel-test,
#: make live-test. Their lines count, their functions are not named.
OF_ROOT = ("crates/kernel/src/linux/", "crates/emulator/src/relay.rs", "crates/emulator/src/system.rs")


@dataclass
class File:
    """How often each line and each function of a file was run; functions by their first line."""

    path: str
    lines: dict[int, int] = field(default_factory=dict)
    functions: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def leave_out(self, lines: set[int]) -> None:
        """Forget these lines."""
        self.lines = {line: count for line, count in self.lines.items() if line not in lines}
        self.functions = {line: count for line, count in self.functions.items() if line not in lines}


def read(report: Path) -> Iterator[File]:
    """Read the files of a report; a function has a record per instance, and counts as run if any of them is."""
    begins: dict[str, int] = {}
    for record in report.read_text(encoding="utf-8").splitlines():
        kind, _, rest = record.partition(":")
        if kind == "SF":
            path = Path(rest)
            file = File(str(path.relative_to(ROOT) if path.is_absolute() else path))
            begins = {}
        elif kind == "FN":
            line, name = re.fullmatch(r"(\d+),(?:\d+,)?(.*)", rest).groups()  # type: ignore[union-attr]
            begins[name] = int(line)
            file.names[int(line)] = name
        elif kind == "FNDA":
            count, name = rest.split(",", 1)
            line = begins[name]
            file.functions[line] = file.functions.get(line, 0) + int(count)
        elif kind == "DA":
            line, count = map(int, rest.split(",")[:2])
            file.lines[line] = file.lines.get(line, 0) + count
        elif record == "end_of_record":
            yield file


def of_tests(source: list[str]) -> set[int]:
    """Return the numbers of the lines of a Rust file that are compiled for tests only."""
    found: set[int] = set()
    indent: int | None = None
    for number, line in enumerate(source, 1):
        starts = len(line) - len(line.lstrip())
        if line.strip() == "#[cfg(test)]":
            indent = starts
            found.add(number)
        elif indent is not None:
            found.add(number)
            # In rustfmt's layout an item ends with a brace at its own indentation, or like a
            # statement.
            if starts == indent and line.rstrip(",")[-1:] in {"}", ";"}:
                indent = None
    return found


def test_files() -> set[str]:
    """Return the Rust files that are test-only modules."""
    found = set()
    for path in (ROOT / "crates").rglob("*.rs"):
        text = path.read_text(encoding="utf-8")
        folder = path.parent if path.name in ("mod.rs", "lib.rs") else path.with_suffix("")
        for name in re.findall(r"#\[cfg\(test\)\]\n(?:pub(?:\(crate\))? )?mod (\w+);", text):
            found.add(str((folder / f"{name}.rs").relative_to(ROOT)))
    return found


def rust_files() -> Iterator[File]:
    """Read the files of the libraries without their tests, and only the public functions."""
    left_out = test_files()
    for file in read(REPORTS / "rust.info"):
        if not file.path.startswith(tuple(PARTS["rust"])) or file.path in left_out:
            continue
        source = (ROOT / file.path).read_text(encoding="utf-8").splitlines()
        file.leave_out(of_tests(source))
        public = {}
        for number, line in enumerate(source, 1):
            declared = re.match(r"\s*pub (?:const )?fn (\w+)", line)
            if declared and number not in of_tests(source):
                public[number] = declared[1]
        # Code without a record was never compiled into a test.
        file.functions = {line: file.functions.get(line, 0) for line in public}
        file.names = public
        if file.path.startswith(OF_ROOT):
            file.functions = {}
        yield file


def python_files() -> Iterator[File]:
    """Read the files of the package, and only their public functions.

    Where emulation tests are skipped, files that only they run are skipped, too.
    """
    sys.path.insert(0, str(ROOT / "tests/python"))
    from namespaces import obstacle  # noqa: PLC0415  of no use for the report of Rust

    if obstacle() is not None:
        print(f"python/selfclock/emulate is left out: {obstacle()}")
    for file in read(REPORTS / "python.info"):
        if file.path.endswith(ELSEWHERE) or (obstacle() is not None and "/emulate" in file.path):
            continue
        private = {line for line, name in file.names.items() if re.search(r"(^|\.)_|<", name)}
        file.functions = {line: count for line, count in file.functions.items() if line not in private}
        yield file


def show(what: str, files: list[File], *, lines: bool) -> int:
    """Print the figures of one language, and the gaps; return the number of functions that no test runs."""
    for folder in PARTS[what]:
        counts = [count for file in files if file.path.startswith(folder) for count in file.lines.values()]
        part = sum(count > 0 for count in counts) / len(counts)
        sys.stdout.write(f"coverage: {folder}: {part:.1%} of {len(counts):,} lines\n")
    if lines:
        for file in files:
            missing = [line for line, count in sorted(file.lines.items()) if not count]
            if missing:
                share = 1 - len(missing) / len(file.lines)
                sys.stdout.write(f"  {file.path}: {share:.1%}, without {ranges(missing, sorted(file.lines))}\n")
    untested = 0
    for file in files:
        for line, count in sorted(file.functions.items()):
            if not count:
                untested += 1
                sys.stdout.write(f"{file.path}:{line}: no test runs {file.names[line]}\n")
    every = sum(len(file.functions) for file in files)
    sys.stdout.write(f"coverage: {every - untested} of {every} public functions of {what.capitalize()} are run\n")
    return untested


def ranges(missing: list[int], every: list[int]) -> str:
    """Write line numbers; a range continues across lines without code."""
    index = {line: place for place, line in enumerate(every)}
    groups: list[list[int]] = []
    for line in missing:
        if groups and index[line] == index[groups[-1][-1]] + 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    return ", ".join(f"{group[0]}-{group[-1]}" if len(group) > 1 else str(group[0]) for group in groups)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", action="store_true", help="name the lines that are not run")
    lines = parser.parse_args().lines
    untested = show("python", list(python_files()), lines=lines)
    if (REPORTS / "rust.info").exists():
        untested += show("rust", list(rust_files()), lines=lines)
    else:
        sys.stdout.write("coverage of Rust is left out: there is no cargo-llvm-cov, or no llvm-tools\n")
    return int(untested > 0)


if __name__ == "__main__":
    sys.exit(main())
