"""Whether the service is there, whether it can answer, and how it is doing."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel

from firstsight.serve.routes import TheService
from firstsight.serve.worker import Busy

router = APIRouter(tags=["operating"])


class Ready(BaseModel):
    """What answers, and how much waits."""

    events: int
    waiting: int


@router.head("/health", include_in_schema=False)
@router.get("/health", operation_id="health")
def health() -> dict[str, str]:
    """The process is there."""
    return {"status": "ok"}


@router.get("/ready", operation_id="ready")
def ready(service: TheService) -> Ready:
    """It takes images: 503 where as many wait as may."""
    waiting = service.worker.waiting
    if waiting >= service.settings.queue:
        raise Busy(f"{waiting} images are waiting")
    service.store.reachable()
    return Ready(events=service.view().last, waiting=waiting)


@router.get("/metrics", operation_id="metrics", response_class=Response)
def metrics(service: TheService) -> Response:
    """Rate, latency, births, share of new and queue, as Prometheus reads them."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
