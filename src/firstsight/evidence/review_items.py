"""Questions for a person, each with what the answers do: verbs of a store and their arguments. Words only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from firstsight.core.threads import one_thread
from firstsight.store.authors import By
from firstsight.store.events import Recorded
from firstsight.store.splits import SplitSuggestion
from firstsight.store.store import Store
from firstsight.store.view import View

Kind: TypeAlias = Literal["split", "merge", "elsewhere", "tentative", "unsure"]
OFFERED = 4  # other categories that a question offers, each a click
MANY = 16  # centres looked at for those: of a category that was merged there are several


@dataclass(frozen=True)
class Act:
    """Something a person can say: a verb of `Store` with its arguments.

    `asks` names the argument that only the person can give: a category, or a name. Without one it can be done at once.
    """

    verb: str
    arguments: dict[str, Any]
    words: str
    asks: str | None = None

    def do(self, store: Store, given: str | None = None, by: By = None) -> Recorded:
        """Do it, with what the person gave where it asks for something."""
        asked = {} if self.asks is None else {self.asks: given}
        event: Recorded = getattr(store, self.verb)(**self.arguments, **asked, by=by)
        return event


class Worth(NamedTuple):
    """What a person's word is expected to come to: images whose answers it puts right, and clicks it takes."""

    put_right: float
    clicks: float

    @property
    def per_click(self) -> float:
        return self.put_right / self.clicks


@dataclass(frozen=True)
class Item:
    """One question. Whoever answers it accepts, takes one of the corrections, or skips it by its `id`.

    An id stands for the same question as long as that is asked, also after a restart.
    """

    id: str
    kind: Kind
    question: str
    reason: str
    images: tuple[int, ...]  # those it is about; of a merge, those of the smaller category
    categories: tuple[str, ...]  # ids: where the images are, then where they may belong
    accept: Act
    corrections: tuple[Act, ...]
    expects: Worth
    rest: tuple[int, ...] = ()  # of a split, the images that would stay

    @property
    def worth(self) -> float:
        """Images put right for a click, by which questions are put in order."""
        return self.expects.per_click


def unsure(view: View, image: int, sure: float, expects: Worth) -> Item:
    """Is this image where it belongs?"""
    here, near = view.category_of(image), nearest(view, (image,))
    return Item(
        f"unsure:{image}",
        "unsure",
        f"Is this {view.name_of(here)}?",
        f"the rule is {sure:.0%} sure of it",
        (image,),
        (here, *near),
        _confirm((image,), f"yes, {view.name_of(here)}"),
        (*(_move(view, (image,), each) for each in near), *_otherwise((image,))),
        expects,
    )


def elsewhere(view: View, images: Sequence[int], here: str, there: str, sure: float, expects: Worth) -> Item:
    """Do these images of one category belong to another?"""
    some, many = tuple(images), len(images) > 1
    belong = f"Do these {len(some)} images belong" if many else "Does this image belong"
    said = f", {sure:.0%} sure{' on average' if many else ''}" if view.confident else ""
    near = () if many else tuple(each for each in nearest(view, some) if each != there)
    return Item(
        elsewhere_id(some, here, there),
        "elsewhere",
        f"{belong} to {view.name_of(there)} rather than to {view.name_of(here)}?",
        f"asked again, the rule answers {view.name_of(there)} by what it has learned since{said}",
        some,
        (here, there, *near),
        _move(view, some, there),
        (
            _confirm(some, f"no, {'they stay' if many else 'it stays'} in {view.name_of(here)}"),
            *(_move(view, some, each) for each in near),
            *_otherwise(some),
        ),
        expects,
    )


def elsewhere_id(images: Sequence[int], here: str, there: str) -> str:
    """By the first of them to arrive: which is the surest changes sooner."""
    return f"elsewhere:{here}:{there}:{min(images)}"


def tentative(view: View, category: str, expects: Worth) -> Item:
    """Is this small new category one of its own?"""
    some, name = tuple(view.images(category)), view.name_of(category)
    near = nearest(view, some)
    return Item(
        f"tentative:{category}",
        "tentative",
        f"Is {name} a category of its own?",
        f"it rests on {'one image' if len(some) == 1 else f'{len(some)} images'}; most such are part of another",
        some,
        (category, *near),
        _confirm(some, "yes, it is new"),
        (
            *(_merge(view, category, each) for each in near),
            Act("merge", {"category": category}, "no, it is part of ...", asks="into"),
            Act("rename", {"category": category}, "yes, and it is called ...", asks="name"),
            Act("discard", {"images": some}, "no, it is of nothing"),
        ),
        expects,
    )


def merge(view: View, category: str, into: str, reason: str, expects: Worth) -> Item:
    """Are these two categories one?"""
    return Item(
        f"merge:{category}:{into}",
        "merge",
        f"Are {view.name_of(category)} and {view.name_of(into)} one category?",
        reason,
        tuple(view.images(category)),
        (category, into),
        _merge(view, category, into),
        (Act("merge", {"category": category}, f"{view.name_of(category)} is part of another, ...", asks="into"),),
        expects,
    )


def split(view: View, found: SplitSuggestion, expects: Worth) -> Item:
    """Does this category hold two things?"""
    name, off = view.name_of(found.category), found.images
    them = "image" if len(off) == 1 else f"{len(off)} images"
    return Item(
        f"split:{found.category}:{off[0]}",
        "split",
        f"Does {name} hold two things?",
        found.reason,
        off,
        (found.category,),
        Act("split", {"images": off}, f"yes, split off the {them}"),
        (
            Act("move", {"images": off}, f"yes, and the {them} belong to ...", asks="to"),
            Act("split", {"images": found.rest}, "yes, split off the others"),
            Act("move", {"images": found.rest}, "yes, and the others belong to ...", asks="to"),
            _confirm((off[0], found.rest[0]), "no, all are one"),  # a person's word in either part settles it
        ),
        expects,
        found.rest,
    )


@one_thread()
def nearest(view: View, images: Sequence[int]) -> tuple[str, ...]:
    """The categories nearest to what these images look like together, but for the one that the first of them is in."""
    register, here = view.register, view.category_of(images[0])
    features = np.stack([register.feature_from(view.assigned(image).feature) for image in images])
    near = register.neighbours(register.centre_of(features), inf, MANY)
    others = dict.fromkeys(view.catalogue.resolve(each.category) for each in near)
    return tuple(each for each in others if each != here)[:OFFERED]


def _confirm(images: tuple[int, ...], words: str) -> Act:
    return Act("confirm", {"images": images}, words)


def _move(view: View, images: tuple[int, ...], to: str) -> Act:
    return Act("move", {"images": images, "to": to}, f"{_them(images)} {view.name_of(to)}")


def _merge(view: View, category: str, into: str) -> Act:
    return Act(
        "merge",
        {"category": category, "into": into},
        f"merge {view.name_of(category)} into {view.name_of(into)}",
    )


def _otherwise(images: tuple[int, ...]) -> tuple[Act, ...]:
    """What else images may be."""
    return (
        Act("move", {"images": images}, f"{_them(images)} ...", asks="to"),
        Act("split", {"images": images}, "something new"),
        Act("discard", {"images": images}, f"{'they are' if len(images) > 1 else 'it is'} of nothing"),
    )


def _them(images: Sequence[int]) -> str:
    return "they belong to" if len(images) > 1 else "it belongs to"
