"""Columns of numbers that grow and change, and whose copies cost next to nothing: what was not changed is shared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 4096


class Column:
    """Numbers by position, in chunks. A chunk that a copy may see is copied before it is changed."""

    __slots__ = ("_chunks", "_dtype", "_own", "_starts", "count")

    def __init__(self, dtype: Any, values: NDArray[Any] | None = None) -> None:
        self._dtype = np.dtype(dtype)
        whole = np.zeros(0, self._dtype) if values is None else np.asarray(values, self._dtype)
        self._chunks = [whole[start : start + CHUNK] for start in range(0, len(whole), CHUNK)]
        self._starts = [chunk.item(0) for chunk in self._chunks]  # the first number of each, for `find`
        self._own: set[int] = set()  # chunks nobody else sees
        self.count = len(whole)

    def copy(self) -> Column:
        """Another column with the same numbers; neither sees what the other changes."""
        other = Column.__new__(Column)
        other._dtype, other._chunks, other._starts = self._dtype, list(self._chunks), list(self._starts)
        other._own, other.count = set(), self.count
        self._own = set()
        return other

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: int) -> Any:
        return self._chunks[at // CHUNK].item(at % CHUNK)

    def __setitem__(self, at: int, value: Any) -> None:
        self._mine(at // CHUNK)[at % CHUNK] = value

    def append(self, value: Any) -> None:
        at = self.count
        if at // CHUNK == len(self._chunks):
            self._chunks.append(np.zeros(CHUNK, self._dtype))
            self._starts.append(value)
            self._own.add(at // CHUNK)
        self._mine(at // CHUNK)[at % CHUNK] = value
        self.count = at + 1

    def _mine(self, index: int) -> NDArray[Any]:
        if index not in self._own:
            whole = np.zeros(CHUNK, self._dtype)
            whole[: len(self._chunks[index])] = self._chunks[index]
            self._chunks[index] = whole
            self._own.add(index)
        return self._chunks[index]

    def chunks(self) -> Iterator[NDArray[Any]]:
        """The numbers, a stretch at a time; not to be changed."""
        for index, chunk in enumerate(self._chunks):
            yield chunk[: self.count - index * CHUNK]

    def values(self) -> NDArray[Any]:
        """All numbers."""
        return np.concatenate(list(self.chunks())) if self.count else np.zeros(0, self._dtype)

    def find(self, value: int) -> int:
        """Where a number is in a column that ascends and only grows, or -1."""
        index = bisect_right(self._starts, value) - 1
        if index < 0:
            return -1
        chunk = self._chunks[index][: self.count - index * CHUNK]
        at = int(chunk.searchsorted(value))
        return index * CHUNK + at if at < len(chunk) and chunk[at] == value else -1
