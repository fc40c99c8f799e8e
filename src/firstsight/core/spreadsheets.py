"""Cells of CSV files that a spreadsheet shows and does not run."""

from __future__ import annotations

from typing import TypeVar

RUN = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes for the beginning of a formula, or skips
MARK = "'"

Cell = TypeVar("Cell")


def cell(value: Cell) -> Cell | str:
    """Text that would run gets an apostrophe in front, as does text that has one; numbers stay as they are.

    >>> [cell("=1+1"), cell("'tis"), cell("moth"), cell(-3)]
    ["'=1+1", "''tis", 'moth', -3]
    """
    return MARK + value if isinstance(value, str) and value.startswith((*RUN, MARK)) else value


def shown(value: Cell) -> Cell | str:
    """Text without what no sheet can hold, such as the bell in a file's name.

    >>> shown("a\\x07b"), shown(2)
    ('a\\\\x07b', 2)
    """
    if not isinstance(value, str):
        return value
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in value)
