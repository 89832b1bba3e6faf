"""Composition of an object: the types of Rust in it."""

from __future__ import annotations

from dataclasses import dataclass

# Windows and models by registry name, with their modules and types. Lotka-Volterra is excluded: its
# estimator spaces segments and times options, for which a kernel congestion control has no hook. So
# are XCP and the starts that need options or probes.
_WINDOWS = {
    "reno": ("reno", "Reno"),
    "highspeed": ("highspeed", "HighSpeed"),
    "scalable": ("scalable", "Scalable"),
    "fast": ("fast", "Fast"),
    "bic": ("bic", "Bic"),
    "cubic": ("cubic", "Cubic"),
    "vegas": ("vegas", "Vegas"),
    "tri-s": ("tri_s", "TriS"),
    "ltcp": ("ltcp", "Ltcp"),
    "altcp": ("altcp", "Altcp"),
    "adaptive": ("adaptive", "Adaptive"),
}
_STARTS = {
    "slow-start": ("slow_start", "SlowStart"),
    "hystart++": ("hystart_plus_plus", "HyStartPlusPlus"),
    "limited": ("limited", "Limited"),
}
_MODELS = {"bbr3": ("bbr3", "Bbr3"), "prague": ("prague", "Prague")}
#: Pairs beside each window with the usual start.
_PAIRS = (("cubic", "hystart++"), ("reno", "hystart++"), ("reno", "limited"))
#: Default start of a window.
USUAL_START = "slow-start"


@dataclass(frozen=True)
class Parts:
    """An object: its registry label, and the Rust expression of its controller."""

    label: str
    #: The type of the controller.
    control: str
    #: Number of parameter words.
    words: str
    #: The controller, made from `setup` and `next`.
    make: str
    #: Whether it sets a window and nothing else: `Controller::only_grows`.
    only_grows: bool

    @property
    def file(self) -> str:
        """Name of the object's file."""
        return f"{self.label}.o"

    def source(self) -> str:
        """The crate from which the object is compiled."""
        return (
            "#![no_std]\n"
            "#[allow(unused_imports)]\n"
            "use selfclock_congestion::{Controller, composition::*, model, parameter::Words as _, start, window};\n"
            f"selfclock_kernel::object! {{ {self.control}, {self.words}, |setup, next| {self.make} }}\n"
        )


def _built(part: str, module: str, name: str) -> tuple[str, str, str]:
    path = f"{part}::{module}"
    return (
        f"{path}::{name}",
        f"{path}::Parameters::TABLE.len()",
        f"{path}::{name}::new({path}::Parameters::from_words(&mut next))",
    )


def _pair(window: str, start: str) -> Parts:
    begins, goes_on = _built("start", *_STARTS[start]), _built("window", *_WINDOWS[window])
    return Parts(
        window if start == USUAL_START else f"{window}+{start}",
        f"Controller<Pair<{begins[0]}, {goes_on[0]}>>",
        f"{begins[1]} + {goes_on[1]}",
        f"Controller::of_parts(setup, {begins[2]}, {goes_on[2]})",
        only_grows=True,
    )


def _model(name: str) -> Parts:
    kind, words, make = _built("model", *_MODELS[name])
    return Parts(name, f"Controller<Alone<{kind}>>", words, f"Controller::of_model(setup, {make})", only_grows=False)


def prebuilt() -> list[Parts]:
    """The prebuilt objects."""
    pairs = [_pair(window, USUAL_START) for window in _WINDOWS] + [_pair(*pair) for pair in _PAIRS]
    return pairs + [_model(name) for name in _MODELS]
