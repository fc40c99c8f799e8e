"""Frames in which a detector found nothing: kept as looked at, of no category, and no lesson for any."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from firstsight.core.errors import ImageError
from firstsight.core.sightings import KEPT
from firstsight.data.images import ImageLike, describe, read
from firstsight.data.metadata import sighting_of
from firstsight.store.authors import RULE
from firstsight.store.draft import Draft
from firstsight.store.events import FoundEmpty, Recorded, as_text
from firstsight.store.store import Store


class Kept(NamedTuple):
    """What came of it: the events, one command, and the frames that could not be read."""

    recorded: list[Recorded]
    errors: list[ImageError]


def keep_empty(store: Store, frames: Iterable[ImageLike], metadata: bool = True, again: bool = False) -> Kept:
    """Record frames without anything in them, as one command; those that are here already only with `again`."""
    events, errors = [], []
    for frame in frames:
        try:
            picture, content = read(frame)
        except ImageError as error:
            errors.append(error)
            continue
        told = sighting_of(frame, picture, metadata)
        named = os.path.abspath(frame) if isinstance(frame, str | Path) else describe(frame)  # noqa: PTH100 - keeps links
        events.append(FoundEmpty(as_text(named), content, **{name: getattr(told, name) for name in KEPT}))

    def record(draft: Draft) -> None:
        here: set[bytes] = set()
        for event in events:
            if again or not (event.content in here or _is_here(draft, event.content)):
                draft.append(event)
            here.add(event.content)

    return Kept(store.edit(record, RULE), errors)


def _is_here(draft: Draft, content: bytes) -> bool:
    found = draft.catalogue.contents.candidates(content, draft.start)
    every = (draft.fetch(number).event for number in found if draft.catalogue.is_empty(number))
    return any(isinstance(event, FoundEmpty) and event.content == content for event in every)
