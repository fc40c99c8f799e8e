"""What a person may want to look at: unsure, discarded, what may be one or two, and what happened."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query

from firstsight.core.protocols import Silent
from firstsight.serve.api.editing import edited
from firstsight.serve.routes import Editor, Heavy, Limit, Offset, TheService
from firstsight.serve.schemas import (
    LARGEST,
    AllDiscarded,
    AllReconsidered,
    Count,
    Counts,
    Discarded,
    Edited,
    Event,
    Halves,
    History,
    Image,
    Reconsider,
    Reconsidered,
    Splits,
    Suggestion,
    Suggestions,
    Unsure,
)
from firstsight.store import reconsider, sightings, views
from firstsight.store.events import Recorded
from firstsight.store.splits import suggest_splits
from firstsight.store.suggest import suggest
from firstsight.store.view import View

router = APIRouter(prefix="/api", tags=["looking"])

Below = Annotated[float, Query(ge=0, le=1, description="Answers that are less sure than this.")]
OfCategory = Annotated[str | None, Query(description="Only this category, by id or name.", max_length=1000)]
Numbered = Annotated[int | None, Query(ge=1, lt=LARGEST)]
Few = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]


@router.get("/unsure", operation_id="unsure")
def unsure(service: TheService, below: Below = 0.5, limit: Few = 20) -> Unsure:
    """Images a person should look at, the least sure first; not those someone placed or confirmed."""
    found, silent = views.unsure(service.view(), below, limit)
    return Unsure(images=[Image.model_validate(each) for each in found], silent=silent)


@router.get("/discarded", operation_id="discarded")
def discarded(service: TheService, offset: Offset = 0, limit: Limit = 100) -> AllDiscarded:
    """Images that a person discarded, with the event that undo takes to bring them back."""
    found = views.discarded(service.view())
    some = [Discarded.model_validate(each) for each in found[offset : offset + limit]]
    return AllDiscarded(total=len(found), images=some)


@router.get("/history", operation_id="history")
def history(
    service: TheService,
    category: OfCategory = None,
    image: Numbered = None,
    before: Annotated[int | None, Query(ge=1, lt=LARGEST, description="Only events before this one.")] = None,
    limit: Few = 50,
) -> History:
    """What happened, the latest last, with the numbers undo and redo take."""
    view = service.view()
    id = None if category is None else view.category(category).id
    newest = (each for each in _newest(view, before) if views.touches(each, id, image))
    return History(events=[Event.of(view, each) for each in islice(newest, limit)][::-1])


@router.get("/suggestions", operation_id="suggestions")
def suggestions(service: TheService, _: Heavy, limit: Few = 20) -> Suggestions:
    """Pairs of categories that may be the same, the likeliest first, with the reason."""
    found = suggest(service.view(), limit)
    return Suggestions(suggestions=[Suggestion.model_validate(each) for each in found])


@router.get("/splits", operation_id="splits")
def splits(service: TheService, _: Heavy, category: OfCategory = None, limit: Few = 20) -> Splits:
    """Categories worth a look, as they may hold two things, with the reason; what lies farthest apart first."""
    found = suggest_splits(service.view(), limit, category)
    return Splits(splits=[Halves.model_validate(each) for each in found])


@router.get("/reconsider", operation_id="reconsider")
def to_reconsider(service: TheService, _: Heavy, limit: Few = 20) -> AllReconsidered:
    """Images that would be answered otherwise by now, the surest first; not those someone placed or confirmed."""
    found = reconsider.reconsider(service.view(), Silent())
    return AllReconsidered(total=len(found), images=[Reconsidered.model_validate(each) for each in found[:limit]])


@router.post("/reconsider", operation_id="apply_reconsider")
def apply_reconsider(body: Reconsider, service: TheService, _: Heavy, by: Editor) -> Edited:
    """Move the images that would be answered otherwise by now; one undo takes all of it back."""
    found = reconsider.reconsider(service.view(), Silent())[: body.limit]
    return edited(service, reconsider.apply(service.store, found) if found else [])


@router.get("/days", operation_id="days")
def days(service: TheService, _: Heavy, category: OfCategory = None, offset: Offset = 0, limit: Limit = 1000) -> Counts:
    """How many images of each category were taken on each day."""
    return _counts(*sightings.by_day(service.view(), category), offset, limit)


@router.get("/places", operation_id="places")
def places(
    service: TheService,
    _: Heavy,
    within: Annotated[float, Query(ge=1, le=1e7, description="Metres of a square that counts as one place.")] = 1000,
    category: OfCategory = None,
    offset: Offset = 0,
    limit: Limit = 1000,
) -> Counts:
    """How many images of each category were taken at each place."""
    return _counts(*sightings.by_place(service.view(), within, category), offset, limit)


def _newest(view: View, before: int | None) -> Iterator[Recorded]:
    if before is None or before > view.last:
        return view.newest()
    return (view.event(number) for number in range(before - 1, 0, -1))


def _counts(found: list[sightings.Count], unknown: int, offset: int, limit: int) -> Counts:
    some = [Count.model_validate(each) for each in found[offset : offset + limit]]
    return Counts(total=len(found), counts=some, unknown=unknown)
