"""Imports within the package: no cycle of more than two files, and no import of a higher layer.

Imports inside functions count: they only make commands start faster, and are dependencies all the
same. Imports for annotations alone do not.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import selfclock

ROOT = Path(selfclock.__file__).parent

#: The layers above the ground, lowest first, by the prefixes of their module names. Everything else
#: is the ground: the parts of scenarios, runs and figures.
LAYERS = (
    ("scenario", "result", "fork", "recording", "runs", "series", "traces", "plot", "panels"),
    (
        "compare",
        "evaluate",
        "sweep",
        "verify",
        "emulate",
        "kernel",
        "rl",
        "bench",
        "paper_runs",
        "scenario_files",
        "papers",
    ),
    ("reproduce",),
    ("report",),
    ("cli", "__main__"),
)

#: Figures display themselves by drawings: `Figure.savefig` needs them.
ON_THE_GROUND = {"report.drawing"}


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module, by its name within the package."""
    names = {path: path.relative_to(ROOT).with_suffix("").parts for path in sorted(ROOT.rglob("*.py"))}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in names.items()}


def for_annotations(tree: ast.AST) -> set[ast.AST]:
    """Return the nodes below `if TYPE_CHECKING`."""
    blocks = [
        node.body for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {node for block in blocks for statement in block for node in ast.walk(statement)}


@cache
def imports() -> dict[str, set[str]]:
    """Return the package's modules that each module imports."""
    found: dict[str, set[str]] = {}
    for name, path in modules().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        apart = for_annotations(tree)
        wanted = [one for node in ast.walk(tree) if node not in apart for one in imported(node)]
        found[name] = {one for one in wanted if one not in {name, ""}}
    return found


def imported(node: ast.AST) -> list[str]:
    """Return the modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        names = [[alias.name] for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        # A name from a package is a module, or is defined in its `__init__`.
        names = [[f"{node.module}.{alias.name}", node.module] for alias in node.names]
    else:
        return []
    below = [[name.removeprefix("selfclock").removeprefix(".") for name in either if name.split(".")[0] == "selfclock"]
             for either in names]  # fmt: skip
    return [next(name for name in either if name in modules()) for either in below if set(either) & modules().keys()]


@cache
def reached(begin: str) -> set[str]:
    """Return every module that is imported directly or indirectly by a module."""
    seen: set[str] = set()
    waiting = [begin]
    while waiting:
        for name in imports()[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def layer(name: str) -> int:
    """Return the layer of a module; 0 is the ground."""
    if name in ON_THE_GROUND:
        return 0
    return next(
        (number for number, beginnings in enumerate(LAYERS, 1) if name.split(".", maxsplit=1)[0] in beginnings), 0
    )


def test_the_graph_is_seen() -> None:
    # Without these the tests below could not fail.
    assert "reproduce" in imports()["cli.reproduce"], "an import inside a function"
    assert "result" not in imports()["series"], "an import for annotations"
    assert "scenario" in imports()["scenario.build"], "a name of a package"
    assert {"scenario.toml", "result"} <= reached("scenario.build")


def test_no_circle_has_more_than_two_files() -> None:
    circles = {frozenset(one for one in reached(name) if name in reached(one)) for name in modules()}
    assert not [sorted(circle) for circle in circles if len(circle) > 2]


def test_nothing_imports_a_higher_layer() -> None:
    upward = [
        f"{name} imports {one}" for name, others in imports().items() for one in others if layer(one) > layer(name)
    ]
    # The package's own name stands for all public names.
    assert [line for line in upward if not line.startswith(" imports")] == []
