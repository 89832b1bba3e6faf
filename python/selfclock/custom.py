"""User-defined congestion controls in Python, registered under a name like the built-in ones."""

from __future__ import annotations

import contextlib
import difflib
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
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from selfclock import _core
from selfclock._core import CongestionControl
from selfclock.algorithm_sources import Source, of_class, of_file
from selfclock.chance import undetermined
from selfclock.errors import BadInputError
from selfclock.typos import near_miss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
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
    "on_spurious_loss",
    "on_resumed",
)
#: Attributes that an event method can set.
SETTABLE = ("cwnd", "cwnd_bytes", "ssthresh", "pacing_bps")
#: The required methods of a congestion control.
NEEDED = ("on_ack", "on_loss", "on_timeout")


class AlgorithmError(BadInputError, ValueError):
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

    The kind follows from the default: `True` or `False`, one of `choices`, or a number from
    `minimum` to `maximum`. With the unit "s" it is a time, with "B" a size, with "bit/s" a rate: a
    scenario gives these with a unit, as in `"20 ms"`, and the instance has seconds, bytes and
    bit/s. `source` is the source of the default.
    """
    return _Parameter(default, about, unit, minimum, maximum, tuple(choices), source)


Class = TypeVar("Class", bound=type[CongestionControl])

#: The sources of the files read by `load_algorithms`, by file name.
_loaded: dict[str, Source] = {}
_loading = threading.Lock()

#: The registered classes by name.
_registered: dict[str, type[CongestionControl]] = {}

#: Folders of the loaded files.
_folders: set[Path] = set()

#: Provenance of each algorithm at its registration, by name.
_sources: dict[str, Source] = {}


@dataclass
class _Renaming:
    """The name that a file's own algorithm gets in place of its own: two versions have two names."""

    module: str
    name: str
    #: The name that the file gives it, once registered.
    own: str | None = None

    def of(self, registered: type, name: str) -> str:
        """Return the name of a class: the given one, unless it is of a module that the file imports."""
        if registered.__module__ != self.module:
            return name
        if self.own not in (None, name):
            raise AlgorithmError(
                f"registers {self.own!r} and {name!r}; {self.name}=FILE gives one algorithm another name"
            )
        self.own = name
        return self.name


_renaming: ContextVar[_Renaming | None] = ContextVar("renaming", default=None)


def algorithm(name: str, *, source: str = "") -> Callable[[Class], Class]:
    """Register a class under a name that can be used like a built-in one; a decorator.

    The first paragraph of the class's docstring is its description in `selfclock algorithms`. A
    class registered later under the same name replaces it, for scenarios read after that.
    """
    if not isinstance(name, str):
        raise AlgorithmError(f'algorithm: {_shown(name)} is not a name; write @selfclock.algorithm("my-algorithm")')

    def register(own: Class) -> Class:
        _check(own)
        about = " ".join((own.__doc__ or "").strip().split("\n\n")[0].split())
        parameters = _parameters(own)
        slip = near_miss(own, CongestionControl, [*SETTABLE, *parameters])
        if slip is not None:
            raise AlgorithmError(slip)
        rows = [
            (key, one.about, one.unit, one.default, list(one.choices), (one.minimum, one.maximum), one.source)
            for key, one in parameters.items()
        ]
        renaming = _renaming.get()
        called = name if renaming is None else renaming.of(own, name)
        try:
            where = source or f"{own.__module__}.{own.__qualname__}"
            made_of = of_class(own)
            _core.register(own, called, about, where, rows, made_of.digest)
        except ValueError as error:
            raise AlgorithmError(f"{called!r} ({own.__qualname__}): {error}") from None
        _registered[called] = own
        _sources[called] = made_of
        return own

    return register


def undetermined_among(names: Iterable[str]) -> list[str]:
    """Return a note on each of these user-defined algorithms that reads what no seed determines."""
    found = []
    for name in names:
        read = undetermined(_registered[name], CongestionControl) if name in _registered else []
        if read:
            found.append(
                f'algorithm "{name}" reads {", ".join(read)}, which no seed determines: two runs of one seed '
                "may differ; a generator of its own, random.Random(1) in __init__, gives the same numbers in every run"
            )
    return found


def _shown(given: object) -> str:
    return getattr(given, "__qualname__", None) or repr(given)


def registered() -> dict[str, type[CongestionControl]]:
    """Return the registered classes by name."""
    return dict(_registered)


def sources(names: Iterable[str]) -> dict[str, Source]:
    """Return the sources of the user-defined algorithms among these, sorted by name.

    A name may have an estimator after it, as "my-aimd+icim".
    """
    used = list(names)
    return {
        own: source
        for own, source in sorted(_sources.items())
        if any(name == own or name.startswith(f"{own}+") for name in used)
    }


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
    """The parameters of a class and its bases, in the order of their definition."""
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

    `selfclock run --algorithm FILE` does this. A file can import its neighbours. "NAME=FILE" gives
    the algorithm of a file another name, so that two versions of one can run together; a name
    from two different files of one call is refused.
    """
    names: list[str] = []
    origins: dict[str, Path] = {}
    for given in paths:
        called, path = _named(given)
        before = dict(_registered)
        _run(path, called)
        new = [name for name, own in _registered.items() if before.get(name) is not own]
        if not new:
            raise AlgorithmError(f"{path} registers no algorithm: write @selfclock.algorithm(NAME) before a class")
        for name in new:
            # A neighbour that an earlier file imported is the same file.
            file, line = _place(_registered[name], path)
            first = origins.setdefault(name, file)
            if first != file:
                raise AlgorithmError(
                    f"{file}:{line}: registers {name!r}, as {first} does; give one of them another name, "
                    f"as in --algorithm {name}-2={file}"
                )
        names += new
        _loaded[f"{called}={path.name}" if called else path.name] = of_file(path)
    return names


def _named(given: str | PathLike[str]) -> tuple[str, Path]:
    """Return the name and the file of NAME=FILE; no name for a file alone, whose own name may hold "="."""
    path = Path(given)
    name, equals, file = str(path).partition("=")
    if not equals or "/" in name or path.exists():
        return "", path
    if not name or not file:
        raise AlgorithmError(f"{path}: write NAME=FILE, such as before=old/mine.py, or FILE")
    return name, Path(file)


def _place(own: type, path: Path) -> tuple[Path, int]:
    """Return the file and the line of a class from this file or one that it imports, decorators included."""
    with contextlib.suppress(OSError, TypeError):
        return Path(inspect.getsourcefile(own) or path).absolute(), inspect.getsourcelines(own)[1]
    return path.absolute(), 1


def loaded_sources() -> dict[str, Source]:
    """Return the sources read by `load_algorithms`, for another process to load."""
    return dict(_loaded)


def load_sources(files: dict[str, Source]) -> None:
    """Load the algorithms of another process, unless already done here."""
    with _loading:
        for name, source in files.items():
            if _loaded.get(name) != source:
                # Kept for the life of the process: tracebacks show its lines.
                first = next(iter(source.files))
                folder = Path(tempfile.mkdtemp(prefix="selfclock-"))
                for relative, text in source.files.items():
                    (folder / relative).parent.mkdir(parents=True, exist_ok=True)
                    (folder / relative).write_text(text, encoding="utf-8")
                load_algorithms(f"{name.removesuffix(first)}{folder / first}")


def _run(path: Path, called: str = "") -> None:
    if path.is_dir():
        raise AlgorithmError(f"{path}: is a directory; name a Python file in it")
    if not path.is_file():
        raise AlgorithmError(f"{path}: there is no such file")
    # Two versions may have one file name.
    name = f"selfclock_algorithm_{called}_{path.stem}" if called else f"selfclock_algorithm_{path.stem}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Where `copy` and `inspect` look for the module of a class.
    sys.modules[name] = module
    # The file may have changed since the last read.
    linecache.checkcache(str(path))
    beside = str(path.absolute().parent)
    if beside not in sys.path:
        sys.path.append(beside)
    renaming = _renaming.set(_Renaming(name, called) if called else None)
    writes_bytecode = sys.dont_write_bytecode
    # Compiled files are distinguished by the second: one written now would hide a change in the
    # same second.
    sys.dont_write_bytecode = True
    try:
        _folders.add(path.absolute().parent)
        _forget(of_file(path))
        # As in a run: standard output is for documents.
        with _first(beside), contextlib.redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except AlgorithmError as error:
        raise AlgorithmError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:
        raise AlgorithmError(f"{path} cannot be loaded:\n{_own_part(error, path)}") from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
        _renaming.reset(renaming)


def _forget(source: Source) -> None:
    """Forget imports from a folder of algorithms, which may have changed or belong to another folder."""
    helpers = list(source.files)[1:]
    names = {helper.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for helper in helpers}
    for name in names & sys.modules.keys():
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and any(Path(file).is_relative_to(known) for known in _folders):
            del sys.modules[name]


@contextlib.contextmanager
def _first(folder: str) -> Iterator[None]:
    """Put a folder first in the module search path."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _own_part(error: BaseException, path: Path) -> str:
    """The traceback from the user's file on."""
    frames = traceback.TracebackException.from_exception(error)
    first = next((number for number, frame in enumerate(frames.stack) if frame.filename == str(path)), None)
    frames.stack = traceback.StackSummary.from_list(list(frames.stack)[first:] if first is not None else [])
    return "".join(frames.format()).rstrip()
