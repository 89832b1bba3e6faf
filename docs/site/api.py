"""The reference of the Python interface, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from typing import Any

import selfclock

#: Groups of exported names: title, and the modules of the package that they are from.
GROUPS = {
    "scenarios": ("scenario", "scenario.build", "scenario.flow", "scenario.link", "scenario.transport"),
    "quantities": ("scenario.quantity",),
    "algorithms": ("custom", "_core", "algorithms"),
    "runs": ("runs", "result", "fork", "report.publish"),
}

#: Longer signatures have a line for each parameter.
WIDTH = 90


def api(what: str) -> str:
    """Return the reference of a group of names, or of "the rest", which are in no group."""
    grouped = {module for modules in GROUPS.values() for module in modules}
    wanted = GROUPS.get(what, ())
    names = [
        name
        for name, home in selfclock._HOME.items()
        if (home.removeprefix("selfclock.") in wanted if wanted else home.removeprefix("selfclock.") not in grouped)
    ]
    return "\n\n".join(entry(name, getattr(selfclock, name)) for name in sorted(names, key=str.lower))


def entry(name: str, what: Any) -> str:  # noqa: ANN401  any exported object
    """Return the heading, signature and docstring of a name, and those of its methods."""
    parts = [f"### `{name}`"]
    if not callable(what):
        return "\n\n".join([*parts, f"`{what!r}`"])
    parts += [_signature(name, what), prose(inspect.getdoc(what) or "")]
    if inspect.isclass(what):
        parts += [_member(name, key, value) for key, value in vars(what).items() if not key.startswith("_")]
    return "\n\n".join(filter(None, parts))


def _member(owner: str, name: str, what: Any) -> str:  # noqa: ANN401  any attribute
    plain = what.__func__ if isinstance(what, (classmethod, staticmethod)) else what
    text = inspect.getdoc(plain)
    if not text or not (callable(plain) or inspect.isdatadescriptor(plain) or hasattr(plain, "func")):
        return ""
    signature = _signature(name, plain) if callable(plain) else ""
    return "\n\n".join(filter(None, [f"#### `{owner}.{name}`", signature, prose(text)]))


def _signature(name: str, what: Any) -> str:  # noqa: ANN401  any callable
    try:
        signature = inspect.signature(what)
    except (TypeError, ValueError):
        return ""
    shown = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    text = name + str(signature.replace(parameters=shown)).replace("'", "")
    if len(text) > WIDTH:
        keyword_only = next((at for at, one in enumerate(shown) if one.kind is one.KEYWORD_ONLY), None)
        parts = [str(one).replace("'", "") for one in shown]
        if keyword_only is not None and not any(one.kind is one.VAR_POSITIONAL for one in shown):
            parts.insert(keyword_only, "*")
        returns = text[text.rindex(")") + 1 :] if " -> " in text else ""
        text = "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returns}"])
    return f"```python\n{text}\n```"


def prose(text: str) -> str:
    """Return a docstring as Markdown: examples in a fence, the rest as it is."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(
        f"```pycon\n{each.replace('  # doctest: +SKIP', '')}\n```" if each.startswith(">>>") else each
        for each in paragraphs
        if each
    )
