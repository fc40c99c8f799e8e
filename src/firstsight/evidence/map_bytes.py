"""A map as bytes for a browser: all images, or only what changed since an earlier moment.

`FSM1`, the length of a header in four bytes, the header as JSON, padded with spaces to a multiple of four; then, of
all images told, their numbers (4 bytes each), places (2 x 2), categories by position (4) and whether a person placed
them (1); the numbers of images that left come in the header. Little-endian throughout.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.evidence.mapped import Placed
from firstsight.store.catalogue import Catalogue, Category
from firstsight.store.holdings import AWAY, PLACED

MAGIC = b"FSM1"


def map_bytes(placed: Placed, catalogue: Catalogue, before: Catalogue | None = None, **state: Any) -> bytes:
    """The map as of a catalogue; with `before`, an earlier one, only what is not as it was then.

    `state` is said in the header besides.
    """
    now = _Columns.of(catalogue)
    told, left = now.here, np.zeros(0, dtype=np.int64)
    if before is not None:
        then = _Columns.of(before)
        same, count = np.zeros_like(now.here), len(then.here)
        same[:count] = then.here & (then.owners == now.owners[:count]) & (then.by_person == now.by_person[:count])
        told = now.here & ~same
        left = now.numbers[:count][then.here & ~now.here[:count]]
    owners = now.owners[told]
    header = {
        **state,
        "layout": placed.layout.id,
        "last": catalogue.last,
        "since": None if before is None else before.last,
        "images": len(owners),
        "came": placed.since,
        "left": left.tolist(),
        "categories": [_category(each) for each in _categories(catalogue, before, owners)],
    }
    columns = (
        now.numbers[told].astype("<u4"),
        placed.places[told].astype("<u2"),
        owners.astype("<i4"),
        now.by_person[told].astype("u1"),
    )
    return _headed(header) + b"".join(each.tobytes() for each in columns)


@dataclass(frozen=True)
class _Columns:
    """Of all images there ever were, in order of arrival."""

    numbers: NDArray[np.int64]
    owners: NDArray[np.int32]
    here: NDArray[np.bool_]
    by_person: NDArray[np.bool_]

    @classmethod
    def of(cls, catalogue: Catalogue) -> _Columns:
        flags = catalogue.flags.values()
        owners = catalogue.owners()[catalogue.homes.values()]
        return cls(catalogue.numbers.values(), owners, flags & AWAY == 0, flags & PLACED != 0)


def _categories(catalogue: Catalogue, before: Catalogue | None, owners: NDArray[np.int32]) -> list[Category]:
    """Those of the images told, and those that are called or known otherwise than before."""
    here = np.unique(owners).tolist()
    if before is not None and catalogue.categories is not before.categories:
        then = before.categories
        here += [c.position for c in catalogue.live() if then.get(c.id) is not c]
    return [catalogue.categories[catalogue.order[position]] for position in sorted(set(here))]


def _category(category: Category) -> list[Any]:
    """Position, id, name where that is another, whether it is known."""
    name = None if category.name == category.id else category.name
    return [category.position, category.id, name, int(category.known)]


def _headed(header: dict[str, Any]) -> bytes:
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    return MAGIC + len(text).to_bytes(4, "little") + text
