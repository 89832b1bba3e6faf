"""`selfclock kernel build`: a user's own crate, compiled to an object and to a program that replays its records."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfclock.kernel.build.compile import SHARED, compile_object, write_crate
from selfclock.kernel.build.tools import BuildError, Tools, find, run

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The key of Cargo.toml, and an example of it.
_DECLARES = '[package.metadata.selfclock] with models = ["Parameters"], windows or starts, by their types of parameters'
#: Section of an object with the description of the algorithm.
SECTION = ".selfclock"

_SHAPES = {
    "models": (
        "Controller<Alone<<P as Custom>::Part>>",
        "<P as Words>::COUNT",
        "Controller::of_model(setup, {own}.build())",
        "register_model",
    ),
    "windows": (
        "Controller<Pair<start::slow_start::SlowStart, <P as Custom>::Part>>",
        "start::slow_start::Parameters::COUNT + <P as Words>::COUNT",
        "Controller::of_parts(setup, start::slow_start::SlowStart::new({built_in}), {own}.build())",
        "register_window",
    ),
    "starts": (
        "Controller<Pair<<P as Custom>::Part, window::reno::Reno>>",
        "<P as Words>::COUNT + window::reno::Parameters::COUNT",
        "Controller::of_parts(setup, {own}.build(), window::reno::Reno::new({built_in}))",
        "register_start",
    ),
}
#: The built-in partner of a window or start.
_PARTNERS = {"windows": "start::slow_start::Parameters", "starts": "window::reno::Parameters"}
_USES = """#[allow(unused_imports)]
use selfclock_congestion::{{Controller, composition::*, custom::Custom as _, parameter::Words as _, start, window}};
#[allow(unused_imports)]
use selfclock_congestion::{{custom::Custom, parameter::Words}};
type P = {path};
"""
_LIBRARY = """#![cfg(target_arch = "bpf")]
#![no_std]
{uses}
selfclock_kernel::object! {{ {control}, {words}, |setup, next| {make} }}
"""
_PROGRAM = """{uses}
fn main() -> std::process::ExitCode {{
    selfclock_kernel::custom::main::<P, _>(
        |registry| registry.{register}(P::default()),
        |selection, setup| {{
            {built_in}
            {make}
        }},
    )
}}
"""
_BUILT_IN = """let mut partner = {partner}::default();
            for &(name, value) in selection.settings() {{
                let _ = partner.set(name, value);
            }}"""


@dataclass(frozen=True)
class Built:
    """An algorithm that was built."""

    algorithm: str
    object: Path
    #: Replays records of it.
    program: Path


@dataclass(frozen=True)
class _Crate:
    """A user's crate."""

    package: str
    folder: Path
    #: Where cargo puts what it builds.
    target: Path
    #: Kind of part, and the type of its parameters.
    declared: list[tuple[str, str]]
    #: The sources of selfclock that it depends on, and how.
    selfclock: Path
    dependencies: dict[str, str]
    lock: Path


def build_crate(crate: Path, out: Path) -> list[Built]:
    """Builds every algorithm that a crate declares, into the folder `out`."""
    tools = find()
    own = _read(tools, crate)
    out.mkdir(parents=True, exist_ok=True)
    return [_build(tools, own, *declared, out) for declared in own.declared]


def _read(tools: Tools, crate: Path) -> _Crate:
    """Reads cargo's description of the crate."""
    manifest = crate / "Cargo.toml" if crate.is_dir() else crate
    if not manifest.is_file():
        raise BuildError(f"{crate}: there is no Cargo.toml; name the folder of a crate")
    command = [tools.cargo, "metadata", "--format-version", "1", "--manifest-path", str(manifest)]
    known: dict[str, Any] = json.loads(run(*command))
    packages = known["packages"]
    package = next((it for it in packages if Path(it["manifest_path"]).samefile(manifest)), None)
    if package is None:
        raise BuildError(f"{manifest}: this is no package; name the folder of a crate")
    if not any("lib" in target["kind"] for target in package["targets"]):
        raise BuildError(f"{manifest}: the crate has no library; put the algorithm into src/lib.rs")
    congestion = next((it for it in packages if it["name"] == "selfclock-congestion"), None)
    if congestion is None:
        raise BuildError(f"{manifest}: the crate does not depend on selfclock-congestion")
    crates = Path(congestion["manifest_path"]).parents[1]
    if not (crates / "kernel/bpf/native.bpf.c").is_file():
        raise BuildError(
            f"{manifest}: selfclock-congestion must be a dependency by path or git: objects need its repository"
        )
    return _Crate(
        package["name"],
        Path(package["manifest_path"]).parent,
        Path(known["target_directory"]) / "selfclock",
        list(_declared(manifest, (package["metadata"] or {}).get("selfclock"))),
        crates.parent,
        {f"selfclock-{name}": _dependency(congestion["source"], crates / name) for name in SHARED},
        Path(known["workspace_root"]) / "Cargo.lock",
    )


def _declared(manifest: Path, section: object) -> Iterator[tuple[str, str]]:
    """The algorithms of the section of Cargo.toml."""
    if not isinstance(section, dict) or not section:
        raise BuildError(f"{manifest}: no algorithm is declared; write {_DECLARES}")
    for kind, types in section.items():
        if kind not in _SHAPES or not isinstance(types, list):
            raise BuildError(f"{manifest}: package.metadata.selfclock.{kind}: write {_DECLARES}")
        for path in types:
            if not isinstance(path, str) or not re.fullmatch(r"\w+(::\w+)*", path):
                raise BuildError(f"{manifest}: package.metadata.selfclock.{kind}: {path!r} is not the path of a type")
            yield kind, path


def _dependency(source: str | None, folder: Path) -> str:
    """A dependency that is the same package to cargo."""
    if source is None:
        return f"{{ path = {json.dumps(str(folder))} }}"
    address, _, query = source.removeprefix("git+").partition("#")[0].partition("?")
    reference = "".join(f", {key} = {json.dumps(value)}" for key, _, value in [query.partition("=")] if key)
    return f"{{ git = {json.dumps(address)}{reference} }}"


def _sources(own: _Crate, kind: str, path: str) -> tuple[str, str]:
    """The library and the program of the generated crate."""
    control, words, make, register = _SHAPES[kind]
    uses = _USES.format(path=f"{own.package.replace('-', '_')}::{path}")
    partner = _PARTNERS.get(kind, "")
    # The parameters of the start come first: Selection::parameter_words.
    given, given_partner = "P::from_words(&mut next)", f"{partner}::from_words(&mut next)"
    library = _LIBRARY.format(
        uses=uses, control=control, words=words, make=make.format(own=given, built_in=given_partner)
    )
    program = _PROGRAM.format(
        uses=uses,
        register=register,
        built_in=_BUILT_IN.format(partner=partner) if partner else "",
        make=make.format(own="selfclock_kernel::custom::configured::<P>(selection)", built_in="partner"),
    )
    return library, program


def _build(tools: Tools, own: _Crate, kind: str, path: str, out: Path) -> Built:
    library, program = _sources(own, kind, path)
    dependencies = own.dependencies | {
        own.package: f"{{ path = {json.dumps(str(own.folder))}, default-features = false }}"
    }
    crate = write_crate(library, dependencies, own.lock, own.target)
    (crate / "src/main.rs").write_text(program)
    # First, because it refuses more than the compiler for this machine does.
    compiled = compile_object(
        tools,
        path,
        crate,
        own.selfclock,
        own.target,
        own.target / "own.o",
        [(own.folder, own.package)],
        # A window grows after standard slow start, which does not pace.
        only_grows=kind == "windows",
    )
    target = own.target / "host"
    run(tools.cargo, "build", "--release", "--bins", "--target-dir", target, where=crate)
    replayer = target / "release/selfclock-object"
    described = run(replayer, "describe")
    name = str(json.loads(described)["name"])
    (own.target / "description.json").write_text(described, encoding="utf-8")
    file = out / f"{name}.o"
    tools("llvm-objcopy", "--add-section", f"{SECTION}={own.target / 'description.json'}", compiled, file)
    beside = out / f"{name}.replay"
    shutil.copy2(replayer, beside)
    return Built(name, file, beside)
