"""All categories: found, sorted, renamed in place, merged with a preview."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Query
from fastapi.responses import HTMLResponse

from firstsight.core.errors import BadRequest
from firstsight.serve.site.cards import SAMPLES, Card, card
from firstsight.serve.site.shelf import Order, Which, matching
from firstsight.serve.site.shown import Site, TheSite, pages
from firstsight.store.catalogue import Category

router = pages()

PAGE = 48  # categories at a time
OFFERED = 12  # categories that are offered while one types
SIDE_BY_SIDE = 8  # categories in a preview
PICTURES = 9  # of each there

Text = Annotated[str, Query(max_length=200)]
Page = Annotated[int, Query(ge=1, le=1_000_000)]


@router.get("/categories")
def categories(
    site: TheSite, q: Text = "", which: Which = "all", order: Order = "size", page: Page = 1
) -> HTMLResponse:
    """A page of categories."""
    return site.page("categories", here="categories", **_asked(site, q, which, order, page))


@router.get("/parts/categories")
def categories_part(
    site: TheSite, q: Text = "", which: Which = "all", order: Order = "size", page: Page = 1
) -> HTMLResponse:
    """The list alone; the address of the page follows."""
    asked = _asked(site, q, which, order, page)
    response = site.part("shelf", **asked)
    response.headers["HX-Replace-Url"] = asked["here_address"]
    return response


@router.get("/parts/find")
def find_part(site: TheSite, q: Text = "") -> HTMLResponse:
    """Categories by the beginning of their names, while one types."""
    found = matching(site.view.catalogue.live(), q, OFFERED)
    sizes = site.shelf.sizes
    return site.part("find", found=[(each, int(sizes[each.position])) for each in found])


@router.get("/parts/merge")
def merge_part(site: TheSite, id: Annotated[list[str], Query(max_length=1000)]) -> HTMLResponse:
    """Categories side by side, before they become one."""
    meant = list({(found := site.view.category(each)).id: found for each in id}.values())
    if not 2 <= len(meant) <= SIDE_BY_SIDE:
        raise BadRequest(f"{len(meant)} categories are chosen", f"choose 2 to {SIDE_BY_SIDE} to merge")
    cards = [_card(site, each, PICTURES) for each in meant]
    best = max(cards, key=lambda each: (each.kind == "known", each.images))
    return site.part("merge", cards=cards, ways=[_way(each, cards, each is best) for each in cards])


def _way(into: Card, cards: list[Card], best: bool) -> dict[str, Any]:
    """One of the ways to merge them: which one stays."""
    others = [each.id for each in cards if each is not into]
    return {
        "into": into,
        "act": f"/api/categories/{quote(others[0])}/merge",
        "body": {"into": into.id, "also": others[1:]},
        "best": best,
    }


def _asked(site: Site, q: str, which: Which, order: Order, page: int) -> dict[str, Any]:
    found = site.shelf.lines(which, order, q)
    pages_there = max(1, -(-len(found) // PAGE))
    page = min(page, pages_there)
    said = {"q": q, "which": which, "order": order}
    kept = {name: value for name, value in said.items() if value not in ("", "all", "size")}
    here = f"/categories?{urlencode({**kept, 'page': page})}".replace("?page=1", "").replace("&page=1", "")
    return {
        **said,
        "cards": [_card(site, each) for each in found[(page - 1) * PAGE : page * PAGE]],
        "total": len(found),
        "page": page,
        "pages": pages_there,
        "here_address": here,
        "query": urlencode(kept),
    }


def _card(site: Site, category: Category, pictures: int = SAMPLES) -> Card:
    return card(site, site.shelf.line(category), site.shelf.samples(category, pictures))
