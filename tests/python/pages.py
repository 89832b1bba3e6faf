"""The blocks of the documents, run as a reader would: `python pages.py [--long] [PAGE]`.

A block of `sh` is run by bash and a block of `python` by this interpreter, in the order of the
page; all Python of a page shares its names. A block with a title is a file of that name. A block of
`text` with the title "prints" must appear, line by line, in the output of the previous block. TOML
must be accepted by selfclock.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

import selfclock as sc

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

#: Blocks with these starts take minutes: `make docs-long` runs them, `make test` does not.
LONG = {
    "selfclock reproduce": "every experiment of a paper",
    "selfclock evaluate altcp": "a whole scorecard",
}

#: Blocks with these starts are run by neither, with the reason.
NOT_RUN = {
    "selfclock run quic.toml": "needs a build with real stacks, `make quic`",
    "selfclock evaluate quinn": "needs a build with real stacks, `make quic`",
    "make ": "builds or tests the project: `make test` is what runs this, the others build or take very long",
    "selfclock emulate": "real time, and namespaces that not every machine allows: `make live-test` runs it",
    "sudo selfclock kernel": "controls connections of this machine: `make kernel-test` does, in namespaces of its own",
    "selfclock sweep examples/buffers.toml --on dask": "needs a cluster: test_sweep.py starts one",
    "cargo run --release -p my-aimd": "its crate has a test of its own, which `make test` runs",
}

#: The scenario around a fragment shown on a page.
NETWORK = """\
schema = 1
duration = "1 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "20 ms" }
access = { rate = "1 Gbps", delay = "1 ms" }
"""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    line: int
    language: str
    title: str
    text: str

    @property
    def commands(self) -> str:
        """The text from its first command on."""
        return "\n".join(line for line in self.text.splitlines() if line and not line.startswith("#"))


def pages() -> list[str]:
    """Every page whose blocks are run, as a path from the root of the project."""
    return ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for token in MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8")):
        if token.type == "fence":
            language, _, options = token.info.partition(" ")
            title = re.search(r'title="([^"]*)"', options)
            yield Block((token.map or [0])[0] + 1, language, title[1] if title else "", token.content)


def reason_not_to_run(block: Block, *, long: bool) -> str | None:
    """Return why a block is skipped; `None` if it is run."""
    left_out = NOT_RUN if long else {**NOT_RUN, **LONG}
    return next((why for begin, why in left_out.items() if block.commands.startswith(begin)), None)


def check_toml(text: str) -> None:
    """Refuse text that is neither a scenario, nor a grid, nor a part of a scenario."""
    if text.startswith("congestion_control"):
        for line in text.splitlines():
            sc.Scenario.parse(f"{NETWORK}[[flow]]\n{line}\n", "a flow")
    elif "schema" not in tomllib.loads(text):
        flow = "" if "[[flow]]" in text else "[[flow]]\n"
        sc.Scenario.parse(f"{NETWORK}{flow}{text}", "a part of a scenario")
    elif "scenario" not in tomllib.loads(text):
        sc.Scenario.parse(text, "a scenario")


class Reader:
    """Runs a page in the current directory."""

    def __init__(self, page: str, *, long: bool) -> None:
        self._page, self._long = page, long
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""

    def read(self) -> None:
        """Run every block, up to the first that fails."""
        for block in blocks(self._page):
            try:
                self._block(block)
            except Exception as error:
                said = "".join(traceback.format_exception_only(error))
                sys.exit(f"{self._page}:{block.line}: {said}{self._printed}")

    def _block(self, block: Block) -> None:
        if block.title == "prints":
            self._check_printed(block)
        elif block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "toml":
            check_toml(block.text)
        elif block.language in ("sh", "python") and reason_not_to_run(block, long=self._long) is None:
            self._printed = self._shell(block) if block.language == "sh" else self._python(block)

    def _shell(self, block: Block) -> str:
        done = subprocess.run(
            ["bash", "-uo", "pipefail", "-c", block.text],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
        )  # fmt: skip
        # A failure shown on a page must occur, with the stated status.
        said = re.search(r"# exits with (\d+)", block.text)
        if done.returncode != (int(said[1]) if said else 0):
            message = f"exit status {done.returncode}\n{done.stdout}"
            raise RuntimeError(message)
        return done.stdout

    def _python(self, block: Block) -> str:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(compile(block.text, f"{self._page}:{block.line}", "exec"), self._names)  # noqa: S102
        return stream.getvalue()

    def _check_printed(self, block: Block) -> None:
        printed = iter([" ".join(line.split()) for line in self._printed.splitlines()])
        for line in block.text.splitlines():
            if line.strip() and " ".join(line.split()) not in printed:
                message = f"was not printed: {line}\n"
                raise RuntimeError(message)


def surroundings(directory: Path) -> dict[str, str]:
    """Add the built parts of a checkout to a directory, and return the environment of a shell in it."""
    (directory / "examples").symlink_to(ROOT / "examples")
    (directory / ".venv").symlink_to(sys.prefix)
    tools = Path(sys.executable).parent
    # As wide as the pages, and without colours.
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}


def run(page: str, directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a page in an empty directory, in its own process."""
    return subprocess.run(
        [sys.executable, __file__, *options, page],
        cwd=directory, env=surroundings(directory), capture_output=True, text=True, check=False,
    )  # fmt: skip


def main() -> None:
    """Run one page here, or all of them, each in its own directory."""
    long = "--long" in sys.argv
    named = [argument for argument in sys.argv[1:] if argument != "--long"]
    if named:
        Reader(named[0], long=long).read()
        return
    failed = 0
    for page in pages():
        with tempfile.TemporaryDirectory() as directory:
            done = run(page, Path(directory), *(["--long"] if long else []))
        failed += done.returncode != 0
        print(f"{'FAILED' if done.returncode else 'ok':6} {page}\n{done.stderr}", end="", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
