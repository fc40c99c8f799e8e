"""Where people say who they are: a token becomes a session, in a cookie that no script and no other site has."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from firstsight.pages.render import render
from firstsight.serve.problems import Refused
from firstsight.serve.security import COOKIE, SESSION, Guard

router = APIRouter(include_in_schema=False)

LONGEST = 10_000  # bytes of a form


@router.get("/sign-in")
def sign_in_page(request: Request) -> Response:
    """Where to type a token; without tokens there is nobody to be."""
    guard: Guard = request.app.state.guard
    return _page() if guard.tokens else RedirectResponse("/", 303)


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Begin a session."""
    guard: Guard = request.app.state.guard
    asking = request.client.host if request.client else ""
    guard.tries.check(asking)
    token = guard.token(await _typed(request))
    if token is None:
        guard.tries.failed(asking)
        return _page("That is no token of this service.", 401)
    response = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE, guard.session(token), max_age=SESSION, path="/", httponly=True, samesite="strict", secure=secure
    )
    return response


@router.post("/sign-out")
def sign_out() -> Response:
    """End the session of this browser."""
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def _typed(request: Request) -> str:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST:
            raise Refused(413, "that is too long for a token")
    return parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()


def _page(problem: str = "", status: int = 200) -> HTMLResponse:
    return HTMLResponse(render("service/sign_in.html.j2", problem=problem), status)
