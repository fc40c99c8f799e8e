"""What a store holds at one moment: the catalogue, and the register that answers. Never changed, only replaced."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeAlias

from firstsight.core.protocols import Register
from firstsight.store.catalogue import Catalogue

Build: TypeAlias = Callable[[Catalogue], Register]


class State:
    """One moment. Where nobody has needed the register yet, or an edit left none, whoever asks first has it built."""

    def __init__(self, catalogue: Catalogue, register: Register | None, build: Build) -> None:
        self.catalogue = catalogue
        self.built = register
        self.build = build
        self._turn = RLock()
        self.made: dict[Any, Any] = {}  # of this moment, once: see `View.once`

    @property
    def register(self) -> Register:
        """Not to be changed: take a copy."""
        if self.built is None:
            with self._turn:
                if self.built is None:
                    self.built = self.build(self.catalogue)
        return self.built
