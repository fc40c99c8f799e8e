"""The API reference: for mkdocstrings, every public name of `firstsight`."""

from __future__ import annotations

import firstsight

_SECTION = "\n\n::: firstsight.{name}\n"


def sections() -> str:
    """A section for every public name, with its docstring, its parameters and its methods."""
    return "".join(_SECTION.format(name=name) for name in firstsight.__all__ if name != "__version__")
