"""Accuracies of runs beside the paper's, as a table and as figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan, nan
from typing import TypeAlias

from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.benchmark import ALWAYS
from firstsight.reproduce.charts import Panel, Series, chart
from firstsight.reproduce.drawing import Drawing
from firstsight.reproduce.reproduction import Result
from firstsight.reproduce.sheets import Cell, Difference, Mean, Sheet, Triple
from firstsight.reproduce.tables import Line, lines, paper_tables

Figures: TypeAlias = tuple[float, float, float]

ORDERS = ("random", "fixed")
NOTE = (
    "All / Old / New: Strict-Hungarian accuracy in per cent, mean and population deviation over seeds; `orders` random "
    "ones each. The paper's are with DINO ViT-B/16, in its fixed order."
)


def accuracies(
    results: Sequence[Result],
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
        row |= {"found": round(line.categories), "true": line.true_categories}
        row |= {"paper's found": paper_found(line)}
        row |= {"paper's": Triple(*paper) if paper else None}
        row |= {"difference": Difference(*(o - p for o, p in zip(line.means, paper, strict=True))) if paper else None}
        rows.append(row | {"seeds": line.runs, "orders": line.orders if line.order == "random" else None})
    header = [name for row in rows for name in row]
    used = [n for n in dict.fromkeys(header) if n != "paper's found" or any(row[n] is not None for row in rows)]
    return Sheet(tuple(used), [[row.get(name) for name in used] for row in rows], (NOTE,) if rows else ())


def shown(results: Sequence[Result], *beside: str, orders: Sequence[str] = ("random",)) -> list[Line]:
    """Of all that runs say: what the methods decide, and of the rows beside it those asked for."""
    rows = ("", *beside)
    return [
        line
        for line in lines(results, orders)
        for method, _, row in [line.method.partition(", ")]
        if (row in rows and method not in ALWAYS) or line.method == "closed-set-ce"
    ]


def settings_of(line: Line, results: Sequence[Result]) -> list[tuple[str, float]]:
    """What was tried in these runs, and what this line has of it: its own, or what runs have without."""
    names = dict.fromkeys(name for result in results for name, _ in result["varied"])
    if line.method == "closed-set-ce" or not names:
        return []
    base: Mapping[str, float] = next((result["settings"] for result in results if not result["varied"]), {})
    return [(name, dict(line.varied).get(name, base.get(name, nan))) for name in names]


def in_its_order(line: Line) -> Figures | None:
    """The paper's figures of PHE in the same order, which it has for the fixed one and for random ones."""
    sequences = paper_tables()["tab:infer_squence"]
    row = {"fixed": "fixed", "random": "random (mean of 10)"}.get(line.order, "")
    figures = sequences.get(row, {}).get(line.data) if line.method == "phe" else None
    return (figures["all"], figures["old"], figures["new"]) if figures else None


def paper_found(line: Line) -> int | None:
    """How many categories the paper found, which it says for some code lengths."""
    row = METHODS[line.method].paper if line.method in METHODS else None
    found = paper_tables()["tab:codelength"].get(str(line.bits), {}).get(row[1] if row else "", {}).get("estimated")
    return dict(zip(("cub", "scars"), found, strict=True)).get(line.data) if found and not line.varied else None


def by_method(results: Sequence[Result]) -> Drawing | None:
    """A panel for each data set: All, Old and New of every method."""
    found = shown(results)
    if not found:
        return None
    several = len({line.bits for line in found} - {None}) > 1
    panels = []
    for data in dict.fromkeys(line.data for line in found):
        own = [line for line in found if line.data == data]
        labels = [f"{line.method}, {line.bits}" if several and line.bits else line.method for line in own]
        series = []
        for i, part in enumerate(("All", "Old", "New")):
            series.append(Series(part, [line.means[i] for line in own], [line.deviations[i] for line in own]))
            series.append(Series(part, [(line.paper or (nan,) * 3)[i] for line in own], paper=True))
        given = [each for each in series if not all(map(isnan, each.values))]
        panels.append(Panel(f"{data}: accuracy, per cent", "", labels, given, "points"))
    return chart("Accuracy by method, ours and the paper's", panels)


def over(
    below: str, x: Callable[[Line, Sequence[Result]], float | None], *beside: str
) -> Callable[[Sequence[Result]], Drawing | None]:
    """A figure of All and of the categories found, over something that differs between lines."""

    def figure(results: Sequence[Result]) -> Drawing | None:
        found = [(at, line) for line in shown(results, *beside) if (at := x(line, results)) is not None]
        if not found:
            return None
        steps = sorted({at for at, _ in found})
        groups: dict[str, dict[float, Line]] = {}
        for at, line in found:
            data = line.data.partition(",")[0]
            groups.setdefault(f"{data}, {line.method}", {})[at] = line
        labels = [f"{step:g}" for step in steps]
        panels = [
            Panel("All, per cent", below, labels, list(_series(groups, steps, 0))),
            Panel("categories found", below, labels, list(_series(groups, steps, None)), zero=True),
        ]
        return chart(f"Accuracy and categories found over {below}", panels)

    return figure


def over_setting(name: str, below: str) -> Callable[[Sequence[Result]], Drawing | None]:
    def value(line: Line, results: Sequence[Result]) -> float | None:
        return dict(settings_of(line, results)).get(name)

    return over(below, value)


def stream(results: Sequence[Result]) -> Drawing | None:
    """Accuracy so far and categories so far, after every twentieth of the stream."""
    courses: dict[str, list[tuple[Sequence[float], Sequence[float]]]] = {}
    for result in results:
        for row in next(iter(result["rows"].values())):
            order = row["name"].partition(" ")[0]
            if result["method"] == "phe" and order in ("random", "fixed", "bursty"):
                courses.setdefault(f"{result['data']}, {order}", []).append((row["course"], row["growth"]))
    if not courses:
        return None
    steps = len(next(iter(courses.values()))[0][0])
    labels = [f"{100 * (i + 1) / steps:g}" for i in range(steps)]
    accuracy = [Series(name, _means([100 * v for v in course] for course, _ in some)) for name, some in courses.items()]
    growth = [Series(name, _means(growth for _, growth in some)) for name, some in courses.items()]
    below = "per cent of the stream"
    return chart(
        "Accuracy and categories over the stream",
        [Panel("All so far, per cent", below, labels, accuracy), Panel("categories so far", below, labels, growth)],
    )


def deviations(results: Sequence[Result]) -> Sheet:
    """How far seeds are apart, ours and the paper's."""
    published = paper_tables()["tab:complete_results std of PHE over three runs"]
    rows: list[list[Cell]] = []
    for line in shown(results, orders=ORDERS):
        paper = published.get(line.data) if line.method == "phe" else None
        gap = Difference(*(o - p for o, p in zip(line.deviations, paper, strict=True))) if paper else None
        figures = Triple(*line.means), Triple(*line.deviations), Triple(*paper) if paper else None, gap
        rows.append([line.data, line.method, line.order, *figures, line.runs])
    header = ("data", "method", "order", "All/Old/New", "deviation", "paper's deviation", "difference", "seeds")
    return Sheet(header, rows, (NOTE,) if rows else ())


def deviation_bars(results: Sequence[Result]) -> Drawing | None:
    published = paper_tables()["tab:complete_results std of PHE over three runs"]
    found = [line for line in shown(results) if line.method == "phe"]
    if not found:
        return None
    series = [Series(line.data, line.deviations) for line in found]
    series += [Series(line.data, published[line.data], paper=True) for line in found if line.data in published]
    panel = Panel("deviation over seeds, points", "", ("All", "Old", "New"), series, "bars")
    return chart("Deviation of PHE's accuracy over seeds", [panel])


def _series(groups: dict[str, dict[float, Line]], steps: Sequence[float], part: int | None) -> Iterable[Series]:
    """For each group a series of an accuracy, or of categories found, and the paper's where there is one."""
    for name, own in groups.items():
        if part is None:
            yield Series(name, [own[step].categories if step in own else nan for step in steps])
            paper = [float(paper_found(own[step]) or nan) if step in own else nan for step in steps]
        else:
            spreads = [own[step].deviations[part] if step in own else nan for step in steps]
            yield Series(name, [own[step].means[part] if step in own else nan for step in steps], spreads)
            paper = [(own[step].paper or (nan,) * 3)[part] if step in own else nan for step in steps]
        if not all(map(isnan, paper)):
            yield Series(name, paper, paper=True)


def _means(columns: Iterable[Sequence[float]]) -> list[float]:
    return [sum(values) / len(values) for values in zip(*columns, strict=True)]
