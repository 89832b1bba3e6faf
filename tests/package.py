"""`make package`: the wheel and the source distribution, each installed in an empty environment and tested there.

Also the crates that others can depend on, packed and built from their packages. What was tested is
left in dist/.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: Location of the laboratory's page, built by `make lab`.
PAGE = ROOT / "python" / "selfclock" / "lab" / "static"

#: The crates that others can depend on.
CRATES = ("selfclock-congestion", "selfclock-simulator", "selfclock-emulator")

#: Detects Python symbols that other versions may lack.
ABI_CHECK = "abi3audit==0.0.26"

#: Beginnings of paths that only a machine of a builder has: homes.
OF_BUILDERS = re.compile(rb"(?:/home|/root|/Users|[A-Z]:\\Users)[/\\][\w.+~-]+(?:[/\\][\w.+~-]+)?")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command; return its output."""
    sys.stdout.write(f"$ {' '.join(map(str, command))}\n")
    sys.stdout.flush()
    return subprocess.run([*map(str, command)], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def foreign_paths(content: bytes) -> list[str]:
    """Return the paths of builders in a file, and this checkout's."""
    found = {path.decode(errors="replace") for path in OF_BUILDERS.findall(content)}
    # As a whole path: a checkout may be at /src.
    here = re.search(rb"(?<![\w.~-])" + re.escape(bytes(ROOT)) + rb"(?![\w.-])", content)
    return sorted(found | ({str(ROOT)} if here else set()))


def without_hashes(pins: str) -> str:
    """Return versions alone: with hashes pip would want one of the wheel, too."""
    return re.sub(r" \\\n +--hash=\S+", "", pins)


def without_checkout(wheel: Path) -> None:
    """Name our crates by their place in the repository: maturin's list of crates has the builder's folder."""
    here, nowhere = f"path+{ROOT.as_uri()}/".encode(), b"path+file:///"
    with zipfile.ZipFile(wheel) as opened:
        held = {member: opened.read(member) for member in opened.infolist()}
    record = next(member for member in held if member.filename.endswith(".dist-info/RECORD"))
    for member, content in held.items():
        if "/sboms/" in member.filename and here in content:
            held[member] = changed = content.replace(here, nowhere)
            digest = base64.urlsafe_b64encode(hashlib.sha256(changed).digest()).rstrip(b"=").decode()
            line = f"{member.filename},sha256={digest},{len(changed)}"
            listed = re.sub(rf"^{re.escape(member.filename)},.*$", line, held[record].decode(), flags=re.MULTILINE)
            held[record] = listed.encode()
    with zipfile.ZipFile(wheel, "w") as written:
        for member, content in held.items():
            written.writestr(member, content)


def check_paths(wheel: Path) -> None:
    """Nothing in the wheel names a path of the machine that built it."""
    with zipfile.ZipFile(wheel) as opened:
        told = {name: found for name in opened.namelist() if (found := foreign_paths(opened.read(name)))}
    assert not told, f"paths of this machine are in the wheel: {told}"


def try_page(selfclock: Path, folder: Path, *, built: bool) -> None:
    """Fetch the laboratory's page from the installed package; without one, the command says what to do."""
    with subprocess.Popen(
        [selfclock, "lab", "--no-browser"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rstrip("/\n").rpartition(":")[2] or 0) if built else 0
        if not built:
            error = server.communicate()[1]
            assert (server.returncode, error.count("\n")) == (2, 1), error
            assert "make lab" in error
            return
        try:
            for name in ("index.html", "main.js", "worker.js", "selfclock.wasm"):
                with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                    connection.request("GET", f"/{name}")
                    assert connection.getresponse().read() == (PAGE / name).read_bytes(), name
        finally:
            server.terminate()


def try_out(installed_from: Path, folder: Path, *, built: bool) -> None:
    """Install into an empty environment, away from the checkout, and use it; `built`: with the laboratory's page."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True, clear=True)
    binaries = environment / ("Scripts" if sys.platform == "win32" else "bin")
    python = binaries / "python"
    versions = folder / "versions.txt"
    versions.write_text(without_hashes((ROOT / "constraints.txt").read_text(encoding="utf-8")), encoding="utf-8")
    run(python, "-m", "pip", "install", "--quiet", "--constraint", versions, installed_from, cwd=folder)
    shutil.copy(ROOT / "examples" / "one-flow.toml", folder)
    version = run(binaries / "selfclock", "--version", cwd=folder)
    assert version.startswith("selfclock "), version
    run(python, "-m", "selfclock", "run", "one-flow.toml", "--set", "duration=2 s", "--out", "out", cwd=folder)
    page = (folder / "out" / "report.html").read_text(encoding="utf-8").rstrip()
    assert 'id="library"' in page, "the page has no chart library"
    assert page.endswith("</html>"), "the page is cut"
    try_page(binaries / "selfclock", folder, built=built)
    run(python, "-m", "pip", "check", cwd=folder)


def check_abi(wheel: Path, folder: Path) -> None:
    """One wheel for every Python from 3.11 on: check its name and its symbols."""
    assert "-cp311-abi3-" in wheel.name, wheel.name
    venv.create(folder / "checker", with_pip=True)
    binaries = folder / "checker" / ("Scripts" if sys.platform == "win32" else "bin")
    run(binaries / "python", "-m", "pip", "install", "--quiet", ABI_CHECK, cwd=folder)
    run(binaries / "abi3audit", "--strict", wheel, cwd=folder)


def pack_crates() -> None:
    """Pack the crates and build each from its package, with the packages of the preceding ones."""
    chosen = [argument for crate in CRATES for argument in ("--package", crate)]
    run("cargo", "package", "--quiet", "--locked", "--allow-dirty", *chosen, cwd=ROOT)
    # It has its own workspace, whose package would look for the crate in the registry.
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
    """Build and test everything."""
    pack_crates()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("maturin", "build", "--release", "--locked", "--out", folder / "wheel", cwd=ROOT)
        (wheel,) = (folder / "wheel").glob("*.whl")
        without_checkout(wheel)
        check_paths(wheel)
        check_abi(wheel, folder)
        (folder / "one").mkdir()
        built = (PAGE / "index.html").is_file()
        if not built:
            sys.stdout.write("the laboratory in a browser is left out of the wheel: make lab builds it\n")
        try_out(wheel, folder / "one", built=built)

        run("maturin", "sdist", "--out", folder / "sdist", cwd=ROOT)
        (archive,) = (folder / "sdist").glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(folder / "unpacked", filter="data")
        (source,) = (folder / "unpacked").iterdir()
        missing = [path for path in run("git", "ls-files", cwd=ROOT).splitlines() if not (source / path).exists()]
        assert not missing, missing
        # As `make test` does there: the lock file is the workspace's.
        run("cargo", "metadata", "--locked", "--format-version", "1", cwd=source)
        (folder / "two").mkdir()
        # As `pip install .` in a clean checkout does.
        try_out(source, folder / "two", built=False)
        (ROOT / "dist").mkdir(exist_ok=True)
        for tested in (wheel, archive):
            shutil.copy(tested, ROOT / "dist")
    sys.stdout.write(
        f"{wheel.name} and {archive.name} install and run; {', '.join(CRATES)} and selfclock-quic can be published\n"
    )


if __name__ == "__main__":
    main()
