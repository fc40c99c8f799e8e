"""What goes in and out as JSON."""

from __future__ import annotations

from math import isinf, isnan
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from firstsight.core.assignments import Assignment
from firstsight.store.authors import LONGEST_NAME
from firstsight.store.events import Recorded
from firstsight.store.view import View
from firstsight.store.views import line

LARGEST = 2**53  # what a number can be in every reader of JSON
MOST = 100_000  # images or events of one edit


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and (isinf(value) or isnan(value)) else value


Measure = Annotated[float | None, BeforeValidator(_finite)]  # JSON has no infinity: none


class Problem(BaseModel):
    """What was wrong, and what to do (RFC 9457)."""

    title: str
    status: int
    detail: str
    kind: str = Field(description="what kind of error it is, as Python calls it")
    remedy: str | None = None


class Candidate(BaseModel):
    """A category that was considered, and how far it was."""

    category: str
    distance: Measure


class Answer(BaseModel):
    """One assignment. `category` is none where it would found a new one, or the image was discarded before."""

    category: str | None
    name: str | None = Field(description="what people call the category")
    is_new: bool
    created: bool = Field(description="whether this image founded the category")
    confidence: Measure
    distance: Measure
    radius: Measure = Field(description="how far a category reaches; none where nothing is ever new")
    runner_up: Candidate | None
    via: str | None = Field(description="the category that matched, where it was merged into the answer")
    image: int | None = Field(description="the number under which the register keeps it")
    lesson: bool = Field(description="whether its category learns from it")
    decided_by: Literal["rule", "hindsight", "person", "record", "discarded"]

    @classmethod
    def of(cls, answer: Assignment) -> Self:
        other = answer.runner_up
        return cls(
            category=answer.category,
            name=answer.name or answer.category,
            is_new=answer.is_new,
            created=answer.created,
            confidence=answer.confidence,
            distance=answer.distance,
            radius=answer.radius,
            runner_up=None if other is None else Candidate(category=other.category, distance=other.distance),
            via=answer.via,
            image=answer.image,
            lesson=answer.lesson,
            decided_by=answer.decided_by,
        )


class Answered(BaseModel):
    """What became of one image: an answer, or what was wrong with it."""

    source: str
    answer: Answer | None = None
    problem: Problem | None = None


class Answers(BaseModel):
    """Of all images of a request, in their order."""

    answers: list[Answered]


class Out(BaseModel):
    """What is made of a value of ours, by its attributes."""

    model_config = ConfigDict(from_attributes=True)


class Estimate(BaseModel):
    """How many categories there are in what was seen, and between which numbers that lies 90 times of 100."""

    estimate: int
    low: int | None
    high: int | None
    certain: int


class Category(Out):
    """A category as it stands."""

    id: str
    name: str
    known: bool
    tentative: bool = Field(description="whether it is new and rests on so few images that it may be a mistake")
    images: int
    placed: int = Field(description="how many of them people put there or confirmed")
    merged: list[str] = Field(description="ids that stand for it since they were merged into it")


class Categories(BaseModel):
    """Some of them, and how many there are in all."""

    total: int
    number: Estimate
    categories: list[Category]


class OneCategory(Category):
    """A category, and how many pictures of its support images there are."""

    support: int


class Image(Out):
    """An image in its category: how it came there, what was second best, and what it tells of itself."""

    image: int
    source: str
    category: str
    name: str
    known: bool
    time: str
    distance: Measure
    radius: Measure
    runner_up: str | None
    runner_up_distance: Measure
    author: str
    author_name: str
    content: str
    confidence: Measure
    taken: str | None
    latitude: Measure
    longitude: Measure
    camera: str | None
    serial: str | None
    box: list[float]
    detected: Measure
    withheld: bool


class Images(BaseModel):
    """Some of them, and how many there are in all."""

    total: int
    images: list[Image]


class Unsure(BaseModel):
    """The least sure first, and how many do not say how sure they were."""

    images: list[Image]
    silent: int


class Discarded(Out):
    """An image that was discarded; undoing the event brings it back."""

    image: int
    source: str
    category: str
    author: str
    author_name: str
    event: int


class AllDiscarded(BaseModel):
    total: int
    images: list[Discarded]


class Event(BaseModel):
    """Something that was recorded. `command` is what undo takes: all that was done with it goes, too."""

    event: int
    time: str
    kind: str
    what: str
    author: str
    author_name: str
    command: int
    undone: bool = False

    @classmethod
    def of(cls, view: View, recorded: Recorded) -> Self:
        said: dict[str, Any] = line(view, recorded)
        return cls(**said, undone=view.is_undone(recorded.number))


class History(BaseModel):
    """The latest last."""

    events: list[Event]


class Edited(BaseModel):
    """What an edit recorded, and the number that takes all of it back; none where that cannot be."""

    events: list[Event]
    undo: int | None


class Relocated(Edited):
    """The images whose files were found, and the files that were not."""

    found: int
    missing: list[str]


class Taught(Edited):
    """How each image stands now."""

    answers: list[Answer]


class Suggestion(Out):
    """Merge `category` into `into`?"""

    category: str
    into: str
    score: Measure
    reason: str


class Suggestions(BaseModel):
    suggestions: list[Suggestion]


class Halves(Out):
    """Split `images` off from `category`, and leave `rest`?"""

    category: str
    images: list[int]
    rest: list[int]
    score: Measure
    reason: str


class Splits(BaseModel):
    splits: list[Halves]


class Reconsidered(Out):
    """An image, the category it is in, and the one it would go to by now."""

    image: int
    source: str
    category: str
    now: str
    distance: Measure
    radius: Measure
    confidence: Measure


class AllReconsidered(BaseModel):
    total: int
    images: list[Reconsidered]


class Count(Out):
    """So many images of a category on one day, or at one place."""

    where: str
    category: str
    name: str
    images: int


class Counts(BaseModel):
    """And how many images do not say."""

    total: int
    counts: list[Count]
    unknown: int


class Radius(BaseModel):
    """How far categories reach; none where nothing is ever new."""

    radius: Measure


class Verified(BaseModel):
    """Every event is as it was written."""

    events: int


# ---------------------------------------------------------------------- what is asked


class Body(BaseModel):
    """A word that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid")


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
ImageNumber = Annotated[int, Field(ge=1, lt=LARGEST)]
EventNumber = ImageNumber
Called = Annotated[str, Field(min_length=1, max_length=4096)]


class Rename(Body):
    name: Name


class Promote(Body):
    name: Name | None = Field(None, description="what to call it; the name it has if not given")


class Merge(Body):
    into: Name = Field(description="the category that it becomes part of, by id or name")
    also: list[Name] = Field([], max_length=10_000, description="others that become part of it, too")


class SplitAuto(Body):
    name: Name | None = Field(None, description="what to call the new category")


class SomeImages(Body):
    images: list[ImageNumber | Called] = Field(
        min_length=1, max_length=MOST, description="images by number, or by what they came from"
    )


class Move(SomeImages):
    to: Name = Field(description="where to: a category by id or name")


class SplitOff(SomeImages):
    name: Name | None = Field(None, description="what to call the new category")


class Undo(Body):
    events: list[EventNumber] = Field([], max_length=MOST, description="events by number; the last edit if none")
    followers: bool = Field(False, description="whether later events that depend on them are taken back, too")


class Redo(Body):
    event: EventNumber | None = Field(None, description="what was undone, by number; the last if not given")


class NewRadius(Body):
    radius: float = Field(
        allow_inf_nan=False, description="in bits, as a distance, or as log odds: below 0 splits, above merges"
    )


class Relocate(Body):
    folder: Called = Field(description="where files are now, on the machine of the service")


class Reconsider(Body):
    limit: int = Field(20, ge=1, le=MOST, description="how many images at most, the surest first")


class FeaturesIn(Body):
    """Features instead of images."""

    features: list[list[float]] = Field(min_length=1, description="one per image, as the model was fitted on")
