"""Docstrings as Markdown: doctests in blocks, where `>>>` would quote, and <names in brackets> as they are written."""

from __future__ import annotations

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"((?:^>>> .*\n?)(?:^\S.*\n?)*)", re.MULTILINE)
_CODE = re.compile(r"(`[^`]*`)")


class Docstrings(griffe.Extension):  # type: ignore[misc]
    """Prepares every docstring for mkdocstrings."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """A docstring with its doctests, from `>>>` up to an empty line, in blocks, and no HTML."""
    return "".join(
        f"\n```pycon\n{part.rstrip()}\n```\n" if part.startswith(">>> ") else _plain(part)
        for part in _DOCTEST.split(text)
    )


def _plain(text: str) -> str:
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in _CODE.split(text))
