"""One build with every seeded fault of the Rust sources in it, each behind a switch that the
environment sets.

A build a fault would take minutes each. Each patch names the text that it replaces, an expression
or statement, which becomes `if fault { new } else { old }`; the program reads the number of its
fault from SELFCLOCK_FAULT when the module is loaded, or a script of the peer begins.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
FAULTS = Path(__file__).parent
WHERE = ROOT / "target/faults"
#: The tests of the scripted peer, built with every switch.
PEER = WHERE / "peer"
RESULTS = ROOT / "results/faults.json"

SWITCH = """
/// The seeded fault that is switched on; 0 for none.
pub mod fault {
    use core::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    /// Switches a fault on.
    pub fn set(number: u32) { NUMBER.store(number, Ordering::Relaxed); }
    /// Whether it is this one.
    #[inline(always)]
    pub fn is(number: u32) -> bool { NUMBER.load(Ordering::Relaxed) == number }
}
"""


#: Reads the number of the fault that is on.
NUMBER = 'std::env::var("SELFCLOCK_FAULT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)'
#: Where the module and the scripted peer read it: file, text, and what takes its place.
STARTS = (
    ("crates/python/src/lib.rs", "        Ok(())\n    }\n",
     f"        selfclock_congestion::fault::set({NUMBER});\n        Ok(())\n    }}\n"),
    ("crates/simulator/src/transport/sender/peer.rs", "        let lines = parse(script)?;\n",
     f"        selfclock_congestion::fault::set({NUMBER});\n        let lines = parse(script)?;\n"),
)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A patch, and what its header says."""

    number: int
    name: str
    what: str
    expected: list[str]
    file: str
    old: str
    new: str

    @property
    def is_rust(self) -> bool:
        """Whether it needs the build with switches."""
        return self.file.endswith(".rs")


def faults() -> list[Fault]:
    """Return every seeded fault."""
    found = []
    for number, path in enumerate(sorted(FAULTS.glob("*.patch")), 1):
        text = path.read_text(encoding="utf-8")
        head = dict(line.split(": ", 1) for line in text.split("\n\n", 1)[0].splitlines())
        file = re.search(r"^--- a/(.*)$", text, re.MULTILINE)
        assert file is not None, path
        found.append(
            Fault(
                number,
                path.stem,
                head["Fault"],
                head["Expected"].rstrip(".").split(", "),
                file.group(1),
                json.loads(head["Old"]),
                json.loads(head["New"]),
            )
        )
    return found


def either(old: str, new: str, switch: str) -> str:
    """Return the text that is the new one if the switch is on, and else the old one."""
    for form in (r"(let (?:mut )?\w+ = )(.*)(;)", r"([\w:()]+ => )(.*?)(,?)", r"(\|[^|]*\| )(.*)()"):
        one, two = re.fullmatch(form, old, re.DOTALL), re.fullmatch(form, new, re.DOTALL)
        if one and two and one.group(1) == two.group(1) and "{" not in one.group(1):
            return f"{one.group(1)}(if {switch} {{ {two.group(2)} }} else {{ {one.group(2)} }}){one.group(3)}"
    if old.lstrip().startswith(("if ", "epoch")) or old.rstrip().endswith(("fn grow",)):
        # Several lines: the one line that differs is a statement.
        lines, others = old.split("\n"), new.split("\n")
        return "\n".join(
            one if one == two else f"if {switch} {{ {two.strip()} }} else {{ {one.strip()} }}"
            for one, two in zip(lines, others, strict=True)
        )
    if old.rstrip().endswith(";"):
        return f"if {switch} {{ {new} }} else {{ {old} }}"
    if old.startswith("p if "):
        arrow = old.index("=> ") + 3
        return f"{old[:arrow]}(if {switch} {{ {new[arrow:]} }} else {{ {old[arrow:]} }})"
    return f"(if {switch} {{ {new} }} else {{ {old} }})"


def tree() -> Path:
    """Write the sources with every switch."""
    to = WHERE / "tree"
    for name in (
        "crates",
        "Cargo.toml",
        "Cargo.lock",
        "rustfmt.toml",
        "clippy.toml",
        "README.md",
        "examples",
        "docs",
        "python",
    ):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, to / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("target", "*.so", "__pycache__")
            )
        else:
            shutil.copy2(source, to / name)
    for fault in filter(lambda each: each.is_rust, faults()):
        file = to / fault.file
        crate = "crate" if "crates/congestion" in fault.file else "selfclock_congestion"
        text = file.read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, f"{fault.name}: its text is not there once"
        text = text.replace(fault.old, either(fault.old, fault.new, f"{crate}::fault::is({fault.number})"))
        if "bbr3" in fault.file:  # the switch is not const
            text = re.sub(r"\bconst fn (?!new\b)", "fn ", text)
        file.write_text(text, encoding="utf-8")
    lib = to / "crates/congestion/src/lib.rs"
    lib.write_text(lib.read_text(encoding="utf-8") + SWITCH, encoding="utf-8")
    for name, text, with_number in STARTS:
        start = to / name
        start.write_text(start.read_text(encoding="utf-8").replace(text, with_number, 1), encoding="utf-8")
    return to


def build() -> Path:
    """Build the module and the tests of the scripted peer; return a directory for PYTHONPATH."""
    to = tree()
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": os.environ.get("FAULTS_TARGET", str(WHERE / "build")),
        "RUSTFLAGS": "-A warnings",
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_INCREMENTAL": "1",
        "CARGO_PROFILE_RELEASE_DEBUG": "false",
    }
    if "FAULTS_TARGET" in os.environ:  # which has what other builds have compiled with other flags
        del environment["RUSTFLAGS"]

    def cargo(*words: str) -> str:
        return subprocess.run(
            ["cargo", *words, "--release", "--locked"],
            cwd=to, env=environment, check=True, stdout=subprocess.PIPE, text=True,
        ).stdout  # fmt: skip

    cargo("build", "-p", "selfclock-python", "--lib")
    shutil.copy2(Path(environment["CARGO_TARGET_DIR"]) / "release/lib_core.so", to / "python/selfclock/_core.abi3.so")
    told = cargo("test", "-p", "selfclock-simulator", "--lib", "--no-run", "--message-format", "json")
    made = [json.loads(line).get("executable") for line in told.splitlines() if line.startswith("{")]
    shutil.copy2(next(each for each in made if each), PEER)
    return to / "python"


if __name__ == "__main__":
    build()
