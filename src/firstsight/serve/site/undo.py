"""The last edit, on every page, with the way back."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from firstsight.serve.site.shown import TheSite, pages
from firstsight.serve.site.telling import last_edit

router = pages()


@router.get("/parts/undo")
def undo_part(site: TheSite) -> HTMLResponse:
    """What was done last, again."""
    return site.part("undo", edit=last_edit(site.view))
