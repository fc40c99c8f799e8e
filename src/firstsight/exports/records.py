"""The images of a register as they may leave it: places coarse if that is asked for, nothing of what is withheld."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from firstsight.core.places import Place, coarse, uncertainty
from firstsight.exports.sites import site_of
from firstsight.store.pictures import file_name
from firstsight.store.view import View
from firstsight.store.views import Member, images

UNWRITABLE = r'[\x00-\x1f/\\:*?"<>|]'  # in the name of a file
LONGEST = 100  # name of a file
TOLD = ("taken", "latitude", "longitude", "camera", "serial", "withheld")
SIDES = ("box_left", "box_top", "box_width", "box_height")


Told = TypeVar("Told", Member, "Empty")


@dataclass(frozen=True)
class Options:
    """How to export: images by copy, link or hardlink; places within so many metres; without any metadata."""

    how: str = "copy"
    overwrite: bool = False
    round_places: float | None = None
    metadata: bool = True
    sites: Mapping[str, Place] = field(default_factory=dict)

    @property
    def strips(self) -> bool:
        """Whether copies of files must not tell what they do: a coarse place is none beside the exact one."""
        return not self.metadata or self.round_places is not None


@dataclass(frozen=True)
class Record:
    """An image, and within how many metres its place is right, where it was made coarse."""

    image: Member
    uncertainty: int | None = None

    @property
    def forgotten(self) -> bool:
        return not self.image.source

    @property
    def named(self) -> bool:
        """Whether people have a name for what it shows."""
        return self.image.known or self.image.name != self.image.category

    @property
    def file(self) -> str:
        """The name of the file it came from, which says nothing of whose it was, as any system can write it."""
        return re.sub(UNWRITABLE, "_", file_name(self.image.source))[-LONGEST:]

    def columns(self) -> dict[str, Any]:
        """A line of a table."""
        values = asdict(self.image)
        box = values.pop("box") or (None,) * 4
        return {**values, **dict(zip(SIDES, box, strict=True)), "uncertainty": self.uncertainty}


@dataclass(frozen=True)
class Empty:
    """A frame in which a detector found nothing, as `Member` has an image."""

    image: int
    source: str
    time: str
    taken: str | None
    latitude: float | None
    longitude: float | None
    camera: str | None
    serial: str | None
    withheld: bool
    content: str
    box: tuple[float, ...] = ()


@dataclass(frozen=True)
class Frame:
    """An empty frame, and within how many metres its place is right, where it was made coarse."""

    image: Empty
    uncertainty: int | None = None

    @property
    def file(self) -> str:
        """The name of the file it is."""
        return file_name(self.image.source)


def empty_frames(view: View, options: Options) -> Iterator[Frame]:
    """The frames in which nothing was found, in order of arrival; not those that are forgotten."""
    for number in view.catalogue.empty_frames():
        event = view.seen(number)
        if not event.forgotten:
            told = {name: getattr(event, name) for name in TOLD}
            empty = Empty(number, event.source, view.event(number).time, content=event.content.hex(), **told)
            yield Frame(*_told(empty, options))


def records(view: View, options: Options, category: str | None = None) -> Iterator[Record]:
    """The images of a category by its id, or of all, in order of arrival."""
    return (record(image, options) for image in images(view, category))


def record(image: Member, options: Options) -> Record:
    return Record(*_told(image, options))


def _told(image: Told, options: Options) -> tuple[Told, int | None]:
    """What may be told of an image, and within how many metres its place is right, where that is coarse."""
    if not options.metadata or image.withheld:
        return replace(image, taken=None, latitude=None, longitude=None, camera=None, serial=None, withheld=True), None
    if image.latitude is None and (site := site_of(image.source, options.sites)) is not None:
        image = replace(image, latitude=site[0], longitude=site[1])
    if options.round_places is None or image.latitude is None or image.longitude is None:
        return image, None
    latitude, longitude = coarse(image.latitude, image.longitude, options.round_places)
    return replace(image, latitude=latitude, longitude=longitude), uncertainty(options.round_places)
