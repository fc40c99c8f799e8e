"""What is on a figure, as data: panels of curves, points or bars over the same labels, a matrix, a map.

Nothing here is drawn, so nothing here needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["lines", "points", "bars"]


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
    """One plot: series over labels; `zero` says whether the axis begins there."""

    title: str
    below: str
    labels: Sequence[str]
    series: Sequence[Series]
    kind: Kind = "lines"
    zero: bool = False


@dataclass(frozen=True)
class Chart:
    """Panels side by side; a series has the same colour, dash and marker in all of them."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True, eq=False)
class Matrix:
    """What went where: shares of every true category, the known first; `known` are how many down and across."""

    title: str
    shares: NDArray[np.float64]
    known: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Map:
    """Points of several groups in the plane."""

    title: str
    groups: dict[str, NDArray[np.float64]]  # (N, 2)


Figure: TypeAlias = Chart | Matrix | Map
