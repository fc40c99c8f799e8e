"""The one style of all figures: told apart by colour-blind readers, and in print by dashes, markers and hatches."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

from firstsight.core.errors import SettingsError

INK, FAINT, PAPER = "#1a1a1a", "#d9d9d9", "#ffffff"
# Okabe and Ito's, darkened until they stand out from white 3 to 1; their orange, which darkens into their red, is brown
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a3528a", "#772200", "#6b6b6b", INK)
MARKERS = ("o", "s", "^", "D", "p", "v", "X")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1)), (0, (6, 2, 1, 2)), (0, (9, 3)), (0, (4, 3)), (0, (1, 2)))
HATCHES = ("", "////", "\\\\\\\\", "xxxx", "----", "||||", "")
PAPERS_DASH = (0, (2, 2))


class Look(NamedTuple):
    """What a series is drawn with."""

    colour: str
    marker: str
    dash: Any
    hatch: str


def look(number: int) -> Look:
    """That of one series of many: after seven, colours come again with other marks."""
    again, place = divmod(number, len(COLOURS))
    other = (place + 3 * again) % len(COLOURS)
    return Look(COLOURS[place], MARKERS[other], DASHES[other], HATCHES[other])


RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so texts are as wide everywhere
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": PAPER,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.08,
    "savefig.facecolor": PAPER,
    "pdf.fonttype": 42,  # letters stay letters, which journals ask for
    "svg.fonttype": "none",  # texts stay texts, to be searched and read aloud
    "svg.hashsalt": "firstsight",  # the same bytes every time
}
# a page that is dark turns the figure, which keeps its hues
DARK = "@media(prefers-color-scheme:dark){svg{filter:invert(.9) hue-rotate(180deg)}}"


def require_matplotlib() -> None:
    """SettingsError where figures cannot be drawn; asked before the work they would show."""
    if find_spec("matplotlib") is None:
        raise SettingsError(
            "figures are drawn by matplotlib, which is not installed",
            "pip install 'firstsight[plots]', or make tables alone with --no-figures",
        )
