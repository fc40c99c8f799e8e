"""Errors as clients see them: problem+json (RFC 9457), by kind, with the remedy. A fault of ours shows no trace."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from firstsight.core.errors import (
    BadRequest,
    Conflict,
    Damaged,
    DataError,
    DiskError,
    FirstsightError,
    Incompatible,
    Locked,
    NotFound,
    ReadOnly,
    SettingsError,
    StoreError,
    Unreachable,
)
from firstsight.serve.worker import Busy

log = logging.getLogger(__name__)

NO_PAGE, START = "there is no such page", "start from the stream"
AWAY = 5  # seconds after which to ask again where a server is away
STATUS: dict[type[Exception], int] = {  # the first that fits
    Busy: 503,
    NotFound: 404,
    Conflict: 409,
    BadRequest: 400,
    Locked: 409,
    Incompatible: 409,
    ReadOnly: 503,
    Unreachable: 503,
    Damaged: 500,
    StoreError: 409,
    SettingsError: 400,
    DataError: 422,
    DiskError: 507,
}
REMEDIES = {  # what a command line says in commands, for those who have none
    "list": "GET /api/categories lists them",
    "show": "GET /api/categories/{{id}}/images shows their numbers",
    "history": "GET /api/history shows what is undone, and its number",
    "promote": "give it a name: POST /api/categories/{id}/promote",
    "followers": "undo those first, the last one first; or take them back too, with followers",
    "founder": "keep the others and discard this image alone; or take them back too, with followers",
    "redo": "bring it back: redo {number}",
    "relocate": "put the files back where they were, or say where they are: POST /api/relocate",
    "damaged": "restore the register from a backup; what is left of it has not been touched",
    "unsure": "another method can tell; suggestions of merges need none",
}


class Refused(FirstsightError, HTTPException):
    """Whoever asks may not, or not so. FastAPI lets it through where it reads a body, as an error of HTTP."""

    def __init__(self, status: int, what: str, remedy: str = "") -> None:
        FirstsightError.__init__(self, what, remedy)
        self.status = self.status_code = status
        self.detail, self.headers = what, None


def _is_api(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/static/"))


def status_of(error: Exception) -> int:
    if isinstance(error, Refused):
        return error.status
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def problem(error: Exception) -> dict[str, Any]:
    """An error as JSON: what was wrong, and what to do."""
    status = status_of(error)
    if not isinstance(error, FirstsightError):
        what = "a fault of ours; the log has the trace"
        return {"title": "Internal Server Error", "status": 500, "detail": what, "kind": "Fault"}
    remedy = error.remedy
    if isinstance(error, StoreError) and error.hint in REMEDIES:
        remedy = REMEDIES[error.hint].format(**error.facts)
    kind = type(error).__name__
    said = {"title": HTTPStatus(status).phrase, "status": status, "detail": error.what, "kind": kind}
    return said | ({"remedy": remedy} if remedy else {})


def as_response(error: Exception) -> Response:
    said = problem(error)
    headers = {"Retry-After": str(getattr(error, "seconds", AWAY))} if said["status"] == 503 else {}
    if said["status"] == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="firstsight"'
    return JSONResponse(said, said["status"], headers, media_type="application/problem+json")


def install(app: FastAPI, page: Callable[[Request, Exception], Response]) -> None:
    """Every error an app can end in; a `page` tells of it where somebody looks for one that is not there."""

    @app.exception_handler(FirstsightError)
    async def ours(request: Request, error: FirstsightError) -> Response:
        if status_of(error) == 500:
            log.error("%s %s: %s", request.method, request.url.path, error)
        return as_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
        return as_response(Refused(422, said, "see /api/docs for what this route takes"))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and "text/html" in request.headers.get("Accept", "") and not _is_api(request):
            return page(request, Refused(404, NO_PAGE, START))
        response = as_response(Refused(error.status_code, str(error.detail)))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=400)  # which nobody reads

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        log.exception("%s %s", request.method, request.url.path, exc_info=error)
        return as_response(error)
