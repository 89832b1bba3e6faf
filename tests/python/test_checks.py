"""The project's own checks: of licences, of the age of measured pages, of what was left out."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
sys.path[:0] = [str(TESTS), str(TESTS / "kernel")]
import lab  # noqa: E402
import left_out  # noqa: E402
import measured  # noqa: E402
import nightly  # noqa: E402
import ns2_rows  # noqa: E402
import package  # noqa: E402
import untested  # noqa: E402


def pins() -> dict[str, tuple[str, set[str]]]:
    """Return version and hashes of each package on record."""
    found = {}
    for entry in (ROOT / "constraints.txt").read_text(encoding="utf-8").replace("\\\n", "").splitlines():
        if not entry.startswith("#"):
            words = entry.split()
            name, version = words[0].split("==")
            hashes = [word.removeprefix("--hash=sha256:") for word in words if word.startswith("--hash=")]
            assert all(re.fullmatch("[0-9a-f]{64}", word) for word in hashes), name
            found[canonicalize_name(name)] = version, set(hashes)
    return found


def test_pins_are_whole() -> None:
    """All that pyproject.toml asks for, and all that this in turn needs, has a version and a hash."""
    known = pins()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    optional = [line for extra in extras.values() for line in extra]
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"], *optional]
    asked += [line for name in known for line in needs(name)]
    for line in asked:
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
            version, hashes = known[canonicalize_name(wanted.name)]
            assert wanted.specifier.contains(version, prereleases=True), f"{line}: {version}; make pins"
            assert hashes, wanted.name
    names = [{canonicalize_name(Requirement(line).name) for line in lines} for lines in (optional, extras["dev"])]
    assert names[0] == names[1], "the extra dev, from which the pins are made, has all others"


def needs(name: str) -> list[str]:
    """Return the requirements of what is installed under a name; a few packages are of other systems."""
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []


def test_crates_with_parts_of_the_kernel_say_so() -> None:
    """Those that carry GPL-2.0 objects, and those that contain such a crate."""
    crates = {
        read["package"]["name"]: read
        for path in ROOT.glob("crates/*/Cargo.toml")
        if (read := tomllib.loads(path.read_text(encoding="utf-8")))
    }
    kernel = {"selfclock-kernel"}
    while more := {name for name, read in crates.items() if kernel & read.get("dependencies", {}).keys()} - kernel:
        kernel |= more
    for name, read in crates.items():
        licence = read["package"]["license"]
        assert ("GPL-2.0-only" in str(licence)) == (name in kernel), name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == crates["selfclock-python"]["package"]["license"]
    assert "crates/kernel/bpf/LICENSE-GPL-2.0" in project["license-files"]
    parts = ROOT / "crates/kernel/bpf"
    assert "GNU GENERAL PUBLIC LICENSE" in (parts / "LICENSE-GPL-2.0").read_text(encoding="utf-8")
    for source in [*parts.glob("*.c"), *parts.glob("*.h")]:
        assert "SPDX-License-Identifier: GPL-2.0" in source.read_text(encoding="utf-8").splitlines()[0], source
    assert "GPL-2.0" in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[-1]


def test_objects_name_no_path_of_their_builder() -> None:
    """Neither a home nor a temporary folder, nor this checkout: they are the same wherever they are made."""
    objects = [*ROOT.glob("crates/kernel/objects/*.o"), *ROOT.glob("crates/kernel/bpf/*.o")]
    assert len(objects) > 15
    for path in objects:
        assert not package.foreign_paths(path.read_bytes()), path.name
    told = b"..\0/home/ann/.cargo/registry/src/a.rs\0~/.cargo/lib.rs /Users/ann/b.c " + bytes(ROOT / "x")
    assert {"/home/ann/.cargo", "/Users/ann/b.c", str(ROOT)} <= set(package.foreign_paths(told))
    assert package.foreign_paths(b"~/.cargo/registry/src/a.rs /rustc/5980/library/std") == []


def test_a_wheel_names_no_path_of_its_builder(tmp_path: Path) -> None:
    """The list of crates loses the checkout, and the wheel's own list has its new digest."""
    wheel = tmp_path / "one.whl"
    names = "one.dist-info/sboms/one.cyclonedx.json", "one.dist-info/RECORD", "one/text.py"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(names[0], f'{{"bom-ref": "path+{ROOT.as_uri()}/crates/kernel#selfclock-kernel@0.1.0"}}')
        made.writestr(names[1], f"{names[0]},sha256=0,1\n{names[1]},,\n{names[2]},sha256=1,1\n")
        made.writestr(names[2], "x")
    with pytest.raises(AssertionError, match="paths of this machine"):
        package.check_paths(wheel)
    package.without_checkout(wheel)
    package.check_paths(wheel)
    with zipfile.ZipFile(wheel) as read:
        assert read.read(names[0]) == b'{"bom-ref": "path+file:///crates/kernel#selfclock-kernel@0.1.0"}'
        record = read.read(names[1]).decode().splitlines()
        assert read.namelist() == list(names)
    digest = base64.urlsafe_b64encode(
        hashlib.sha256(b'{"bom-ref": "path+file:///crates/kernel#selfclock-kernel@0.1.0"}').digest()
    )
    assert record[0] == f"{names[0]},sha256={digest.decode().rstrip('=')},64"
    assert record[2] == f"{names[2]},sha256=1,1"


def test_pins_without_hashes() -> None:
    """For packages that have none: pip wants hashes of all or of none."""
    versions = package.without_hashes((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert "hash" not in versions
    assert len(re.findall(r"^\S+==\S+", versions, re.MULTILINE)) == len(pins())


def test_a_page_says_what_it_was_measured_with(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\nText.\n", encoding="utf-8")
    assert measured.age(page, "0" * 12) == "does not say what it was measured with"
    measured.stamp(page, "0" * 12)
    assert measured.age(page, "0" * 12) is None
    assert "earlier results" in str(measured.age(page, "1" * 12))
    measured.stamp(page, "1" * 12)
    assert page.read_text(encoding="utf-8") == f"# Page\nText.\n\n<!-- measured with results {'1' * 12} -->\n"
    assert all((measured.ROOT / name).is_file() for name in measured.PAGES)


def recipes() -> dict[str, str]:
    """Return the recipe of each target of the Makefile that stands for no file."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    phony = {name for line in re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE) for name in line.split()}
    rules = dict(
        re.findall(r"^([\w-]+):(?!=)[^\n]*\n((?:\t[^\n]*\n|(?:ifeq|ifneq|else|endif)[^\n]*\n)*)", text, re.MULTILINE)
    )
    assert phony == set(rules), "each target is declared, and each declared one is there"
    return rules


def test_every_check_is_of_a_night_or_there_is_a_reason() -> None:
    targets = set(recipes())
    assert targets == set(nightly.CHECKS) | set(nightly.OTHERS)
    assert not set(nightly.CHECKS) & set(nightly.OTHERS)


def test_a_night_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that has passed is not run again, one that failed is; the report has both."""
    make = tmp_path / "make"
    make.write_text(f"#!/bin/sh\necho $1 >>{tmp_path}/ran\ntest $1 != load || test -e {tmp_path}/mended\n", "utf-8")
    make.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(nightly, "STATE", tmp_path / "state")
    monkeypatch.setattr(nightly, "CHECKS", ("oracles", "load"))
    monkeypatch.setattr(nightly, "sources", lambda: "0123")
    monkeypatch.setattr(sys, "argv", ["nightly.py"])
    report = tmp_path / "state/report.md"
    assert nightly.main() == 1
    assert "| `make oracles` | pass |" in report.read_text(encoding="utf-8")
    assert "| `make load` | FAILS |" in report.read_text(encoding="utf-8")
    (tmp_path / "mended").touch()
    assert nightly.main() == 0
    assert (tmp_path / "ran").read_text(encoding="utf-8").split() == ["oracles", "load", "load"]
    monkeypatch.setattr(nightly, "sources", lambda: "4567")
    assert nightly.main() == 0
    assert len((tmp_path / "ran").read_text(encoding="utf-8").split()) == 5


def test_every_crate_is_counted_or_there_is_a_reason() -> None:
    """Regression: functions of the emulator and of the kernel's part were not counted."""
    counted = {Path(folder).parts[1] for folder in untested.PARTS["rust"]}
    assert counted | set(untested.OTHERS) == {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    assert not counted & set(untested.OTHERS)


def test_a_target_that_writes_a_page_says_with_what() -> None:
    """The page then ends with the digest of the results, and lint tells its age."""
    written = {}
    for target, recipe in recipes().items():
        pages = set(re.findall(r"(?:matrix|parity|quic_others|driver_flow|page|--stamp) (docs/[\w-]+\.md)", recipe))
        for page in pages:
            assert f"measured.py --stamp {page}" in recipe, target
            written[page] = f"make {target}"
    assert written | measured.BY_HAND == measured.PAGES


def test_a_page_is_older_only_by_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = (ROOT / "tests/golden.toml").read_text(encoding="utf-8")
    (tmp_path / "tests").mkdir()
    monkeypatch.setattr(measured, "ROOT", tmp_path)

    def digests(text: str) -> dict[str, str]:
        (tmp_path / "tests/golden.toml").write_text(text, encoding="utf-8")
        return {page: measured.results(page) for page in measured.PAGES}

    def older(line: str) -> set[str]:
        changed, times = re.subn(rf'^"{line}" = .*$', f'"{line}" = "0"', golden, flags=re.MULTILINE)
        assert times == 1, line
        then, now = digests(golden), digests(changed)
        return {page for page in now if now[page] != then[page]}

    assert older("lossy: reno") == set(measured.PAGES) - {"docs/bbr-suite.md"}
    assert older("classic: packet-pair") == set(measured.PAGES) - set(measured.SHOWN)
    assert older("lossy: many losses") == set(measured.PAGES)
    # A scenario of the repository shows nothing new.
    assert digests(golden) == digests(golden.replace("[short]", '"examples/new.toml" = "0"\n\n[short]'))


def test_the_rows_of_ns2_can_be_built() -> None:
    """Regression: the script was broken for days, because nothing but `make oracles` builds its scenarios."""
    for row in ns2_rows.ROWS:
        assert ns2_rows.scenario(f"ns2-{row.name}", [ns2_rows.sender(row.control)], seconds=1, coalescing="0 s").text


def test_what_was_left_out_is_listed(tmp_path: Path) -> None:
    """With the command that brings it; where everything must run, the status is 1."""
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\nfrom skips import *\n", encoding="utf-8"
    )
    (tmp_path / "test_one.py").write_text(
        "import pytest\ndef test_one(): pytest.skip('the examples call curl')\ndef test_two(): pass\n", encoding="utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        "-c",
        os.devnull,
    ]
    notes = tmp_path / "notes"
    for complete, status in (("", 0), ("1", 1)):
        environment = {**os.environ, "COMPLETE": complete, "LEFT_OUT": str(notes)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout
        assert "1 x the examples call curl; brought by: apt install curl" in done.stdout
    noted = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
    assert noted == [{"subject": "tests", "reason": "the examples call curl", "count": 1}] * 2


def test_ci_leaves_out_only_what_it_may(tmp_path: Path) -> None:
    """It fails for what the machine could have had and for reasons that nobody named, and names them all."""

    def left_out_py(*words: str, lacks: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LEFT_OUT": str(tmp_path / "notes"), "CI_LACKS": lacks}
        script = [sys.executable, str(TESTS / "left_out.py"), *words]
        return subprocess.run(script, env=environment, capture_output=True, text=True, check=False)

    left_out_py("begin")
    assert left_out_py("report", "--ci").stdout == "nothing was left out\n"
    said = left_out_py("note", "crates/quic", "they need TLS and async runtimes").stdout
    assert said == "left out: crates/quic, they need TLS and async runtimes; make quic-test brings it\n"
    assert left_out_py("report", "--ci").returncode == 0
    left_out_py("note", "pages", "there is no Chromium here")
    assert left_out_py("report").returncode == 0
    done = left_out_py("report", "--ci")
    assert done.returncode == 1
    assert "apt install chromium; NOT ALLOWED: CI should have chromium" in done.stdout
    assert left_out_py("report", "--ci", lacks="tshark chromium").returncode == 0
    left_out_py("note", "pages", "of a new cause")
    done = left_out_py("report", "--ci", lacks="tshark chromium")
    assert done.returncode == 1
    assert "pages: of a new cause; NOT ALLOWED: nothing in tests/needs.toml names this reason" in done.stdout
    left_out_py("begin")
    assert left_out_py("report", "--ci").returncode == 0


def test_reasons_have_needs() -> None:
    """Each reason that tests state stands for what brings them."""
    reasons = {
        "the examples call curl": "curl",
        "there is no iptables": "iptables",
        "there is no ip": "ip",
        "clang-22 is needed: install clang 22 (Debian: apt install clang-22)": "clang",
        "llvm-ar-22 is needed: install llvm 22 (Debian: apt install llvm-22)": "llvm",
        "clang-22 and llvm-strip-22 are not installed": "clang",
        "the sources of Rust's core library are needed: rustup component add rust-src": "rust-src",
        "this Rust writes the bitcode of LLVM 23, which LLVM 22 cannot read: use Rust 1.95": "machine",
        "the keys are made by openssl": "openssl",
        "no tshark is installed": "tshark",
        "no QUIC stack is built in: make quic-test": "stacks",
        "this is root": "machine",
        "needs root, to become another user": "root",
        "it needs node and the wasm target": "laboratory",
        "it needs Rust 1.95 and a TLS library in C": "s2n",
        "there is no cargo-llvm-cov, or no llvm-tools": "coverage",
        "there is no valgrind": "valgrind",
        "those on record are of rustc 1, this is rustc 2": "machine",
        "needs root, namespaces and /dev/net/tun": "root",
    }
    found = {reason: need.name if (need := left_out.meant(reason)) else "" for reason in reasons}
    assert found == reasons
    assert left_out.remedy("something else") == ""


def test_a_period_is_not_taken_from_two_reductions() -> None:
    """A sawtooth from 50 to 100 in 2 s, sampled each 10 ms: its period from three intervals on, over all runs."""

    def transfer(seconds: float) -> lab.Transfer:
        times = [sample * 0.01 for sample in range(round(seconds * 100))]
        return lab.Transfer("reno", times, [], [], [round(50 + 25 * (time % 2)) for time in times], [], [])

    assert transfer(12.5).intervals() == pytest.approx([2.0, 2.0, 2.0], abs=0.02)
    assert lab.period([transfer(10.5)]) is None
    assert lab.period([transfer(12.5)]) == pytest.approx(2.0, abs=0.01)
    assert lab.period([transfer(8.5), transfer(10.5)]) == pytest.approx(2.0, abs=0.01)


def test_a_late_path_is_said() -> None:
    """From one late packet in a hundred on."""
    path = lab.Path2.__new__(lab.Path2)
    path.packets, path.late = 1000, 10
    assert path.is_in_time
    path.late = 43
    assert not path.is_in_time
    assert path.said == "a busy machine: 4.3% of a path's packets left more than 2 ms late, and 1% may"
    assert left_out.meant(path.said).name == "machine"
