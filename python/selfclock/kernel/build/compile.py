"""From a crate to an object: Rust to bitcode, `double` lowered to calls, linked with the C part, compiled."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from selfclock.kernel.build.loops import refuse_loops
from selfclock.kernel.build.lower import LoweringError, lower
from selfclock.kernel.build.tools import TARGET, BuildError, Tools, find, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selfclock.kernel.build.parts import Parts

__all__ = ["BuildError", "build", "build_object"]

#: Crates of selfclock in every object.
SHARED = ("congestion", "kernel")
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
    "see_ack",
    "see_flags",
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
{dependencies}
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
    crates = {
        f"selfclock-{name}": f"{{ path = {json.dumps(str(source.resolve() / 'crates' / name))} }}" for name in SHARED
    }
    crate = write_crate(parts.source(), crates, source / "Cargo.lock", work)
    return compile_object(tools, parts.label, crate, source, work, out, only_grows=parts.only_grows)


def write_crate(library: str, dependencies: dict[str, str], lock: Path, work: Path) -> Path:
    """Writes a crate with this library, with the versions of a lock file. Returns its folder."""
    crate = work / "crate"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"{name} = {value}" for name, value in sorted(dependencies.items()))
    (crate / "Cargo.toml").write_text(_MANIFEST.format(dependencies=lines))
    (crate / "src/lib.rs").write_text(library)
    if lock.is_file():
        shutil.copyfile(lock, crate / "Cargo.lock")
    return crate


def compile_object(
    tools: Tools,
    label: str,
    crate: Path,
    source: Path,
    work: Path,
    out: Path,
    named: Sequence[tuple[Path, str]] = (),
    *,
    only_grows: bool,
) -> Path:
    """Compiles a crate's entry points to an object. `named` are folders with the names that messages show for them.

    An algorithm that `only_grows` sets a window and nothing else: it has no `cong_control`.
    """
    # The compiler uses the last name that matches.
    libraries = _rust(tools, crate, work, [(source.resolve(), "selfclock"), *named, (crate, "object")])
    rust, words = _lowered(tools, libraries, work, [name for _, name in named])
    shim = _c(tools, source / "crates/kernel/bpf", [f"-DFLOW_WORDS={words}", *["-DWINDOW"] * only_grows], work)
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
        raise BuildError(f"{label}: undefined functions: {', '.join(missing)}")
    shutil.copyfile(partial, out.with_suffix(".o.partial"))
    out.with_suffix(".o.partial").replace(out)
    return out


def _rust(tools: Tools, crate: Path, work: Path, named: Sequence[tuple[Path, str]]) -> list[Path]:
    """The bitcode of the crate and its dependencies, the crate first."""
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(work / "target")}
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(f"--remap-path-prefix={path}={name}" for path, name in named)
    command = [tools.cargo, "rustc", "--release", "-Zbuild-std=core,alloc", "--target", TARGET, "--lib"]
    said = run(*command, "--message-format=json-render-diagnostics", where=crate, environment=environment)
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


def _lowered(tools: Tools, libraries: list[Path], work: Path, own: Sequence[str]) -> tuple[Path, int]:
    """The Rust in one module without `double`, and the number of 64-bit words of a connection.

    Source locations in the folders `own` are preferred in messages, and code from there is also
    checked for panics and for loops without a bound.
    """
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
        if own:
            refuse_loops(module, tools.analysis("scalar-evolution", small), own)
        text.write_text(lower(module, set(_ENTRIES), own))
    except LoweringError as error:
        raise BuildError(str(error)) from None
    tools("llvm-as", text, "-o", bitcode)
    return bitcode, words


def _clang(tools: Tools, folder: Path, out: Path, *arguments: str | Path) -> Path:
    here = f"-ffile-prefix-map={folder.resolve()}=."
    run(tools.clang, "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-emit-llvm", here, "-I", folder, "-o", out, *arguments)
    return out


def _c(tools: Tools, folder: Path, definitions: Sequence[str], work: Path) -> Path:
    """The part in C around a connection."""
    return _clang(tools, folder, work / "shim.bc", *definitions, "-c", folder.resolve() / "native.bpf.c")


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
