"""Images and categories as pages of the service show them: plain values with addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote

from firstsight.data.source import PACK
from firstsight.evidence.words import day, how_sure
from firstsight.pages.found import seen
from firstsight.serve.site.shown import Site
from firstsight.store.authors import PERSON, RULE
from firstsight.store.browse import SAMPLES, Entry, entry
from firstsight.store.catalogue import Category
from firstsight.store.events import Assigned
from firstsight.store.originals import FORGOTTEN, NO_FILE, absent
from firstsight.store.pictures import file_name
from firstsight.store.table import UNSURE

LARGE = 224  # pixels of a thumbnail: sharp where screens are fine


@dataclass(frozen=True)
class Tile:
    """An image among others."""

    number: int
    src: str | None
    why: str  # there is no picture
    file: str
    category: str  # its id
    name: str
    known: bool
    note: str  # how sure it was, or who says so
    unsure: bool
    founded: bool  # whether it began its category
    time: str

    @property
    def alt(self) -> str:
        return f"Image {self.number}, {self.name}"


@dataclass(frozen=True)
class Card:
    """A category in a list, with some of its images."""

    id: str
    name: str
    kind: str
    images: int
    placed: int
    unsure: int
    seen: str
    tiles: tuple[Tile, ...]
    support: tuple[str, ...] = ()  # addresses of pictures it was taught by, where it has no images yet

    @property
    def is_new(self) -> bool:
        return self.kind != "known"


def tiles(site: Site, numbers: Iterable[int]) -> tuple[Tile, ...]:
    return tuple(tile(site, number) for number in numbers)


def tile(site: Site, number: int) -> Tile:
    """One image; a single event is read for it."""
    view, catalogue = site.view, site.view.catalogue
    recorded = view.event(number)
    event = recorded.event
    assert isinstance(event, Assigned)
    if moved := catalogue.sources.get(number):
        event = replace(event, source=moved)
    home, by = catalogue.home(number), catalogue.author(number)
    category = catalogue.categories[catalogue.resolve(home)]
    by = PERSON if by == RULE and event.decided_by == PERSON.kind else by
    sure = event.confidence if home == event.home and by == RULE else None
    src, why = picture(site, number, event)
    return Tile(
        number=number,
        src=src,
        why=f"{number} · {event.source}" if why == NO_FILE else why,  # what came as a feature has a name
        file=event.source if why == NO_FILE else file_name(event.source),
        category=category.id,
        name=category.name,
        known=category.known,
        note=f"{by.in_words} says so" if by != RULE else "" if sure is None else how_sure(sure),
        unsure=sure is not None and sure < UNSURE,
        founded=bool(category.founded) and category.founded == number - 1,
        time=recorded.time,
    )


def picture(site: Site, number: int, event: Assigned) -> tuple[str | None, str]:
    """The address of a small picture or, where there is nothing to make it of, why. Reads no file."""
    if not event.content:
        return None, FORGOTTEN
    if site.originals.file(event) is None and f"{PACK}:" not in event.source:
        return None, absent(event.source)
    return f"/api/images/{number}/thumbnail?side={LARGE}", ""


def card_of(site: Site, category: Category, samples: int, but: Collection[int] = ()) -> Card:
    """A category by what shows it best; images that are shown elsewhere are left out."""
    found = entry(site.table, category, samples + len(but))
    return card(site, replace(found, samples=tuple(each for each in found.samples if each not in but)[:samples]))


def card(site: Site, found: Entry) -> Card:
    return Card(
        id=found.id,
        name=found.name,
        kind=found.kind,
        images=found.images,
        placed=found.placed,
        unsure=found.unsure,
        seen=seen(found.first_seen, found.last_seen),
        tiles=tiles(site, found.samples),
        support=() if found.images else support(site, site.view.catalogue.categories[found.id]),
    )


def support(site: Site, category: Category, most: int = SAMPLES) -> tuple[str, ...]:
    """Addresses of pictures that a known category was taught by, where the model kept them."""
    model = site.service.model
    if model.examples is None or model.examples.pictures is None or category.id not in model.names:
        return ()
    kept = int((model.examples.category == model.names.index(category.id)).sum())
    return tuple(f"/api/categories/{quote(category.id, safe='')}/support/{i}" for i in range(min(kept, most)))


def when(time: str, now: datetime | None = None) -> str:
    """A moment for people: the time of today, or the day.

    >>> when("2026-06-05T14:02:09Z", datetime(2026, 6, 5, 15, tzinfo=UTC))
    '14:02 UTC'
    >>> when("2026-06-05T14:02:09Z", datetime(2026, 6, 7, 15, tzinfo=UTC))
    '5 June 2026'
    """
    if not time:
        return ""
    moment, now = datetime.fromisoformat(time), now or datetime.now(UTC)
    return f"{moment:%H:%M} UTC" if moment.date() == now.date() else day(time)
