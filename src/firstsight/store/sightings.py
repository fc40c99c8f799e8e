"""When and where images were taken, counted: by day and category, by place and category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from firstsight.core.places import coarse
from firstsight.store.events import Assigned
from firstsight.store.view import View


class Count(NamedTuple):
    """So many images of a category on one day, or at one place."""

    where: str
    category: str
    name: str
    images: int


def by_day(view: View, category: str | None = None) -> tuple[list[Count], int]:
    """Images by the day they were taken, as the camera's clock had it, and how many do not say."""
    return _counted(view, category, lambda event: None if event.taken is None else event.taken[:10])


def by_place(view: View, size: float, category: str | None = None) -> tuple[list[Count], int]:
    """Images by the square, with sides of so many metres, in which they were taken, and how many do not say."""

    def place(event: Assigned) -> str | None:
        if event.latitude is None or event.longitude is None:
            return None
        latitude, longitude = coarse(event.latitude, event.longitude, size)
        return f"{latitude:.4f}, {longitude:.4f}"

    return _counted(view, category, place)


def _counted(view: View, category: str | None, key: Callable[[Assigned], str | None]) -> tuple[list[Count], int]:
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
    place = {of: at for at, of in enumerate(view.catalogue.categories)}  # as they are listed: new-9 before new-10
    return sorted(lines, key=lambda each: (each.where, place[each.category])), unknown
