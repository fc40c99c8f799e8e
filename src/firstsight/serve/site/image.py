"""One image, and why it is where it is: words first, then pictures, figures for those who want them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from fastapi.responses import HTMLResponse

from firstsight.core.errors import NotFound
from firstsight.evidence.explain import explain
from firstsight.pages.explanation import case_of
from firstsight.serve.routes import Heavy
from firstsight.serve.site.cards import tile, when
from firstsight.serve.site.shown import Site, TheSite, pages
from firstsight.store.originals import NO_FILE, absent
from firstsight.store.pictures import UPLOAD
from firstsight.store.views import member

router = pages()

Number = Annotated[int, Path(ge=1, lt=2**53)]


@router.get("/images/{number}")
def image(site: TheSite, number: Number) -> HTMLResponse:
    """What is known of an image at once; the reasons follow."""
    _there(site, number)
    each, shown = member(site.view, number), tile(site, number)
    earlier, later = _beside(site, number)
    return site.page(
        "image",
        here="stream",
        image=shown,
        facts=_facts(each),
        runner_up=None if each.runner_up is None else site.view.name_of(each.runner_up),
        by_person=each.by_person,
        earlier=earlier,
        later=later,
    )


@router.get("/parts/why")
def why_part(site: TheSite, _: Heavy, image: Annotated[int, Query(ge=1, lt=2**53)]) -> HTMLResponse:
    """The evidence for an image: asks the model, so it takes a moment."""
    _there(site, image)
    evidence = explain(site.service.model, image, store=site.service.store)
    return site.part("why", **case_of(evidence))


def _there(site: Site, number: int) -> None:
    catalogue = site.view.catalogue
    if catalogue.is_discarded(number):
        raise NotFound(f"image {number} was discarded", "undo that to have it back")
    if not catalogue.has_image(number):
        raise NotFound(f"there is no image {number}", "the stream shows those there are")


def _beside(site: Site, number: int) -> tuple[int | None, int | None]:
    """The image that arrived before it, and the one after it."""
    numbers = site.table.numbers
    at = int(numbers.searchsorted(number))
    return (int(numbers[at - 1]) if at else None), (int(numbers[at + 1]) if at + 1 < len(numbers) else None)


def _facts(each: Any) -> list[tuple[str, str]]:
    """What an image tells of itself, as far as it does."""
    place = None if each.latitude is None else f"{each.latitude:.5f}, {each.longitude:.5f}"
    found = {
        "number": str(each.image),
        "name" if absent(each.source) == NO_FILE else "file": each.source.removeprefix(UPLOAD),
        "arrived": when(each.time),
        "taken": each.taken and each.taken.replace("T", " "),
        "place": place,
        "camera": each.camera,
    }
    return [(name, value) for name, value in found.items() if value]
