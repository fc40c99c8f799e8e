"""What a person should look at next: questions about a register, those first that put most right for a click.

What takes long to find out (`find`: merges, splits, second thoughts) is found once, in the background where there is
one. The queue is then made of that and of a view in milliseconds, also of a later view: what was settled since is left
out. Changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from heapq import nlargest, nsmallest
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Progress, Silent, WeighsPairs
from firstsight.core.threads import one_thread
from firstsight.evidence import review_items as items
from firstsight.evidence import review_odds as odds
from firstsight.evidence.review_gains import Gained, gained
from firstsight.evidence.review_images import Images
from firstsight.evidence.review_items import Act, Item, Worth
from firstsight.store.events import Merged
from firstsight.store.reconsider import Reconsidered, reconsider
from firstsight.store.splits import SplitSuggestion, suggest_splits
from firstsight.store.suggest import Suggestion, suggest
from firstsight.store.view import View

__all__ = [
    "Act",
    "Findings",
    "Gained",
    "Item",
    "Review",
    "Worth",
    "expected",
    "find",
    "gained",
    "queue",
    "worth_stopping",
]

MERGES, SPLITS, IMAGES = 1000, 200, 2000  # findings that are kept, the likeliest
TOGETHER = 12  # images that a person can look at in one question
AHEAD = 20  # clicks to look ahead
LITTLE = 0.25  # images a click, below which it is worth stopping


@dataclass(frozen=True)
class Findings:
    """What takes long to find out, as of the event `last`."""

    last: int
    undone: frozenset[int]  # events that were taken back by then
    merges: tuple[tuple[Suggestion, float], ...] = ()  # with how probable each is among those of the same category
    splits: tuple[SplitSuggestion, ...] = ()
    again: tuple[Reconsidered, ...] = ()  # images that would now be answered otherwise
    sure: dict[int, float] = field(default_factory=dict)  # of the least sure images, how sure the register is by now


def find(view: View, progress: Progress | None = None) -> Findings:
    """Ask the register about all categories and images there are. Seconds to minutes; nobody has to wait meanwhile."""
    merges, splits = suggest(view, sys.maxsize), suggest_splits(view, SPLITS)
    shares = odds.shares(merges, isinstance(view.register, WeighsPairs))
    likely = nlargest(MERGES, zip(merges, shares, strict=True), key=lambda pair: pair[1])
    again = reconsider(view, progress or Silent())[:IMAGES]
    undone = frozenset(view.catalogue.undone)
    return Findings(view.last, undone, tuple(likely), tuple(splits), tuple(again), _sure_by_now(view))


@one_thread()
def _sure_by_now(view: View) -> dict[int, float]:
    """Images are answered before much is known; asked again, many that were unsure are not."""
    register, images, sure = view.register, Images(view), {}
    for number in images.numbers[images.least_sure(IMAGES)].tolist():
        category = view.category_of(number)
        taught = category if view.catalogue.lesson(number) else None  # what it taught itself does not count
        answer = register.match(register.feature_from(view.assigned(number).feature), without=taught)
        if answer.category == category and answer.confidence is not None:
            sure[number] = answer.confidence
    return sure


def queue(view: View, limit: int, skipped: Collection[str] = ()) -> list[Item]:
    """The questions worth most for a click, the best first, found anew; without those whose ids are `skipped`."""
    return Review(view, find(view)).queue(limit, skipped)


class _Asked(NamedTuple):
    """A question before it is worded: of very many, few are."""

    id: str
    expects: Worth
    word: Callable[[Worth], Item]

    @property
    def rank(self) -> tuple[float, str]:
        return -self.expects.per_click, self.id


class Review:
    """The questions about a view, by what was found at it or before it. It never changes, so threads may share one.

    Before anything was found, small categories and unsure images are asked about.

    >>> from firstsight import Discoverer, Store, fit_features
    >>> model = fit_features([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], ["ant", "ant", "bee", "bee"])
    >>> store = Store.in_memory(model.register(), model.provenance)
    >>> answers = list(Discoverer(model, store=store).discover_many(np.array([[0, 1], [-1, -1]], dtype=np.float32)))
    >>> review = Review(store.view(), find(store.view()))
    >>> item = review.next()
    >>> item.question, item.accept.words
    ('Is new-1 a category of its own?', 'yes, it is new')
    >>> event = item.accept.do(store, by="Ann")
    >>> review = review.at(store.view())  # in milliseconds; find anew now and then, in the background
    >>> item.id in [each.id for each in review.queue(10)]
    False
    >>> gained(store.view()).sentence
    '1 answer put no image right and confirmed 1.'
    """

    def __init__(self, view: View, findings: Findings | None = None) -> None:
        self.view = view
        self.findings = findings or Findings(view.last, frozenset(view.catalogue.undone))
        self._images = Images(view)

    def at(self, view: View) -> Review:
        """The same for a later view, without finding anew: what is settled by then is not asked."""
        return Review(view, self.findings)

    def next(self, skipped: Collection[str] = ()) -> Item | None:
        """The one question worth most."""
        return next(iter(self.queue(1, skipped)), None)

    def queue(self, limit: int, skipped: Collection[str] = ()) -> list[Item]:
        """The questions worth most for a click, the best first; equals by their ids."""
        skip = frozenset(skipped)
        asked = (*self._asked, *self._unsure(limit + len(skip)))
        best = nsmallest(limit, (each for each in asked if each.id not in skip), key=lambda each: each.rank)
        return [each.word(each.expects) for each in best]

    @cached_property
    def _asked(self) -> tuple[_Asked, ...]:
        """All questions but those about unsure images, which may be very many."""
        return *self._splits(), *self._merges(), *self._elsewhere(), *self._tentative()

    def _splits(self) -> Iterator[_Asked]:
        images = self._images
        for each in self.findings.splits:
            parts = [images.places(part) for part in (each.images, each.rest)]
            if all(images.all_in(part, each.category) for part in parts):
                seen = [bool(images.placed[part].any()) for part in parts]
                if not all(seen):
                    word = partial(items.split, self.view, each)
                    yield _Asked(f"split:{each.category}:{each.images[0]}", odds.split(each, any(seen)), word)

    def _merges(self) -> Iterator[_Asked]:
        images = self._images
        for (category, into), (each, share) in self._pairs.items():
            size = images.size(category)
            chance = odds.is_one(share, size, images.is_known(into))
            reason = f"{each.reason}; of such pairs about {100 * chance:.0f} in 100 are one"
            word = partial(items.merge, self.view, category, into, reason)
            yield _Asked(f"merge:{category}:{into}", odds.merge(chance, size), word)

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], tuple[Suggestion, float]]:
        """The suggested merges that are still open: smaller and larger category, with what was found."""
        images, resolve = self._images, self.view.catalogue.resolve
        rejected = self._rejected()
        pairs: dict[tuple[str, str], tuple[Suggestion, float]] = {}
        for found in self.findings.merges:
            each, _ = found
            ends = sorted({resolve(each.category), resolve(each.into)}, key=images.standing)
            if len(ends) < 2 or not all(map(images.is_there, ends)) or frozenset(ends) in rejected:
                continue
            if images.size(ends[0]) and not images.is_known(ends[0]) and not images.is_settled(ends[0]):
                pairs.setdefault((ends[0], ends[1]), found)
        return pairs

    def _rejected(self) -> set[frozenset[str]]:
        """Pairs that a person merged and parted again since the findings."""
        since = self.view.catalogue.undone - self.findings.undone
        events = (self.view.event(number).event for number in since)
        resolve = self.view.catalogue.resolve
        return {frozenset((resolve(e.category), resolve(e.into))) for e in events if isinstance(e, Merged)}

    def _elsewhere(self) -> Iterator[_Asked]:
        """Images that go the same way are asked about together, the surest first."""
        way = sorted(self._again, key=lambda each: (each.category, each.now, -(each.confidence or 0), each.image))
        for (here, there), group in groupby(way, key=lambda each: (each.category, each.now)):
            many = list(group)
            for some in (many[start : start + TOGETHER] for start in range(0, len(many), TOGETHER)):
                numbers = tuple(each.image for each in some)
                sure = [odds.UNTOLD if each.confidence is None else each.confidence for each in some]
                word = partial(items.elsewhere, self.view, numbers, here, there, sum(sure) / len(sure))
                yield _Asked(items.elsewhere_id(numbers, here, there), odds.elsewhere(sure), word)

    @cached_property
    def _again(self) -> list[Reconsidered]:
        """The second thoughts that are still open."""
        images, found = self._images, self.findings.again
        places = images.places([each.image for each in found]).tolist()
        return [
            each
            for each, at in zip(found, places, strict=True)
            if at >= 0
            and images.open[at]
            and images.owners[at] == images.position(each.category)
            and images.is_there(each.now)
        ]

    def _tentative(self) -> Iterator[_Asked]:
        images = self._images
        elsewhere = {each.category for each in self._again}
        for position in images.tentative.tolist():
            id = self.view.catalogue.order[position]
            if id not in elsewhere:
                word = partial(items.tentative, self.view, id)
                yield _Asked(f"tentative:{id}", odds.tentative(images.size(id)), word)

    def _unsure(self, most: int) -> Iterator[_Asked]:
        """The least sure images that nothing else is asked about, so many and their equals."""
        images, sure = self._images, self._confidences
        other = np.isin(images.owners, images.tentative)
        other[images.places([each.image for each in self._again])] = True
        for at in images.least_sure(most, sure, other).tolist():
            number, chance = int(images.numbers[at]), float(sure[at])
            yield _Asked(f"unsure:{number}", odds.unsure(chance), partial(items.unsure, self.view, number, chance))

    @cached_property
    def _confidences(self) -> NDArray[np.float64]:
        """As the images were answered or, where that was found, as of the findings."""
        images, found = self._images, self.findings.sure
        at = images.places(list(found))
        sure: NDArray[np.float64] = images.confidences.copy()
        sure[at[at >= 0]] = np.array(list(found.values()))[at >= 0]
        return sure


def expected(questions: Sequence[Item], clicks: int = AHEAD) -> float:
    """How many images the next clicks are expected to put right.

    Questions are taken in turn, each for the clicks it is expected to take; of the last one, the share that still
    fits. Every one counts its own images, as if the answers to the others changed nothing: two that would put the
    same image right count it twice, and what the register learns by an answer does not count.
    """
    put_right, left = 0.0, float(clicks)
    for each in questions:
        taken = min(left, each.expects.clicks)
        put_right, left = put_right + taken * each.worth, left - taken
    return put_right


def worth_stopping(questions: Sequence[Item], clicks: int = AHEAD) -> str | None:
    """A sentence where what is left is worth little: less than one image put right in four clicks; else None.

    By `expected`, so it needs a queue of at least so many clicks. What is worth a click is the person's to say: a rare
    species may be worth a hundred.
    """
    if not questions:
        return "Nothing is left to look at."
    about = expected(questions, clicks)
    if about >= LITTLE * clicks:
        return None
    number = "no image" if about < 0.5 else "about one image" if about < 1.5 else f"about {about:.0f} images"
    return f"The next {clicks} clicks are expected to put right {number}: a good moment to stop."
