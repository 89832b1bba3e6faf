"""Makes the scenario of a broken law small: keys, flows and time are taken away while it stays
broken.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

from laws.law import Broken, Document, Law, Skipped
from laws.measure import SECOND, picoseconds
from selfclock import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds that shrinking may take.
PATIENCE = 40.0


def broken(law: Law, document: Document) -> Broken | None:
    """Return how a document breaks a law; `None` if it does not, or is invalid."""
    try:
        law.check(copy.deepcopy(document))
    except Broken as found:
        return found
    except (Skipped, ScenarioError, KeyError, IndexError, ValueError, StopIteration, ZeroDivisionError, TypeError):
        return None
    return None


def shrunk(law: Law, document: Document, patience: float = PATIENCE) -> Document:
    """Return a smaller document that breaks the law, too."""
    end = time.monotonic() + patience
    best = copy.deepcopy(document)
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for candidate in _smaller(best):
            if time.monotonic() > end:
                break
            if broken(law, candidate) is not None:
                best, progress = candidate, True
                break
    return best


def _smaller(document: Document) -> Iterator[Document]:
    """Yield documents that are smaller by one step, the largest steps first."""
    for key in ("flow", "router"):
        for place in reversed(range(len(document.get(key, [])))):
            if key == "router" or len(document[key]) > 1:
                made = copy.deepcopy(document)
                del made[key][place]
                if not made[key]:
                    del made[key]
                yield made
    half = picoseconds(document["duration"]) // 2
    if half > SECOND // 20:
        milliseconds = half // 10**9
        yield {**copy.deepcopy(document), "duration": f"{milliseconds} ms"}
    for path in _places(document):
        made = copy.deepcopy(document)
        owner: Any = made
        for key in path[:-1]:
            owner = owner[key]
        if isinstance(owner[path[-1]], dict) and set(owner[path[-1]]) >= {"discipline"}:
            owner[path[-1]] = owner[path[-1]].get("limit", "20 packets")
            yield made
            made = copy.deepcopy(document)
            owner = made
            for key in path[:-1]:
                owner = owner[key]
        del owner[path[-1]]
        yield made


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield the path of every key that may be optional, tables before their parts."""
    if isinstance(value, dict):
        for key, part in value.items():
            if (*path, key) not in (("schema",), ("duration",), ("network",), ("flow",)):
                yield (*path, key)
            yield from _places(part, (*path, key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            if path and path[0] != "flow":
                yield (*path, place)
            yield from _places(part, (*path, place))
