"""Tables of any columns: to be read as Markdown, printed as LaTeX, computed with as CSV, one number per cell."""

from __future__ import annotations

import io
from collections.abc import Sequence
from csv import writer as csv_writer
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, NamedTuple, TypeAlias

from firstsight.core.spreadsheets import cell
from firstsight.reproduce.tables.latex import NEEDS, tabular


class Mean(NamedTuple):
    """A mean with its deviation; of one value there is none."""

    value: float
    deviation: float

    def __str__(self) -> str:
        spread = "" if isnan(self.deviation) else f" ± {self.deviation:.1f}"
        return "-" if isnan(self.value) else f"{self.value:.1f}{spread}"


class Triple(NamedTuple):
    """All, Old and New in one cell."""

    All: float
    Old: float
    New: float

    def __str__(self) -> str:
        return "/".join("-" if isnan(value) else f"{value:.1f}" for value in self)


class Difference(Triple):
    """Ours less the paper's."""

    def __str__(self) -> str:
        return "/".join("-" if isnan(value) else f"{value:+.1f}" for value in self)


Cell: TypeAlias = str | int | float | Mean | Triple | None
NAMES: dict[type, tuple[str, ...]] = {
    Mean: ("", " deviation"),
    Triple: (" All", " Old", " New"),
    Difference: (" All", " Old", " New"),
}


@dataclass(frozen=True)
class Sheet:
    """Columns, rows of cells under them, and what must be said about them."""

    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default_factory=tuple)

    def texts(self) -> list[list[str]]:
        return [[_text(cell) for cell in row] for row in self.rows]

    def markdown(self) -> str:
        lines = [f"| {' | '.join(self.header)} |", "|" + "---|" * len(self.header)]
        lines += [f"| {' | '.join(row)} |" for row in self.texts()]
        return "\n".join(lines) + "\n" + "".join(f"\n{note}\n" for note in self.notes)

    def latex(self) -> str:
        return NEEDS + tabular(self.header, self.texts(), self.notes)

    def as_json(self) -> list[dict[str, Any]]:
        """Every row by the names of its columns; a cell of several numbers by their names."""
        return [
            {
                name: cell._asdict() if isinstance(cell, Mean | Triple) else cell
                for name, cell in zip(self.header, row, strict=True)
            }
            for row in self.rows
        ]

    def csv(self) -> str:
        """A cell of several numbers takes a column for each."""
        kinds = [
            next((type(cell) for cell in column if type(cell) in NAMES), None)
            for column in zip(*self.rows, strict=True)
        ]
        kinds += [None] * (len(self.header) - len(kinds))
        content = io.StringIO()
        writer = csv_writer(content, lineterminator="\n")
        writer.writerow(
            f"{name}{part}"
            for name, kind in zip(self.header, kinds, strict=True)
            for part in (NAMES[kind] if kind else ("",))
        )
        for row in self.rows:
            writer.writerow(
                _number(value) for cell, kind in zip(row, kinds, strict=True) for value in _parts(cell, kind)
            )
        return content.getvalue()


def _parts(cell: Cell, kind: type | None) -> Sequence[str | float | None]:
    if kind is None:
        return [cell]  # type: ignore[list-item]
    return cell if isinstance(cell, tuple) else [nan] * len(NAMES[kind])


def _text(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and isnan(cell)):
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def _number(value: str | float | None) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, str):
        return cell(value)
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
