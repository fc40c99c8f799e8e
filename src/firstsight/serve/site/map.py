"""The map: one page, which map.js fills from /api/map."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from firstsight.serve.site.shown import TheSite

router = APIRouter(include_in_schema=False)


@router.get("/map")
def images(site: TheSite) -> HTMLResponse:
    """All images in the plane, by likeness."""
    return site.page("map", here="map")
