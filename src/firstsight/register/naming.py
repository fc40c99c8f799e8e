"""The categories of a register by name: the known ones, then those discovered, numbered as they come."""

from __future__ import annotations

import copy
from collections.abc import Container, Iterable, Sequence
from typing import Self


class Naming:
    """Names in order of position, and which name comes next."""

    def __init__(self, names: Sequence[str]) -> None:
        self.known = len(names)
        self.names = list(names)
        self._names_shared = False

    def __len__(self) -> int:
        return len(self.names)

    def next_name(self) -> str:
        """new-1, new-2, ... passing over names that mean something already."""
        while (name := f"new-{self._born + 1}") in self._position or name in self._reserved:
            self._born += 1
        return name

    def reserve(self, names: Container[str]) -> None:
        """From now on, new ids pass over these."""
        self._reserved = names
        self._born = 0

    def copy(self) -> Self:
        """Another register that answers the same; neither changes with the other."""
        other = copy.copy(self)
        self._names_shared = other._names_shared = True
        return other

    def _begin_names(self, reserved: Iterable[str]) -> None:
        """Only the known ones again; the new ids pass over the reserved ones."""
        self.names = self.names[: self.known]  # a new list: answers given earlier keep theirs
        self._position = {name: i for i, name in enumerate(self.names)}
        self._names_shared = False
        self.reserve(set(reserved))

    def _position_of(self, name: str) -> int:
        if name not in self._position:
            if self._names_shared:
                self.names, self._position, self._names_shared = list(self.names), dict(self._position), False
            self._position[name] = len(self.names)
            self.names.append(name)
        return self._position[name]
