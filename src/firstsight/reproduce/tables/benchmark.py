"""The table of a benchmark: every line as Markdown, text, LaTeX and, with all that was measured, as CSV."""

from __future__ import annotations

import io
from collections.abc import Sequence
from csv import writer as csv_writer
from math import isnan, nan
from pathlib import Path

from firstsight.core.files import write_file
from firstsight.core.spreadsheets import cell
from firstsight.reproduce.tables.latex import NEEDS, tabular
from firstsight.reproduce.tables.lines import PARTS, Line

HEADER = ("data", "bits", "method", "order", "All", "Old", "New", "found / true", "runs", "paper's All/Old/New")


def write_tables(table: Sequence[Line], path: Path) -> None:
    """The table as PATH.md, PATH.txt, PATH.tex and PATH.csv."""
    for suffix, form in ((".md", markdown), (".txt", text), (".tex", latex), (".csv", csv)):
        write_file(path.with_name(f"{path.name}{suffix}"), form(table).encode())


def markdown(table: Sequence[Line]) -> str:
    rows = [" | ".join(line.cells()) for line in table]
    rule = "|".join("---" for _ in HEADER)
    return "\n".join([f"| {' | '.join(HEADER)} |", f"|{rule}|", *(f"| {row} |" for row in rows)]) + "\n"


def text(table: Sequence[Line]) -> str:
    rows = [list(HEADER), *(line.cells() for line in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    return "".join(f"{'  '.join(map(str.ljust, row, widths)).rstrip()}\n" for row in rows)


def latex(table: Sequence[Line]) -> str:
    return NEEDS + tabular(HEADER, [line.cells() for line in table])


def csv(table: Sequence[Line]) -> str:
    """One number per cell, in per cent where it is a share; empty where there is none."""
    content = io.StringIO()
    writer = csv_writer(content, lineterminator="\n")
    names = [f"{part}{of}" for part in PARTS for of in ("", "_deviation")]
    papers = [f"paper_{part}" for part in PARTS]
    measured = list(dict.fromkeys(name for line in table for name in line.more))
    writer.writerow(["data", "bits", "method", "order", *names, "found", "true", "runs", *measured, *papers])
    for line in table:
        figures = [figure for pair in zip(line.means, line.deviations, strict=True) for figure in pair]
        values = [*figures, line.categories, line.true_categories, line.runs]
        values += [line.more.get(name, nan) for name in measured] + list(line.paper or [nan] * 3)
        numbers = ["" if isnan(value) else f"{value:.2f}".removesuffix(".00") for value in values]
        writer.writerow([cell(line.data), line.bits, cell(line.method), line.order, *numbers])
    return content.getvalue()
