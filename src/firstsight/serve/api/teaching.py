"""Labelled images for known or new categories, without fitting anew."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from firstsight.core.errors import BadRequest
from firstsight.serve.api.answering import SEVERAL, form_images
from firstsight.serve.api.editing import edited
from firstsight.serve.routes import Editor, TheService, in_turn
from firstsight.serve.schemas import Answer, Taught
from firstsight.serve.service import Service
from firstsight.serve.uploads import Upload
from firstsight.store.views import touches

router = APIRouter(prefix="/api", tags=["editing"])

LABELS = {"type": "array", "items": {"type": "string"}}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Images as the fields `images` of a form, and as many `labels`, in the same order.",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"images": SEVERAL, "labels": LABELS},
                    "required": ["images", "labels"],
                }
            }
        },
    }
}


@router.post("/teach", operation_id="teach", openapi_extra=BODY)
async def teach(request: Request, service: TheService, by: Editor) -> Taught:
    """Add labelled images to known or new categories, all or none; a label nobody has makes a known category."""
    images, labels = await form_images(request, service, labelled=True)
    if len(images) != len(labels):
        raise BadRequest(f"{len(images)} images need as many labels, and there are {len(labels)}")
    return await in_turn(request, lambda: _taught(service, images, labels, by))


def _taught(service: Service, images: list[Upload], labels: list[str], by: str | None) -> Taught:
    before = service.view().last
    answers = service.teach(images, labels, by)
    taught = {each.image for each in answers}
    edits = [each for each in service.view().events(before) if not each.by_rule]
    own = {each.command for each in edits if any(touches(each, None, image) for image in taught)}
    made = edited(service, [each for each in edits if each.command == min(own)] if own else [])
    return Taught(**made.model_dump(), answers=[Answer.of(each) for each in answers])
