"""What can happen to a register, as values. Events record outcomes: replaying them decides nothing again.

An image is named by the number of the event that assigned it, a category by its id. Every event says by whom it is:
the rule, hindsight, or a person. Edits carry what they replaced, so that each can be taken back; those of one command
name its first event, and are taken back together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from firstsight.core.assignments import Assignment
from firstsight.core.sightings import KEPT, NOTHING, Sighting


@dataclass(frozen=True, kw_only=True)
class Signed:
    """`by` is whose word it is, as `Author` writes it, `command` the first event of the command it is part of."""

    by: str = "person"
    command: int | None = None  # where that is another event


@dataclass(frozen=True, kw_only=True)
class Told(Signed):
    """What a file told of itself, see `Sighting`."""

    taken: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    camera: str | None = None
    serial: str | None = None
    box: tuple[float, ...] = ()
    detected: float | None = None
    withheld: bool = False

    @property
    def sighting(self) -> Sighting:
        """When, where and by which camera it was taken."""
        return Sighting(**{name: getattr(self, name) for name in KEPT})


@dataclass(frozen=True)
class Assigned(Told):
    """An image was answered with a category, by the rule or, where it came with a label, by a person.

    `feature` is what the encoder made of it (code words or float32 features), `content` the SHA-256 of the image,
    `encoder` the entry of the log that says which model, preprocess version, device and precision made the feature.
    `confidence` is how probable the rule held the answer to be, where it could tell. `lesson` is whether its category
    learned from it, in a register that learns. A radius without end is infinite here, and null in JSON. `key` is what
    its sender calls the sending: sent with it again, it counts nothing. One that was forgotten has no source, content
    or key.
    """

    source: str
    category: str
    via: str | None
    distance: int | float | None
    radius: int | float
    runner_up: str | None
    runner_up_distance: int | float | None
    decided_by: str
    encoder: int
    feature: bytes
    content: bytes
    confidence: float | None = None
    lesson: bool = True
    key: str = ""
    by: str = field(default="rule", kw_only=True)

    @property
    def home(self) -> str:
        """The category whose centre it matched; where that one is merged, its images go with it."""
        return self.via or self.category

    @property
    def forgotten(self) -> bool:
        """Whether all that told of the image was removed for good."""
        return not self.source and not self.content

    @classmethod
    def of(
        cls,
        answer: Assignment,
        source: str,
        encoder: int,
        feature: bytes,
        content: bytes,
        sighting: Sighting = NOTHING,
        key: str = "",
    ) -> Assigned:
        assert answer.category is not None, "only a pure match answers without a category"
        other = answer.runner_up
        return cls(
            source=as_text(source),
            category=answer.category,
            via=answer.via,
            distance=answer.distance,
            radius=answer.radius,
            runner_up=other.category if other else None,
            runner_up_distance=other.distance if other else None,
            decided_by=answer.decided_by,
            encoder=encoder,
            feature=feature,
            content=content,
            confidence=answer.confidence,
            lesson=answer.lesson,
            key=key,
            **{name: getattr(sighting, name) for name in KEPT},
        )


@dataclass(frozen=True)
class FoundEmpty(Told):
    """A frame in which a detector found nothing: of no category, and no lesson; it counts as looked at."""

    source: str
    content: bytes
    by: str = field(default="rule", kw_only=True)

    @property
    def forgotten(self) -> bool:
        """Whether all that told of the frame was removed for good."""
        return not self.source and not self.content


@dataclass(frozen=True)
class Created(Signed):
    """A new category was founded; `feature` is its centre. The event after it assigns its founder."""

    category: str
    feature: bytes
    by: str = field(default="rule", kw_only=True)


@dataclass(frozen=True)
class Founded(Signed):
    """A person named a category for images with that label, which come after it; `feature` is their centre."""

    category: str
    name: str
    feature: bytes


@dataclass(frozen=True)
class Renamed(Signed):
    """A person gave a category another name; its id stays."""

    category: str
    old: str
    new: str


@dataclass(frozen=True)
class Merged(Signed):
    """A person said that a category is part of another; from now on its centres answer for that one."""

    category: str
    into: str


@dataclass(frozen=True)
class Split(Signed):
    """A person gave images a category of their own, with the centre in `feature`."""

    category: str
    name: str
    images: tuple[int, ...]
    homes: tuple[str, ...]  # where each was, and
    authors: tuple[str, ...]  # who had put it there
    feature: bytes


@dataclass(frozen=True)
class Moved(Signed):
    """Images were put into a category: by a person, for good, or by hindsight."""

    images: tuple[int, ...]
    homes: tuple[str, ...]
    authors: tuple[str, ...]
    to: str


@dataclass(frozen=True)
class Confirmed(Signed):
    """A person said that images are where they belong."""

    images: tuple[int, ...]
    authors: tuple[str, ...]


@dataclass(frozen=True)
class Promoted(Signed):
    """A person said that a discovered category is known from now on. What it has learned stays."""

    category: str


@dataclass(frozen=True)
class Discarded(Signed):
    """A person said that images are of nothing: they leave their categories and teach nothing.

    `categories` go with them, those whose images these all were; `names` are what they were called.
    """

    images: tuple[int, ...]
    homes: tuple[str, ...]
    categories: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Recentred(Signed):
    """The centre of a category is that of `images` now: what it was made of was discarded.

    `old` is what it was, in hexadecimal.
    """

    category: str
    images: tuple[int, ...]
    old: str
    feature: bytes


@dataclass(frozen=True)
class Relocated(Signed):
    """A person's files moved: `sources` are where images are now, `old` where they were held to be before.

    An empty `old` stands for where the image came from.
    """

    images: tuple[int, ...]
    sources: tuple[str, ...]
    old: tuple[str, ...]


@dataclass(frozen=True)
class RadiusChanged(Signed):
    """A person set how far categories reach, for the images to come."""

    old: int | float
    new: int | float


@dataclass(frozen=True)
class Undone(Signed):
    """Events were taken back. Taking back an Undone brings them into force again."""

    events: tuple[int, ...]


@dataclass(frozen=True)
class Forgotten(Signed):
    """What told of images was removed for good: where they came from, their content, time, place and camera.

    The mark that it leaves. It cannot be undone.
    """

    images: tuple[int, ...]


def _in_json(hint: Any) -> tuple[type, ...]:
    """The types that the value of a field can have in JSON."""
    if get_origin(hint) is tuple:
        return (list,)
    kinds = get_args(hint) or (hint,)
    return (*kinds, int) if float in kinds else kinds


Event: TypeAlias = (
    Assigned
    | FoundEmpty
    | Created
    | Founded
    | Renamed
    | Merged
    | Split
    | Moved
    | Confirmed
    | Promoted
    | Discarded
    | Recentred
    | Relocated
    | RadiusChanged
    | Undone
    | Forgotten
)

KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}
# What the values of an event may be in JSON: a file made by hand may say anything.
ALLOWED: dict[str, dict[str, tuple[type, ...]]] = {
    name: {field: _in_json(hint) for field, hint in get_type_hints(kind).items()} for name, kind in KINDS.items()
}
# Fields that are a number in any case: null is an infinite one there.
NUMBERS = {
    name: {field for field, kinds in allowed.items() if float in kinds and type(None) not in kinds}
    for name, allowed in ALLOWED.items()
}
FOR_GOOD = ("Forgotten",)  # what cannot be undone


@dataclass(frozen=True)
class Recorded:
    """An event with its place in the log: its number from 1, and when it happened, in microseconds UTC."""

    number: int
    at: int
    event: Event

    @property
    def kind(self) -> str:
        return type(self.event).__name__

    @property
    def by_rule(self) -> bool:
        """Whether it is the register's own answer; all others are edits."""
        return self.event.by == "rule"

    @property
    def command(self) -> int:
        """The first event of the command it is part of."""
        return self.event.command or self.number

    @property
    def time(self) -> str:
        """The same, in words."""
        return in_words(self.at)


def in_words(at: int) -> str:
    """ISO 8601, UTC, to the second; nothing where a file made by hand names a year that calendars do not have."""
    try:
        return datetime.fromtimestamp(at / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def as_text(source: str) -> str:
    """A file's name as text that can be stored, whatever bytes it is made of."""
    return source.encode("utf-8", "backslashreplace").decode()


def to_columns(event: Event) -> tuple[str, str, bytes | None, bytes | None]:
    """An event as the log keeps it: kind, body in JSON, feature, content. What is at its default is left out."""
    body = {
        f.name: None if value == math.inf else value
        for f in fields(event)
        if f.name not in ("feature", "content") and (value := getattr(event, f.name)) != f.default
    }
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return type(event).__name__, text, getattr(event, "feature", None), getattr(event, "content", None)


def from_columns(kind: str, body: str, feature: bytes | None, content: bytes | None) -> Event:
    """The event again; KeyError, TypeError or ValueError where that is none."""
    values: Mapping[str, Any] = {
        name: math.inf if value is None and name in NUMBERS[kind] else value for name, value in json.loads(body).items()
    }
    for name, value in values.items():
        if type(value) not in ALLOWED[kind].get(name, ()):
            raise TypeError(f"{name} of {kind} is {value!r}")
    blobs = {name: blob for name, blob in (("feature", feature), ("content", content)) if blob is not None}
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    event: Event = KINDS[kind](**{**values, **lists, **blobs})
    return event
