"""What people say of categories and images. Every edit answers with what it recorded, and what takes it back."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from firstsight.core.errors import BadRequest, Conflict
from firstsight.serve.api.categories import Named
from firstsight.serve.routes import Editor, TheService
from firstsight.serve.schemas import (
    Edited,
    Event,
    Merge,
    Move,
    NewRadius,
    Promote,
    Radius,
    Redo,
    Rename,
    SomeImages,
    SplitAuto,
    SplitOff,
    Undo,
)
from firstsight.serve.service import Service
from firstsight.store import views
from firstsight.store.draft import Draft
from firstsight.store.events import Recorded
from firstsight.store.splits import suggest_splits

router = APIRouter(prefix="/api", tags=["editing"])


@router.post("/categories/{category:path}/rename", operation_id="rename")
def rename(category: Named, body: Rename, service: TheService, by: Editor) -> Edited:
    """Give a category a name; its id stays and keeps working."""
    return edited(service, [service.store.rename(category, body.name, by)])


@router.post("/categories/{category:path}/promote", operation_id="promote")
def promote(category: Named, body: Promote, service: TheService, by: Editor) -> Edited:
    """Make a discovered category a known one, without fitting anew: it keeps all it has learned."""
    return edited(service, service.store.edit(lambda draft: draft.promote(category, body.name), by))


@router.post("/categories/{category:path}/merge", operation_id="merge")
def merge(category: Named, body: Merge, service: TheService, by: Editor) -> Edited:
    """Make a category, and others with it, part of another; whatever matches them from now on goes there."""
    view = service.view()
    meant = {view.category(each).id: each for each in (*body.also, category)}.values()
    return edited(service, service.store.edit(lambda draft: [draft.merge(each, body.into) for each in meant], by))


@router.post("/categories/{category:path}/split", operation_id="split_category")
def split_category(category: Named, body: SplitAuto, service: TheService, by: Editor) -> Edited:
    """Split a category in two, as `splits` proposes."""
    view = service.view()
    found = suggest_splits(view, 1, category)
    if not found:
        called = views.label(view, view.category(category).id)
        raise Conflict(f"{called} does not seem to hold two things", "name the images: POST /api/images/split")
    return edited(service, [service.store.split(found[0].images, body.name, by)])


@router.post("/categories/{category:path}/discard", operation_id="discard_category")
def discard_category(category: Named, service: TheService, by: Editor) -> Edited:
    """Say that a discovered category is of nothing: it goes, with all its images."""
    return edited(service, [service.store.discard_category(category, by)])


@router.post("/images/split", operation_id="split")
def split(body: SplitOff, service: TheService, by: Editor) -> Edited:
    """Give images a new category of their own, with its own centre."""
    return edited(service, [service.store.split(numbers(service, body), body.name, by)])


@router.post("/images/move", operation_id="move")
def move(body: Move, service: TheService, by: Editor) -> Edited:
    """Put images into a category; they stay there, and the same image offered again follows."""
    return edited(service, [service.store.move(numbers(service, body), body.to, by)])


@router.post("/images/confirm", operation_id="confirm")
def confirm(body: SomeImages, service: TheService, by: Editor) -> Edited:
    """Say that images are where they belong."""
    return edited(service, [service.store.confirm(numbers(service, body), by)])


@router.post("/images/discard", operation_id="discard")
def discard(body: SomeImages, service: TheService, by: Editor) -> Edited:
    """Say that images are of nothing: they leave, teach nothing, and are recognised when they come again."""
    return edited(service, service.store.edit(lambda draft: draft.discard(numbers(service, body)), by))


@router.post("/images/forget", operation_id="forget")
def forget(body: SomeImages, service: TheService, by: Editor) -> Edited:
    """Remove for good where images came from, their content, time, place and camera; it cannot be undone."""
    mark = service.store.forget(numbers(service, body), by)
    return edited(service, [] if mark is None else [mark])


@router.get("/radius", operation_id="get_radius")
def get_radius(service: TheService) -> Radius:
    """How far categories reach."""
    return Radius(radius=service.view().radius)


@router.post("/radius", operation_id="radius")
def radius(body: NewRadius, service: TheService, by: Editor) -> Edited:
    """Set how far categories reach, for the images to come."""
    value = int(body.radius) if body.radius.is_integer() else body.radius
    return edited(service, [service.store.change_radius(value, by)])


@router.post("/undo", operation_id="undo")
def undo(body: Undo, service: TheService, by: Editor) -> Edited:
    """Take back events, each with its whole command, or the last edit; refused where later ones depend on one."""
    if beyond := [number for number in body.events if number > service.view().last]:
        service.view().event(beyond[0])  # which says that there is none

    def take_back(draft: Draft) -> None:
        several = len(body.events) > 1
        meant = sorted((n for n in body.events if not several or draft.can_be_undone(n)), reverse=True)
        if body.events and not meant:
            raise Conflict("none of these events can be undone", hint="history")
        draft.undo(*meant, followers=body.followers)

    return edited(service, service.store.edit(take_back, by))


@router.post("/redo", operation_id="redo")
def redo(body: Redo, service: TheService, by: Editor) -> Edited:
    """Bring back what was undone."""
    return edited(service, [service.store.redo(body.event, by)])


def numbers(service: Service, body: SomeImages) -> list[int]:
    """The images that are meant, each once."""
    found = views.image_numbers(service.view(), [str(each) for each in body.images])
    if not found:
        raise BadRequest("name at least one image")
    return list(dict.fromkeys(found))


def edited(service: Service, recorded: Sequence[Recorded]) -> Edited:
    """What was recorded, as clients see it."""
    view = service.view()
    for_good = any(each.kind == "Forgotten" for each in recorded)
    undo = recorded[0].command if recorded and not for_good else None
    return Edited(events=[Event.of(view, each) for each in recorded], undo=undo)
