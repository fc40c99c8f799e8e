"""What the reproduction page shows: the paper's tables and figures as `firstsight reproduce` makes them."""

from __future__ import annotations

from functools import cache

from firstsight.reproduce.catalogue import REPRODUCTIONS
from firstsight.reproduce.figures.drawing import draw
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.run_files import read_results
from firstsight.reproduce.tables.sheet import Sheet
from tools.docs.results import RESULTS

LONG = 40  # rows: more are for the CSV
SHOWN = (
    "main", "std", "ablation-loss", "ablation-strategy", "code-length", "smile-dims", "deep-hash", "simgcd",
    "sequences", "known-share", "alpha", "beta", "k", "centres", "sensitivity", "cases", "confusion", "map", "time",
    "time-per-sample",
)  # fmt: skip


@cache
def runs() -> list[RunResult]:
    return read_results(RESULTS / "benchmark", every=True)


def names() -> str:
    """What `reproduce` can make."""
    rows = [[f"`{each.name}`", each.paper, each.about, each.needs()] for each in REPRODUCTIONS.values()]
    return Sheet(("name", "in the paper", "what it is", "needs"), rows).markdown().strip()


def shown(name: str) -> str:
    """A table without its rows in the fixed order, which `reproduce` writes too, and its figure; no long table."""
    entry = REPRODUCTIONS[name]
    results = entry.among(runs())
    if not results:
        return "Not run yet."
    sheet = entry.sheet(results)
    order = sheet.header.index("order") if "order" in sheet.header else None
    rows = [row for row in sheet.rows if order is None or row[order] != "fixed" or name == "sequences"]
    picture = f"\n\n![{entry.about}](images/reproduced/{name}.svg)" if entry.figure else ""
    return (Sheet(sheet.header, rows).markdown().strip() if len(rows) <= LONG else "") + picture


def figure(name: str) -> bytes:
    """A figure as SVG. Where exactly a point lies may differ with the version of what draws it."""
    entry = REPRODUCTIONS[name]
    shown = entry.figure(entry.among(runs())) if entry.figure else None
    if shown is None:
        raise LookupError(f"{name} has no figure")
    return draw(shown).svg


FIGURES = tuple(name for name in SHOWN if REPRODUCTIONS[name].figure)
