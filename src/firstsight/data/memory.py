"""How much memory decoding may take at once, by all threads of a process and all its helpers together.

A small file can hold a huge picture; a folder of such files would be decoded on every core at a time.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

TOGETHER = 2_048_000_000  # bytes
SMALL = 32_000_000  # bytes that nobody waits for: 4 million pixels


class Room:
    """So many bytes for everybody; who finds too few waits, and is served in the order of asking."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        self._free = self.size
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, amount: int) -> Iterator[None]:
        """So much of it for the time of the block; a block must not ask again, or two could wait for each other."""
        amount, ticket = min(amount, self.size), object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is ticket and self._free >= amount)
                self._free -= amount
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += amount
                self._changed.notify_all()


Taking = Callable[[int], AbstractContextManager[None]]

room = Room(TOGETHER)
_take: Taking = room.taken
if hasattr(os, "register_at_fork"):  # what other threads hold is not given back in a child
    os.register_at_fork(after_in_child=room.clear)


def decoding(amount: int) -> AbstractContextManager[None]:
    """Memory for the time of the block; waits until there is enough."""
    return nullcontext() if amount <= SMALL else _take(amount)


def ask_elsewhere(take: Taking) -> None:
    """In a helper: its caller has the room."""
    global _take
    _take = take
