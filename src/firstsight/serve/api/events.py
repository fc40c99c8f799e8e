"""What happens, as it happens: server-sent events, numbered as in the register, so that readers can go on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from firstsight.serve.routes import TheService
from firstsight.serve.service import Service
from firstsight.serve.worker import Busy
from firstsight.store.views import line

router = APIRouter(prefix="/api", tags=["events"])

EVERY = 0.25  # seconds between two looks
SILENCE = 15.0  # seconds after which a sign of life is sent
PAGE = 500  # events at a time


@router.get("/events", operation_id="events", response_class=StreamingResponse)
async def events(
    request: Request,
    service: TheService,
    after: Annotated[int | None, Query(ge=0, description="The last event one has; the newest if not given.")] = None,
    last: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, description="Likewise, by browsers.")] = None,
) -> StreamingResponse:
    """Everything recorded after an event, then whatever comes, as server-sent events."""
    if service.listening >= service.settings.listeners:
        raise Busy(f"{service.listening} listen already", 10)
    start = last if last is not None else after if after is not None else service.view().last
    start = min(start, service.view().last)  # a register that was restored may have fewer
    return StreamingResponse(_told(request, service, start), media_type="text/event-stream")


async def _told(request: Request, service: Service, after: int) -> AsyncIterator[str]:
    service.listening += 1
    try:
        silent = 0.0
        yield ": firstsight\n\n"
        while not service.ending and not await request.is_disconnected():
            lines = await asyncio.to_thread(_lines, service, after)
            if lines:
                after, silent = after + len(lines), 0.0
                yield "".join(lines)
                continue
            await asyncio.sleep(EVERY)
            silent += EVERY
            if silent >= SILENCE:
                silent = 0.0
                yield ": still here\n\n"
    finally:
        service.listening -= 1


def _lines(service: Service, after: int) -> list[str]:
    view = service.view()
    upto = min(view.last, after + PAGE)
    found = (view.event(number) for number in range(after + 1, upto + 1))
    return [f"id: {each.number}\nevent: {each.kind}\ndata: {json.dumps(line(view, each))}\n\n" for each in found]
