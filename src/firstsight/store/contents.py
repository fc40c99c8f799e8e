"""Which images have a given content, found by the first bytes of its digest; 16 bytes of memory an image.

Filled from events that were verified, so that no damaged index of a file can hide one.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

RECENT = 50_000  # images looked up in a dictionary before all are sorted again


class Contents:
    """Numbers of images by the first eight bytes of their digests: sorted arrays, and a dictionary for the latest."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._numbers = array("q")
        self._sorted_keys: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._sorted_numbers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._recent: dict[int, list[int]] = {}
        self._covered = 0  # images that are in the sorted arrays or the dictionary

    def add(self, number: int, content: bytes) -> None:
        self._keys.append(_key(content))
        self._numbers.append(number)

    def candidates(self, content: bytes) -> list[int]:
        """The images whose digest begins like this one, oldest first."""
        self._cover()
        key = np.uint64(_key(content))
        start, stop = (int(self._sorted_keys.searchsorted(key, side)) for side in ("left", "right"))
        return [*self._sorted_numbers[start:stop].tolist(), *self._recent.get(int(key), ())]

    def _cover(self) -> None:
        if len(self._keys) - len(self._sorted_keys) > RECENT:
            keys = np.array(self._keys, dtype=np.uint64)
            order = keys.argsort(kind="stable")
            self._sorted_keys, self._sorted_numbers = keys[order], np.array(self._numbers, dtype=np.int64)[order]
            self._recent, self._covered = {}, len(keys)
        for key, number in zip(self._keys[self._covered :], self._numbers[self._covered :], strict=True):
            self._recent.setdefault(key, []).append(number)
        self._covered = len(self._keys)


def _key(content: bytes) -> int:
    return int.from_bytes(content[:8], "little")
