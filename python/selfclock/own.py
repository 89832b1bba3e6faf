"""Congestion controls of the user's own, written in Python and known under a name like the built-in ones."""

from __future__ import annotations

import difflib
import hashlib
import importlib.machinery
import importlib.util
import inspect
import keyword
import linecache
import math
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from selfclock import _core
from selfclock._core import CongestionControl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

EVENTS = (
    "on_established",
    "on_sent",
    "on_ack",
    "on_duplicate_ack",
    "on_loss",
    "on_ecn_echo",
    "on_timeout",
    "on_recovery_ended",
)
#: Without these there is no congestion control.
NEEDED = ("on_ack", "on_loss", "on_timeout")


class AlgorithmError(ValueError):
    """A class that cannot be registered, or a file that registers none."""


@dataclass(frozen=True)
class _Parameter:
    default: float | str
    about: str
    unit: str
    minimum: float
    maximum: float
    choices: tuple[str, ...]
    source: str


def parameter(
    default: float | str,
    about: str = "",
    *,
    unit: str = "",
    minimum: float = -math.inf,
    maximum: float = math.inf,
    choices: Sequence[str] = (),
    source: str = "our choice",
) -> Any:  # noqa: ANN401  an instance has the value, which is of the type of the default
    """Declare a parameter in the body of a congestion control; an instance has its value under the same name.

    The kind follows from the default: `True` or `False`, one of `choices`, or a number from `minimum` to `maximum`.
    With the unit "s" it is a time, with "B" a size, with "bit/s" a rate: a scenario gives these with a unit, as in
    `"20 ms"`, and the instance has seconds, bytes and bit/s. `source` is where the default comes from.
    """
    return _Parameter(default, about, unit, minimum, maximum, tuple(choices), source)


Class = TypeVar("Class", bound=type[CongestionControl])

#: What the files had in them that `load_algorithms` has read, by the name of the file.
_loaded: dict[str, str] = {}
_loading = threading.Lock()

#: The registered classes by name.
_registered: dict[str, type[CongestionControl]] = {}


def algorithm(name: str, *, source: str = "") -> Callable[[Class], Class]:
    """Make a class known under a name, wherever a built-in name can stand; a decorator.

    The first paragraph of the class's docstring is what `selfclock algorithms` says of it. A class registered later
    under the same name takes its place, for scenarios that are read after that.
    """

    def register(own: Class) -> Class:
        _check(own)
        about = " ".join((own.__doc__ or "").strip().split("\n\n")[0].split())
        parameters = _parameters(own)
        rows = [
            (key, one.about, one.unit, one.default, list(one.choices), (one.minimum, one.maximum), one.source)
            for key, one in parameters.items()
        ]
        try:
            where = source or f"{own.__module__}.{own.__qualname__}"
            digest = hashlib.sha256(_text(own).encode()).hexdigest()
            _core.register(own, name, about, where, rows, digest)
        except ValueError as error:
            raise AlgorithmError(f"{name!r} ({own.__qualname__}): {error}") from None
        _registered[name] = own
        return own

    return register


def registered() -> dict[str, type[CongestionControl]]:
    """Return the registered classes by name."""
    return dict(_registered)


def source(name: str) -> str:
    """Return the text of the file of a registered class: what a result depends on beside its scenario."""
    return _text(_registered[name])


def _text(own: type) -> str:
    """The file of a class, or the class alone if it was not written in a file."""
    try:
        file = Path(inspect.getfile(own))
        return file.read_text(encoding="utf-8") if file.is_file() else inspect.getsource(own)
    except (OSError, TypeError):
        return repr(own)


def _check(own: type) -> None:
    if not (isinstance(own, type) and issubclass(own, CongestionControl)):
        raise AlgorithmError(f"{getattr(own, '__qualname__', own)!s} does not derive from selfclock.CongestionControl")
    for name in dir(own):
        if name.startswith("on_") and name not in EVENTS:
            near = difflib.get_close_matches(name, EVENTS, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise AlgorithmError(f"{own.__qualname__}.{name} is not an event; {meant}There are {', '.join(EVENTS)}")
    missing = [name for name in NEEDED if getattr(own, name) is getattr(CongestionControl, name)]
    if missing:
        raise AlgorithmError(f"{own.__qualname__} has no {' and no '.join(missing)}")


def _parameters(own: type) -> dict[str, _Parameter]:
    """The parameters of a class and of those that it derives from, in the order in which they are written."""
    found: dict[str, _Parameter] = {}
    for base in reversed(own.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, _Parameter):
                found[name] = value
            else:
                found.pop(name, None)
    for name, one in found.items():
        where = f"{own.__qualname__}.{name}"
        if hasattr(CongestionControl, name) or keyword.iskeyword(name):
            raise AlgorithmError(f"{where}: a parameter cannot have this name")
        _check_default(where, one)
    return found


def _check_default(where: str, one: _Parameter) -> None:
    if one.choices:
        if one.default not in one.choices:
            raise AlgorithmError(f"{where}: the default {one.default!r} is not one of {', '.join(one.choices)}")
    elif isinstance(one.default, bool):
        pass
    elif not isinstance(one.default, int | float) or not math.isfinite(one.default):
        raise AlgorithmError(f"{where}: a default is True, False, a number, or one of `choices`")
    elif not one.minimum <= one.default <= one.maximum:
        raise AlgorithmError(f"{where}: the default {one.default} is not from {one.minimum} to {one.maximum}")
    elif one.unit in ("s", "B", "bit/s") and one.default < 0:
        raise AlgorithmError(f"{where}: the default {one.default} {one.unit} is negative")


def load_algorithms(*paths: str | PathLike[str]) -> list[str]:
    """Run Python files that register congestion controls; return the names that they registered.

    `selfclock run --algorithm FILE` does this. A file can import what lies beside it.
    """
    names: list[str] = []
    for path in map(Path, paths):
        before = dict(_registered)
        _run(path)
        new = [name for name, own in _registered.items() if before.get(name) is not own]
        if not new:
            raise AlgorithmError(f"{path} registers no algorithm: write @selfclock.algorithm(NAME) before a class")
        names += new
        _loaded[path.name] = path.read_text(encoding="utf-8")
    return names


def loaded_files() -> dict[str, str]:
    """Return the texts of the files that `load_algorithms` has read: what another process needs to do the same."""
    return dict(_loaded)


def load_texts(files: dict[str, str]) -> None:
    """Do what `load_algorithms` did in another process, unless it has been done here."""
    with _loading:
        for name, text in files.items():
            if _loaded.get(name) != text:
                # Kept for as long as the process lives: tracebacks show lines of it.
                path = Path(tempfile.mkdtemp(prefix="selfclock-")) / name
                path.write_text(text, encoding="utf-8")
                load_algorithms(path)


def _run(path: Path) -> None:
    if not path.is_file():
        raise AlgorithmError(f"{path}: there is no such file")
    name = f"selfclock_algorithm_{path.stem}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Where `copy` and `inspect` look for the module of a class.
    sys.modules[name] = module
    # The file may have changed since it was read last.
    linecache.checkcache(str(path))
    beside = str(path.absolute().parent)
    if beside not in sys.path:
        sys.path.append(beside)
    try:
        loader.exec_module(module)
    except AlgorithmError as error:
        raise AlgorithmError(f"{path}: {error}") from None
    except Exception as error:
        raise AlgorithmError(f"{path} cannot be loaded:\n{_own_part(error, path)}") from error


def _own_part(error: Exception, path: Path) -> str:
    """The traceback from the file on: what called it is of no interest to its author."""
    frames = traceback.TracebackException.from_exception(error)
    first = next((number for number, frame in enumerate(frames.stack) if frame.filename == str(path)), None)
    frames.stack = traceback.StackSummary.from_list(list(frames.stack)[first:] if first is not None else [])
    return "".join(frames.format()).rstrip()
