"""Features in a .csv file: a line of titles, then one feature a line."""

from __future__ import annotations

import csv
import json
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from firstsight.core.errors import DataError
from firstsight.data.feature_columns import MOST, Columns, find_columns
from firstsight.data.feature_files import Found

SHOWN = 40  # characters of a cell in an error


def read_csv(path: Path, label: str | None = None) -> Found:
    """What the lines of a file say; DataError with its line and its column where one cannot be used."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read(path, csv.reader(file, strict=True), label)
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}", "save it as UTF-8") from None


def _read(path: Path, lines: Iterator[list[str]], label: str | None) -> Found:
    header = _next(path, lines, 1)
    if header is None:
        raise DataError(f"{path} is empty", "its first line holds the titles of columns")
    _refuse_other_marks(path, header)
    columns = find_columns(path, header, label)
    values, numbers, names, labels, width = array("d"), array("q"), list[str](), list[str](), 0
    while (cells := _next(path, lines, number := getattr(lines, "line_num", 0) + 1)) is not None:
        if not cells:  # an empty line
            continue
        where = f"{path}, line {number}"
        if len(cells) != len(header):
            raise DataError(f"{where} has {len(cells)} cells, and there are {len(header)} columns", "give one for each")
        feature = _feature(where, header, columns, cells)
        if width and len(feature) != width:
            raise DataError(f"{where} has a feature of {len(feature)} values, the first has {width}", "make them alike")
        width = len(feature)
        values.extend(feature)
        numbers.append(number)
        if columns.name is not None:
            names.append(cells[columns.name])
        if columns.label is not None:
            labels.append(cells[columns.label])
    features = np.frombuffer(values, dtype=np.float64).reshape(-1, max(width, 1)) if values else np.zeros((0, 1))
    return Found(
        features,
        None if columns.name is None else names,
        None if columns.label is None else labels,
        lambda i: f"line {numbers[i]}",
    )


def _next(path: Path, lines: Iterator[list[str]], number: int) -> list[str] | None:
    try:
        return next(lines, None)
    except csv.Error as error:
        raise DataError(f"{path}, line {number} is no CSV: {error}", "save it again, with cells in quotes") from None


def _feature(where: str, header: Sequence[str], columns: Columns, cells: Sequence[str]) -> list[float]:
    if columns.whole is not None:
        return _listed(where, header[columns.whole], cells[columns.whole])
    try:
        return [float(cells[i]) for i in columns.values]
    except ValueError:
        at = next(i for i in columns.values if not _is_number(cells[i]))
        held = repr(cells[at][:SHOWN]) if cells[at].strip() else "nothing"
        raise DataError(
            f"{where}: column {header[at][:SHOWN]!r} holds {held}, which is no number",
            "columns but those of names and labels (see docs/embeddings.md) are values of the feature",
        ) from None


def _listed(where: str, title: str, cell: str) -> list[float]:
    """A list of numbers in one cell, as JSON or as NumPy prints it."""
    try:
        found = json.loads(cell) if "," in cell else [float(part) for part in cell.strip(" []\n").split()]
        numbers = [float(value) for value in found] if isinstance(found, list) else []
    except (ValueError, TypeError, RecursionError):
        numbers = []
    if not 0 < len(numbers) <= MOST:
        raise DataError(
            f"{where}: column {title!r} holds {cell[:SHOWN]!r}, which is no list of numbers",
            f"give a list such as [0.1, 0.2], of {MOST:,} at most",
        )
    return numbers


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _refuse_other_marks(path: Path, header: Sequence[str]) -> None:
    if len(header) == 1:
        for mark, called in ((";", "semicolons"), ("\t", "tabs")):
            if mark in header[0]:
                raise DataError(f"{path} has {called} between its cells", "save it with commas, and points in numbers")
