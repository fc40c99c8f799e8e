"""Which images have a given content, found by the first bytes of its digest; 16 bytes of memory an image.

One index serves all catalogues that grew from one: who asks says up to which image. Threads may ask while one adds.
"""

from __future__ import annotations

from threading import RLock

import numpy as np
from numpy.typing import NDArray

RECENT = 50_000  # images looked up in a dictionary before all are sorted again


class Contents:
    """Numbers of images by the first eight bytes of their digests: sorted arrays, and a dictionary for the latest.

    What it starts with is sorted when it is first asked.
    """

    def __init__(self, keys: NDArray[np.uint64], numbers: NDArray[np.int64]) -> None:
        recent: dict[int, tuple[int, ...]] = {}
        self._state = keys, numbers, recent  # one value, so that it is read at one moment
        self._in_order = len(keys) == 0
        self._turn = RLock()

    def add(self, number: int, key: int) -> None:
        keys, numbers, recent = self._state
        several = recent.get(key, ())
        if number not in several:  # it may be told twice, where the first time was broken off
            recent[key] = (*several, number)
        if len(recent) > RECENT:
            with self._turn:
                keys, numbers, recent = self._state
                late = [(k, n) for k, several in recent.items() for n in several]
                keys = np.concatenate([keys, np.array([k for k, _ in late], dtype=np.uint64)])
                numbers = np.concatenate([numbers, np.array([n for _, n in late], dtype=np.int64)])
                self._state = (*_sorted(keys, numbers), {})
                self._in_order = True

    def candidates(self, content: bytes, upto: int) -> list[int]:
        """The images up to one whose digest begins like this one, oldest first; forgotten ones have none."""
        if not content:
            return []
        if not self._in_order:
            self._put_in_order()
        keys, numbers, recent = self._state
        wanted = key_of(content)
        start, stop = (int(keys.searchsorted(np.uint64(wanted), side)) for side in ("left", "right"))
        return sorted({n for n in (*numbers[start:stop].tolist(), *recent.get(wanted, ())) if n <= upto})

    def _put_in_order(self) -> None:
        with self._turn:
            if not self._in_order:
                keys, numbers, recent = self._state
                self._state = (*_sorted(keys, numbers), recent)
                self._in_order = True


def key_of(content: bytes) -> int:
    return int.from_bytes(content[:8], "little")


def _sorted(keys: NDArray[np.uint64], numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    order = keys.argsort(kind="stable")
    return keys[order], numbers[order]
