"""Everything pages ask of categories, as columns of one moment: made in one pass over the images, without the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import CONFIRMED
from firstsight.store.catalogue import Category
from firstsight.store.holdings import AWAY, PLACED, SETTLED
from firstsight.store.view import View

Kind: TypeAlias = Literal["known", "new", "tentative"]

KINDS: tuple[Kind, ...] = ("known", "new", "tentative")
FEW = 2**16  # categories, whose positions are sorted ten times as fast
UNSURE = 0.5  # below this a person should look


@dataclass(frozen=True)
class Table:
    """Images there are, in order of arrival, and categories by position; images are named by their place here."""

    numbers: NDArray[np.int64]  # of images
    times: NDArray[np.int64]
    sure: NDArray[np.float64]  # how sure each answer is: 1 where a person gave it, -1 where nobody can tell
    is_unsure: NDArray[np.bool_]
    owners: NDArray[np.int32]  # the category of each, by position
    grouped: NDArray[np.int64]  # places of images, category by category
    starts: NDArray[np.int64]  # where each category begins there, and the end
    images: NDArray[np.int64]  # of each category
    placed: NDArray[np.int64]
    unsure: NDArray[np.int64]
    last: NDArray[np.int64]  # when its last image came; 0 without one
    kinds: NDArray[np.int8]  # as positions in KINDS
    positions: NDArray[np.int64]  # of the categories there are, oldest first
    live: list[Category]  # the same

    def of(self, position: int) -> NDArray[np.int64]:
        """The places of a category's images, in order of arrival."""
        return self.grouped[self.starts[position] : self.starts[position + 1]]

    def kind(self, position: int) -> Kind:
        """Known, new, or new and on so few images, none of them placed by a person, that it may be a mistake."""
        return KINDS[int(self.kinds[position])]


def table(view: View) -> Table:
    """The columns of a view; made once for each moment."""
    return view.once(_table)


def _table(view: View) -> Table:
    catalogue = view.catalogue
    flags, live = catalogue.flags.values(), catalogue.live()
    here = flags & AWAY == 0
    owners, flags, count = catalogue.owners()[catalogue.homes.values()[here]], flags[here], len(catalogue.order)
    is_placed, sure, times = flags & PLACED != 0, catalogue.confidences.values()[here], catalogue.times.values()[here]
    is_unsure = (flags & (PLACED | SETTLED) == 0) & (sure < UNSURE)  # which is never so of what is no number
    images, placed = (np.bincount(each, minlength=count) for each in (owners, owners[is_placed]))
    short = owners.astype(np.uint16) if count <= FEW else owners
    grouped, ends = short.argsort(kind="stable"), images.cumsum()
    last = np.zeros(count, dtype=np.int64)
    last[images > 0] = times[grouped[ends[images > 0] - 1]]
    known = np.zeros(count, dtype=bool)
    known[[category.position for category in live if category.known]] = True
    return Table(
        numbers=catalogue.numbers.values()[here],
        times=times,
        sure=np.where(is_placed, 1.0, np.nan_to_num(sure, nan=-1.0)),
        is_unsure=is_unsure,
        owners=owners,
        grouped=grouped,
        starts=np.concatenate([[0], ends]),
        images=images,
        placed=placed,
        unsure=np.bincount(owners[is_unsure], minlength=count),
        last=last,
        kinds=np.where(known, 0, np.where((placed > 0) | (images >= CONFIRMED), 1, 2)).astype(np.int8),
        positions=np.array([category.position for category in live], dtype=np.int64),
        live=live,
    )
