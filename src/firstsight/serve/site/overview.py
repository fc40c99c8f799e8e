"""How the register grows, how many categories there may be, how right people found it, and what is kept where."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse

from firstsight.core.number import LIKELY
from firstsight.evidence.review_gains import gained
from firstsight.serve.site.shown import Site, TheSite, pages
from firstsight.store.browse import births, counts
from firstsight.store.number import number_of_categories
from firstsight.store.table import KINDS

router = pages()

BINS = 40  # stretches of time
RECENT = 1000  # of the latest images, by which the share of new ones is told


@router.get("/overview")
def overview(site: TheSite) -> HTMLResponse:
    """All figures, as of now."""
    return site.page("overview", here="overview", **_figures(site))


@router.get("/parts/overview")
def overview_part(site: TheSite) -> HTMLResponse:
    """The same again, while one looks."""
    return site.part("figures", **_figures(site))


def _figures(site: Site) -> dict[str, Any]:
    owners = site.table.owners[-RECENT:]
    return {
        "counts": counts(site.view),
        "number": number_of_categories(site.view),
        "likely": LIKELY,
        "share": None if not len(owners) else float((site.table.kinds[owners] != KINDS.index("known")).mean()),
        "recent": len(owners),
        "said": gained(site.view),
        "growth": births(site.view, BINS),
        "state": _state(site),
        "waiting": site.service.worker.waiting,
        "queue": site.service.settings.queue,
    }


def _state(site: Site) -> list[tuple[str, str]]:
    service, view = site.service, site.view
    settings = service.model.settings
    since = datetime.fromtimestamp(service.started, UTC)
    folder = view.pictures.folder
    said = {
        "register": Path(view.name).name,
        "events": f"{view.last:,}",
        "people's edits": f"{len(view.catalogue.edits):,}",
        "on disk": _size(Path(view.name)),
        "pictures": f"kept in {folder.name}" if folder and service.settings.store_images else "not kept",
        "model": f"{settings.method}{_backbone(settings)}, {len(service.model.names):,} categories taught",
        "method's answers": "say how sure they are" if view.confident else "do not say how sure they are",
        "served": f"at {service.settings.address} since {since:%d %B %Y, %H:%M} UTC ({_lasted(service.started)})",
    }
    if service.settings.watch is not None:
        said["watched"] = str(service.settings.watch)
    return [(name, value) for name, value in said.items() if value]


def _backbone(settings: Any) -> str:
    name = getattr(settings, "backbone", None)
    return f" with {name}" if name else ""


def _size(path: Path) -> str:
    """What a register takes on disk, with what its log has not taken in yet."""
    total = sum(each.stat().st_size for each in (path, Path(f"{path}-wal")) if each.is_file())
    return f"{total / 1e6:,.1f} MB" if total else ""


def _lasted(started: float) -> str:
    minutes = int(time.time() - started) // 60
    hours, days = minutes // 60, minutes // 1440
    return f"{days} days" if days > 1 else f"{hours} h" if hours > 1 else f"{minutes} min"
