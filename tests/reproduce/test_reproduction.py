"""The reproduction page shows what `reproduce` makes of the run files; UPDATE_DOCS=1 writes it anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from drawn import read_svg

from firstsight.reproduce.catalogue import REPRODUCTIONS
from firstsight.reproduce.figures.drawing import draw
from firstsight.reproduce.run_files import read_results
from firstsight.reproduce.tables.sheet import Sheet

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reproduction.md"
RUNS = read_results(ROOT / "reproductions" / "results" / "benchmark", every=True)
LONG = 40  # rows: more are for the CSV
SHOWN = [name for name in re.findall(r"<!-- ([\w-]+): begin", PAGE.read_text()) if name in REPRODUCTIONS]


def names() -> str:
    rows = [[f"`{each.name}`", each.paper, each.about, each.needs()] for each in REPRODUCTIONS.values()]
    return Sheet(("name", "in the paper", "what it is", "needs"), rows).markdown().strip()


def reproduced(name: str) -> str:
    """A table without its rows in the fixed order, which `reproduce` writes too, and its figure; no long table."""
    entry = REPRODUCTIONS[name]
    results = entry.among(RUNS)
    if not results:
        return "Not run yet."
    sheet = entry.sheet(results)
    order = sheet.header.index("order") if "order" in sheet.header else None
    rows = [row for row in sheet.rows if order is None or row[order] != "fixed" or name == "sequences"]
    figure = f"\n\n![{entry.about}](images/reproduced/{name}.svg)" if entry.figure else ""
    return (Sheet(sheet.header, rows).markdown().strip() if len(rows) <= LONG else "") + figure


@pytest.mark.parametrize("name", ["names", *SHOWN])
def test_tables_are_those_of_the_runs(name: str) -> None:
    table = names() if name == "names" else reproduced(name)
    pattern = re.compile(rf"(<!-- {name}: begin .*? -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    fresh = pattern.sub(lambda match: f"{match[1]}{table}\n{match[2]}", PAGE.read_text())
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(fresh)
    assert fresh == PAGE.read_text()


@pytest.mark.parametrize("name", [name for name in SHOWN if REPRODUCTIONS[name].figure])
def test_figures_are_those_of_the_runs(name: str) -> None:
    """The same texts and series; where exactly a point lies may differ with the version of what draws it."""
    entry, path = REPRODUCTIONS[name], PAGE.parent / "images" / "reproduced" / f"{name}.svg"
    figure = entry.figure(entry.among(RUNS)) if entry.figure else None
    assert figure is not None
    fresh = draw(figure).svg
    if os.environ.get("UPDATE_DOCS"):
        path.write_bytes(fresh)
    assert read_svg(path.read_bytes()).is_like(read_svg(fresh))
