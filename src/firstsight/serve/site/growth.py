"""How a register grew over time: images and births, in bins of equal length. Reads few events of many."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from firstsight.serve.site.shelf import Shelf
from firstsight.store.view import View

BINS = 40


@dataclass(frozen=True)
class Growth:
    """Per bin: images that arrived, those of them in discovered categories, births; and the days at the ends."""

    images: tuple[int, ...]
    new: tuple[int, ...]
    births: tuple[int, ...]
    first: str
    last: str

    @property
    def categories(self) -> tuple[int, ...]:
        """How many had been born by the end of each bin."""
        return tuple(np.cumsum(self.births).tolist())


def growth(view: View, shelf: Shelf) -> Growth | None:
    """From the first image to now; None before there are two moments."""
    if not len(shelf.numbers):
        return None
    ends = [int(shelf.numbers[0]), int(shelf.numbers[-1])]
    start, end = (view.event(each).at for each in ends)
    if end <= start:
        return None
    edges = _edges(view, ends[0], ends[1], start, end)
    live = view.catalogue.live()
    founded = np.array([each.founded for each in live if each.founded and not each.known], dtype=np.int64)
    known = np.zeros(len(view.catalogue.order), dtype=bool)
    known[[each.position for each in live if each.known]] = True
    in_new = shelf.numbers[~known[shelf.owners]]
    counts = [_counted(each, edges) for each in (shelf.numbers, in_new, founded)]
    return Growth(counts[0], counts[1], counts[2], _moment(start, end, 0), _moment(start, end, 1))


def _edges(view: View, first: int, last: int, start: int, end: int) -> NDArray[np.int64]:
    """The first event of every bin, found by halving: events are in the order of time."""
    edges = [first]
    for i in range(1, BINS):
        moment = start + (end - start) * i // BINS
        low, high = edges[-1], last + 1
        while low < high:
            middle = (low + high) // 2
            if view.event(middle).at < moment:
                low = middle + 1
            else:
                high = middle
        edges.append(low)
    return np.array([*edges, last + 1], dtype=np.int64)


def _counted(numbers: NDArray[np.int64], edges: NDArray[np.int64]) -> tuple[int, ...]:
    at = np.searchsorted(edges, numbers, "right") - 1
    counts: list[int] = np.bincount(np.clip(at, 0, BINS - 1), minlength=BINS).tolist()
    return tuple(counts)


def _moment(start: int, end: int, which: int) -> str:
    """A day or, where all happened on one, a time."""
    moments = [datetime.fromtimestamp(each / 1e6, UTC) for each in (start, end)]
    one_day = moments[0].date() == moments[1].date()
    return f"{moments[which]:%H:%M} UTC" if one_day else f"{moments[which].day} {moments[which]:%B %Y}"
