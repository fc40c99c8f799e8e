"""Results averaged over seeds: one line for every method, rule and order, with the paper's figures beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import isnan
from typing import NamedTuple

import numpy as np

from firstsight.evaluate.scores import Row
from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.paper import Figures, paper_figure
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.runs import USUAL_SHARE

PARTS = ("all", "old", "new")
OTHERS = ("by_name", "false_births", "mutual_information", "rand_index")
ORDERS = ("random", "fixed", "bursty")
BESIDE = ("closed-set", "offline k-means")  # rows of a run that have no order


@dataclass(frozen=True)
class Line:
    """All, Old and New in per cent with their deviation over seeds."""

    data: str
    bits: int | None
    method: str
    order: str
    means: Figures
    deviations: Figures
    categories: float
    true_categories: int
    runs: int
    paper: Figures | None
    more: Mapping[str, float]  # everything else that was measured, by name
    varied: tuple[tuple[str, float], ...] = ()
    known_share: int = USUAL_SHARE
    orders: int | None = None  # random ones, of every run

    def cells(self) -> list[str]:
        pairs = zip(self.means, self.deviations, strict=True)
        spread = self.runs > 1  # one seed has none
        figures = ["-" if isnan(mean) else f"{mean:.1f}" + f" ± {by:.1f}" * spread for mean, by in pairs]
        beside = "/".join(f"{value:.1f}" for value in self.paper if not isnan(value)) if self.paper else ""
        found = f"{self.categories:.0f} / {self.true_categories}"
        bits = "" if self.bits is None else str(self.bits)
        return [self.data, bits, self.method, self.order, *figures, found, str(self.runs), beside]


def lines(results: Iterable[RunResult], orders: Sequence[str] = ORDERS) -> list[Line]:
    """Every method and rule of these runs, the rows beside it last, averaged over seeds."""
    groups: dict[_Key, list[tuple[RunResult, Row]]] = {}
    for result in results:
        run = result.run
        for i, (rule, rows) in enumerate(result.rows.items()):
            for row in rows:
                if name := _name(run.method, rule if i else None, row.name, orders):
                    key = _Key(run.data, run.known_share, run.bits, *name, run.varied)
                    groups.setdefault(key, []).append((result, row))
    return [_line(key, members) for key, members in groups.items()]


class _Key(NamedTuple):
    """What the runs and rows of one line have in common."""

    data: str
    known_share: int
    bits: int | None
    name: str
    order: str
    varied: tuple[tuple[str, float], ...]


def _name(method: str, rule: str | None, row: str, orders: Sequence[str]) -> tuple[str, str] | None:
    """What a row of a run is called, and the order it is in; None where it is not to be shown."""
    decides = METHODS[method].decides if method in METHODS else "ball"
    if decides == "offline" or (decides == "never discovers" and row == "closed-set"):
        return method, "any"
    if row in BESIDE:
        return f"{method}, {row}", "any"
    order = row.split(" ")[0]
    if order not in orders or decides == "never discovers":
        return None
    return f"{method}, {rule} rule" if rule else method, order


def _line(key: _Key, members: Sequence[tuple[RunResult, Row]]) -> Line:
    rows = [row for _, row in members]
    shares = np.array([astuple(row.accuracy) for row in rows]) * 100
    method, _, variant = key.name.partition(", ")
    paper = None if key.varied else paper_figure(key.data, method, key.bits, variant, key.known_share)
    return Line(
        data=key.data if key.known_share == USUAL_SHARE else f"{key.data}, {key.known_share} % known",
        bits=key.bits,
        method=key.name,
        order=key.order,
        means=_figures(shares.mean(0)),
        deviations=_figures(shares.std(0)),
        categories=float(np.mean([row.categories for row in rows])),
        true_categories=members[0][0].true_categories,
        runs=len(members),
        paper=paper,
        more=_more(rows),
        varied=key.varied,
        known_share=key.known_share,
        orders=min(result.made_of.orders for result, _ in members),
    )


def _more(rows: Sequence[Row]) -> dict[str, float]:
    """The other two accuracies and all that accuracy does not say, means in per cent."""
    values = {
        f"{variant}_{part}": [getattr(getattr(row, variant), part) for row in rows]
        for variant in ("largest", "separate")
        for part in PARTS
    }
    values |= {name: [getattr(row, name) for row in rows] for name in OTHERS}
    return {name: 100 * float(np.mean(some)) for name, some in values.items()}


def _figures(values: Iterable[float]) -> Figures:
    all_, old, new = map(float, values)
    return all_, old, new
