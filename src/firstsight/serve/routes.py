"""What routes ask for: the service, and who may edit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypeAlias, TypeVar

from fastapi import Depends, Query, Request

from firstsight.serve.problems import Refused
from firstsight.serve.security import Caller
from firstsight.serve.service import Service
from firstsight.serve.worker import Busy

Made = TypeVar("Made")


def the_service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def the_caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def the_editor(request: Request) -> str | None:
    """The name of whoever edits; Refused where they may only read."""
    caller = the_caller(request)
    if not caller.edits:
        raise Refused(403, f"the token {caller.name!r} may read, and not edit", "use a token that may")
    return caller.name


@contextmanager
def turn(request: Request) -> Iterator[None]:
    """One of few that may look through everything at a time; Busy where all of them do."""
    if not request.app.state.heavy.acquire(blocking=False):
        raise Busy("others are looking through all of the register", 2)
    try:
        yield
    finally:
        request.app.state.heavy.release()


def a_turn(request: Request) -> Iterator[None]:
    """The same for a whole route, whose answer is short."""
    with turn(request):
        yield


async def in_turn(request: Request, work: Callable[[], Made]) -> Made:
    """The same for what a route does in a thread."""
    with turn(request):
        return await asyncio.to_thread(work)


TheService: TypeAlias = Annotated[Service, Depends(the_service)]
TheCaller: TypeAlias = Annotated[Caller, Depends(the_caller)]
Editor: TypeAlias = Annotated[str | None, Depends(the_editor)]
Heavy: TypeAlias = Annotated[None, Depends(a_turn, scope="function")]
Offset: TypeAlias = Annotated[int, Query(ge=0, lt=2**53, description="How many to pass over.")]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=10_000, description="How many at most.")]
