"""What every request passes before a route sees it: who asks, how much they send, how slowly."""

from __future__ import annotations

import asyncio
import time
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firstsight.serve.between.seals import SERVICE, Seals
from firstsight.serve.between.sharing import RECORD
from firstsight.serve.problems import Refused, as_response
from firstsight.serve.security import COOKIE, HEADERS, Caller, Guard
from firstsight.serve.settings import ServeSettings

IMAGES = tuple(f"/api/{each}" for each in (
    "discover", "predict", "discover/features", "predict/features", "teach", "explain",
))  # fmt: skip
SAID = 4_000_000  # bytes of any other request
LONGEST = 20  # times the patience that a whole body may take


class Gate:
    """Around the whole app."""

    def __init__(self, app: ASGIApp, guard: Guard, settings: ServeSettings, seals: Seals | None = None) -> None:
        """`seals` are those by which other services of the same register are known."""
        self.app, self.guard, self.settings, self.seals = app, guard, settings, seals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out.setdefault(name, value)
                if scope["path"].startswith("/static/"):
                    out.setdefault("Cache-Control", "public, max-age=300")
                else:
                    out.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            scope.setdefault("state", {})["caller"], digest = self._caller(scope, headers)
            length, limit = headers.get("Content-Length", ""), self._limit(scope["path"], headers)
            if len(length) > 18 or (length.isdecimal() and int(length) > limit):
                raise _too_large(limit)
        except Refused as refused:
            response = as_response(refused)
            if refused.status == 401 and "text/html" in headers.get("Accept", ""):
                response = RedirectResponse("/sign-in", 303)
            await response(scope, receive, send_safely)
            return
        await self.app(scope, self._limited(receive, limit, digest), send_safely)

    def _caller(self, scope: Scope, headers: Headers) -> tuple[Caller, str | None]:
        """Who asks, and what the body must be of a service that asks for somebody."""
        if self.seals is None or SERVICE not in headers:
            return self.guard.admit(scope["method"], scope["path"], headers, _cookie(headers)), None
        self.guard.check_host(headers)
        opened = self.seals.opened(scope["method"], target_of(scope), headers)
        return Caller(opened.by, edits=True, service=True), opened.digest

    def _limit(self, path: str, headers: Headers) -> int:
        """How large a body may be: images in a form, one image or an array, or what people say."""
        if path not in (*IMAGES, RECORD):
            return SAID
        form = headers.get("Content-Type", "").lower().startswith("multipart/form-data")
        return self.settings.largest_request if form else self.settings.largest_image

    def _limited(self, receive: Receive, limit: int, digest: str | None) -> Receive:
        """The body, as long as it comes and does not grow beyond what one request may be, or differ from a seal."""
        came = None if digest is None else sha256()
        total, whole, until = 0, False, time.monotonic() + LONGEST * self.settings.patience

        async def limited() -> Message:
            nonlocal total, whole
            if whole:  # what is left is that the client goes away, which may take its time
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), self.settings.patience)
                if time.monotonic() > until:
                    raise TimeoutError
            except TimeoutError:
                raise Refused(408, f"nothing came for {self.settings.patience:g} s", "send it again") from None
            if message["type"] == "http.request":
                total += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if came is not None:
                    came.update(message.get("body", b""))
                    if whole and came.hexdigest() != digest:
                        raise Refused(401, "the body is not what was sealed")
            if total > limit:
                raise _too_large(limit)
            return message

        return limited


def target_of(scope: Scope) -> str:
    """What a request asks for, as it came: path and query."""
    path, query = scope.get("raw_path") or scope["path"].encode(), scope["query_string"]
    return bytes(path + (b"?" + query if query else b"")).decode("latin-1")


def _too_large(limit: int) -> Refused:
    return Refused(413, f"such a request may have {limit // 1_000_000} MB", "send less at a time")


def _cookie(headers: Headers) -> str | None:
    try:
        found = SimpleCookie(headers.get("Cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value
