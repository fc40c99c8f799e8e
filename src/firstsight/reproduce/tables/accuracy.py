"""Accuracies of runs beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan

from firstsight.reproduce.paper import Figures, paper_deviation, paper_found, paper_in_order
from firstsight.reproduce.results import RunResult, Scalar
from firstsight.reproduce.runs import ALWAYS
from firstsight.reproduce.tables.lines import Line, lines
from firstsight.reproduce.tables.sheet import Cell, Difference, Mean, Sheet, Triple

ORDERS = ("random", "fixed")
NOTE = (
    "All / Old / New: Strict-Hungarian accuracy in per cent, mean and population deviation over seeds; `orders` random "
    "ones each. The paper's are with DINO ViT-B/16, in its fixed order."
)


def accuracies(
    results: Sequence[RunResult],
    *beside: str,
    orders: Sequence[str] = ORDERS,
    published: Callable[[Line], Figures | None] = lambda line: line.paper,
) -> Sheet:
    """Every method, bits and setting that was tried, with the row that never discovers; `beside` are other rows."""
    rows: list[dict[str, Cell]] = []
    for line in shown(results, *beside, orders=orders):
        paper = published(line)
        row: dict[str, Cell] = {"data": line.data, "bits": line.bits, "method": line.method}
        row |= {name: f"{value:g}" for name, value in settings_of(line, results)}
        row |= {"order": line.order}
        triples = zip(("All", "Old", "New"), line.means, line.deviations, strict=True)
        row |= {part: Mean(mean, spread if line.runs > 1 else nan) for part, mean, spread in triples}
        row |= {"found": round(line.categories), "true": line.true_categories, "paper's found": found_in_paper(line)}
        row |= {"paper's": Triple(*paper) if paper else None, "difference": _difference(line.means, paper)}
        rows.append(row | {"seeds": line.runs, "orders": line.orders if line.order == "random" else None})
    header = [name for row in rows for name in row]
    used = [n for n in dict.fromkeys(header) if n != "paper's found" or any(row[n] is not None for row in rows)]
    return Sheet(tuple(used), [[row.get(name) for name in used] for row in rows], (NOTE,) if rows else ())


def deviations(results: Sequence[RunResult]) -> Sheet:
    """How far seeds are apart, ours and the paper's."""
    rows: list[list[Cell]] = []
    for line in shown(results, orders=ORDERS):
        paper = paper_deviation(line.data, line.method)
        figures = Triple(*line.means), Triple(*line.deviations), Triple(*paper) if paper else None
        rows.append([line.data, line.method, line.order, *figures, _difference(line.deviations, paper), line.runs])
    header = ("data", "method", "order", "All/Old/New", "deviation", "paper's deviation", "difference", "seeds")
    return Sheet(header, rows, (NOTE,) if rows else ())


def shown(results: Sequence[RunResult], *beside: str, orders: Sequence[str] = ("random",)) -> list[Line]:
    """Of all that runs say: what the methods decide, and of the rows beside it those asked for."""
    rows = ("", *beside)
    return [
        line
        for line in lines(results, orders)
        for method, _, row in [line.method.partition(", ")]
        if (row in rows and method not in ALWAYS) or line.method == "closed-set-ce"
    ]


def settings_of(line: Line, results: Sequence[RunResult]) -> list[tuple[str, float]]:
    """What was tried in these runs, and what this line has of it: its own, or what runs have without."""
    names = dict.fromkeys(name for result in results for name, _ in result.run.varied)
    if line.method == "closed-set-ce" or not names:
        return []
    base: Mapping[str, Scalar] = next((result.settings for result in results if not result.run.varied), {})
    return [(name, _number(dict(line.varied).get(name, base.get(name)))) for name in names]


def in_its_order(line: Line) -> Figures | None:
    """The paper's figures in the order of the line."""
    return paper_in_order(line.data, line.method, line.order)


def found_in_paper(line: Line) -> int | None:
    """How many categories the paper found; nothing is said about settings that are tried out."""
    return None if line.varied else paper_found(line.data, line.method, line.bits)


def _difference(ours: Figures, paper: Figures | None) -> Difference | None:
    return Difference(*(o - p for o, p in zip(ours, paper, strict=True))) if paper else None


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, int | float) else nan
