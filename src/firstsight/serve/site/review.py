"""What a person should look at, one question after the other, and what that has gained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from firstsight.evidence.review import Act, Item, Review, expected, worth_stopping
from firstsight.evidence.review_gains import gained
from firstsight.serve.site.cards import Card, Tile, card_of, tiles
from firstsight.serve.site.finding import Finder
from firstsight.serve.site.shown import Site, TheSite, pages

router = pages()

AHEAD = 40  # questions that are looked at to tell what is left
CLICKS = 20  # for which that is told
SHOWN = 9  # pictures of a category, or of what a question is about
BESIDE = 6  # of a category beside the image in question,
CATEGORIES = 4  # and of how many such
PATIENCE = 1.5  # seconds that the first page waits for what is being found


@dataclass(frozen=True)
class Pane:
    """Some images side by side with others: of a category, or those a question is about."""

    words: str
    card: Card | None
    images: int
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Choice:
    """Something a person can say: what is sent where, and the key for it."""

    words: str
    key: str
    act: str
    body: dict[str, Any]
    asks: str | None  # the field that only the person can fill


@router.get("/review")
def review(site: TheSite, request: Request) -> HTMLResponse:
    """The question worth most."""
    return site.page("review", here="review", **_next(site, request, ()))


@router.get("/parts/review")
def review_part(
    site: TheSite, request: Request, skipped: Annotated[list[str] | None, Query(max_length=1000)] = None
) -> HTMLResponse:
    """The next question, but for those that were skipped."""
    return site.part("question", **_next(site, request, skipped or ()))


def _next(site: Site, request: Request, skipped: Any) -> dict[str, Any]:
    finder: Finder = request.app.state.finder
    findings, more = finder.findings(site.view, PATIENCE)
    queue = Review(site.view, findings).queue(AHEAD, skipped)
    item = queue[0] if queue else None
    return {
        "item": item,
        "panes": () if item is None else _panes(site, item),
        "choices": () if item is None else _choices(item),
        "more": more,
        "stop": None if more else worth_stopping(queue, CLICKS),
        "ahead": expected(queue, CLICKS),
        "clicks": CLICKS,
        "gained": gained(site.view).sentence,
        "skipped": len(skipped),
        "images": len(site.table.numbers),
    }


def _panes(site: Site, item: Item) -> list[Pane]:
    """What a question is about, beside what it may be."""
    if item.kind == "merge":
        return [_category(site, id, SHOWN) for id in item.categories[:2]]
    if item.kind == "split":
        return [_some(site, "These would go", item.images), _some(site, "These would stay", item.rest)]
    if item.kind == "tentative":
        return [_category(site, id, SHOWN) for id in item.categories]
    one = len(item.images) == 1
    asked = _some(site, "This image" if one else "These images", item.images)
    return [asked, *(_category(site, id, BESIDE, item.images) for id in item.categories[:CATEGORIES])]


def _some(site: Site, words: str, images: tuple[int, ...]) -> Pane:
    return Pane(words, None, len(images), tiles(site, images[:SHOWN]))


def _category(site: Site, id: str, count: int, but: tuple[int, ...] = ()) -> Pane:
    made = card_of(site, site.view.catalogue.categories[id], count, but)
    return Pane("", made, made.images, made.tiles)


def _choices(item: Item) -> list[Choice]:
    """What can be said: Enter accepts, digits correct, letters ask for a category or a name."""
    made, digit, letters = [_choice(item.accept, "Enter")], 0, {"to": "c", "into": "c", "name": "n"}
    for act in item.corrections:
        if act.asks is not None:
            made.append(_choice(act, letters.pop(act.asks, "")))
        else:
            digit += 1
            made.append(_choice(act, str(digit)))
    return made


def _choice(act: Act, key: str) -> Choice:
    arguments = dict(act.arguments)
    category = arguments.pop("category", None)
    where = "images" if category is None else f"categories/{quote(category)}"
    words = act.words.removesuffix("...").rstrip(" ,")
    return Choice(words, key, f"/api/{where}/{act.verb}", arguments, act.asks)
