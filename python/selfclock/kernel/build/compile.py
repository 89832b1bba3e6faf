"""From a crate to an object: Rust to bitcode, `double` lowered to calls, linked with the C part, compiled."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock.kernel.build.lower import LoweringError, lower
from selfclock.kernel.build.tools import TARGET, BuildError, Tools, find, run

if TYPE_CHECKING:
    from selfclock.kernel.build.parts import Parts

__all__ = ["BuildError", "build", "build_object"]

_ENTRIES = ("sc_begin", "sc_ack", "sc_other", "SC_FLOW_SIZE")
#: Exported symbols of the C part: programs, maps and the registration.
_KEPT = (
    "begin",
    "end",
    "threshold",
    "change_state",
    "undo",
    "restart",
    "control_window",
    "selfclock",
    "gpl",
    "flows",
    "parameters",
    "control",
    "records",
)
_OPTIMIZE = ("-passes=internalize,globaldce,default<O2>", "-inline-threshold=100000")
_MANIFEST = """[package]
name = "selfclock-object"
version = "0.0.0"
edition = "2024"
publish = false
[workspace]
[dependencies]
selfclock-congestion = {{ path = {congestion} }}
selfclock-kernel = {{ path = {kernel} }}
[profile.release]
opt-level = 3
codegen-units = 1
lto = "off"
panic = "abort"
debug = "line-tables-only"
"""


def build(parts: list[Parts], source: Path, work: Path, out: Path) -> list[Path]:
    """Builds objects from the sources of selfclock in `source`, through files in `work`, into the folder `out`."""
    tools = find()
    if not (source / "crates/kernel/bpf/native.bpf.c").is_file():
        raise BuildError(f"{source}: the sources of selfclock are not there")
    out.mkdir(parents=True, exist_ok=True)
    return [build_object(tools, each, source, work, out / each.file) for each in parts]


def build_object(tools: Tools, parts: Parts, source: Path, work: Path, out: Path) -> Path:
    """Builds one object. The file appears when complete."""
    work.mkdir(parents=True, exist_ok=True)
    libraries = _rust(tools, parts, source, work)
    rust, words = _lowered(tools, libraries, work)
    shim = _c(tools, source / "crates/kernel/bpf", words, work)
    soft, names = _soft_float(tools, source / "crates/kernel/bpf", work)
    linked, optimized, sparse = work / "linked.bc", work / "object.bc", work / "object.ll"
    tools("llvm-link", shim, rust, "--only-needed", soft, "-o", linked)
    kept = ",".join((*_KEPT, *names))
    tools("opt", *_OPTIMIZE, f"-internalize-public-api-list={kept}", linked, "-o", optimized)
    sparse.write_text(_without_lines(tools("llvm-dis", optimized, "-o", "-")))
    partial = work / "object.o"
    tools("llc", "-march=bpfel", "-mcpu=v3", "-filetype=obj", sparse, "-o", partial)
    tools("llvm-strip", "-g", partial)
    missing = [line.split()[-1] for line in tools("llvm-nm", "--undefined-only", partial).splitlines()]
    if missing:
        raise BuildError(f"{parts.label}: what is called is not there: {', '.join(missing)}")
    shutil.copyfile(partial, out.with_suffix(".o.partial"))
    out.with_suffix(".o.partial").replace(out)
    return out


def _rust(tools: Tools, parts: Parts, source: Path, work: Path) -> list[Path]:
    """The bitcode of the crate and its dependencies, the crate first."""
    crate = work / "crate"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    quoted = {name: json.dumps(str(source.resolve() / "crates" / name)) for name in ("congestion", "kernel")}
    (crate / "Cargo.toml").write_text(_MANIFEST.format(**quoted))
    (crate / "src/lib.rs").write_text(parts.source())
    # The versions that the workspace is tested with.
    shutil.copyfile(source / "Cargo.lock", crate / "Cargo.lock")
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(work / "target")}
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(
        f"--remap-path-prefix={path}={name}" for path, name in ((source.resolve(), "selfclock"), (crate, "object"))
    )
    command = [tools.cargo, "rustc", "--release", "-Zbuild-std=core,alloc", "--target", TARGET, "--lib"]
    said = run(*command, "--message-format=json", where=crate, environment=environment)
    messages = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    archives = [
        Path(file)
        for message in messages
        if message.get("reason") == "compiler-artifact"
        for file in message["filenames"]
        if file.endswith(".rlib")
    ]
    bitcode = work / "bitcode"
    shutil.rmtree(bitcode, ignore_errors=True)
    files = []
    # The crate itself first: unneeded dependencies are not linked in.
    archives.reverse()
    for archive in sorted(archives, key=lambda it: "selfclock_object" not in it.stem):
        folder = bitcode / archive.stem
        folder.mkdir(parents=True)
        tools("llvm-ar", "x", "--output", folder, archive)
        if "compiler_builtins" not in archive.stem:
            files += sorted(folder.glob("*.o"))
    return files


def _lowered(tools: Tools, libraries: list[Path], work: Path) -> tuple[Path, int]:
    """The Rust in one module without `double`, and the number of 64-bit words of a connection."""
    whole, small, text, bitcode = work / "rust.bc", work / "small.bc", work / "rust.ll", work / "lowered.bc"
    for number, library in enumerate(libraries):
        if "libm-" in library.name and "selfclock" not in library.name:
            # Its cube root is correctly rounded, and so is its replacement in float.h.
            libraries[number] = work / "libm.bc"
            tools("llvm-extract", "--delete", "--rfunc=libm4math4cbrt4cbrt", library, "-o", libraries[number])
    tools("llvm-link", libraries[0], "--only-needed", *libraries[1:], "-o", whole)
    tools("opt", *_OPTIMIZE, f"-internalize-public-api-list={','.join(_ENTRIES)}", whole, "-o", small)
    module = tools("llvm-dis", small, "-o", "-")
    size = re.search(r'@SC_FLOW_SIZE = .* c"([^"]*)"', module)
    if not size:
        raise BuildError("the size of a connection is not in what Rust compiled")
    bytes_ = re.sub(r"\\([0-9A-F]{2})", lambda it: chr(int(it[1], 16)), size[1])
    words = int.from_bytes(bytes_.encode("latin-1"), "little") // 8
    try:
        text.write_text(lower(module, set(_ENTRIES)))
    except LoweringError as error:
        raise BuildError(str(error)) from None
    tools("llvm-as", text, "-o", bitcode)
    return bitcode, words


def _clang(tools: Tools, folder: Path, out: Path, *arguments: str | Path) -> Path:
    here = f"-ffile-prefix-map={folder.resolve()}=."
    run(tools.clang, "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-emit-llvm", here, "-I", folder, "-o", out, *arguments)
    return out


def _c(tools: Tools, folder: Path, words: int, work: Path) -> Path:
    """The part in C around a connection of `words` words."""
    return _clang(tools, folder, work / "shim.bc", f"-DFLOW_WORDS={words}", "-c", folder.resolve() / "native.bpf.c")


def _soft_float(tools: Tools, folder: Path, work: Path) -> tuple[Path, list[str]]:
    """The arithmetic, and the names of its functions."""
    source = work / "float.c"
    source.write_text('#include "float.h"\n')
    out = _clang(tools, folder, work / "float.bc", "-Wno-parentheses", f"-ffile-prefix-map={work}=.", "-c", source)
    return out, [line.split()[-1] for line in tools("llvm-nm", out).splitlines()]


def _without_lines(text: str) -> str:
    """Keeps one source location per function: the verifier needs no more, at a third of the size."""
    number = max(int(it) for it in re.findall(r"^!(\d+) = ", text, re.MULTILINE)) + 1
    lines: list[str] = []
    places: list[str] = []
    own = ""
    for each in text.split("\n"):
        line = each
        if line.startswith("define"):
            scope = re.search(r"!dbg (!\d+)", line)
            own = f"!{number + len(places)}"
            if scope:
                places.append(f"{own} = !DILocation(line: 1, scope: {scope[1]})")
        elif line.startswith("  "):
            if "#dbg_" in line:
                continue
            line = re.sub(r"!dbg !\d+", f"!dbg {own}", line)
        lines.append(line)
    return "\n".join(lines + places) + "\n"
