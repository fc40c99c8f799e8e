"""One category: all its images, what is near it, what happened to it."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from fastapi import Query
from fastapi.responses import HTMLResponse
from numpy.typing import NDArray

from firstsight.core.threads import one_thread
from firstsight.serve.site.cards import Card, card_of, support, tiles
from firstsight.serve.site.shown import Site, TheSite, pages
from firstsight.serve.site.telling import told
from firstsight.store.browse import history
from firstsight.store.catalogue import Category

router = pages()

PAGE = 60  # images at a time
MOST = 600  # images that are shown again after an edit
NEAR = 4  # categories beside it
STANDING = 50  # of its images, by which what is near is found
EVENTS = 12  # of its history

Sorted: TypeAlias = Literal["oldest", "newest", "unsure"]


@router.get("/categories/{id:path}")
def category(site: TheSite, id: str, order: Sorted = "oldest") -> HTMLResponse:
    """A category by id or name; a merged one stands for what it was merged into."""
    found = site.view.category(id)
    return site.page(
        "category", here="categories", order=order, **_about(site, found), **_some(site, found, order, 0, PAGE)
    )


@router.get("/parts/category")
def category_part(site: TheSite, id: str, part: Literal["title", "beside"]) -> HTMLResponse:
    """What is said of it, again."""
    return site.part(f"category_{part}", **_about(site, site.view.category(id)))


@router.get("/parts/images")
def images_part(
    site: TheSite,
    category: str,
    order: Sorted = "oldest",
    after: Annotated[int, Query(ge=0)] = 0,
    shown: Annotated[list[int] | None, Query(max_length=1000)] = None,
) -> HTMLResponse:
    """More of its images; or, by how many are `shown`, those again."""
    found = site.view.category(category)
    count = PAGE if shown is None else min(MOST, max(shown, default=PAGE))
    return site.part("images", order=order, id=found.id, **_some(site, found, order, after, count))


def _numbers(site: Site, found: Category, order: Sorted) -> NDArray[np.int64]:
    """The numbers of its images, in this order; those that are not unsure stay by age."""
    table = site.table
    own = table.of(found.position)
    if order == "unsure":
        own = own[np.lexsort((own, np.where(table.is_unsure[own], table.sure[own], 1.0)))]
    return table.numbers[own][::-1] if order == "newest" else table.numbers[own]


def _some(site: Site, found: Category, order: Sorted, after: int, count: int) -> dict[str, Any]:
    numbers = _numbers(site, found, order)
    end = after + count
    return {
        "tiles": tiles(site, numbers[after:end].tolist()),
        "shown": min(end, len(numbers)),
        "more": end if end < len(numbers) else None,
    }


def _about(site: Site, found: Category) -> dict[str, Any]:
    return {
        "card": card_of(site, found, 0),
        "id": found.id,
        "merged": [each for each in site.view.catalogue.parts(found.id) if each != found.id],
        "taught": support(site, found, 6),
        "near": _near(site, found),
        "history": [told(site.view, each) for each in history(site.view, found.id, EVENTS)],
    }


@one_thread()
def _near(site: Site, found: Category) -> list[Card]:
    """The categories whose centres are nearest to the middle of its images or, without any, to its own centre."""
    register, view = site.view.register, site.view
    numbers = _numbers(site, found, "newest")[:STANDING].tolist()
    features = [register.feature_from(view.assigned(each).feature) for each in numbers]
    centre = register.centre_of(np.stack(features)) if features else register.feature_from(found.centre)
    candidates = register.neighbours(centre, inf, 8 * NEAR)
    near = dict.fromkeys(view.catalogue.resolve(each.category) for each in candidates)
    others = [view.catalogue.categories[id] for id in near if id != found.id][:NEAR]
    return [card_of(site, each, 1) for each in others]
