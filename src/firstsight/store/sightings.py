"""When and where images were taken, counted: by day and category, by place and category.

Frames in which nothing was found are counted beside them, under no category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from firstsight.core.places import coarse
from firstsight.store.events import Assigned, FoundEmpty
from firstsight.store.view import View

EMPTY = "empty frames"
Seen: TypeAlias = Assigned | FoundEmpty


class Count(NamedTuple):
    """So many images of a category on one day, or at one place; of frames with nothing in them, `category` is empty."""

    where: str
    category: str
    name: str
    images: int


def by_day(view: View, category: str | None = None) -> tuple[list[Count], int]:
    """Images by the day they were taken, as the camera's clock had it, and how many do not say."""
    return _counted(view, category, lambda event: None if event.taken is None else event.taken[:10])


def by_place(view: View, size: float, category: str | None = None) -> tuple[list[Count], int]:
    """Images by the square, with sides of so many metres, in which they were taken, and how many do not say."""

    def place(event: Seen) -> str | None:
        if event.latitude is None or event.longitude is None:
            return None
        latitude, longitude = coarse(event.latitude, event.longitude, size)
        return f"{latitude:.4f}, {longitude:.4f}"

    return _counted(view, category, place)


def _counted(view: View, category: str | None, key: Callable[[Seen], str | None]) -> tuple[list[Count], int]:
    id = None if category is None else view.category(category).id
    counts: Counter[tuple[str, str]] = Counter()
    unknown = 0
    for number in view.images(id):
        found = key(view.assigned(number))
        if found is None:
            unknown += 1
        else:
            counts[found, view.category_of(number)] += 1
    lines = [Count(where, of, view.name_of(of), images) for (where, of), images in counts.items()]
    if id is None:
        empty = Counter(found for n in view.catalogue.empty_frames() if (found := key(view.seen(n))) is not None)
        lines += [Count(where, "", EMPTY, frames) for where, frames in empty.items()]
    place = {of: at for at, of in enumerate(view.catalogue.categories)}  # as they are listed: new-9 before new-10
    place[""] = len(place)
    return sorted(lines, key=lambda each: (each.where, place[each.category])), unknown
