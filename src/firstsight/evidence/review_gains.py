"""What people's words have gained so far, counted from the log. Edits that were undone count for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firstsight.store.authors import PERSON, Author
from firstsight.store.events import Confirmed, Discarded, Event, Merged, Moved, Recorded, Split
from firstsight.store.holdings import AWAY
from firstsight.store.view import View

SAID = (Confirmed, Moved, Split, Merged, Discarded)


@dataclass(frozen=True)
class Gained:
    """Images by what became of them, each counted once, and what that comes to."""

    words: int  # commands of people that are in force
    confirmed: int  # images that a person said are right where they are
    moved: int  # images put into another category, or one of their own
    merged: int  # images whose category was found to be part of another
    discarded: int

    @property
    def put_right(self) -> int:
        """Answers that are others now: a person is taken at their word. What was confirmed was right before."""
        return self.moved + self.merged + self.discarded

    @property
    def sentence(self) -> str:
        """
        >>> Gained(words=4, confirmed=1, moved=2, merged=9, discarded=0).sentence
        '4 answers put 11 images right and confirmed 1.'
        >>> Gained(1, 1, 0, 0, 0).sentence
        '1 answer put no image right and confirmed 1.'
        >>> Gained(0, 0, 0, 0, 0).sentence
        'Nothing has been reviewed yet.'
        """
        if not self.words:
            return "Nothing has been reviewed yet."
        answers = "1 answer" if self.words == 1 else f"{self.words:,} answers"
        right = {0: "no image", 1: "1 image"}.get(self.put_right, f"{self.put_right:,} images")
        also = f" and confirmed {self.confirmed:,}" if self.confirmed else ""
        return f"{answers} put {right} right{also}."


def gained(view: View) -> Gained:
    """What review has gained: reads the edits, so its time grows with them and not with the images."""
    said = [each for each in view.edits() if _counts(view, each)]
    moved, confirmed, discarded = set[int](), set[int](), set[int]()
    for each in said:
        match each.event:
            case Moved(images=images, homes=homes, to=to):
                moved |= {image for image, home in zip(images, homes, strict=True) if home != to}
                confirmed |= {image for image, home in zip(images, homes, strict=True) if home == to}
            case Split(images=images):
                moved |= {*images}
            case Confirmed(images=images):
                confirmed |= {*images}
            case Discarded(images=images):
                discarded |= {*images}
    there = {image for image in moved | confirmed if view.catalogue.has_image(image)}
    merged = _merged(view, [each.event for each in said], moved)
    commands = len({each.command for each in said})
    return Gained(commands, len(there & confirmed - moved), len(there & moved), merged, len(discarded))


def _counts(view: View, recorded: Recorded) -> bool:
    by_person = Author.of(recorded.event.by).kind == PERSON.kind
    return by_person and isinstance(recorded.event, SAID) and not view.is_undone(recorded.number)


def _merged(view: View, said: Sequence[Event], moved: set[int]) -> int:
    """The images that merges put right: those that joined a known category, or else the fewer of the two sides."""
    catalogue = view.catalogue
    here = (catalogue.flags.values() & AWAY == 0) & ~np.isin(catalogue.numbers.values(), list(moved))
    sizes = np.bincount(catalogue.homes.values()[here], minlength=len(catalogue.order)).tolist()
    put_right = 0
    for event in said:
        if isinstance(event, Merged):
            at, into = (catalogue.categories[id] for id in (event.category, event.into))
            joined = sizes[at.position]
            put_right += joined if into.known else min(joined, sizes[into.position])
            sizes[into.position] += joined
    return put_right
