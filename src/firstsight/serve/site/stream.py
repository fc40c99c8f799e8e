"""The wall of arriving images, the newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from firstsight.serve.site.cards import tiles
from firstsight.serve.site.shelf import Shelf
from firstsight.serve.site.shown import Site, TheSite, pages

router = pages()

PAGE = 60  # images at a time
LATEST = 120  # of those that arrived while one looked


@router.get("/")
def stream(site: TheSite) -> HTMLResponse:
    """The latest images, and what to do where there are none yet."""
    shelf = site.shelf
    numbers = shelf.latest(None, 0, PAGE)
    watched = site.service.settings.watch
    return site.page(
        "stream",
        here="stream",
        tiles=tiles(site, numbers),
        older=_older(shelf, numbers),
        images=len(shelf.numbers),
        new=_new(site),
        address=site.service.settings.address,
        watched=None if watched is None else str(watched),
    )


@router.get("/parts/stream")
def stream_part(
    site: TheSite,
    before: Annotated[int | None, Query(ge=1)] = None,
    after: Annotated[int, Query(ge=0)] = 0,
) -> HTMLResponse:
    """Older images, or those that arrived after one."""
    shelf = site.shelf
    numbers = shelf.latest(before, after, LATEST if after else PAGE)
    older = None if after else _older(shelf, numbers)
    counts = {"images": len(shelf.numbers), "new": _new(site)} if after else None
    return site.part("stream_tiles", tiles=tiles(site, numbers), older=older, counts=counts)


def _older(shelf: Shelf, numbers: list[int]) -> int | None:
    """The image before which there are more."""
    return numbers[-1] if numbers and numbers[-1] > int(shelf.numbers[0]) else None


def _new(site: Site) -> int:
    """How many discovered categories there are."""
    return sum(not category.known for category in site.view.catalogue.live())
