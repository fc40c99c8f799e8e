"""Images and features to be answered: discover records, predict does not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.datastructures import UploadFile

from firstsight.core.errors import BadRequest, FirstsightError, ImageError
from firstsight.discoverer import Given
from firstsight.serve.problems import Refused, problem
from firstsight.serve.routes import Editor, TheService
from firstsight.serve.schemas import Answer, Answered, Answers, FeaturesIn, Problem
from firstsight.serve.service import Service
from firstsight.serve.uploads import Upload, features_from, features_of, plain
from firstsight.serve.worker import Answer as Coming
from firstsight.serve.worker import Busy

router = APIRouter(prefix="/api", tags=["answering"])

IMAGE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
SEVERAL = {"type": "array", "items": {"type": "string", "format": "binary"}}
IMAGES_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One image as it is, or several as the fields `images` of a form.",
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "properties": {"images": SEVERAL}, "required": ["images"]}
            },
            "image/*": IMAGE,
            "application/octet-stream": IMAGE,
        },
    }
}
FEATURES_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Features as JSON, or the file of an array (.npy), one feature a line.",
        "content": {
            "application/json": {"schema": FeaturesIn.model_json_schema()},
            "application/octet-stream": IMAGE,
        },
    }
}
Key = Annotated[
    str, Header(alias="Idempotency-Key", max_length=200, description="A request sent again with its key counts once.")
]
Once = Annotated[bool, Query(description="Recognise images the register holds, and do not count them again.")]
Name = Annotated[str | None, Query(description="What one image is called.", max_length=1000)]


@router.post("/discover", operation_id="discover", openapi_extra=IMAGES_BODY)
async def discover(
    request: Request, service: TheService, by: Editor, once: Once = False, name: Name = None, key: Key = ""
) -> Answers:
    """Tell what images show, and keep the answers: known, discovered earlier, or new."""
    images, alone = await _images(request, service, name)
    return await _answers(images, service.discover(images, once, _own(key, by)), alone, again=bool(key))


@router.post("/predict", operation_id="predict", openapi_extra=IMAGES_BODY)
async def predict(request: Request, service: TheService, name: Name = None) -> Answers:
    """Tell what images show; nothing is recorded."""
    images, alone = await _images(request, service, name)
    return await _answers(images, service.predict(images), alone)


@router.post("/discover/features", operation_id="discover_features", openapi_extra=FEATURES_BODY)
async def discover_features(
    request: Request, service: TheService, by: Editor, once: Once = False, key: Key = ""
) -> Answers:
    """Tell what features show that somebody has already, and keep the answers."""
    features = await _features(request, service)
    return await _answers(features, service.discover(features, once, _own(key, by)), again=bool(key))


@router.post("/predict/features", operation_id="predict_features", openapi_extra=FEATURES_BODY)
async def predict_features(request: Request, service: TheService) -> Answers:
    """Tell what features show; nothing is recorded."""
    features = await _features(request, service)
    return await _answers(features, service.predict(features))


def _own(key: str, by: str | None) -> str:
    """A key of this caller: another's is another."""
    return f"{by or ''}/{key}" if key else ""


async def _images(request: Request, service: Service, name: str | None) -> tuple[list[Upload], bool]:
    """The images of a request, and whether it is one without a form."""
    if not request.headers.get("Content-Type", "").lower().startswith("multipart/form-data"):
        if not (content := await request.body()):
            raise BadRequest("there is no image", "send one as the body, or several as a form's field images")
        return [upload(service, name, content)], True
    return (await form_images(request, service))[0], False


async def one_image(request: Request, service: Service) -> Upload:
    """The only image of a request."""
    images, _ = await _images(request, service, None)
    if len(images) != 1:
        raise BadRequest(f"there are {len(images)} images", "send one")
    return images[0]


async def form_images(request: Request, service: Service, labelled: bool = False) -> tuple[list[Upload], list[str]]:
    """The images of a form and, where they have some, their labels."""
    most = service.settings.images_a_request
    async with request.form(max_files=most, max_fields=most if labelled else 10) as form:
        files = [each for each in form.getlist("images") if isinstance(each, UploadFile)]
        if not files:
            raise BadRequest("there is no image", "send files as the field images")
        images = [upload(service, each.filename, await each.read()) for each in files]
        return images, [each for each in form.getlist("labels") if isinstance(each, str)]


def upload(service: Service, name: str | None, content: bytes) -> Upload:
    """An image as it came, within the limits."""
    largest = service.settings.largest_image
    if len(content) > largest:
        raise Refused(413, f"{plain(name)} has {len(content):,} bytes; an image may have {largest:,}")
    return Upload(plain(name), content)


async def _features(request: Request, service: Service) -> Sequence[Given]:
    content = await request.body()
    if len(content) > service.settings.largest_image:
        raise Refused(413, f"features may have {service.settings.largest_image:,} bytes", "send fewer at a time")
    json = request.headers.get("Content-Type", "").lower().startswith("application/json")
    found = await asyncio.to_thread(features_of if json else features_from, content)
    if not 0 < len(found) <= service.settings.images_a_request:
        raise BadRequest(f"there are {len(found)} features", f"send 1 to {service.settings.images_a_request} at a time")
    return found


async def _answers(
    given: Sequence[Given], coming: Sequence[Coming], alone: bool = False, again: bool = False
) -> Answers:
    """Whatever came of each; a single image's error is the request's.

    With `again` a request can be sent once more without harm, and is to be where some of it could not be recorded.
    """
    done = await asyncio.gather(*map(asyncio.wrap_future, coming), return_exceptions=True)
    if again and (busy := [each for each in done if isinstance(each, Busy)]):
        raise busy[0]
    if alone and isinstance(done[0], BaseException):
        raise done[0]
    return Answers(answers=[_answered(each, what) for each, what in zip(given, done, strict=True)])


def _answered(given: Given, what: object) -> Answered:
    source = str(given) if isinstance(given, Upload) else "feature"
    if isinstance(what, Exception):
        if not isinstance(what, FirstsightError):
            raise what
        source = what.source if isinstance(what, ImageError) else source
        return Answered(source=source, problem=Problem(**problem(what)))
    return Answered(source=source, answer=Answer.of(what))  # type: ignore[arg-type]
