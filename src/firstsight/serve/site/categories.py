"""All categories: found, sorted, renamed in place, merged with a preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import quote, urlencode

from fastapi import Query
from fastapi.responses import HTMLResponse

from firstsight.core.errors import BadRequest
from firstsight.serve.site.cards import Card, card, card_of
from firstsight.serve.site.shown import Site, TheSite, pages
from firstsight.store import browse
from firstsight.store.catalogue import Category
from firstsight.store.table import Kind

router = pages()

PAGE = 48  # categories at a time
OFFERED = 12  # categories that are offered while one types
SIDE_BY_SIDE = 8  # categories in a preview
PICTURES = 9  # of each there

Which: TypeAlias = Literal["all"] | Kind
Text = Annotated[str, Query(max_length=200)]
Page = Annotated[int, Query(ge=1, le=1_000_000)]


@router.get("/categories")
def categories(
    site: TheSite, q: Text = "", which: Which = "all", order: browse.Sort = "size", page: Page = 1
) -> HTMLResponse:
    """A page of categories."""
    return site.page("categories", here="categories", **_asked(site, q, which, order, page))


@router.get("/parts/categories")
def categories_part(
    site: TheSite, q: Text = "", which: Which = "all", order: browse.Sort = "size", page: Page = 1
) -> HTMLResponse:
    """The list alone; the address of the page follows."""
    asked = _asked(site, q, which, order, page)
    response = site.part("shelf", **asked)
    response.headers["HX-Replace-Url"] = asked["here_address"]
    return response


@router.get("/parts/find")
def find_part(site: TheSite, q: Text = "") -> HTMLResponse:
    """Categories by the beginning of their names, while one types."""
    found = matching(site.table.live, q, OFFERED)
    return site.part("find", found=[(each, int(site.table.images[each.position])) for each in found])


@router.get("/parts/merge")
def merge_part(site: TheSite, id: Annotated[list[str], Query(max_length=1000)]) -> HTMLResponse:
    """Categories side by side, before they become one."""
    meant = list({(found := site.view.category(each)).id: found for each in id}.values())
    if not 2 <= len(meant) <= SIDE_BY_SIDE:
        raise BadRequest(f"{len(meant)} categories are chosen", f"choose 2 to {SIDE_BY_SIDE} to merge")
    cards = [card_of(site, each, PICTURES) for each in meant]
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


def _asked(site: Site, q: str, which: Which, order: browse.Sort, page: int) -> dict[str, Any]:
    kind = None if which == "all" else which
    found = browse.categories(site.view, kind, q, order, (page - 1) * PAGE, PAGE)
    pages_there = max(1, -(-found.total // PAGE))
    if page > pages_there:
        return _asked(site, q, which, order, pages_there)
    said = {"q": q, "which": which, "order": order}
    kept = {name: value for name, value in said.items() if value not in ("", "all", "size")}
    here = {**kept, "page": page} if page > 1 else kept
    return {
        **said,
        "cards": [card(site, each) for each in found.items],
        "total": found.total,
        "page": page,
        "pages": pages_there,
        "here_address": f"/categories?{urlencode(here)}" if here else "/categories",
        "query": urlencode(kept),
    }


def matching(categories: Sequence[Category], text: str, limit: int) -> list[Category]:
    """Categories whose name or id begins with what was typed, then those that hold it."""
    asked = text.casefold().strip()
    named = [(c, c.name.casefold(), c.id.casefold()) for c in categories]
    begins = [c for c, name, id in named if name.startswith(asked) or id.startswith(asked)]
    holds = [c for c, name, id in named if asked in name and not (name.startswith(asked) or id.startswith(asked))]
    return [*begins, *holds][:limit]
