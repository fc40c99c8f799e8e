"""A page with its generated parts put in: everything outside the markers stays as people wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Maker = Callable[[], str]
BEGIN = "<!-- {name}: begin (written by python -m tools.docs) -->"
END = "<!-- {name}: end -->"
_PART = re.compile(r"<!-- (?P<name>[\w-]+): begin[^>]*-->\n.*?<!-- (?P=name): end -->", re.DOTALL)


def part_names(text: str) -> list[str]:
    return [match["name"] for match in _PART.finditer(text)]


def filled(text: str, makers: Mapping[str, Maker]) -> str:
    """The page's text with every part made anew; a part and a maker without each other are a mistake."""
    if lost := set(part_names(text)) ^ set(makers):
        raise LookupError(f"parts that only the page or only the catalogue knows: {', '.join(sorted(lost))}")

    def put(match: re.Match[str]) -> str:
        name = match["name"]
        return f"{BEGIN.format(name=name)}\n{makers[name]()}\n{END.format(name=name)}"

    return _PART.sub(put, text)
