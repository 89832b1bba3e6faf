"""A user's own crate compiled for the kernel: what is refused, and where; the example's objects. Root: tests/kernel."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import without_bpf_compilers
from selfclock import _core
from selfclock.cli import main
from selfclock.kernel import KernelError, load_object
from selfclock.kernel.build import BuildError, build_crate, custom, tools
from selfclock.kernel.build.loops import refuse_loops
from selfclock.kernel.build.lower import LoweringError, lower
from selfclock.kernel.record import PARTIAL, RecordError, UnknownAlgorithmError, complete, replay
from selfclock.provenance import set_command

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/rust-algorithm"


def compiled(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs the compilers."""
    needs = pytest.mark.skipif(bool(without_bpf_compilers()), reason=without_bpf_compilers())
    return pytest.mark.alone(needs(test))  # type: ignore[no-any-return]


#: An instruction of the core library, inlined into line 40 of a user's crate.
PLACES = """
!1 = !DIFile(filename: "library/core/src/option.rs", directory: "")
!2 = distinct !DISubprogram(name: "unwrap", file: !1, line: 900)
!3 = !DIFile(filename: "src/lib.rs", directory: "mine")
!4 = distinct !DISubprogram(name: "on_ack", file: !3, line: 30)
!5 = !DILocation(line: 40, column: 3, scope: !4)
!6 = !DILocation(line: 905, column: 3, scope: !2, inlinedAt: !5)
"""
PANICS = """define void @entry() {{
  call void @_RN4core9panicking{}(ptr null), !dbg !6
  unreachable
}}
"""
LOOP = """define void @entry() {
start:
  br label %bb3
bb3:
  %x = add i64 0, 1, !dbg !6
  br label %bb3
}
"""
ANALYSIS = """Printing analysis 'Scalar Evolution Analysis' for function 'entry':
Determining loop execution counts for: @entry
Loop %bb3: <multiple exits> Unpredictable backedge-taken count.
Loop %bb3: {}
"""


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        ("18panic_bounds_check", "an index may be out of bounds"),
        ("11panic_const23panic_const_div_by_zero", "a division by zero is possible"),
        ("9panic_fmt", "a panic is possible"),
    ],
)
def test_panics_are_refused_at_the_users_line(function: str, cause: str) -> None:
    """Not at the line of the core library; and in the library's own algorithms they end a path that is never taken."""
    module = PANICS.format(function) + PLACES
    with pytest.raises(LoweringError) as error:
        lower(module, {"entry"}, ["mine"])
    assert str(error.value) == f"mine/src/lib.rs:40: {cause}; a program in the kernel cannot stop"
    assert "ret void" in lower(module, {"entry"})


def test_loops_without_a_bound_are_refused() -> None:
    """By LLVM's own analysis: a constant bound of the number of turns, or none."""
    module = LOOP + PLACES
    with pytest.raises(LoweringError, match=r"^mine/src/lib\.rs:40: a loop without a constant bound"):
        refuse_loops(module, ANALYSIS.format("Unpredictable constant max backedge-taken count."), ["mine"])
    refuse_loops(module, ANALYSIS.format("constant max backedge-taken count is i64 31"), ["mine"])


def refused(crate: Path) -> str:
    """Build a crate that must be refused in one line; return it without the path."""
    with pytest.raises(BuildError) as error:
        build_crate(crate, crate)
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(crate), "")


def test_crates_that_are_no_algorithm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each in one line, before anything is compiled."""
    monkeypatch.setattr(custom, "find", lambda: tools.Tools("clang", {}, "cargo"))
    assert refused(tmp_path) == ": there is no Cargo.toml; name the folder of a crate"
    manifest = tmp_path / "Cargo.toml"
    manifest.write_text("")
    congestion = tmp_path / "crates/congestion/Cargo.toml"
    package: dict[str, Any] = {
        "name": "mine", "manifest_path": str(manifest), "targets": [{"kind": ["lib"]}], "metadata": None,
        "source": None,
    }  # fmt: skip
    library = {**package, "name": "selfclock-congestion", "manifest_path": str(congestion)}
    known: dict[str, Any] = {"packages": [], "target_directory": str(tmp_path), "workspace_root": str(tmp_path)}
    monkeypatch.setattr(custom, "run", lambda *_, **__: json.dumps(known))
    congestion.parent.mkdir(parents=True)
    congestion.write_text("")
    assert "this is no package" in refused(tmp_path)
    known["packages"] = [{**package, "targets": [{"kind": ["bin"]}]}]
    assert "the crate has no library" in refused(tmp_path)
    known["packages"] = [package]
    assert "does not depend on selfclock-congestion" in refused(tmp_path)
    known["packages"] = [package, library]
    assert "by path or git" in refused(tmp_path)
    (tmp_path / "crates/kernel/bpf").mkdir(parents=True)
    (tmp_path / "crates/kernel/bpf/native.bpf.c").write_text("")
    assert "no algorithm is declared; write [package.metadata.selfclock]" in refused(tmp_path)
    for section, said in (
        ({"model": ["Parameters"]}, "package.metadata.selfclock.model: write"),
        ({"models": "Parameters"}, "package.metadata.selfclock.models: write"),
        ({"models": ["Parameters<2>"]}, "'Parameters<2>' is not the path of a type"),
    ):
        known["packages"] = [{**package, "metadata": {"selfclock": section}}, library]
        assert said in refused(tmp_path)


def test_dependencies_are_the_same_packages() -> None:
    """Cargo distinguishes packages by their source: a path, or a repository with its reference."""
    folder = Path("/somewhere/crates/kernel")
    assert custom._dependency(None, folder) == '{ path = "/somewhere/crates/kernel" }'
    source = "git+https://example.org/selfclock?branch=main#0123abcd"
    assert custom._dependency(source, folder) == '{ git = "https://example.org/selfclock", branch = "main" }'


def test_the_standard_library_is_missing() -> None:
    """The compiler's error is in terms of its own: the line says what to write where."""
    error = "error[E0463]: can't find crate for `std`\\n --> mine/src/lib.rs:1:1"
    with pytest.raises(BuildError, match=r"needs the standard library, .*: write #!\[no_std\]"):
        tools.run("sh", "-c", f'printf "{error.replace("`", chr(92) + "`")}" >&2; exit 101')


@pytest.mark.skipif(not hasattr(_core, "KernelSession"), reason="the kernel is Linux")
def test_files_that_are_no_object(tmp_path: Path) -> None:
    """A text, a prebuilt object, which has no description, and nothing at all."""
    (tmp_path / "text.o").write_text("no object")
    for file in (tmp_path / "text.o", ROOT / "crates/kernel/objects/reno.o"):
        with pytest.raises(KernelError, match="no object of selfclock kernel build"):
            load_object(file)
    with pytest.raises(KernelError, match="No such file"):
        load_object(tmp_path / "missing.o")


def test_replay_by_a_program(tmp_path: Path) -> None:
    """Its output is the extent of the replay; its message is the error."""
    (tmp_path / "events.log").write_bytes(b"")
    program = tmp_path / "mine.replay"
    done = {"algorithm": "mine", "about": "here", "events": 3, "answers": 2, "options": 0, "flows": 1, "phases": {}}

    def answers(script: str) -> None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    answers(f"[ $1 = replay ] && echo '{json.dumps(done)}'")
    assert replay(tmp_path, program=program).answers == 2
    answers("echo 'the record ends in the middle' >&2; exit 1")
    with pytest.raises(RecordError, match="ends in the middle"):
        replay(tmp_path, program=program)
    with pytest.raises(RecordError, match="No such file"):
        replay(tmp_path, program=tmp_path / "missing")


def test_a_record_of_an_unknown_algorithm_is_kept(tmp_path: Path) -> None:
    """It is complete, and the message says how it is replayed."""
    log = (ROOT / "crates/kernel/tests/logs/reno.log").read_bytes()
    # A name of the same length, in the head.
    (tmp_path / PARTIAL).write_bytes(log[:100].replace(b"reno", b"mine") + log[100:])
    with pytest.raises(UnknownAlgorithmError, match=r"unknown algorithm .*--with names the program"):
        complete(tmp_path, {"name": "test"})
    assert {path.name for path in tmp_path.iterdir()} == {"events.log", "kernel.json"}


def test_options_that_exclude_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A program replays its own algorithm alone."""
    with pytest.raises(SystemExit) as ended:
        main(["kernel", "replay", str(tmp_path), "--with", "mine.replay", "--algorithm", "reno"])
    set_command([])
    assert ended.value.code == 2
    assert "leave out --algorithm" in capsys.readouterr().err


@compiled
def test_the_example(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A model and a window: objects with their descriptions, and programs that read records."""
    with pytest.raises(SystemExit) as ended:
        main(["kernel", "build", str(EXAMPLE), "--out", str(tmp_path), "--json"])
    set_command([])
    assert not ended.value.code
    built = json.loads(capsys.readouterr().out)["built"]
    assert [row["algorithm"] for row in built] == ["my-aimd", "my-window"]
    for row in built:
        assert Path(row["object"]).stat().st_size > 10_000
        told = subprocess.run([row["program"], "describe"], capture_output=True, text=True, check=True).stdout
        described = json.loads(told)
        assert [each["name"] for each in described["parameters"]] == ["increase", "decrease"]
        if hasattr(_core, "kernel_describe"):
            assert _core.kernel_describe(Path(row["object"]).read_bytes()) == told
    with pytest.raises(RecordError, match="no record of kernel events"):
        replay(EXAMPLE / "Cargo.toml", program=Path(built[0]["program"]))


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for crates that differ in a statement, so that the core library is compiled once."""
    return tmp_path_factory.mktemp("crate")


def write_crate(folder: Path, statement: str) -> None:
    """Write the model of the example with another statement in `on_ack`."""
    (folder / "src").mkdir(exist_ok=True)
    manifest = f"""[package]
name = "bad"
edition = "2024"
[workspace]
[dependencies]
selfclock-congestion = {{ path = "{ROOT / "crates/congestion"}" }}
[package.metadata.selfclock]
models = ["Parameters"]
"""
    (folder / "Cargo.toml").write_text(manifest)
    shutil.copyfile(ROOT / "Cargo.lock", folder / "Cargo.lock")
    source = (EXAMPLE / "src/lib.rs").read_text().replace("pub mod window;", "")
    source = source.replace("#![no_std]", "#![no_std]\nextern crate alloc;\nstatic TABLE: [f64; 8] = [1.5; 8];")
    first = "        if event.recovering"
    (folder / "src/lib.rs").write_text(source.replace(first, f"        {statement}\n{first}", 1))


@compiled
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("while state.cwnd < self.parameters.increase { state.cwnd *= 1.5; }", "a loop without a constant bound"),
        ("state.cwnd = TABLE[event.size.get() as usize];", "an index may be out of bounds"),
        ("state.cwnd += event.rtt.unwrap().seconds();", "a panic is possible"),
        ("core::hint::black_box(alloc::boxed::Box::new(state.cwnd));", "memory is allocated"),
        ("state.cwnd += (u128::from(event.size.get()) * 3 / 7) as u64 as f64;", "128-bit arithmetic"),
    ],
)
def test_what_the_kernel_cannot(crate: Path, statement: str, said: str) -> None:
    """In one line that names the line of the crate."""
    write_crate(crate, statement)
    message = refused(crate)
    assert said in message
    line = int(message.split("bad/src/lib.rs:")[1].split(":")[0])
    assert statement in (crate / "src/lib.rs").read_text().splitlines()[line - 1]


@compiled
def test_a_crate_with_the_standard_library(crate: Path) -> None:
    """The line names the file in which to write #![no_std]."""
    write_crate(crate, "")
    source = (crate / "src/lib.rs").read_text()
    (crate / "src/lib.rs").write_text(source.replace("#![no_std]", ""))
    assert "bad/src/lib.rs needs the standard library" in refused(crate)


def test_build_says_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The object with its size, and the program; as JSON the same paths."""
    made = custom.Built("mine", tmp_path / "mine.o", tmp_path / "mine.replay")
    made.object.write_bytes(bytes(52_400))
    asked: list[tuple[Path, Path]] = []

    def build(crate: Path, out: Path) -> list[custom.Built]:
        asked.append((crate, out))
        return [made]

    monkeypatch.setattr("selfclock.cli.kernel_resident.build_crate", build)
    with pytest.raises(SystemExit) as ended:
        main(["kernel", "build", "crate", "--out", "there"])
    assert not ended.value.code
    assert capsys.readouterr().out == f"mine: {made.object}, 52 kB; {made.program} replays its records\n"
    with pytest.raises(SystemExit) as ended:
        main(["kernel", "build", "crate", "--out", "there", "--json"])
    assert not ended.value.code
    expected = [{"algorithm": "mine", "object": str(made.object), "program": str(made.program)}]
    assert json.loads(capsys.readouterr().out)["built"] == expected
    assert asked == [(Path("crate"), Path("there"))] * 2


def test_an_analysis_is_what_llvm_prints_on_standard_error(tmp_path: Path) -> None:
    program = tmp_path / "opt"
    program.write_text('#!/bin/sh\necho "$@" >&2\n')
    program.chmod(0o755)
    found = tools.Tools("clang", {"opt": str(program)}, "cargo").analysis("scalar-evolution", Path("module.bc"))
    assert found == "-disable-output -passes=print<scalar-evolution> module.bc\n"
