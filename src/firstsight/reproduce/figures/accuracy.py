"""Accuracies of runs and the paper's as figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan, nan

from firstsight.reproduce.figures.charts import Chart, Panel, Series
from firstsight.reproduce.paper import paper_deviation
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.tables.accuracy import found_in_paper, settings_of, shown
from firstsight.reproduce.tables.lines import ORDERS, Line

NONE = (nan, nan, nan)


def by_method(results: Sequence[RunResult]) -> Chart | None:
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
            series.append(Series(part, [(line.paper or NONE)[i] for line in own], paper=True))
        panels.append(Panel(f"{data}: accuracy, per cent", "", labels, _not_empty(series), "points"))
    return Chart("Accuracy by method, ours and the paper's", panels)


def over(
    below: str, x: Callable[[Line, Sequence[RunResult]], float | None], *beside: str
) -> Callable[[Sequence[RunResult]], Chart | None]:
    """A figure of All and of the categories found, over something that differs between lines."""

    def figure(results: Sequence[RunResult]) -> Chart | None:
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
            Panel("All, per cent", below, labels, _not_empty(_all_over(groups, steps))),
            Panel("categories found", below, labels, _not_empty(_found_over(groups, steps)), zero=True),
        ]
        return Chart(f"Accuracy and categories found over {below}", panels)

    return figure


def over_setting(name: str, below: str) -> Callable[[Sequence[RunResult]], Chart | None]:
    """Likewise, over a setting that was tried out."""

    def value(line: Line, results: Sequence[RunResult]) -> float | None:
        return dict(settings_of(line, results)).get(name)

    return over(below, value)


def stream(results: Sequence[RunResult]) -> Chart | None:
    """PHE's accuracy so far and its categories so far, after every twentieth of the stream."""
    courses: dict[str, list[tuple[Sequence[float], Sequence[float]]]] = {}
    for result in results:
        for row in next(iter(result.rows.values())):
            order = row.name.partition(" ")[0]
            if result.run.method == "phe" and order in ORDERS:
                courses.setdefault(f"{result.run.data}, {order}", []).append((row.course, row.growth))
    if not courses:
        return None
    steps = len(next(iter(courses.values()))[0][0])
    labels = [f"{100 * (i + 1) / steps:g}" for i in range(steps)]
    accuracy = [Series(name, _means([100 * v for v in course] for course, _ in some)) for name, some in courses.items()]
    growth = [Series(name, _means(growth for _, growth in some)) for name, some in courses.items()]
    below = "per cent of the stream"
    return Chart(
        "Accuracy and categories over the stream",
        [
            Panel("All so far, per cent", below, labels, accuracy),
            Panel("categories so far", below, labels, growth, zero=True),
        ],
    )


def deviation_bars(results: Sequence[RunResult]) -> Chart | None:
    """How far PHE's seeds are apart, ours and the paper's."""
    found = [line for line in shown(results) if line.method == "phe"]
    if not found:
        return None
    series = [Series(line.data, line.deviations) for line in found]
    series += [Series(line.data, paper_deviation(line.data, "phe") or NONE, paper=True) for line in found]
    panel = Panel("deviation over seeds, points", "", ("All", "Old", "New"), _not_empty(series), "bars")
    return Chart("Deviation of PHE's accuracy over seeds", [panel])


def _all_over(groups: Mapping[str, Mapping[float, Line]], steps: Sequence[float]) -> Iterator[Series]:
    """For each group All at every step, and the paper's."""
    for name, own in groups.items():
        lines = [own.get(step) for step in steps]
        values = [line.means[0] if line else nan for line in lines]
        yield Series(name, values, [line.deviations[0] if line else nan for line in lines])
        yield Series(name, [(line.paper or NONE)[0] if line else nan for line in lines], paper=True)


def _found_over(groups: Mapping[str, Mapping[float, Line]], steps: Sequence[float]) -> Iterator[Series]:
    """For each group the categories found at every step, and the paper's."""
    for name, own in groups.items():
        lines = [own.get(step) for step in steps]
        yield Series(name, [line.categories if line else nan for line in lines])
        yield Series(name, [float(found_in_paper(line) or nan) if line else nan for line in lines], paper=True)


def _not_empty(series: Iterable[Series]) -> list[Series]:
    return [each for each in series if not all(map(isnan, each.values))]


def _means(columns: Iterable[Sequence[float]]) -> list[float]:
    return [sum(values) / len(values) for values in zip(*columns, strict=True)]
