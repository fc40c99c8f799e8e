"""The categories of a register by name: the known ones, then those discovered, numbered as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Naming:
    """Names in order of position, and which name comes next."""

    def __init__(self, names: Sequence[str]) -> None:
        self.known = len(names)
        self.names = list(names)

    def __len__(self) -> int:
        return len(self.names)

    def next_name(self) -> str:
        """new-1, new-2, ... passing over names that mean something already."""
        while (name := f"new-{self._born + 1}") in self._position or name in self._reserved:
            self._born += 1
        return name

    def _begin_names(self, reserved: Iterable[str]) -> None:
        """Only the known ones again; the new ids pass over the reserved ones."""
        self.names = self.names[: self.known]  # a new list: answers given earlier keep theirs
        self._position = {name: i for i, name in enumerate(self.names)}
        self._born = 0
        self._reserved = set(reserved)

    def _position_of(self, name: str) -> int:
        if name not in self._position:
            self._position[name] = len(self.names)
            self.names.append(name)
        return self._position[name]
