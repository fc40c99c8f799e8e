"""What a log can do that several take turns at writing: stand by, take the writer's place, leave it, and be told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple


class Said(NamedTuple):
    """Where whoever writes can be reached, and a seal by which others know that one of them said so."""

    address: str
    seal: str


NOWHERE = Said("", "")


class Holder(NamedTuple):
    """Who writes, or did last: in words, and where to reach it."""

    term: int
    name: str
    said: Said


class SharedLog(ABC):
    """A log on a server. One that was opened for reading may come to write, and the other way round."""

    @property
    @abstractmethod
    def secret(self) -> str:
        """What only those know who can read the log's tables."""

    @property
    @abstractmethod
    def lost(self) -> bool:
        """Whether this wrote, and another does or may by now."""

    @abstractmethod
    def take(self, wait: float) -> bool:
        """Stand by for so many seconds, and take the writer's place; False where it was not free."""

    @abstractmethod
    def wait_no_more(self) -> None:
        """End what waits in `take` and `wait`, from another thread; neither waits from now on."""

    @abstractmethod
    def step_down(self) -> None:
        """Leave the writer's place to the next, and go on as a reader."""

    @abstractmethod
    def wanted(self) -> bool:
        """Whether others stand by."""

    @abstractmethod
    def holder(self) -> Holder:
        """Who writes, or did last."""

    @abstractmethod
    def tell(self, said: Said) -> None:
        """Tell others where this can be reached that writes."""

    @abstractmethod
    def wait(self, after: int, seconds: float) -> bool:
        """Whether there are events after one; told by the server, and waiting for it no longer than this."""
