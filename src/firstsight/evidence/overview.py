"""Everything a register holds, for people to look at: categories with their images, what they are near, what to mend.

Read from a view; nothing of pictures or pages, which are made of this elsewhere.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from firstsight.core.number import Number
from firstsight.core.threads import one_thread
from firstsight.store import views
from firstsight.store.number import number_of_categories
from firstsight.store.pictures import Pictures
from firstsight.store.splits import SplitSuggestion, suggest_splits
from firstsight.store.suggest import Suggestion, suggest
from firstsight.store.table import UNSURE
from firstsight.store.view import View
from firstsight.store.views import Member, Summary

NEAREST = 8  # centres looked at for the nearest category that is another
SUGGESTIONS = 20


@dataclass(frozen=True)
class Found:
    """A category as it stands."""

    summary: Summary
    founder: Member | None  # the image that began it, where it is still in it
    members: tuple[Member, ...]  # all others, in order of arrival
    unsure: frozenset[int]  # of all of them, the images a person should look at
    nearest: str | None  # the id of the category whose centre is nearest to its own
    next_best: int  # images for which that one came next

    @property
    def images(self) -> tuple[Member, ...]:
        """The founder first."""
        return self.members if self.founder is None else (self.founder, *self.members)

    @property
    def first_seen(self) -> str | None:
        """When its first image was answered."""
        return min((each.time for each in self.images), default=None)

    @property
    def last_seen(self) -> str | None:
        return max((each.time for each in self.images), default=None)


@dataclass(frozen=True)
class Overview:
    """A register at one moment."""

    name: str
    events: int
    confident: bool  # whether its answers say how probable they are
    categories: tuple[Found, ...]  # oldest first
    merges: tuple[Suggestion, ...]  # pairs that may be one, the likeliest first
    splits: tuple[SplitSuggestion, ...]  # categories that may be two, likewise
    number: Number  # how many categories there may be in truth
    pictures: Pictures = field(default_factory=lambda: Pictures(None))  # that are kept beside it


def overview(view: View, below: float = UNSURE, suggestions: int = SUGGESTIONS) -> Overview:
    """All of it, as of now. Nobody has to wait meanwhile."""
    members: dict[str, list[Member]] = {}
    for each in views.images(view):
        members.setdefault(each.category, []).append(each)
    doubtful = views.unsure(view, below, sys.maxsize)[0] if view.confident else []
    unsure = frozenset(each.image for each in doubtful)
    nearest = nearest_categories(view, {id: [each.image for each in some] for id, some in members.items()})
    found = tuple(
        _found(view, summary, members.get(summary.id, []), unsure, nearest.get(summary.id))
        for summary in views.summaries(view)
    )
    merges, splits = suggest(view, suggestions), suggest_splits(view, suggestions)
    number = number_of_categories(view)
    return Overview(view.name, view.last, view.confident, found, tuple(merges), tuple(splits), number, view.pictures)


def _found(
    view: View, summary: Summary, members: Sequence[Member], unsure: frozenset[int], nearest: str | None
) -> Found:
    founded = view.catalogue.categories[summary.id].founded  # 0 where it was taught
    founder = next((each for each in members if founded and each.image == founded + 1), None)
    others = tuple(each for each in members if each is not founder)
    came_next = Counter(view.catalogue.resolve(each.runner_up) for each in members if each.runner_up)
    doubtful = unsure & {each.image for each in members}
    return Found(summary, founder, others, doubtful, nearest, came_next[nearest] if nearest else 0)


@one_thread()
def nearest_categories(view: View, images: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """For every category the one that is nearest to its centre: that of its images or, without any, as it was taught.

    `images` are the images of each category by its id.
    """
    register, wanted = view.register, {number for some in images.values() for number in some}
    features = {number: content for number, content in view.features() if number in wanted}
    centres = {centre.home: centre.feature for centre in register.known_centres()}
    for id, some in images.items():
        centres[id] = register.centre_of(np.stack([register.feature_from(features[number]) for number in some]))
    found = {}
    for id in (category.id for category in view.catalogue.live() if category.id in centres):
        for limit in (NEAREST, sys.maxsize):
            near = (each.category for each in register.neighbours(centres[id], inf, limit))
            other = next((each for each in near if each != id), None)
            if other is not None:
                found[id] = other
                break
    return found
