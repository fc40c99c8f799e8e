"""From what a person asks to the event that records it, or a refusal that says why.

Pure: reads the catalogue, changes nothing. Categories are named by id or name, images by number. `undoing.py` has what
takes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from operator import index

from firstsight.core.errors import BadRequest, Conflict, NotFound
from firstsight.store.authors import LONGEST_NAME
from firstsight.store.catalogue import Catalogue
from firstsight.store.events import (
    Confirmed,
    Discarded,
    Founded,
    Merged,
    Moved,
    Promoted,
    RadiusChanged,
    Recentred,
    Relocated,
    Renamed,
    Split,
)
from firstsight.store.finding import category


def images(catalogue: Catalogue, numbers: Sequence[int]) -> tuple[int, ...]:
    """The images a person means, each once."""
    try:
        numbers = [index(number) for number in numbers]
    except TypeError:
        raise BadRequest(f"images are named by their numbers, not {list(numbers)!r}") from None
    unknown = [number for number in numbers if not catalogue.has_image(number)]
    if unknown:
        raise NotFound(f"there is no image {', '.join(map(str, unknown[:10]))}", hint="show")
    if not numbers:
        raise BadRequest("name at least one image")
    return tuple(dict.fromkeys(numbers))


def rename(catalogue: Catalogue, name: str, new: str) -> Renamed:
    found = category(catalogue, name)
    return Renamed(found.id, found.name, _free_name(catalogue, new, found.id))


def merge(catalogue: Catalogue, name: str, into: str) -> Merged:
    source, target = category(catalogue, name), category(catalogue, into)
    if source is target:
        also = "" if name == into else f": {name!r} and {into!r} are both {source.name!r}"
        raise Conflict(f"a category cannot be merged into itself{also}")
    return Merged(source.id, target.id)


def split(catalogue: Catalogue, chosen: Sequence[int], id: str, name: str | None, feature: bytes) -> Split:
    label = id if name is None else _free_name(catalogue, name, id)
    return Split(id, label, tuple(chosen), *_as_they_are(catalogue, chosen), feature)


def move(catalogue: Catalogue, numbers: Sequence[int], to: str) -> Moved:
    moved, target = images(catalogue, numbers), category(catalogue, to)
    return Moved(moved, *_as_they_are(catalogue, moved), target.id)


def confirm(catalogue: Catalogue, numbers: Sequence[int]) -> Confirmed:
    confirmed = images(catalogue, numbers)
    return Confirmed(confirmed, _as_they_are(catalogue, confirmed)[1])


def change_radius(catalogue: Catalogue, radius: int | float) -> RadiusChanged:
    if radius == catalogue.radius:
        raise Conflict(f"the radius is {radius} already")
    return RadiusChanged(catalogue.radius, radius)


def next_id(catalogue: Catalogue) -> str:
    """The id of the next new category, as a register would give it."""
    return next(id for n in count(1) if (id := f"new-{n}") not in catalogue.names)


def found(catalogue: Catalogue, name: str, feature: bytes) -> Founded:
    id = next_id(catalogue)
    return Founded(id, _free_name(catalogue, name, id), feature)


def promote(catalogue: Catalogue, name: str) -> Promoted:
    found = category(catalogue, name)
    if found.known:
        raise Conflict(f"{found.name!r} is known already")
    if found.name == found.id:
        raise BadRequest(f"{found.id} has no name yet, and a known category needs one", hint="promote", id=found.id)
    return Promoted(found.id)


def discard(catalogue: Catalogue, numbers: Sequence[int], parts: bool) -> Discarded:
    """Images, and the discovered categories that are left without any; with `parts` also those merged into others."""
    chosen = images(catalogue, numbers)
    owners = dict.fromkeys(catalogue.category_of(image) for image in chosen)
    left = [id for id in owners if _is_found(catalogue, id) and set(catalogue.images(id)) <= set(chosen)]
    lost = [part for id in left for part in catalogue.parts(id)]
    if parts:
        homes = dict.fromkeys(catalogue.home(image) for image in chosen)
        merged = [id for id in homes if id in catalogue.merged and catalogue.categories[id].founded > 0]
        lost += [id for id in merged if id not in lost and set(of_home(catalogue, id)) <= set(chosen)]
    return _discarded(catalogue, chosen, lost)


def of_home(catalogue: Catalogue, id: str) -> list[int]:
    """The images that were put in a category itself, not in one that was merged into it."""
    return [image for image in catalogue.images(catalogue.resolve(id)) if catalogue.home(image) == id]


def recentre(catalogue: Catalogue, id: str, images: Sequence[int], centre: bytes) -> Recentred:
    return Recentred(id, tuple(images), catalogue.categories[id].centre.hex(), centre)


def discard_category(catalogue: Catalogue, name: str) -> Discarded:
    found = category(catalogue, name)
    if not _is_found(catalogue, found.id):
        raise Conflict(
            f"{found.name!r} was taught to the model, so it stays", "discard its images, or fit a model without it"
        )
    return _discarded(catalogue, tuple(catalogue.images(found.id)), catalogue.parts(found.id))


def relocate(catalogue: Catalogue, sources: dict[int, str]) -> Relocated:
    """Also of images that are undone or discarded: they may come back."""
    if unknown := [number for number in sources if catalogue.numbers.find(number) < 0]:
        raise NotFound(f"there is no image {', '.join(map(str, unknown[:10]))}", hint="show")
    if not sources:
        raise BadRequest("name at least one image")
    if forgotten := [number for number in sources if catalogue.is_forgotten(number)]:
        raise Conflict(f"image {', '.join(map(str, forgotten[:10]))} was forgotten, and has no file any more")
    moved = tuple(sources)
    old = tuple(catalogue.sources.get(image, "") for image in moved)
    return Relocated(moved, tuple(sources[image] for image in moved), old)


def _discarded(catalogue: Catalogue, chosen: tuple[int, ...], lost: Sequence[str]) -> Discarded:
    names = tuple(catalogue.categories[id].name for id in lost)
    return Discarded(chosen, tuple(catalogue.home(image) for image in chosen), tuple(lost), names)


def _is_found(catalogue: Catalogue, id: str) -> bool:
    """Whether a category is none of the model's, nor holds one."""
    return all(catalogue.categories[part].founded > 0 for part in catalogue.parts(id))


def _free_name(catalogue: Catalogue, name: str, id: str) -> str:
    """A name no other category has, had as its id, or would show badly."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadRequest(
            f"{name[:40]!r} cannot be a name", f"1 to {LONGEST_NAME} characters that can be printed, on one line"
        )
    other = catalogue.names.get(name, id)
    if other == id:  # nor one that is told from it by capitals alone, since people need not type those
        alike = (c.id for c in catalogue.live() if c.id != id and name.casefold() in (c.name.casefold(), c.id))
        other = next(alike, id)
    if other != id:
        raise Conflict(f"{name!r} is taken by category {other}", "choose another name, or merge the two")
    if id in catalogue.categories and catalogue.categories[id].name == name:
        raise Conflict(f"{id} is called {name!r} already")
    return name


def _as_they_are(catalogue: Catalogue, chosen: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where images are, and who put them there."""
    return tuple(catalogue.home(i) for i in chosen), tuple(str(catalogue.author(i)) for i in chosen)
