"""Edits that reach a service that does not write: passed on to the one that does, and its answer passed back."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firstsight.core.errors import FirstsightError
from firstsight.serve.between.sharing import LAST, NoWriter, Sharing
from firstsight.serve.gate import target_of
from firstsight.serve.problems import Refused, as_response
from firstsight.serve.security import Caller
from firstsight.serve.service import Service

HERE = frozenset(f"/api/{each}" for each in (
    "discover", "discover/features", "predict", "predict/features", "explain", "map/layout", "between/record",
))  # fmt: skip
"""What is sent, and no edit: images are encoded by whoever gets them."""
BACK = ("content-type", "retry-after")  # headers that are passed back


class Passing:
    """Around the routes, inside the gate."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sharing = self.service.sharing
        if sharing is None or scope["type"] != "http" or not _is_edit(scope):
            await self.app(scope, receive, send)
            return
        caller: Caller = scope["state"]["caller"]
        try:
            if caller.service:
                await self._for_another(sharing, scope, receive, send)
            elif not caller.edits:
                await self.app(scope, receive, send)  # which refuses it
            else:
                await self._wherever(sharing, caller, scope, receive, send)
        except FirstsightError as error:
            await as_response(error)(scope, receive, send)

    async def _for_another(self, sharing: Sharing, scope: Scope, receive: Receive, send: Send) -> None:
        with sharing.standing.held() as here:
            if not here:
                raise NoWriter("this service does not write the register")
            await self.app(scope, receive, self._numbered(send))

    async def _wherever(self, sharing: Sharing, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        kind, target = Headers(scope=scope).get("Content-Type", ""), target_of(scope)
        while True:
            with sharing.standing.held() as here:
                if here:
                    await self.app(scope, _again(body, receive), send)
                    return
            found = await asyncio.to_thread(sharing.edit, scope["method"], target, kind, body, caller.name)
            if found is not None:
                headers = {name: found.headers[name] for name in BACK if name in found.headers}
                await Response(found.content, found.status_code, headers)(scope, receive, send)
                return

    def _numbered(self, send: Send) -> Send:
        async def numbered(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[LAST] = str(self.service.view().last)
            await send(message)

        return numbered


def _is_edit(scope: Scope) -> bool:
    return scope["method"] == "POST" and scope["path"].startswith("/api/") and scope["path"] not in HERE


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "whoever asked has gone")
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, to be read once more."""
    given = False

    async def once_more() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once_more
