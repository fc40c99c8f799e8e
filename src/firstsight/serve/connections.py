"""Connections that are not kept for those who never ask anything."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SILENCE = 30.0  # seconds for the whole header of a request


class Connection(H11Protocol):
    """Uvicorn's, which waits for a first header for ever: this one is closed where none is whole in time."""

    _looks: asyncio.TimerHandle | None = None
    _before: object = None  # the request there was at the last look

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._looks = self.loop.call_later(SILENCE, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._looks is not None:
            self._looks.cancel()

    def _look(self) -> None:
        if self.conn.their_state is h11.IDLE and self.cycle is self._before:
            self.transport.close()
            return
        self._before = self.cycle
        self._looks = self.loop.call_later(SILENCE, self._look)
