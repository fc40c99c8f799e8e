"""Images of the register: where each is, its picture, and why it is there."""

from __future__ import annotations

import io
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from PIL import Image as Pillow

from firstsight.core.errors import ImageError, NotFound
from firstsight.data.images import ImageLike, decode
from firstsight.data.strip import stripped
from firstsight.data.thumbnails import LARGE, SIDE
from firstsight.evidence.explain import explain as gather
from firstsight.serve.api.answering import IMAGES_BODY, one_image
from firstsight.serve.routes import Heavy, Limit, TheService, in_turn
from firstsight.serve.schemas import LARGEST, Image, Images
from firstsight.store import views
from firstsight.store.originals import Originals
from firstsight.store.view import View

router = APIRouter(prefix="/api", tags=["images"])

Number = Annotated[int, Path(ge=1, lt=LARGEST, description="An image's number.")]
PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("/images", operation_id="list_images")
def list_images(
    service: TheService,
    before: Annotated[int | None, Query(ge=1, lt=LARGEST, description="Only images before this one.")] = None,
    limit: Limit = 100,
) -> Images:
    """Images of all categories, the newest first."""
    view = service.view()
    numbers = view.catalogue.columns()[0]
    end = len(numbers) if before is None else int((numbers < before).sum())
    some = numbers[max(0, end - limit) : end][::-1].tolist()
    return Images(total=len(numbers), images=[Image.model_validate(views.member(view, each)) for each in some])


@router.get("/images/{number}", operation_id="show_image")
def show_image(number: Number, service: TheService) -> Image:
    """One image: its category, how it came there, and what it tells of itself."""
    return Image.model_validate(_member(service.view(), number))


@router.get("/images/{number}/picture", operation_id="picture", response_class=Response, responses=PICTURE)
def picture(number: Number, service: TheService, request: Request) -> Response:
    """The picture as it came, or the part of a frame that it is."""
    view = service.view()
    member = _member(view, number)
    return _picture(
        request, member.content, lambda: _as_it_came(Originals(view.pictures).picture(member), member.withheld)
    )


@router.get("/images/{number}/thumbnail", operation_id="thumbnail", response_class=Response, responses=PICTURE)
def thumbnail(
    number: Number,
    service: TheService,
    request: Request,
    side: Annotated[int, Query(description=f"Pixels of its side: {SIDE} or {LARGE}.")] = SIDE,
) -> Response:
    """A small square of the picture."""
    if side not in (SIDE, LARGE):
        raise NotFound(f"there are no thumbnails of {side} pixels", f"ask for {SIDE} or {LARGE}")
    view = service.view()
    member = _member(view, number)

    def make() -> tuple[bytes, str]:
        content = Originals(view.pictures).thumbnail(member, side)
        return content, "image/webp" if content.startswith(b"RIFF") else "image/jpeg"

    return _picture(request, f"{member.content}-{side}", make)


@router.get("/images/{number}/explain", operation_id="explain_image")
def explain_image(number: Number, service: TheService, _: Heavy) -> dict[str, Any]:
    """Why an image of the register is where it is: the answer it was given, and what would be answered today."""
    found: dict[str, Any] = _finite(gather(service.model, number, store=service.store).as_dict())
    return found


@router.post("/explain", operation_id="explain", openapi_extra=IMAGES_BODY)
async def explain(request: Request, service: TheService) -> dict[str, Any]:
    """Why an image would be what it would be; nothing is recorded."""
    upload = await one_image(request, service)
    found: dict[str, Any] = _finite(
        await in_turn(request, lambda: gather(service.model, upload, store=service.store).as_dict())
    )
    return found


def _member(view: View, number: int) -> views.Member:
    if not view.catalogue.has_image(number):
        raise NotFound(f"there is no image {number}", hint="show")
    return views.member(view, number)


def _as_it_came(found: ImageLike, withheld: bool) -> tuple[bytes, str]:
    """A picture's bytes and their type; without metadata where none was to be kept."""
    if not isinstance(found, bytes):  # a part of a frame
        buffer = io.BytesIO()
        decode(found).save(buffer, "JPEG", quality=95)
        return buffer.getvalue(), "image/jpeg"
    if withheld:
        found = stripped(found)[0]
    with Pillow.open(io.BytesIO(found)) as opened:
        return found, Pillow.MIME.get(str(opened.format), "application/octet-stream")


def _picture(request: Request, tag: str, make: Callable[[], tuple[bytes, str]]) -> Response:
    headers = {"ETag": f'"{tag}"', "Cache-Control": "private, max-age=600"}
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    try:
        content, kind = make()
    except ImageError as error:
        raise NotFound(f"there is no picture: {error.what}") from None
    return Response(content, media_type=kind, headers=headers)


def _finite(value: Any) -> Any:
    """JSON has no infinity: none."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value
