"""Images that another service of the same register has encoded: recorded here, where this one writes."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from firstsight.serve.between import wire
from firstsight.serve.between.sharing import RECORD
from firstsight.serve.problems import Refused
from firstsight.serve.routes import TheCaller, TheService

router = APIRouter(include_in_schema=False)


@router.post(RECORD)
async def record(request: Request, service: TheService, caller: TheCaller) -> JSONResponse:
    """What each of these is, kept; only services that share the register may ask."""
    sharing = service.sharing
    if sharing is None or not caller.service:
        raise Refused(403, "only services that share a register ask this of each other")
    body = await request.body()

    def recorded() -> dict[str, Any]:
        return wire.to_recorded(sharing.recorded_here(wire.from_record(body)))

    return JSONResponse(await asyncio.to_thread(recorded))
