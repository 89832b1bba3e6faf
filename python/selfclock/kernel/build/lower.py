"""Lowers `double` in LLVM's textual IR to calls on 64-bit integers, because BPF has no floating point.

The called functions are those of `bpf/float.h`. LLVM 23 has an option for this
(`--bpf-allows-libcalls`); Rust's stable compiler and distribution packages are at LLVM 22, whose
BPF backend refuses every operation on a `double`. Operations impossible in BPF (128-bit arithmetic,
allocation) are refused, with their source location.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

# A floating-point constant: decimal with an exponent, or the bits.
_NUMBER = re.compile(r"(?<![\w.%@])(?:-?\d+\.\d+e[+-]\d+|0x[0-9A-Fa-f]{1,16}\b)")
_ARITHMETIC = {"fadd": "__adddf3", "fsub": "__subdf3", "fmul": "__muldf3", "fdiv": "__divdf3"}
# Comparison: the function, and how its result compares with zero.
_COMPARISONS = {
    "olt": ("__ltdf2", "slt"),
    "ole": ("__ledf2", "sle"),
    "ogt": ("__gtdf2", "sgt"),
    "oge": ("__gedf2", "sge"),
    "oeq": ("__eqdf2", "eq"),
    "une": ("__nedf2", "ne"),
    "ult": ("__gedf2", "slt"),
    "ule": ("__gtdf2", "sle"),
    "ugt": ("__ledf2", "sgt"),
    "uge": ("__ltdf2", "sge"),
    "ord": ("__unorddf2", "eq"),
    "uno": ("__unorddf2", "ne"),
    "ueq": ("__selfclock_uedf2", "eq"),
    "one": ("__selfclock_uedf2", "ne"),
}
# Functions with a counterpart, by a part of their names.
_FUNCTIONS = {
    "llvm.maxnum.f64": "__selfclock_maxdf",
    "llvm.minnum.f64": "__selfclock_mindf",
    "libm4math4cbrt4cbrt": "__selfclock_cbrt",
}
_REFUSED = {
    # Value names contain it, too: `%.ph.i.i128.i`.
    "128-bit arithmetic": re.compile(r"(?<![\w.%])i128(?![\w.])"),
    "an operation on floating-point numbers that has no lowering": re.compile(
        r"= f(?:add|sub|mul|div|rem|neg|cmp|ptrunc|pext|ptoui|ptosi)\b|\b(?:float|half|fp128)\b|\.f(?:64|32)\b"
    ),
    "memory is allocated": re.compile(r"call .*__rust_(?:alloc|dealloc|realloc)|call .*exchange_malloc"),
    "a call through a pointer": re.compile(r"= (?:tail )?call [^@(]*%\S+\("),
}


class LoweringError(Exception):
    """The source uses something impossible in BPF."""


@dataclass
class Places:
    """Source locations of instructions."""

    #: Folders, as the compiler recorded them, whose lines are preferred.
    own: Sequence[str] = ()
    metadata: dict[str, str] = field(default_factory=dict)

    def read(self, lines: list[str]) -> None:
        """Read the metadata of a module."""
        for line in lines:
            if line.startswith("!") and (found := re.match(r"(!\d+) = (?:distinct )?!(DI\w+\(.*)", line)):
                self.metadata[found[1]] = found[2]

    def _all(self, line: str) -> Iterator[str]:
        """The location, then those of the calls that were inlined."""
        found = re.search(r"!dbg (!\d+)", line)
        while found:
            location = self.metadata.get(found[1], "")
            number, scope = re.search(r"line: (\d+)", location), re.search(r"scope: (!\d+)", location)
            if number and scope:
                file = re.search(r"file: (!\d+)", self.metadata.get(scope[1], ""))
                yield f"{self._name(self.metadata.get(file[1], '') if file else '')}:{number[1]}"
            found = re.search(r"inlinedAt: (!\d+)", location)

    def _name(self, file: str) -> str:
        name = re.search(r'filename: "([^"]*)"', file)
        folder = re.search(r'directory: "([^"]*)"', file)
        short = name[1].split("/@")[0] if name else "unknown"
        own = folder is not None and folder[1] in self.own and not short.startswith(f"{folder[1]}/")
        return f"{folder[1]}/{short}" if own and folder else short

    def own_of(self, line: str) -> str | None:
        """Return the innermost location in one of the preferred folders."""
        return next((it for it in self._all(line) if any(it.startswith(f"{name}/") for name in self.own)), None)

    def of(self, line: str) -> str:
        """Return the preferred location, or the innermost."""
        return self.own_of(line) or next(self._all(line), "somewhere")


@dataclass
class _Lowering:
    places: Places
    declared: dict[str, str] = field(default_factory=dict)
    count: int = 0
    returns: str = "void"
    narrowed: set[str] = field(default_factory=set)

    def call(self, function: str, result: str, *arguments: str) -> str:
        self.declared[function] = f"declare {result} @{function}({', '.join(['i64'] * len(arguments))})"
        return f"call {result} @{function}({', '.join(f'i64 {it}' for it in arguments)})"

    def name(self) -> str:
        self.count += 1
        return f"%selfclock.{self.count}"

    def widened(self, how: str, kind: str, value: str) -> Generator[str, None, str]:
        if kind == "i64":
            return value
        wide = self.name()
        yield f"  {wide} = {how} {kind} {value} to i64"
        return wide

    def operation(self, target: str, code: str) -> Iterator[str]:
        """Lines in place of `target = code`, whose constants are integers already."""
        if found := re.match(r"(fadd|fsub|fmul|fdiv) (?:\w+ )*?double (\S+), (\S+)$", code):
            yield f"  {target} = {self.call(_ARITHMETIC[found[1]], 'i64', found[2], found[3])}"
        elif found := re.match(r"fneg (?:\w+ )*?double (\S+)$", code):
            yield f"  {target} = xor i64 {found[1]}, {-(1 << 63)}"
        elif found := re.match(r"fcmp (?:\w+ )*?(\w{3}) double (\S+), (\S+)$", code):
            function, compared = _COMPARISONS[found[1]]
            order = self.name()
            yield f"  {order} = {self.call(function, 'i32', found[2], found[3])}"
            yield f"  {target} = icmp {compared} i32 {order}, 0"
        elif found := re.match(r"([us])itofp (?:nneg )?(i\d+) (\S+) to double$", code):
            how, function = ("zext", "__floatundidf") if found[1] == "u" else ("sext", "__floatdidf")
            value = yield from self.widened(how, found[2], found[3])
            yield f"  {target} = {self.call(function, 'i64', value)}"
        elif found := re.match(r"fpto([us])i double (\S+) to (i\d+)$", code):
            yield from self.truncated(target, found[1], found[3], found[2])
        elif found := re.match(
            r"(?:tail )?call .*@llvm\.fpto([us])i\.sat\.(i\d+)\.f64\(double (?:noundef )?(\S+)\)", code
        ):
            yield from self.truncated(target, found[1], found[2], found[3])
        elif found := re.match(r"(?:tail )?call .*@llvm\.fabs\.f64\(double (?:noundef )?(\S+)\)", code):
            yield f"  {target} = and i64 {found[1]}, {(1 << 63) - 1}"
        elif found := re.match(
            r"(?:tail )?call .*@llvm\.copysign\.f64\(double (?:noundef )?(\S+), double (?:noundef )?(\S+)\)", code
        ):
            magnitude, sign = self.name(), self.name()
            yield f"  {magnitude} = and i64 {found[1]}, {(1 << 63) - 1}"
            yield f"  {sign} = and i64 {found[2]}, {-(1 << 63)}"
            yield f"  {target} = or i64 {magnitude}, {sign}"
        elif found := re.match(
            r"(?:tail )?call .*@llvm\.umul\.with\.overflow\.i64\(i64 (?:noundef )?(\S+), i64 (?:noundef )?(\S+)\)", code
        ):
            low, high, over, half = self.name(), self.name(), self.name(), self.name()
            yield f"  {low} = mul i64 {found[1]}, {found[2]}"
            yield f"  {high} = {self.call('__selfclock_high_product', 'i64', found[1], found[2])}"
            yield f"  {over} = icmp ne i64 {high}, 0"
            yield f"  {half} = insertvalue {{ i64, i1 }} zeroinitializer, i64 {low}, 0"
            yield f"  {target} = insertvalue {{ i64, i1 }} {half}, i1 {over}, 1"
        else:
            for part, function in _FUNCTIONS.items():
                if part in code and (
                    found := re.match(r"(?:tail )?call [^(]*\(((?:double (?:noundef )?[^ ,)]+(?:, )?)+)\)", code)
                ):
                    arguments = [it.split()[-1] for it in found[1].split(", ")]
                    yield f"  {target} = {self.call(function, 'i64', *arguments)}"
                    return
            yield f"  {target} = {code}"

    def truncated(self, target: str, sign: str, kind: str, value: str) -> Iterator[str]:
        """Towards zero, saturating at the ends of `kind`."""
        bits = int(kind[1:])
        function = "__selfclock_to_u64" if sign == "u" else "__selfclock_to_i64"
        if bits == 64:
            yield f"  {target} = {self.call(function, 'i64', value)}"
            return
        wide, capped = self.name(), self.name()
        yield f"  {wide} = {self.call(function, 'i64', value)}"
        if sign == "u":
            yield f"  {capped} = call i64 @llvm.umin.i64(i64 {wide}, i64 {(1 << bits) - 1})"
        else:
            upper = self.name()
            yield f"  {upper} = call i64 @llvm.smin.i64(i64 {wide}, i64 {(1 << bits - 1) - 1})"
            yield f"  {capped} = call i64 @llvm.smax.i64(i64 {upper}, i64 {-(1 << bits - 1)})"
        yield f"  {target} = trunc i64 {capped} to {kind}"

    def line(self, line: str) -> Iterator[str]:
        code = _bare(line)
        if found := re.match(r"\s*(%\S+) = fptrunc double \S+ to float$", code):
            # libm narrows a number only to raise a flag of the CPU; the result is unused.
            self.narrowed.add(found[1])
            return
        if (found := re.match(r"\s*store (?:volatile )?float (\S+), ", code)) and found[1] in self.narrowed:
            return
        if re.match(r"\s*%\S+ = load (?:volatile )?float, ", code):
            return
        code = re.sub(r"= alloca float\b", "= alloca i32", code)
        if "double" in code or "llvm.umul" in code:
            code = _NUMBER.sub(_bits, code)
        lowered = [code]
        if found := re.match(r"\s*(%\S+) = (.*)$", code):
            lowered = list(self.operation(found[1], found[2]))
        for each in lowered:
            for what, pattern in _REFUSED.items():
                if pattern.search(each):
                    raise LoweringError(
                        f"{self.places.of(line)}: {what}; a program in the kernel cannot: {code.strip()}"
                    )
            yield re.sub(r"\bdouble\b", "i64", each)


def _bits(found: re.Match[str]) -> str:
    text = found[0]
    bits = int(text, 16) if text.startswith("0x") else struct.unpack("<q", struct.pack("<d", float(text)))[0]
    return str(bits - (1 << 64) if bits >> 63 == 1 else bits)


def _bare(line: str) -> str:
    """The instruction without its metadata and its groups of attributes."""
    return re.sub(r"(?: #\d+)?(?:, ![\w.]+ !\d+)*$", "", line)


def _declares(line: str) -> bool:
    """A declaration that is no longer needed."""
    return ".f64" in line or "llvm.umul" in line or any(part in line for part in _FUNCTIONS)


def _function(line: str, exported: set[str]) -> str:
    """The head of a function without attributes, always inlined unless it is an entry point."""
    line = re.sub(r" (?:unnamed_addr|local_unnamed_addr|#\d+|!dbg !\d+)", "", line)
    name = re.search(r"@([\w.$]+)\(", line)
    inlined = "" if name and name[1] in exported else "alwaysinline "
    return re.sub(r"\bdouble\b", "i64", re.sub(r" \{$", f" {inlined}{{", line))


def _unreachable(returns: str) -> str:
    """End of a path that is never taken: a panic, which a verifier cannot rule out."""
    if returns == "void":
        return "  ret void"
    value = "0" if re.fullmatch(r"i\d+", returns) else "null" if returns == "ptr" else "zeroinitializer"
    return f"  ret {returns} {value}"


def lower(text: str, exported: set[str], own: Sequence[str] = ()) -> str:
    """Lowers a module. Functions that are not exported get inlined. Panics in the folders `own` are refused."""
    lines = text.split("\n")
    places = Places(own)
    places.read(lines)
    work = _Lowering(places)
    out: list[str] = []
    returns = "void"
    for number, line in enumerate(lines):
        if line.startswith(("attributes #", "!llvm.dbg", "^")) or (line.startswith("!") and "DI" in line):
            continue
        if line.startswith("declare"):
            if not _declares(line):
                out.append(re.sub(r" #\d+$", "", line))
        elif line.startswith("define"):
            found = re.search(r"(void|ptr|i\d+|double|\{[^@]*\}|\[[^@]*\]) @", line)
            returns = found[1].replace("double", "i64") if found else "void"
            out.append(_function(line, exported))
        elif line.startswith(" "):
            following = lines[number + 1].strip() if number + 1 < len(lines) else ""
            if following.startswith("unreachable") and re.search(r"\bcall\b", line):
                _refuse_panic(places.own_of(line), line)
                continue
            if "#dbg_" in line or "@llvm.assume" in line or "noalias.scope.decl" in line:
                continue
            if line.strip().startswith("unreachable"):
                out.append(_unreachable(returns))
            else:
                out.extend(_defined(each) for each in work.line(line))
        elif line.startswith("@"):
            out.append(re.sub(r"\bdouble\b", "i64", _NUMBER.sub(_bits, line) if "double" in line else line))
        else:
            out.append(line)
    declared = {name for line in out if (name := _name(line))}
    out += [line for line in work.declared.values() if _name(line) not in declared]
    out += [
        f"declare i64 @llvm.{each}.i64(i64, i64)"
        for each in ("umin", "smin", "smax")
        if f"llvm.{each}.i64" not in declared
    ]
    return "\n".join(out) + "\n"


def _refuse_panic(place: str | None, line: str) -> None:
    """Refuses a panic at a place in the user's source. The called function of the core library shows its cause."""
    if place is not None:
        causes = {"bounds_check": "an index may be out of bounds", "div_by_zero": "a division by zero is possible"}
        cause = next((cause for part, cause in causes.items() if part in line), "a panic is possible")
        raise LoweringError(f"{place}: {cause}; a program in the kernel cannot stop")


def _name(line: str) -> str | None:
    found = re.match(r"declare .*@([\w.$]+)\(", line)
    return found[1] if found else None


def _defined(line: str) -> str:
    """An undefined value becomes zero: the verifier refuses a register that was never written."""
    return line if "ptr" in line else re.sub(r"\b(?:undef|poison)\b(?! to)", "0", line)
