"""What the docs say of the public names of Python: each with the first line of its docstring."""

from __future__ import annotations

import inspect
from html import escape

import firstsight
from tools.docs.reference import table


def names() -> str:
    """Every name that `firstsight` promises, and where it lives."""
    public = [name for name in firstsight.__all__ if name != "__version__"]
    return table(["name", "what it is"], [[f"`{name}`", _said(name)] for name in public])


def _said(name: str) -> str:
    """The first sentence, in one line."""
    return escape(" ".join((inspect.getdoc(getattr(firstsight, name)) or "").split("\n\n")[0].split()), quote=False)
