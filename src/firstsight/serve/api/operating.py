"""Whether the service is there, whether it can answer, and how it is doing."""

from __future__ import annotations

from typing import Literal, TypeAlias

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from firstsight.serve.routes import TheService
from firstsight.serve.service import Service
from firstsight.serve.worker import Busy

router = APIRouter(tags=["operating"])

Role: TypeAlias = Literal["writer", "follower"]


class Ready(BaseModel):
    """What answers, and how much waits."""

    events: int
    waiting: int
    role: Role = Field(description="the writer records; others encode, answer, and send to it")


class Health(BaseModel):
    """The process is there."""

    status: Literal["ok"] = "ok"
    role: Role


@router.head("/health", include_in_schema=False)
@router.get("/health", operation_id="health")
def health(service: TheService) -> Health:
    """The process is there, and whether it writes the register or follows another service that does."""
    return Health(role=_role(service))


@router.get("/ready", operation_id="ready")
def ready(service: TheService) -> Ready:
    """It takes images: 503 where as many wait as may, or it is ending."""
    if service.ending:
        raise Busy("the service is ending", 5)
    waiting = service.worker.waiting
    if waiting >= service.settings.queue:
        raise Busy(f"{waiting} images are waiting")
    service.store.reachable()
    return Ready(events=service.view().last, waiting=waiting, role=_role(service))


@router.get("/metrics", operation_id="metrics", response_class=Response)
def metrics(service: TheService) -> Response:
    """Rate, latency, births, share of new and queue, as Prometheus reads them."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _role(service: Service) -> Role:
    return "writer" if service.writes else "follower"
