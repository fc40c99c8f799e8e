"""What the register holds, category by category."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Path
from fastapi.responses import Response

from firstsight.core.errors import NotFound
from firstsight.serve.routes import Limit, Offset, TheService
from firstsight.serve.schemas import Categories, Category, Estimate, Image, Images, OneCategory
from firstsight.serve.service import Service
from firstsight.store import views
from firstsight.store.number import number_of_categories

router = APIRouter(prefix="/api", tags=["categories"])

Named = Annotated[str, Path(description="A category's id or name, whatever its capitals.", max_length=1000)]


@router.get("/categories", operation_id="list_categories")
def list_categories(service: TheService, offset: Offset = 0, limit: Limit = 1000) -> Categories:
    """All categories, oldest first: id, name, known or new, how many images, how many placed by people."""
    view = service.view()
    found = views.summaries(view)
    some = [Category.model_validate(each) for each in found[offset : offset + limit]]
    return Categories(total=len(found), number=Estimate(**number_of_categories(view).as_json()), categories=some)


@router.get("/number", operation_id="number")
def number(service: TheService) -> Estimate:
    """How many categories there are in what was seen, by estimate."""
    return Estimate(**number_of_categories(service.view()).as_json())


@router.get("/categories/{category:path}/images", operation_id="category_images")
def category_images(category: Named, service: TheService, offset: Offset = 0, limit: Limit = 100) -> Images:
    """The images of a category in order of arrival, with how each came there."""
    view = service.view()
    numbers = view.images(view.category(category).id)
    some = [Image.model_validate(views.member(view, each)) for each in numbers[offset : offset + limit]]
    return Images(total=len(numbers), images=some)


@router.get("/categories/{category:path}/support/{entry}", operation_id="support_picture", response_class=Response)
def support_picture(category: Named, entry: Annotated[int, Path(ge=0, lt=100_000)], service: TheService) -> Response:
    """A picture that a known category was taught by, counted from 0."""
    id = service.view().category(category).id
    own = support_of(service, id)
    picture = service.model.examples.picture(own[entry]) if service.model.examples and entry < len(own) else None
    if picture is None:
        raise NotFound(f"{id} has {len(own)} support pictures, counted from 0")
    return Response(picture, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=86400"})


@router.get("/categories/{category:path}", operation_id="show_category")
def show_category(category: Named, service: TheService) -> OneCategory:
    """One category by id or name; a merged one stands for what it was merged into."""
    view = service.view()
    id = view.category(category).id
    (found,) = [each for each in views.summaries(view) if each.id == id]
    return OneCategory(**Category.model_validate(found).model_dump(), support=len(support_of(service, id)))


def support_of(service: Service, category: str) -> list[int]:
    """The entries of a model's examples for a category by id; none where it has no pictures."""
    examples, names = service.model.examples, service.model.names
    if examples is None or examples.pictures is None or category not in names:
        return []
    own: list[int] = np.flatnonzero(examples.category == names.index(category)).tolist()
    return own
