"""`make package`: the wheel and the source distribution, each installed in an empty environment and tried there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: What makes a source distribution one: it builds, its licence is there, and so are its tests.
NEEDED = (
    "Cargo.lock", "Cargo.toml", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "Makefile", "README.md",
    "constraints.txt", "crates/congestion/src/lib.rs", "crates/python/src/lib.rs", "crates/simulator/src/lib.rs",
    "docs/start.md", "examples/one-flow.toml", "pyproject.toml", "python/selfclock/_core.pyi",
    "python/selfclock/py.typed", "python/selfclock/templates/page.js", "tests/python/test_cli.py",
)  # fmt: skip


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command; what it prints."""
    sys.stdout.write(f"$ {' '.join(map(str, command))}\n")
    sys.stdout.flush()
    return subprocess.run([*map(str, command)], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def try_out(installed_from: Path, folder: Path) -> None:
    """Install into an empty environment, away from the checkout, and use it."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True, clear=True)
    binaries = environment / ("Scripts" if sys.platform == "win32" else "bin")
    python = binaries / "python"
    constraints = ("--constraint", ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", "--quiet", *constraints, installed_from, cwd=folder)
    shutil.copy(ROOT / "examples" / "one-flow.toml", folder)
    version = run(binaries / "selfclock", "--version", cwd=folder)
    assert version.startswith("selfclock "), version
    run(python, "-m", "selfclock", "run", "one-flow.toml", "--set", "duration=2 s", "--out", "out", cwd=folder)
    assert (folder / "out" / "report.html").stat().st_size > 1_000_000
    run(python, "-m", "pip", "check", cwd=folder)


def main() -> None:
    """Build and try both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("maturin", "build", "--release", "--locked", "--out", folder / "wheel", cwd=ROOT)
        (wheel,) = (folder / "wheel").glob("*.whl")
        assert "-cp311-abi3-" in wheel.name, wheel.name
        (folder / "one").mkdir()
        try_out(wheel, folder / "one")

        run("maturin", "sdist", "--out", folder / "sdist", cwd=ROOT)
        (archive,) = (folder / "sdist").glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(folder / "unpacked", filter="data")
        (source,) = (folder / "unpacked").iterdir()
        missing = [path for path in NEEDED if not (source / path).exists()]
        assert not missing, missing
        (folder / "two").mkdir()
        # As `pip install .` in a clean checkout does.
        try_out(source, folder / "two")
    sys.stdout.write(f"{wheel.name} and {archive.name} install and run\n")


if __name__ == "__main__":
    main()
