"""Objects that decide in the kernel: their arithmetic, what is refused, and the bytes that are checked in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import without_bpf_compilers
from selfclock.kernel.build import BuildError, build, prebuilt, tools
from selfclock.kernel.build.lower import LoweringError, lower

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
OBJECTS = ROOT / "crates/kernel/objects"

MODULE = """
define double @entry(double %a, double %b, i32 %n, i64 %m) {
start:
  %sum = fadd double %a, 1.500000e+00
  %less = fcmp olt double %sum, %b
  %count = uitofp i32 %n to double
  %cube = tail call double @_RNvNtNtCs5_4libm4math4cbrt4cbrt(double noundef %count)
  %flipped = fneg double %cube
  %whole = tail call i32 @llvm.fptoui.sat.i32.f64(double %flipped)
  %size = tail call double @llvm.fabs.f64(double %b)
  %both = tail call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %m, i64 1000)
  %picked = select i1 %less, double 0x7FF0000000000000, double -2.000000e+00
  %narrow = fptrunc double %a to float
  store volatile float %narrow, ptr null, align 4
  br i1 %less, label %panics, label %fine
panics:
  call void @_RNvNtCs1_4core9panicking5panic(ptr null)
  unreachable
fine:
  ret double %picked
}
declare double @llvm.fabs.f64(double)
"""

EXPECTED = [
    f"%sum = call i64 @__adddf3(i64 %a, i64 {0x3FF8 << 48})",
    "call i32 @__ltdf2(i64 %sum, i64 %b)",
    "%less = icmp slt i32 %selfclock.1, 0",
    "zext i32 %n to i64",
    "%count = call i64 @__floatundidf(i64 %selfclock.2)",
    "%cube = call i64 @__selfclock_cbrt(i64 %count)",
    f"%flipped = xor i64 %cube, {-(1 << 63)}",
    "call i64 @__selfclock_to_u64(i64 %flipped)",
    f"call i64 @llvm.umin.i64(i64 %selfclock.3, i64 {(1 << 32) - 1})",
    "%whole = trunc i64 %selfclock.4 to i32",
    f"%size = and i64 %b, {(1 << 63) - 1}",
    "call i64 @__selfclock_high_product(i64 %m, i64 1000)",
    f"%picked = select i1 %less, i64 {0x7FF << 52}, i64 {(0xC000 << 48) - (1 << 64)}",
    "ret i64 0",
    "ret i64 %picked",
    "declare i64 @__adddf3(i64, i64)",
]


def test_arithmetic_becomes_calls() -> None:
    """Operations on `double` become calls or integer arithmetic, panics returns, and LLVM accepts the result."""
    lowered = lower(MODULE, {"entry"})
    at = 0
    for line in EXPECTED:
        assert line in lowered[at:], line
        at = lowered.index(line, at) + 1
    assert "double" not in lowered
    assert "float " not in lowered
    assert "panic" not in lowered.replace("panics", "")
    assembler = shutil.which(f"llvm-as-{tools.LLVM}")
    if assembler:
        done = subprocess.run(
            [assembler, "-o", "/dev/null", "-"], input=lowered, text=True, check=False, capture_output=True
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "  %x = mul i128 %a, 3, !dbg !9",
            "crates/congestion/src/units.rs:105: 128-bit arithmetic; a program in the kernel",
        ),
        ("  %x = call ptr @__rust_alloc(i64 8, i64 8)", "somewhere: memory is allocated"),
        ("  %x = frem double %a, %b", "has no lowering"),
        ("  %x = call i64 %f(i64 3)", "a call through a pointer"),
    ],
)
def test_what_a_kernel_cannot_is_refused_where_it_stands(line: str, said: str) -> None:
    """With the location in the source, which the compiler has recorded."""
    module = f"""define void @entry() {{
{line}
  ret void
}}
!7 = !DIFile(filename: "crates/congestion/src/units.rs", directory: "selfclock")
!8 = distinct !DISubprogram(name: "scaled", file: !7, line: 100)
!9 = !DILocation(line: 105, column: 3, scope: !8)
"""
    with pytest.raises(LoweringError) as error:
        lower(module, {"entry"})
    assert said in str(error.value)


def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A missing compiler, a Rust that is too new, one without its sources, and no checkout."""
    there: Callable[..., str | None] = lambda name: f"/usr/bin/{name}"  # noqa: E731

    def said() -> str:
        with pytest.raises(BuildError) as error:
            tools.find()
        assert "\n" not in str(error.value)
        return str(error.value)

    monkeypatch.setattr(tools.shutil, "which", lambda name: None if name.startswith("clang") else there(name))
    assert said() == "clang-22 is needed: install clang 22 (Debian: apt install clang-22)"
    monkeypatch.setattr(tools.shutil, "which", lambda name: None if name == "cargo" else there(name))
    assert said() == "a Rust toolchain is needed (https://rustup.rs)"
    monkeypatch.setattr(tools.shutil, "which", there)
    monkeypatch.setattr(tools, "run", lambda *_: "LLVM version: 23.1.0")
    assert "LLVM 23" in said()
    monkeypatch.setattr(tools, "run", lambda *it: "LLVM version: 22.1.2" if "-vV" in it else str(tmp_path))
    assert said().endswith("rustup component add rust-src")
    monkeypatch.setattr("selfclock.kernel.build.compile.find", lambda: None)
    with pytest.raises(BuildError, match="sources of selfclock"):
        build([], tmp_path, tmp_path, tmp_path)
    monkeypatch.undo()
    with pytest.raises(BuildError, match="sh: status 3"):
        tools.run("sh", "-c", "exit 3")


def test_what_objects_are_made_of() -> None:
    """Each prebuilt object is checked in, and nothing else is."""
    assert sorted(each.file for each in prebuilt()) == sorted(it.name for it in OBJECTS.glob("*.o"))


@pytest.mark.alone
@pytest.mark.skipif(bool(without_bpf_compilers()), reason=without_bpf_compilers())
def test_rebuilt_object_is_the_one_checked_in(tmp_path: Path) -> None:
    """The same bytes on every machine: tested with Vegas, which represents the others."""
    parts = [each for each in prebuilt() if each.label == "vegas"]
    (built,) = build(parts, ROOT, ROOT / "target/kernel-objects", tmp_path)
    assert built.read_bytes() == (OBJECTS / "vegas.o").read_bytes()
