"""Small copies of many pictures, made a few at a time: for a page that holds thousands and still opens at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from firstsight.core.errors import ImageError
from firstsight.core.protocols import Progress
from firstsight.data.ahead import ahead
from firstsight.data.images import ImageLike, in_frame
from firstsight.data.thumbnails import LARGE, SIDE, small
from firstsight.store.originals import Originals, original
from firstsight.store.views import Member

FRAME = 0  # stands for a picture of the whole frame, where an image is a part of one
WINDOW = 64  # made before they are asked for


@dataclass(frozen=True)
class Wanted:
    """A picture to be made: of an image by its number, at a size."""

    image: int
    side: int
    place: ImageLike
    content: str


@dataclass(frozen=True)
class Picture:
    """A small picture; where there is none, why."""

    content: bytes | None
    why: str = ""


def thumbnails(
    wanted: Iterable[tuple[Member, int]], originals: Originals, progress: Progress, total: int
) -> dict[tuple[int, int], Picture]:
    """Pictures by image and side, of those whose files are where they were."""
    found = {}
    items = (Wanted(each.image, side, originals.place(each), each.content) for each, side in wanted)
    with progress.task("thumbnails", total) as advance:
        for key, picture in ahead(made, items, window=WINDOW):
            found[key] = picture
            advance()
    return found


def made(wanted: Wanted) -> tuple[tuple[int, int], Picture]:
    """One of them, with what it is found by."""
    try:
        found = original(wanted.place, wanted.content)
        picture = Picture(small(found, wanted.side) if wanted.side != FRAME else in_frame(found, LARGE))
    except ImageError as error:
        picture = Picture(None, error.reason)
    return (wanted.image, wanted.side), picture


def square(picture: ImageLike) -> bytes:
    """A picture among others."""
    return small(picture, SIDE)
