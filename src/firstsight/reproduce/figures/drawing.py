"""Figures drawn with matplotlib, as SVG, PDF and PNG: the same figure gives the same bytes."""

from __future__ import annotations

import io
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Page
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from firstsight.reproduce.figures.charts import Chart, Figure, Map, Matrix, Panel, Series
from firstsight.reproduce.figures.style import COLOURS, DARK, MARKERS, PAPER, PAPERS_DASH, RC, look

ACROSS = 3  # panels in a row
PANEL = (4.1, 3.0)  # inches
SQUARE = (6.0, 6.2)
LETTER = 0.075  # how wide one is in inches, about
PNG_DOTS = 144  # an inch: twice the points of the SVG
TOGETHER = 0.8  # of the room between labels is for the bars or points of one label


@dataclass(frozen=True)
class Drawn:
    """A figure's files, each drawn when it is asked for, and always with the same bytes."""

    figure: Figure

    @property
    def svg(self) -> bytes:
        nothing, title = dict.fromkeys(("Creator", "Date", "Format", "Type")), self.figure.title
        return _named(self._saved("svg", metadata={**nothing, "Title": title}).decode(), title).encode()

    @property
    def pdf(self) -> bytes:
        nothing = dict.fromkeys(("Creator", "Producer", "CreationDate"))
        return self._saved("pdf", metadata={**nothing, "Title": self.figure.title})

    @property
    def png(self) -> bytes:
        return self._saved("png", dpi=PNG_DOTS, metadata={"Software": None})

    def _saved(self, kind: str, **how: Any) -> bytes:
        content = io.BytesIO()
        with rc_context(RC):  # a page of its own: saving one lays it out anew, from where the last time left it
            page = _chart(self.figure) if isinstance(self.figure, Chart) else _square(self.figure)
            page.savefig(content, format=kind, **how)
        return content.getvalue()


def draw(figure: Figure) -> Drawn:
    """All forms of a figure."""
    return Drawn(figure)


def _named(svg: str, title: str) -> str:
    """With its title for those who hear it, and dark on dark pages."""
    label = escape(title, quote=True)
    head, rest = svg.split("<svg ", 1)
    return f'{head}<svg role="img" aria-label="{label}" {rest}'.replace("<defs>", f"<style>{DARK}</style>\n <defs>", 1)


def _chart(chart: Chart) -> Page:
    """Panels in rows, one legend for all below them."""
    across = min(ACROSS, len(chart.panels))
    down = ceil(len(chart.panels) / across)
    titles = {each.title: (each, panel.kind) for panel in chart.panels for each in panel.series}
    numbers = {name: i for i, name in enumerate(dict.fromkeys(each.name for each, _ in titles.values()))}
    columns = max(1, int(across * PANEL[0] / (0.6 + LETTER * max(map(len, titles), default=1))))
    legend = 0.2 * ceil(len(titles) / columns)
    labels = max(_depth(panel) for panel in chart.panels)
    page = Page(figsize=(across * PANEL[0], down * (PANEL[1] + labels) + legend), layout="constrained")
    for place, panel in enumerate(chart.panels):
        axes = page.add_subplot(down, across, place + 1)
        _panel(axes, panel, numbers, f"panel{place}")
    keys = [_key(each, kind, numbers[each.name]) for each, kind in titles.values()]
    page.legend(handles=keys, loc="outside lower left", ncols=columns)
    return page


def _panel(axes: Axes, panel: Panel, numbers: dict[str, int], name: str) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel(panel.below)
    every = max(1, ceil(3 * LETTER * len(panel.labels) / PANEL[0]))  # so that numbers do not run into each other
    shown = list(enumerate(panel.labels))[:: 1 if _is_turned(panel) else every]
    axes.set_xticks([at for at, _ in shown], [label for _, label in shown], rotation=90 if _is_turned(panel) else 0)
    axes.set_xlim(-0.5, len(panel.labels) - 0.5)
    for position, each in enumerate(panel.series):
        how = _bars if panel.kind == "bars" else _curve
        how(axes, panel, each, position, numbers[each.name], f"{name}-series{position}")
    if panel.zero or panel.kind == "bars":
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def _bars(axes: Axes, panel: Panel, each: Series, position: int, number: int, name: str) -> None:
    width = TOGETHER / len(panel.series)
    at = np.arange(len(each.values)) - TOGETHER / 2 + (position + 0.5) * width
    for i, bar in enumerate(axes.bar(at, each.values, 0.92 * width, **_fill(each, number))):
        bar.set_gid(f"{name}-bar{i}")


def _curve(axes: Axes, panel: Panel, each: Series, position: int, number: int, name: str) -> None:
    """Points with their deviations, joined where that is the kind; else side by side."""
    joined, count = panel.kind == "lines", len(panel.series)
    aside = 0.0 if joined else (position - (count - 1) / 2) * min(0.12, TOGETHER / count)
    at, values = np.arange(len(each.values)) + aside, np.array(each.values, dtype=float)
    there = ~np.isnan(values)  # a gap is passed over, not left open
    (line,) = axes.plot(at[there], values[there], **_stroke(each, number, joined))
    line.set_gid(name)
    if len(each.deviations):
        spread = np.nan_to_num(np.array(each.deviations, dtype=float))
        axes.vlines(at[there], (values - spread)[there], (values + spread)[there], look(number).colour, linewidth=1)


def _square(figure: Matrix | Map) -> Page:
    page = Page(figsize=SQUARE, layout="constrained")
    axes = page.add_subplot()
    axes.set_title(figure.title)
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
    axes.set_xticks([])
    axes.set_yticks([])
    if isinstance(figure, Matrix):
        _matrix(axes, figure)
    else:
        _map(axes, figure)
        page.legend(loc="outside lower left", ncols=3)
    return page


def _matrix(axes: Axes, matrix: Matrix) -> None:
    """Darker where more went; lines set the known categories apart."""
    down, across = matrix.shares.shape
    places = np.argwhere(matrix.shares > 0)
    cells = [[(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)] for y, x in places.tolist()]
    shades = [_over_white(COLOURS[0], 0.15 + 0.85 * matrix.shares[y, x]) for y, x in places.tolist()]
    drawn = PolyCollection(cells, facecolors=shades, edgecolors=shades, linewidths=0.4)
    drawn.set_gid("cells")
    axes.add_collection(drawn)
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.axhline(matrix.known[0], color=COLOURS[1], linewidth=1, linestyle=(0, (4, 3)))
    axes.axvline(matrix.known[1], color=COLOURS[1], linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xlabel(f"{across} categories found, known ones first")
    axes.set_ylabel(f"{down} categories in truth, known ones first")


def _map(axes: Axes, plane: Map) -> None:
    for number, (name, points) in enumerate(plane.groups.items()):
        (drawn,) = axes.plot(points[:, 0], points[:, 1], linestyle="none", label=name, color=COLOURS[number])
        drawn.set(marker=MARKERS[number], markersize=3, markeredgewidth=0)
        drawn.set_gid(f"group{number}")
    axes.set_aspect("equal", adjustable="datalim")


def _stroke(each: Series, number: int, joined: bool) -> dict[str, Any]:
    """What a curve looks like: the paper's are dotted and hollow."""
    colour, marker, own, _ = look(number)
    dash = "none" if not joined else PAPERS_DASH if each.paper else own
    filled = PAPER if each.paper else colour
    return {"color": colour, "linestyle": dash, "marker": marker, "markerfacecolor": filled}


def _fill(each: Series, number: int) -> dict[str, Any]:
    """What a bar looks like: the paper's are hollow, ours hatched so that neighbours differ in print too."""
    colour, _, _, hatch = look(number)
    if each.paper:
        return {"facecolor": PAPER, "edgecolor": colour, "linewidth": 1.2}
    return {"facecolor": colour, "edgecolor": PAPER, "hatch": hatch, "linewidth": 0}


def _key(each: Series, kind: str, number: int) -> Line2D | Patch:
    """A series in the legend."""
    if kind == "bars":
        return Patch(label=each.title, **_fill(each, number))
    return Line2D([], [], label=each.title, **_stroke(each, number, kind == "lines"))


def _is_turned(panel: Panel) -> bool:
    """Whether words under the axis would run into each other."""
    widest = max(map(len, panel.labels), default=0)
    return widest > 4 and widest * LETTER > 0.85 * PANEL[0] / max(len(panel.labels), 1)


def _depth(panel: Panel) -> float:
    """Inches of the labels under a panel, more than a line."""
    return LETTER * max(map(len, panel.labels)) if _is_turned(panel) else 0.0


def _over_white(colour: str, share: float) -> tuple[float, ...]:
    return tuple(1 + share * (part - 1) for part in to_rgba(colour)[:3])
