"""A matrix that grows and changes line by line, and whose copies share the blocks neither changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 64  # lines: what a copy has to copy to change one of them


class Stack:
    """Lines by position, in blocks.

    Products are always of whole blocks: what one gives for a line does not depend on how many lines there are.
    """

    __slots__ = ("_blocks", "_own", "width")

    def __init__(self, width: int) -> None:
        self.width = width
        self._blocks: list[NDArray[np.float64]] = []
        self._own: set[int] = set()  # blocks nobody else sees

    def copy(self) -> Stack:
        """Another stack with the same lines; neither sees what the other changes."""
        other = Stack(self.width)
        other._blocks, self._own = list(self._blocks), set()
        return other

    def make_room(self, count: int) -> None:
        """So many lines at least; new ones are zero."""
        while len(self._blocks) * BLOCK < count:
            self._own.add(len(self._blocks))
            self._blocks.append(np.zeros((BLOCK, self.width)))

    def put(self, position: int, line: NDArray[np.float64]) -> None:
        """Replace a line."""
        index = position // BLOCK
        if index not in self._own:
            self._blocks[index] = self._blocks[index].copy()
            self._own.add(index)
        self._blocks[index][position % BLOCK] = line

    def at(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some lines, copied."""
        lines = [self._blocks[i // BLOCK][i % BLOCK] for i in positions.tolist()]
        return np.stack(lines) if lines else np.zeros((0, self.width))

    def product(self, values: NDArray[Any], count: int) -> NDArray[np.float64]:
        """The first so many lines times these values."""
        whole = np.empty(len(self._blocks) * BLOCK)
        for index, block in enumerate(self._blocks):
            np.dot(block, values, out=whole[index * BLOCK : (index + 1) * BLOCK])
        return whole[:count]

    def product_at(self, values: NDArray[Any], positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """The same for some lines, to the bit."""
        number = positions // BLOCK
        blocks = {index: np.dot(self._blocks[index], values) for index in np.unique(number).tolist()}
        return np.array([blocks[index][at] for index, at in zip(number.tolist(), positions % BLOCK, strict=True)])

    def products(self, many: NDArray[Any], count: int) -> NDArray[np.float64]:
        """The same for many values at once, (N, count): fast, and in the last digits not what one by one gives."""
        return np.concatenate([many[:, :0], *(many @ block.T for block in self._blocks)], axis=1)[:, :count]
