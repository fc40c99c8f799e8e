"""Categories that may hold two things, with the images of either and the reason.

The features of a category are cut in two where they fall apart best. A register that can weighs two categories
against one; the others say how clearly the parts lie apart. What a person said is not questioned: neither parts that
a person merged, nor parts that each hold images a person placed, nor a split that was taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firstsight.core.protocols import FindsHalves, Halves, RehearsesSplits
from firstsight.core.rehearsed import Rehearsed
from firstsight.core.threads import one_thread
from firstsight.store.catalogue import Catalogue
from firstsight.store.events import Split
from firstsight.store.view import View

ALIKE = 0.6  # of the images on the same side, where a cut is by and large one that a person has mended


@dataclass(frozen=True)
class SplitSuggestion:
    """Split `images` off from `category`? They are the smaller part, `rest` the larger; both in order of arrival."""

    category: str  # its id
    images: tuple[int, ...]
    rest: tuple[int, ...]
    score: float  # the larger, the rather; comparable within one register
    reason: str
    rehearsed: Rehearsed | None = None  # how often such splits were right in rehearsal, where that was tried


@one_thread()
def suggest_splits(view: View, limit: int = 20, category: str | None = None) -> list[SplitSuggestion]:
    """Those worth a look, the farthest apart first: of all categories or of one, by id or name. Nobody has to wait.

    Empty where no category seems to hold two things, or where the register cannot tell.
    """
    register, catalogue = view.register, view.catalogue
    if not isinstance(register, FindsHalves):
        return []
    rehearsed = register.rehearsed_splits if isinstance(register, RehearsesSplits) else None
    wanted = None if category is None else view.category(category).id
    found = []
    for id, members in _members(view, wanted).items():
        once = {content: feature for _, content, feature in members}  # the same image twice says nothing more
        halves = register.halves(np.stack([register.feature_from(each) for each in once.values()]))
        if halves is not None:
            second = dict(zip(once, halves.second.tolist(), strict=True))
            made = _suggestion(id, [(number, second[content]) for number, content, _ in members], halves, rehearsed)
            if not _questions_a_person(view, made):
                found.append(made)
    return sorted(found, key=lambda each: (-each.score, catalogue.categories[each.category].position))[:limit]


def _members(view: View, wanted: str | None) -> dict[str, list[tuple[int, int, bytes]]]:
    """The images of every category, or of one: number, the beginning of the content's digest, feature."""
    catalogue = view.catalogue
    numbers, owners, _ = catalogue.columns()
    owner = dict(zip(numbers.tolist(), owners.tolist(), strict=True))
    digest = dict(zip(catalogue.numbers.values().tolist(), catalogue.keys.values().tolist(), strict=True))
    members: dict[str, list[tuple[int, int, bytes]]] = {}
    for number, feature in view.features():
        if number in owner and wanted in (None, id := catalogue.order[owner[number]]):
            members.setdefault(id, []).append((number, digest[number], feature))
    return members


def _suggestion(
    id: str, members: Sequence[tuple[int, bool]], halves: Halves, rehearsed: Rehearsed | None
) -> SplitSuggestion:
    parts = [tuple(number for number, second in members if second == wanted) for wanted in (True, False)]
    off, rest = sorted(parts, key=len)
    return SplitSuggestion(id, off, rest, halves.score, halves.reason, rehearsed)


def _questions_a_person(view: View, made: SplitSuggestion) -> bool:
    catalogue = view.catalogue
    if all(any(catalogue.placed(image) for image in part) for part in (made.images, made.rest)):
        return True
    return _merged(catalogue, made) or any(
        isinstance(edit.event, Split)
        and catalogue.undone & {edit.number}
        and set(edit.event.images) in (set(made.images), set(made.rest))
        for edit in view.edits()
    )


def _merged(catalogue: Catalogue, made: SplitSuggestion) -> bool:
    """Whether the parts are by and large those that were merged."""
    ((home, _),) = Counter(catalogue.home(image) for image in made.images).most_common(1)
    own = [catalogue.home(image) == home for image in made.images]
    others = [catalogue.home(image) != home for image in made.rest]
    return min(sum(own) / len(own), sum(others) / len(others)) >= ALIKE
