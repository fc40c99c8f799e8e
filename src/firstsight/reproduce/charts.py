"""Charts of saved results: panels of curves, points or bars over the same labels, a matrix, a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, cos, floor, isnan, log10, pi, sin
from typing import Literal, TypeAlias

from firstsight.reproduce.drawing import SERIES, SIZE, Anchor, Drawing, Point

Kind: TypeAlias = Literal["lines", "points", "bars"]

WIDTH, HEIGHT = 330, 220  # of a panel's plot
LEFT, TOP, BELOW, GAP = 54, 44, 40, 26
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3), (10, 4), (4, 4), (1, 3))
LETTER = 0.56 * SIZE  # how wide one is, about


@dataclass(frozen=True)
class Series:
    """Values under a panel's labels, NaN where there is none; `paper` are the paper's for the same, drawn hollow."""

    name: str
    values: Sequence[float]
    deviations: Sequence[float] = ()
    paper: bool = False

    @property
    def title(self) -> str:
        return f"{self.name}, the paper's" if self.paper else self.name


@dataclass(frozen=True)
class Panel:
    title: str
    below: str
    labels: Sequence[str]
    series: Sequence[Series]
    kind: Kind = "lines"
    zero: bool = False  # whether the axis begins there


def chart(title: str, panels: Sequence[Panel]) -> Drawing:
    """Panels side by side; a series has the same tone, dash and shape in all of them."""
    every = {each.title: (each, panel.kind) for panel in panels for each in panel.series}
    numbers = {name: i for i, name in enumerate(dict.fromkeys(each.name for each, _ in every.values()))}
    deep = max(_depth(panel) for panel in panels)
    width = len(panels) * (LEFT + WIDTH + GAP)
    rows = _legend_rows(list(every), width)
    height = TOP + HEIGHT + deep + BELOW + 18 * len(rows)
    drawing = Drawing(width, height, title)
    for i, panel in enumerate(panels):
        plot = _Plot(drawing, panel, i * (LEFT + WIDTH + GAP) + LEFT)
        plot.frame(deep)
        for position, each in enumerate(panel.series):
            draw = plot.bars if panel.kind == "bars" else plot.curve
            draw(each, position, numbers[each.name])
    for i, row in enumerate(rows):
        x = float(LEFT)
        for name in row:
            each, kind = every[name]
            _key(drawing, (x, height - 18 * (len(rows) - i) + 4), each, kind, numbers[each.name])
            x += _entry(name)
    return drawing


def matrix(
    title: str, shares: Sequence[tuple[int, int, float]], size: tuple[int, int], split: tuple[int, int]
) -> Drawing:
    """A view of what went where: (row, column, share), darker where more did; lines set the known ones apart."""
    rows, columns = size
    side = 420
    drawing = Drawing(LEFT + side + GAP, TOP + side + BELOW, title)
    drawing.text(LEFT, 18, title, size=SIZE + 1)
    step_x, step_y = side / max(columns, 1), side / max(rows, 1)
    for row, column, share in shares:
        opacity = 0.15 + 0.85 * share
        drawing.box(LEFT + column * step_x, TOP + row * step_y, max(step_x, 1.2), max(step_y, 1.2), "blue", opacity)
    x, y = LEFT + split[1] * step_x, TOP + split[0] * step_y
    drawing.line([(LEFT, y), (LEFT + side, y)], "red", 1, (4, 3))
    drawing.line([(x, TOP), (x, TOP + side)], "red", 1, (4, 3))
    drawing.line(
        [(LEFT, TOP), (LEFT + side, TOP), (LEFT + side, TOP + side), (LEFT, TOP + side), (LEFT, TOP)], "ink", 1
    )
    drawing.text(LEFT + side / 2, TOP + side + 20, f"{columns} categories found, known ones first", "middle")
    drawing.text(LEFT - 18, TOP + side / 2, f"{rows} categories in truth, known ones first", "middle", turned=True)
    return drawing


def scatter(title: str, groups: Sequence[tuple[str, Sequence[Point]]]) -> Drawing:
    """Points of several groups in the plane, each group with its tone and its shape of few corners."""
    side = 460
    names = [name for name, _ in groups]
    drawing = Drawing(side + 2 * GAP, TOP + side + BELOW, title)
    drawing.text(GAP, 18, title, size=SIZE + 1)
    every = [point for _, points in groups for point in points]
    (low_x, high_x), (low_y, high_y) = (_span([point[axis] for point in every]) for axis in (0, 1))
    for number, (_, points) in enumerate(groups):
        for x, y in points:
            place = (GAP + side * (x - low_x) / (high_x - low_x), TOP + side * (high_y - y) / (high_y - low_y))
            _marker(drawing, place, number + 1, 2.6, hollow=False)
    for i, name in enumerate(names):
        _marker(drawing, (GAP + 6 + 150 * i, TOP + side + 20), i + 1, 4, hollow=False)
        drawing.text(GAP + 18 + 150 * i, TOP + side + 20, name)
    return drawing


class _Plot:
    """One panel on its page."""

    def __init__(self, drawing: Drawing, panel: Panel, left: float) -> None:
        self.drawing, self.panel, self.left = drawing, panel, left
        self.low, self.high, self.step = _scale(panel)
        self.slot = WIDTH / max(len(panel.labels), 1)
        self.middles = [left + self.slot * (i + 0.5) for i in range(len(panel.labels))]

    def height(self, value: float) -> float:
        return TOP + HEIGHT * (self.high - value) / (self.high - self.low)

    def frame(self, deep: float) -> None:
        """Title, steps, labels and axes; `deep` is the room for labels."""
        drawing, left, panel = self.drawing, self.left, self.panel
        drawing.text(left - LEFT + 8, 18, panel.title, size=SIZE + 1)
        for i in range(round((self.high - self.low) / self.step) + 1):
            value = round(self.low + i * self.step, 9)
            drawing.line([(left, self.height(value)), (left + WIDTH, self.height(value))], "faint", 0.8)
            drawing.text(left - 6, self.height(value), f"{value:g}", "end")
        turned, every = _turned(panel), max(1, ceil(3 * LETTER / self.slot))
        for label, x in list(zip(panel.labels, self.middles, strict=True))[::every]:
            anchor: Anchor = "end" if turned else "middle"
            drawing.text(x, TOP + HEIGHT + (8 if turned else 14), label, anchor, turned=turned)
        drawing.text(left + WIDTH / 2, TOP + HEIGHT + deep + 14, panel.below, "middle")
        drawing.line([(left, TOP), (left, TOP + HEIGHT), (left + WIDTH, TOP + HEIGHT)], "ink", 1)

    def bars(self, each: Series, position: int, number: int) -> None:
        width, ground = 0.8 * self.slot / len(self.panel.series), self.height(self.low)
        for x, value in zip(self.middles, each.values, strict=True):
            if not isnan(value):
                left, top = x - 0.4 * self.slot + position * width, self.height(value)
                _bar(self.drawing, (left, top), (0.92 * width, ground - top), each, number)

    def curve(self, each: Series, position: int, number: int) -> None:
        """Points with their deviations, joined where that is the kind; else side by side."""
        joined, count = self.panel.kind == "lines", len(self.panel.series)
        aside = 0.0 if joined else (position - (count - 1) / 2) * min(9.0, 0.8 * self.slot / count)
        points = [(x + aside, value) for x, value in zip(self.middles, each.values, strict=True) if not isnan(value)]
        places = [(x, self.height(value)) for x, value in points]
        if joined and len(places) > 1:
            self.drawing.line(places, _tone(number), 1.8, _dash(each, number))
        spreads = [s for s, value in zip(each.deviations, each.values, strict=False) if not isnan(value)]
        for (x, value), spread in zip(points, spreads, strict=False):
            ends = [(x, self.height(value - spread)), (x, self.height(value + spread))]
            self.drawing.line(ends, _tone(number), 1)
        for place in places:
            _marker(self.drawing, place, number, 4, hollow=each.paper)


def _bar(drawing: Drawing, at: Point, size: Point, each: Series, number: int) -> None:
    shade = 0.55 if number % 2 else 1.0  # bars next to each other differ in print too
    drawing.box(*at, *size, _tone(number), shade)
    if each.paper and min(size) > 3:
        drawing.box(at[0] + 1.5, at[1] + 1.5, size[0] - 3, size[1] - 3, "paper")


def _tone(number: int) -> str:
    return SERIES[number % len(SERIES)]


def _dash(each: Series, number: int) -> tuple[float, ...]:
    return (3, 3) if each.paper else DASHES[number % len(DASHES)]


def _marker(drawing: Drawing, at: Point, number: int, size: float, hollow: bool) -> None:
    """A shape of its own for every series: circle, square, triangle, diamond, pentagon."""
    corners, turn, grow = ((10, 0.0, 1.0), (4, pi / 4, 1.15), (3, 0.0, 1.3), (4, 0.0, 1.25), (5, 0.0, 1.15))[number % 5]

    def outline(radius: float) -> list[Point]:
        angles = (turn + 2 * pi * i / corners for i in range(corners))
        return [(at[0] + radius * sin(angle), at[1] - radius * cos(angle)) for angle in angles]

    drawing.polygon(outline(size * grow), _tone(number))
    if hollow:
        drawing.polygon(outline(size * grow - 1.6), "paper")


def _legend_rows(names: Sequence[str], width: float) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    used = 0.0
    for name in names:
        if used and used + _entry(name) > width - LEFT:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += _entry(name)
    return rows


def _entry(name: str) -> float:
    return 44 + LETTER * len(name)


def _key(drawing: Drawing, at: Point, each: Series, kind: Kind, number: int) -> None:
    """What a series looks like, and its name."""
    x, y = at
    if kind == "bars":
        _bar(drawing, (x + 6, y - 5), (12, 10), each, number)
    if kind == "lines":
        drawing.line([(x, y), (x + 24, y)], _tone(number), 1.8, _dash(each, number))
    if kind != "bars":
        _marker(drawing, (x + 12, y), number, 4, hollow=each.paper)
    drawing.text(x + 30, y, each.title)


def _scale(panel: Panel) -> tuple[float, float, float]:
    """Where the axis begins and ends, and its steps, so that everything is on it."""
    values = [
        end
        for each in panel.series
        for i, value in enumerate(each.values)
        if not isnan(value)
        for spread in [each.deviations[i] if i < len(each.deviations) else 0.0]
        for end in (value - spread, value + spread)
    ]
    if panel.zero or panel.kind == "bars":
        values.append(0.0)
    low, high = _span(values)
    step = 10 ** floor(log10((high - low) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    return step * floor(low / step), step * ceil(high / step), step


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    apart = high - low > 1e-9 * max(1, abs(low), abs(high))
    return (low, high) if apart else (low - 0.5, high + 0.5)


def _turned(panel: Panel) -> bool:
    """Whether words under the axis would run into each other."""
    widest = max((len(label) for label in panel.labels), default=0) * LETTER
    return widest > 4 * LETTER and widest > WIDTH / max(len(panel.labels), 1)


def _depth(panel: Panel) -> float:
    labels = max(len(label) for label in panel.labels) * LETTER + 6 if _turned(panel) else 22
    return labels if panel.below else labels - 16
