"""The wall of arriving images, the newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from firstsight.serve.site.cards import tiles
from firstsight.serve.site.shown import Site, TheSite, pages
from firstsight.store.browse import counts

router = pages()

PAGE = 60  # images at a time
LATEST = 120  # of those that arrived while one looked


@router.get("/")
def stream(site: TheSite) -> HTMLResponse:
    """The latest images, and what to do where there are none yet."""
    numbers = _latest(site, None, 0, PAGE)
    watched = site.service.settings.watch
    return site.page(
        "stream",
        here="stream",
        tiles=tiles(site, numbers),
        older=_older(site, numbers),
        counts=counts(site.view),
        address=site.service.settings.address,
        watched=None if watched is None else str(watched),
    )


@router.get("/parts/stream")
def stream_part(
    site: TheSite,
    before: Annotated[int | None, Query(ge=1)] = None,
    after: Annotated[int, Query(ge=0)] = 0,
) -> HTMLResponse:
    """Older images, or those that arrived after one, with how many there are by now."""
    numbers = _latest(site, before, after, LATEST if after else PAGE)
    older = None if after else _older(site, numbers)
    now = {"live": True, "counts": counts(site.view)} if after else {}
    return site.part("stream_tiles", tiles=tiles(site, numbers), older=older, **now)


def _latest(site: Site, before: int | None, after: int, count: int) -> list[int]:
    """The newest images, of those that came before one and after another."""
    numbers = site.table.numbers
    start = int(numbers.searchsorted(after, "right"))
    end = len(numbers) if before is None else int(numbers.searchsorted(before))
    found: list[int] = numbers[max(start, end - count) : max(start, end)][::-1].tolist()
    return found


def _older(site: Site, numbers: list[int]) -> int | None:
    """The image before which there are more."""
    return numbers[-1] if numbers and numbers[-1] > int(site.table.numbers[0]) else None
