"""The map: where the images are in the plane, all of them or what changed, and laying it out anew."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from firstsight.data.source import PACK
from firstsight.evidence.map_bytes import map_bytes
from firstsight.serve.routes import Editor, TheService
from firstsight.store.originals import Originals
from firstsight.store.view import View
from firstsight.store.views import member

router = APIRouter(prefix="/api", tags=["map"])

FEW = 8
BINARY = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


class Laying(BaseModel):
    """A map that is not there yet."""

    working: bool = Field(description="whether it is being laid out now")
    images: int = Field(description="how many there are to lay out")
    failed: str | None = Field(description="why the last try came to nothing")


@router.get(
    "/map",
    operation_id="map_of_images",
    response_class=Response,
    responses={
        200: {**BINARY, "description": "The map, as `evidence/map_bytes.py` writes it."},
        202: {"model": Laying, "description": "It is being laid out; ask again."},
        304: {"description": "It is as it was."},
    },
)
def map_of_images(
    service: TheService,
    since: Annotated[int | None, Query(ge=0, description="The last event one has the map of.")] = None,
    layout: Annotated[str, Query(max_length=64, description="The layout one has.")] = "",
    known: Annotated[str, Header(alias="If-None-Match", description="The map one has.")] = "",
) -> Response:
    """Where all images are, of which category; only what changed where that can be told. The first to ask starts it."""
    plane, view = service.map, service.view()
    placed, headers = plane.at(view), {"Cache-Control": "private, no-cache"}
    if placed is None:
        count = len(view.catalogue.columns()[0])
        if count and not plane.failed:
            plane.begin(view)
        return JSONResponse(Laying(working=plane.working, images=count, failed=plane.failed).model_dump(), 202, headers)
    if placed.outgrown and not plane.failed:
        plane.begin(view)
    id = placed.layout.id
    before = plane.moment(since) if since is not None and since <= view.last and layout == id else None
    begins = "" if before is None else f"-{before.last}"
    headers["ETag"] = f'"{id}-{view.last}{begins}{"-working" if plane.working else ""}"'
    if known == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    plane.remember(view)
    state = {"working": plane.working, "failed": plane.failed, "pictures": _pictured(view)}
    content = map_bytes(placed, view.catalogue, before, **state)
    return Response(content, media_type="application/octet-stream", headers=headers)


@router.post("/map/layout", operation_id="lay_out_map", status_code=202)
def lay_out_map(service: TheService, by: Editor) -> Laying:
    """Lay the map out anew in the background: all images may move. The map is the old one until that is done."""
    plane, view = service.map, service.view()
    plane.begin(view)
    return Laying(working=plane.working, images=len(view.catalogue.columns()[0]), failed=plane.failed)


def _pictured(view: View) -> bool:
    """Whether it is worth asking for thumbnails: of a few images at least one has a picture."""
    originals, numbers = Originals(view.pictures), view.catalogue.columns()[0]
    some = (member(view, int(number)) for number in numbers[:: max(1, len(numbers) // FEW)])
    return any(f"{PACK}:" in each.source or (each.content and originals.file(each) is not None) for each in some)
