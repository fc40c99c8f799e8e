"""What routes ask for: the service, and who may edit."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from firstsight.serve.problems import Refused
from firstsight.serve.security import Caller
from firstsight.serve.service import Service


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


TheService: TypeAlias = Annotated[Service, Depends(the_service)]
TheCaller: TypeAlias = Annotated[Caller, Depends(the_caller)]
Editor: TypeAlias = Annotated[str | None, Depends(the_editor)]
