"""`make package`: the wheel and the source distribution, each installed in an empty environment and tried there.

And the crates that others can depend on, packed and built from what is in the package.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: The crates that others can depend on.
CRATES = ("selfclock-congestion", "selfclock-simulator", "selfclock-emulator")

#: Looks for symbols of Python that other versions may not have.
ABI_CHECK = "abi3audit==0.0.26"


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


def check_abi(wheel: Path, folder: Path) -> None:
    """One wheel for every Python from 3.11 on: by its name, and by what it asks of Python."""
    assert "-cp311-abi3-" in wheel.name, wheel.name
    venv.create(folder / "checker", with_pip=True)
    binaries = folder / "checker" / ("Scripts" if sys.platform == "win32" else "bin")
    run(binaries / "python", "-m", "pip", "install", "--quiet", ABI_CHECK, cwd=folder)
    run(binaries / "abi3audit", "--strict", wheel, cwd=folder)


def pack_crates() -> None:
    """Pack the crates and build each from its package, with the packages of those before it."""
    chosen = [argument for crate in CRATES for argument in ("--package", crate)]
    run("cargo", "package", "--quiet", "--locked", "--allow-dirty", *chosen, cwd=ROOT)
    # A workspace of its own, whose package would look for the crate beside it in the registry.
    patch = f"patch.crates-io.selfclock-congestion.path='{ROOT / 'crates' / 'congestion'}'"
    run(
        "cargo",
        "package",
        "--quiet",
        "--allow-dirty",
        "--all-features",
        "--config",
        patch,
        cwd=ROOT / "crates" / "quic",
    )


def main() -> None:
    """Build and try all."""
    pack_crates()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("maturin", "build", "--release", "--locked", "--out", folder / "wheel", cwd=ROOT)
        (wheel,) = (folder / "wheel").glob("*.whl")
        check_abi(wheel, folder)
        (folder / "one").mkdir()
        try_out(wheel, folder / "one")

        run("maturin", "sdist", "--out", folder / "sdist", cwd=ROOT)
        (archive,) = (folder / "sdist").glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(folder / "unpacked", filter="data")
        (source,) = (folder / "unpacked").iterdir()
        missing = [path for path in run("git", "ls-files", cwd=ROOT).splitlines() if not (source / path).exists()]
        assert not missing, missing
        # As `make test` there would: the lock file is that of the workspace.
        run("cargo", "metadata", "--locked", "--format-version", "1", cwd=source)
        (folder / "two").mkdir()
        # As `pip install .` in a clean checkout does.
        try_out(source, folder / "two")
    sys.stdout.write(
        f"{wheel.name} and {archive.name} install and run; {', '.join(CRATES)} and selfclock-quic can be published\n"
    )


if __name__ == "__main__":
    main()
