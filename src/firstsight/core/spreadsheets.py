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
